"""What changes from one picture of a procedural person to the next."""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FaceView:
    """Pose, expression, light, colours and camera of one picture; nothing here tells who it is."""
    rotation: np.ndarray  # [2, 3]: what the image plane sees of (x, y, z)
    shift: np.ndarray  # [2], pixels
    mouth_opening: float
    smile: float
    brow_raise: float
    eye_closure: float  # 0 open ... 1 shut
    gaze: float
    skin: np.ndarray  # [3] RGB, 0 ... 255, and so the other colours
    hair: np.ndarray
    iris: np.ndarray
    lips: np.ndarray
    background: np.ndarray  # uint8 [3 or more, 3 or more, 3]
    light: np.ndarray  # [2], the change of brightness over half an image, to the right and down
    gain: float
    gamma: float
    blur: float  # standard deviation, pixels
    noise: float  # standard deviation, grey levels
    quality: int  # of the JPEG file

    @classmethod
    def sample(cls, rng: np.random.Generator) -> 'FaceView':
        """One picture, drawn from ``rng``."""
        roll, yaw, pitch = rng.normal(0, (.06, .16, .09)).clip(-.35, .35)
        skin = rng.uniform(95, 235) * np.array((1, .84, .73)) * rng.normal(1, .08, 3)
        return cls(
            rotation=rng.normal(1, .03) * _rotation(roll, yaw, pitch),
            shift=rng.normal((56, 62), 1.5),
            mouth_opening=max(0., rng.normal(-.5, 2.2)),
            smile=rng.normal(0, .9),
            brow_raise=rng.normal(0, 1.),
            eye_closure=rng.beta(1, 5),
            gaze=rng.normal(0, .25),
            skin=skin,
            hair=rng.uniform(.12, .6) * skin.mean() * rng.normal(1, .2, 3),
            iris=rng.uniform(.15, .55, 3) * skin.mean(),
            lips=rng.normal((.85, .6, .6), .06),
            background=_background(rng),
            light=rng.normal(0, .2, 2),
            gain=rng.uniform(.75, 1.15),
            gamma=np.exp(rng.normal(0, .15)),
            blur=rng.uniform(.3, 1.),
            noise=rng.uniform(0, 7),
            quality=int(rng.integers(50, 96)))


def _background(rng: np.random.Generator) -> np.ndarray:
    cells = (rng.integers(2, 6), rng.integers(2, 6), 3)
    return rng.normal(rng.uniform(50, 220, 3), rng.uniform(5, 45), cells).clip(0, 255).astype(np.uint8)


def _rotation(roll: float, yaw: float, pitch: float) -> np.ndarray:
    """The first two rows of the turn about the viewing axis after the nod after the shake of a head, [2, 3]."""
    cr, sr, cy, sy, cp, sp = np.cos(roll), np.sin(roll), np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    nod_shake = np.array(((cy, 0, sy), (sp * sy, cp, -sp * cy)))
    return np.array(((cr, -sr), (sr, cr))) @ nod_shake
