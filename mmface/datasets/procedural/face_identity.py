"""What makes a procedural face one person: the shape of the head and of everything on it."""
from dataclasses import dataclass, field, fields

import numpy as np


def within(low: float, high: float, count: int | None = None):
    """A field drawn uniformly from ``[low, high]``: a number, or an array of ``count``."""
    return field(metadata=dict(low=low, high=high, count=count))


@dataclass(frozen=True)
class FaceIdentity:
    """The constant part of a face. Lengths are pixels of the 112 x 112 frame, angles radians; no field is a colour.

    Positions are relative to the point between the eyes' level and the nose, x to the right, y down.
    """
    # head
    head_width: float = within(33, 42)  # half of it
    crown: float = within(44, 54)
    chin: float = within(41, 53)
    jaw: float = within(.45, 1.05)  # exponent: small is square, large is pointed
    depth: float = within(22, 34)
    ear_size: float = within(5, 12)
    ear_level: float = within(-8, 6)
    ear_spread: float = within(0, 5)
    # hair
    hair_volume: float = within(2, 14)
    hair_length: float = within(-30, 50)
    hairline: float = within(-38, -24)
    hairline_arch: float = within(-10, 10)
    parting: float = within(-.7, .7)
    fringe: np.ndarray = within(-4.5, 4.5, 7)
    # eyes
    eye_distance: float = within(14, 21.5)  # half of it
    eye_level: float = within(-13, -6)
    eye_width: float = within(5, 9.5)  # half of it
    eye_opening: float = within(2.0, 5.2)
    eye_tilt: float = within(-.3, .3)
    eye_peak: float = within(-.45, .45)
    iris: float = within(2.4, 4.2)
    lid: float = within(.6, 2.4)
    bag: float = within(0, 1.6)
    # brows
    brow_gap: float = within(5, 12)
    brow_width: float = within(7, 13)
    brow_thickness: float = within(.7, 2.6)
    brow_arch: float = within(-1, 5)
    brow_tilt: float = within(-.3, .3)
    brow_shift: float = within(-3, 3)
    # nose
    nose_length: float = within(9, 21)
    nose_width: float = within(4.5, 10.5)
    nose_height: float = within(6, 16)  # towards the viewer
    nose_bridge: float = within(1.5, 5)
    nostril: float = within(.8, 2.4)
    nose_bend: float = within(-2, 2)
    # mouth
    mouth_level: float = within(25, 35)
    mouth_width: float = within(8.5, 18)  # half of it
    upper_lip: float = within(1.2, 4.5)
    lower_lip: float = within(1.5, 5.5)
    mouth_curve: float = within(-3.5, 3.5)
    bow: float = within(0, 2.2)
    # skin
    cheek: float = within(0, 1)
    fold: float = within(0, 1)
    mole_x: np.ndarray = within(-30, 30, 4)
    mole_y: np.ndarray = within(-24, 38, 4)
    mole_size: np.ndarray = within(-1.2, 2.0, 4)  # below .5: absent

    @classmethod
    def sample(cls, rng: np.random.Generator) -> 'FaceIdentity':
        """One person, drawn from ``rng``."""
        return cls(**{f.name: rng.uniform(f.metadata['low'], f.metadata['high'], f.metadata['count']) for f in fields(cls)})
