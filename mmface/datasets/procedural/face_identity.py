"""What makes a procedural face one person: the shape of the head and of everything on it."""
from dataclasses import dataclass
from typing import Annotated, get_type_hints

import numpy as np


@dataclass(frozen=True)
class FaceIdentity:
    """The constant part of a face: lengths in pixels of the 112 x 112 frame, slopes, exponents and shares; no field is a colour.

    Every field is annotated with the lowest and the highest value and, where it is an array, with its length. Positions are relative to a
    point between eyes and nose, x to the right, y down.
    """
    # head
    head_width: Annotated[float, 33, 42]  # half of it
    crown: Annotated[float, 44, 54]
    chin: Annotated[float, 41, 53]
    jaw: Annotated[float, .45, 1.05]  # exponent: small is square, large is pointed
    depth: Annotated[float, 22, 34]
    ear_size: Annotated[float, 5, 12]
    ear_level: Annotated[float, -8, 6]
    ear_spread: Annotated[float, 0, 5]
    # hair
    hair_volume: Annotated[float, 2, 14]
    hair_length: Annotated[float, -30, 50]
    hairline: Annotated[float, -38, -24]
    hairline_arch: Annotated[float, -10, 10]
    parting: Annotated[float, -.7, .7]
    fringe: Annotated[np.ndarray, -4.5, 4.5, 7]
    # eyes
    eye_distance: Annotated[float, 14, 21.5]  # half of it
    eye_level: Annotated[float, -13, -6]
    eye_width: Annotated[float, 5, 9.5]  # half of it
    eye_opening: Annotated[float, 2.0, 5.2]
    eye_tilt: Annotated[float, -.3, .3]
    eye_peak: Annotated[float, -.45, .45]
    iris: Annotated[float, 2.4, 4.2]
    lid: Annotated[float, .6, 2.4]
    bag: Annotated[float, 0, 1.6]
    # brows
    brow_gap: Annotated[float, 5, 12]
    brow_width: Annotated[float, 7, 13]
    brow_thickness: Annotated[float, .7, 2.6]
    brow_arch: Annotated[float, -1, 5]
    brow_tilt: Annotated[float, -.3, .3]
    brow_shift: Annotated[float, -3, 3]
    # nose
    nose_length: Annotated[float, 9, 21]
    nose_width: Annotated[float, 4.5, 10.5]
    nose_height: Annotated[float, 6, 16]  # towards the viewer
    nose_bridge: Annotated[float, 1.5, 5]
    nostril: Annotated[float, .8, 2.4]
    nose_bend: Annotated[float, -2, 2]
    # mouth
    mouth_level: Annotated[float, 25, 35]
    mouth_width: Annotated[float, 8.5, 18]  # half of it
    upper_lip: Annotated[float, 1.2, 4.5]
    lower_lip: Annotated[float, 1.5, 5.5]
    mouth_curve: Annotated[float, -3.5, 3.5]
    bow: Annotated[float, 0, 2.2]
    # skin
    cheek: Annotated[float, 0, 1]
    fold: Annotated[float, 0, 1]
    mole_x: Annotated[np.ndarray, -30, 30, 4]
    mole_y: Annotated[np.ndarray, -24, 38, 4]
    mole_size: Annotated[np.ndarray, -1.2, 2.0, 4]  # below .5: absent

    @classmethod
    def ranges(cls) -> dict[str, tuple]:
        """(low, high) or (low, high, length) by name."""
        return {name: hint.__metadata__ for name, hint in get_type_hints(cls, include_extras=True).items()}

    @classmethod
    def sample(cls, rng: np.random.Generator) -> 'FaceIdentity':
        """One person, every trait drawn uniformly and independently."""
        return cls(**{name: rng.uniform(*limits) for name, limits in cls.ranges().items()})
