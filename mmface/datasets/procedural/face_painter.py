"""Draws a person in a view: filled polygons on a head that is a bulged sheet in three dimensions."""
import cv2
import numpy as np

from .face_identity import FaceIdentity
from .face_view import FaceView

_BITS = 4  # OpenCV's fixed-point bits: corners between the pixels
_TURN = np.linspace(0, 2 * np.pi, 28, endpoint=False)
_COS, _SIN = np.cos(_TURN), np.sin(_TURN)
_BELOW = _SIN > 0
_SQUARE = np.sign(_COS) * np.abs(_COS)**.7
_LINE = np.linspace(-1, 1, 11)
_ARCH = 1 - _LINE**2
_ROUND = np.sqrt(_ARCH)
_DOWN = np.linspace(0, 1, 7)
_ACROSS = np.linspace(-1, 1, 13)
_STRANDS = np.linspace(-1, 1, 7)


class FacePainter:
    """Collects the polygons of one face, back to front, then turns the head and fills them.

    Args:
        who: the person.
        view: the picture.
    """

    def __init__(self, who: FaceIdentity, view: FaceView) -> None:
        self.who = who
        self.view = view
        self._polygons: list[tuple[np.ndarray, np.ndarray, float]] = []  # x, y, relief
        self._colours: list[np.ndarray] = []

    def paint(self) -> np.ndarray:
        """RGB uint8 ``[112, 112, 3]``, before light and camera."""
        self._back_hair()
        self._neck_and_ears()
        self._head()
        self._skin()
        for side in (-1, 1):
            self._eye(side)
            self._brow(side)
        self._mouth()
        self._nose()
        self._front_hair()
        return self._fill()

    def _fill(self) -> np.ndarray:
        image = cv2.resize(self.view.background, (112, 112), interpolation=cv2.INTER_CUBIC)
        sizes = [x.size for x, _, _ in self._polygons]
        x = np.concatenate([x for x, _, _ in self._polygons])
        y = np.concatenate([y for _, y, _ in self._polygons])
        bulge = np.sqrt(np.maximum(0, 1 - (x / self.who.head_width)**2 - (y / 58)**2))
        z = self.who.depth * bulge + np.repeat([relief for _, _, relief in self._polygons], sizes)
        points = np.stack((x, y, z), 1) @ self.view.rotation.T + self.view.shift
        corners = np.rint(points * (1 << _BITS)).astype(np.int32)
        colours = np.clip(self._colours, 0, 255).tolist()
        start = 0
        for size, colour in zip(sizes, colours, strict=True):
            cv2.fillPoly(image, [corners[start:start + size]], colour, cv2.LINE_AA, _BITS)
            start += size
        return image

    def _add(self, x: np.ndarray, y: np.ndarray, colour: np.ndarray, relief: float = 0) -> None:
        """A polygon on the head; ``relief``: how far it stands out of the bulge of the face, pixels."""
        self._polygons.append((x, y, relief))
        self._colours.append(colour)

    def _between(self, x: np.ndarray, upper: np.ndarray, lower: np.ndarray, colour: np.ndarray, relief: float = 0) -> None:
        """What lies between two curves over the same x."""
        self._add(np.concatenate((x, x[::-1])), np.concatenate((upper, lower[::-1])), colour, relief)

    def _back_hair(self) -> None:
        who = self.who
        x = (who.head_width + who.hair_volume) * _SQUARE
        y = np.where(_BELOW, max(who.hair_length, 0), who.crown + who.hair_volume) * _SIN
        self._add(x, np.minimum(y, who.hair_length), self.view.hair * .8, -8)

    def _neck_and_ears(self) -> None:
        who, skin = self.who, self.view.skin
        self._add(who.head_width * .6 * np.array((-1., 1, 1, -1)), np.array((20., 20, 90, 90)), skin * .75, -10)
        for side in (-1, 1):
            x = side * (who.head_width + .6 * who.ear_spread) + who.ear_size * .5 * _COS
            y = who.ear_size * _SIN
            self._add(x, who.ear_level + y, skin * .88, -2)
            self._add(x + side * 1.5, who.ear_level + .55 * y, skin * .7, -2)

    def _head(self) -> None:
        who, skin = self.who, self.view.skin
        x = who.head_width * np.where(_BELOW, np.sign(_COS) * np.abs(_COS)**who.jaw, _COS)
        y = np.where(_BELOW, who.chin, who.crown) * _SIN
        self._add(x, y, skin * .9)
        self._add(.93 * x, .95 * y, skin)

    def _skin(self) -> None:
        who, skin = self.who, self.view.skin
        for side in (-1, 1):
            self._add(side * who.head_width * .52 + 8 * _COS, 13 + 6 * _SIN, skin * (1 - .09 * who.cheek))
            x, y = side * (who.nose_width + 2 + 5 * _DOWN), who.nose_length + 10 * _DOWN
            self._between(x, y - .2 - .5 * who.fold, y + .2 + .5 * who.fold, skin * .78)
        for x, y, size in zip(who.mole_x, who.mole_y, who.mole_size, strict=True):
            if size > .5:
                self._add(x + size * _COS[::3], y + size * _SIN[::3], skin * .4)

    def _eye(self, side: int) -> None:
        who, view = self.who, self.view
        opening = who.eye_opening * (1 - .85 * view.eye_closure)
        x = who.eye_width * _LINE
        upper = who.eye_level + who.eye_tilt * x - opening * _ARCH * (1 + who.eye_peak * _LINE)
        lower = who.eye_level + who.eye_tilt * x + .6 * opening * _ARCH
        out = side * (who.eye_distance + x)
        self._between(out, upper - 1.5 - who.lid, lower + 1 + who.bag, view.skin * .84)
        self._between(out, upper, lower, np.array((236., 232, 228)))
        for radius, colour in ((who.iris, view.iris), (who.iris * .45, view.iris * .15)):
            disc = view.gaze * who.eye_width * side + radius * _COS[::2]
            y = np.clip(who.eye_level + radius * _SIN[::2], np.interp(disc, x, upper), np.interp(disc, x, lower))
            self._add(side * (who.eye_distance + disc), y, colour)
        lash = .35 + .25 * who.lid
        self._between(out, upper - lash, upper + lash, view.skin * .25)

    def _brow(self, side: int) -> None:
        who = self.who
        x = who.brow_width * _LINE
        y = who.eye_level - who.brow_gap - self.view.brow_raise - who.brow_arch * _ARCH * (1 + .5 * _LINE) + who.brow_tilt * x
        half = who.brow_thickness * (1 - .6 * np.maximum(0, _LINE))
        self._between(side * (who.eye_distance + who.brow_shift + x), y - half, y + half, self.view.hair * .55)

    def _nose(self) -> None:
        who, skin = self.who, self.view.skin
        root = who.eye_level + 2
        y = root + (who.nose_length - root) * _DOWN
        width = who.nose_bridge + (.75 * who.nose_width - who.nose_bridge) * _DOWN**2
        bend = who.nose_bend * 4 * _DOWN * (1 - _DOWN)
        for side, shade in ((-1, .86), (1, 1.1)):
            x = np.concatenate((side * (width + .8) + bend, (side * (width - 1.2) + bend)[::-1]))
            self._add(x, np.concatenate((y, y[::-1])), skin * shade, .5 * who.nose_height)
        self._add(who.nose_width * _COS, who.nose_length + 3.2 * _SIN, skin * .87, .7 * who.nose_height)
        self._add(.55 * who.nose_width * _COS, who.nose_length - 1.2 + 3.4 * _SIN, skin * 1.06, who.nose_height)
        for side in (-1, 1):
            x = side * .5 * who.nose_width + 1.3 * who.nostril * _COS[::3]
            self._add(x, who.nose_length + 2 + .6 * who.nostril * _SIN[::3], skin * .35, .75 * who.nose_height)

    def _mouth(self) -> None:
        who, view = self.who, self.view
        lips = view.skin * view.lips
        x = (who.mouth_width + .8 * view.smile) * _LINE
        seam = who.mouth_level - (who.mouth_curve + view.smile) * (_LINE**2 - .4)
        opening = view.mouth_opening * _ARCH
        bow = who.bow * np.exp(-(_LINE / .18)**2)
        self._between(x, seam - who.upper_lip * _ROUND + bow, seam + opening + who.lower_lip * _ROUND, lips)
        self._between(x, seam - .2 - .5 * _ARCH, seam + opening + .2 + .5 * _ARCH, lips * .25)

    def _front_hair(self) -> None:
        who = self.who
        edge = who.hairline + who.hairline_arch * (_ACROSS - who.parting)**2 + np.interp(_ACROSS, _STRANDS, who.fringe)
        wide, high = who.head_width + .5 * who.hair_volume, who.crown + .5 * who.hair_volume
        # along the hairline from left to right, then back over the crown
        left, right = np.arcsin(np.clip(edge[[0, -1]] / high, -.9, .9))
        over = np.linspace(right, -np.pi - left, 13)
        ends = np.interp(_ACROSS, (-1, 1), (wide * np.cos(over[-1]), wide * np.cos(over[0])))
        self._add(np.concatenate((ends, wide * np.cos(over))), np.concatenate((edge, high * np.sin(over))), self.view.hair)
