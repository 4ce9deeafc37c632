"""A page in pixels, drawn by matplotlib's objects; pyplot, its backend and the user's rcParams are left alone.

Coordinates are pixels from the top left corner, y downwards. What is added later covers what was added before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, get_font
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

INK, MUTED, FAINT, RULE = "#1f2933", "#5f6b7a", "#98a4b1", "#dfe4ea"
SMALLEST_TYPE = 8.0
PAPER, PANEL = "#ffffff", "#f6f8fa"
BLUE, BLUE_TINT, ORANGE, ORANGE_TINT = "#0072b2", "#deedf7", "#d55e00", "#fbe5d6"

Point = tuple[float, float]
Align = Literal["left", "center", "right"]

_POINTS_PER_INCH = 72  # of type; as the resolution it makes a pixel a point
_ELLIPSIS = "\u2026"


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    def overlaps(self, other: Box) -> bool:
        """Whether the two share an area."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class Canvas:
    """A page to draw on.

    Args:
        width, height: In pixels.
    """

    def __init__(self, width: int, height: int) -> None:
        inches = width / _POINTS_PER_INCH, height / _POINTS_PER_INCH
        self._figure = Figure(figsize=inches, dpi=_POINTS_PER_INCH, facecolor=PAPER, edgecolor=PAPER)
        self._agg: Any = FigureCanvasAgg(self._figure)
        self._transform = Affine2D().scale(1, -1).translate(0, height)

    def pixels(self) -> NDArray[np.uint8]:
        """(height, width, 3) uint8."""
        self._agg.draw()
        rgba: NDArray[np.uint8] = np.asarray(self._agg.buffer_rgba())
        return rgba[..., :3].copy()

    def text(
        self,
        at: Point,
        text: str,
        size: float = 11,
        color: str = INK,
        bold: bool = False,
        align: Align = "left",
        room: float | None = None,
        is_upright: bool = False,
        halo: str | None = None,
    ) -> float:
        """Write one line, vertically centred at `at`, and return its width.

        Args:
            align: Which end of the line is at `at`: "left", "center" or "right".
            room: Widest that the line may be: a longer one is set smaller, then cut short.
            is_upright: Turn the line by a quarter, to be read from below.
            halo: Colour that keeps the letters apart from what they are written on.
        """
        text = _drawable(text)
        if room is not None:
            text, size = self._fit(text, size, bold, room)
        artist = Text(
            *at,
            text,
            color=color,
            fontproperties=_font(size, bold),
            horizontalalignment=align,
            verticalalignment="center_baseline",
            rotation=90 if is_upright else 0,
            rotation_mode="anchor",
            usetex=False,
            parse_math=False,
            antialiased=True,
        )
        self._add(artist)
        if halo is not None:
            artist.set_path_effects([withStroke(linewidth=4, foreground=halo)])
        return self.measure(text, size, bold)

    def measure(self, text: str, size: float, bold: bool = False) -> float:
        """The width of a line of text."""
        return _width(_drawable(text), size, bold)

    def circles(self, centres: Iterable[Point], radius: float, face: str, edge: str = "none", width: float = 0) -> None:
        """Draw circles of one size and style."""
        self._shape([Outline.circle(centre, radius) for centre in centres], face, edge, width)

    def rectangles(self, boxes: Iterable[Box], face: str) -> None:
        """Fill rectangles."""
        self.polygons(
            [[(b.left, b.top), (b.right, b.top), (b.right, b.bottom), (b.left, b.bottom)] for b in boxes], face
        )

    def polygons(self, polygons: Iterable[Sequence[Point]], face: str) -> None:
        """Fill polygons."""
        self._shape([Outline([*corners, corners[0]], closed=True) for corners in polygons], face, "none", 0)

    def lines(self, lines: Iterable[Sequence[Point]], color: str, width: float = 1, is_dashed: bool = False) -> None:
        """Draw lines through points."""
        self._shape([Outline(points) for points in lines], "none", color, width, "--" if is_dashed else "-")

    def _shape(self, outlines: list[Outline], face: str, edge: str, width: float, style: str = "-") -> None:
        if outlines:
            self._add(
                PathPatch(
                    Outline.make_compound_path(*outlines),
                    facecolor=face,
                    edgecolor=edge,
                    linewidth=width,
                    linestyle=(0, (4, 3)) if style == "--" else "-",
                    capstyle="butt" if style == "--" else "round",
                    joinstyle="round",
                    antialiased=True,
                )
            )

    def _add(self, artist: Artist) -> None:
        # What an artist takes from rcParams and cannot be told at its construction.
        artist.set_sketch_params(None)
        artist.set_path_effects([])
        artist.set_snap(None)
        artist.set_zorder(1)
        artist.set_transform(self._transform)
        self._figure.add_artist(artist)

    def _fit(self, text: str, size: float, bold: bool, room: float) -> tuple[str, float]:
        while self.measure(text, size, bold) > room and size > SMALLEST_TYPE:
            size = max(SMALLEST_TYPE, size - 0.5)
        while self.measure(text, size, bold) > room and len(text) > 1:
            text = text.removesuffix(_ELLIPSIS)[:-1] + _ELLIPSIS
        return text, size


@lru_cache
def _font_file(bold: bool) -> Path:
    return Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")


@lru_cache(maxsize=256)
def _font(size: float, bold: bool) -> FontProperties:
    return FontProperties(size=size, fname=_font_file(bold))


@lru_cache(maxsize=8192)
def _width(text: str, size: float, bold: bool) -> float:
    agg: Any = FigureCanvasAgg(Figure((1, 1), dpi=_POINTS_PER_INCH))
    return float(agg.get_renderer().get_text_width_height_descent(text, _font(size, bold), False)[0])


@lru_cache
def _characters() -> frozenset[int]:
    return frozenset(get_font(_font_file(False)).get_charmap()) & frozenset(get_font(_font_file(True)).get_charmap())


def _drawable(text: str) -> str:
    """The text on one line, with a box for each character that the font lacks."""
    return "".join(letter if ord(letter) in _characters() else "\u25a1" for letter in " ".join(text.split()))
