"""A page of filled boxes and lines of type, painted straight into an array.

A heat table has hundreds of numbers, and matplotlib needs half a millisecond for each; so it sets a word once, and the
page keeps the stamp. Coordinates are pixels from the top left corner, y downwards; boxes take whole pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.canvas import INK, MUTED, PAPER, Align, Box, Canvas, Point

_BLEED = 2  # round a stamp, for what a letter has outside its width


class Page:
    """An array to paint on; what is painted later covers what was painted before.

    Args:
        width, height: In pixels.
    """

    def __init__(self, width: int, height: int) -> None:
        self._pixels = np.tile(np.tile(_rgb(PAPER), width), height).reshape(height, width, 3)

    def pixels(self) -> NDArray[np.uint8]:
        """(height, width, 3) uint8."""
        return self._pixels

    def fill(self, boxes: Iterable[Box], color: str) -> None:
        """Fill boxes, each at least a pixel wide and high."""
        for box in boxes:
            left, top = round(box.left), round(box.top)
            right, bottom = max(round(box.right), left + 1), max(round(box.bottom), top + 1)
            self._pixels[top:bottom, left:right] = _rgb(color)

    def write(
        self,
        at: Point,
        text: str,
        size: float = 11,
        color: str = INK,
        bold: bool = False,
        align: Align = "left",
        room: float = math.inf,
    ) -> float:
        """Write one line, vertically centred at `at`, and return its width.

        Args:
            align: Which end of the line is at `at`: "left", "center" or "right".
            room: Widest that the line may be: a longer one is set smaller, then cut short.
        """
        # Room that is not needed would only make the same stamp again.
        width = measure(text, size, bold)
        stamp, width = _stamp(text, size, bold, None if width <= room else math.floor(room))
        height, across = stamp.shape
        start = at[0] - width * {"left": 0, "center": 0.5, "right": 1}[align]
        left, top = round(start) - _BLEED, round(at[1]) - height // 2
        # Where a stamp reaches over the edge of the page, its part on the page is painted.
        x, y = max(0, -left), max(0, -top)
        region = self._pixels[top + y : top + height, left + x : left + across].astype(np.int32)
        ink = stamp[y : y + region.shape[0], x : x + region.shape[1], None]
        blended = region + (_rgb(color).astype(np.int32) - region) * ink // 255
        self._pixels[top + y : top + height, left + x : left + across] = blended
        return width

    def write_number(self, centre: Point, text: str, size: float, color: str, room: float) -> None:
        """Write a number digit by digit: there are too many numbers to set each in type."""
        size = next((s for s in (size, 9.0) if spread(text, s) <= room), 0.0)
        if not size:
            self.write(centre, text, 9.0, color, align="center", room=room)
            return
        x = centre[0] - spread(text, size) / 2
        for digit in text:
            x += self.write((x, centre[1]), digit, size, color)

    def caption(self, at: Point, text: str) -> float:
        """Write the heading of a part of the page and return its width."""
        return self.write(at, text.upper(), 10, MUTED, bold=True)


def measure(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text."""
    return _ruler().measure(text, size, bold)


def spread(text: str, size: float) -> float:
    """The width of a number that is written digit by digit."""
    return sum(measure(digit, size) for digit in text)


def widest(texts: Iterable[str], size: float) -> float:
    """The width of the widest of some lines."""
    return max((measure(text, size) for text in texts), default=0.0)


def shade(share: float, stops: Sequence[str]) -> str:
    """The colour at `share`, in [0, 1], of the way along evenly spaced colours."""
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    i = min(int(place), len(stops) - 2)
    low, high = (_rgb(stop).astype(float) for stop in stops[i : i + 2])
    return "#" + bytes(np.rint(low + (high - low) * (place - i)).astype(np.uint8).tolist()).hex()


@lru_cache
def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21, as WCAG 2 defines it."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    srgb = _rgb(color) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


@lru_cache
def _rgb(color: str) -> NDArray[np.uint8]:
    return np.frombuffer(bytes.fromhex(color[1:]), np.uint8)


@lru_cache
def _ruler() -> Canvas:
    return Canvas(1, 1)


@lru_cache(maxsize=4096)
def _stamp(text: str, size: float, bold: bool, room: int | None) -> tuple[NDArray[np.int32], float]:
    """How much ink each pixel of a line of type takes, (height, width) in 0..255, and the width of the line."""
    wanted = measure(text, size, bold) if room is None else room
    height = 2 * math.ceil(0.8 * size)
    canvas = Canvas(math.ceil(wanted) + 2 * _BLEED, height)
    width = canvas.text((_BLEED, height / 2), text, size, "#000000", bold, room=room)
    ink: NDArray[np.int32] = 255 - canvas.pixels()[..., 0].astype(np.int32)
    return ink, width
