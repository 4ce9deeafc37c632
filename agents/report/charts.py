"""Charts as inline SVG in percent of their place, so that they fit any width while their text keeps its size.

Colours are classes of the style sheet, which knows light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from veilgym.agents.report.markup import node
from veilgym.agents.statistics import Interval

COLOURS = 8  # classes c0 to c7 of the style sheet


@dataclass(frozen=True)
class Scale:
    """Where a value lies on an axis.

    Attributes:
        low, high: The ends, different.
        ticks: Values that are written at the axis.
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """The place of a value in percent; what is beyond the ends lies at the nearer one."""
        return round(100.0 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0), 3)


UNIT = Scale(0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))


@dataclass(frozen=True)
class Series:
    """A line of a plot, with the band of its intervals.

    Attributes:
        name: What the legend calls it.
        points: (x, y) by ascending x.
        band: An interval at each point, or none.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    band: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A point with an interval; `weight` from 0 to 1 sets its size."""

    x: float
    y: float
    interval: Interval
    weight: float


def scale_of(values: Sequence[float], count: int = 5) -> Scale:
    """A scale with round ticks that covers the values."""
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = tuple(round(k * step, 12) for k in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def bar(
    parts: Sequence[tuple[float, str]], interval: Interval, marks: Sequence[float], scale: Scale, label: str
) -> Element:
    """A bar from 0, of parts (length, class) one after another, with a whisker and thin lines at `marks`."""
    shapes, left = [], 0.0
    for length, kind in parts:
        begin, end = sorted((scale.share(left), scale.share(left + length)))
        left += length
        shapes.append(
            node("rect", x=f"{begin}%", y="22%", width=f"{round(end - begin, 3)}%", height="56%", class_=kind)
        )
    lines = [_line(scale.share(x), 0, scale.share(x), 100, "mark") for x in marks]
    return node("svg", *shapes, *lines, *_whisker(interval, scale), class_="bar", role="img", aria_label=label)


def dot(value: float, interval: Interval, zero: float, scale: Scale, label: str) -> Element:
    """A point with a whisker beside a line at `zero`."""
    at = _line(scale.share(zero), 0, scale.share(zero), 100, "zero")
    point = node("circle", cx=f"{scale.share(value)}%", cy="50%", r="4.5", class_="c0")
    return node("svg", at, *_whisker(interval, scale), point, class_="bar", role="img", aria_label=label)


def plot(
    label: str,
    axes: tuple[str, str],
    scales: tuple[Scale, Scale],
    series: Sequence[Series] = (),
    levels: Sequence[tuple[str, float]] = (),
    marks: Sequence[Mark] = (),
    diagonal: bool = False,
) -> Element:
    """A plot with a legend.

    Args:
        label: What it shows, for those who do not see it.
        axes: What x and y are.
        scales: Theirs.
        series: Lines, with bands.
        levels: Dashed horizontal lines by name.
        marks: Points with intervals.
        diagonal: Whether to draw y = x.
    """
    x, y = scales
    dashed = [_line(0, 100 - y.share(v), 100, 100 - y.share(v), f"level l{i}") for i, (_, v) in enumerate(levels)]
    if diagonal:
        dashed.append(_line(x.share(y.low), 100 - y.share(y.low), x.share(y.high), 100 - y.share(y.high), "level l0"))
    curves = [_curve(line, x, y, i % COLOURS) for i, line in enumerate(series)]
    drawn = [shape for mark in marks for shape in _mark(mark, x, y)]
    area = node("svg", *_grid(x, y), *dashed, *curves, *drawn, class_="plot", role="img", aria_label=label)
    keys = [(f"key c{i % COLOURS}", line.name) for i, line in enumerate(series)]
    keys += [(f"key dashed l{i}", name) for i, (name, _) in enumerate(levels)]
    legend = node("ul", *(node("li", node("span", class_=kind), name) for kind, name in keys), class_="legend")
    return node(
        "figure",
        legend if keys else None,
        node("p", axes[1], class_="axis"),
        node("div", area, class_="area"),
        node("p", axes[0], class_="axis x"),
    )


def _grid(x: Scale, y: Scale) -> list[Element]:
    shapes = []
    for value in y.ticks:
        at = round(100 - y.share(value), 3)
        shapes.append(_line(0, at, 100, at, "grid"))
        shapes.append(node("text", _tick(value), x="-8", y=f"{at}%", dy="0.35em", text_anchor="end"))
    for value in x.ticks:
        at = x.share(value)
        shapes.append(node("text", _tick(value), x=f"{at}%", y="100%", dy="1.4em", text_anchor="middle"))
    return shapes


def _tick(value: float) -> str:
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:g}"


def _curve(line: Series, x: Scale, y: Scale, colour: int) -> Element:
    """A line and its band in a square of 1000 by 1000 that is stretched over the plot."""

    def at(value: float, height: float) -> str:
        return f"{10 * x.share(value):.1f},{1000 - 10 * y.share(height):.1f}"

    band = None
    if line.band and all(interval is not None for interval in line.band):
        ends = [(point[0], interval) for point, interval in zip(line.points, line.band, strict=True) if interval]
        outline = [at(a, high) for a, (_, high) in ends] + [at(a, low) for a, (low, _) in reversed(ends)]
        band = node("polygon", points=" ".join(outline), class_=f"band c{colour}")
    path = node("polyline", points=" ".join(at(a, b) for a, b in line.points), class_=f"line c{colour}")
    return node("svg", band, path, viewBox="0 0 1000 1000", preserveAspectRatio="none", width="100%", height="100%")


def _mark(mark: Mark, x: Scale, y: Scale) -> list[Element]:
    across, up = x.share(mark.x), 100 - y.share(mark.y)
    point = node("circle", cx=f"{across}%", cy=f"{round(up, 3)}%", r=f"{3 + 6 * mark.weight**0.5:.1f}", class_="c0")
    if mark.interval is None:
        return [point]
    low, high = (100 - y.share(end) for end in mark.interval)
    return [_line(across, low, across, high, "whisker"), point]


def _whisker(interval: Interval, scale: Scale) -> list[Element]:
    if interval is None:
        return []
    low, high = (scale.share(end) for end in interval)
    return [
        _line(low, 50, high, 50, "whisker"),
        _line(low, 32, low, 68, "whisker"),
        _line(high, 32, high, 68, "whisker"),
    ]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return node("line", **{name: f"{round(value, 3)}%" for name, value in ends.items()}, class_=kind)
