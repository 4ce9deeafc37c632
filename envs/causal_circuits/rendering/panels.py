"""Readouts and predictions as a table of panels.

A row for each output; the measured queries and the prediction queries side by side on one scale, and below them what
each query clamps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from veilgym.envs.causal_circuits.episodes import NO_ROW
from veilgym.envs.causal_circuits.payload import Readout
from veilgym.envs.causal_circuits.rendering.circuit_graph import number_text
from veilgym.envs.causal_circuits.rendering.viewer import Outcome, View, query_text
from veilgym.envs.causal_circuits.task import Query, Task
from veilgym.envs.core.canvas import (
    BLUE,
    FAINT,
    INK,
    MUTED,
    ORANGE,
    ORANGE_TINT,
    PANEL,
    PAPER,
    RULE,
    SMALLEST_TYPE,
    Box,
    Canvas,
    Point,
)

_NARROWEST_GUTTER, _WIDEST_GUTTER = 40.0, 92.0  # for the numbers of the y axis and the names of the clamped nodes
_GAP = 26.0
_CAPTION = 14.0
_HEADER = 24.0  # above each panel, for the output's name
_MOST_PANELS = 8
_ROW_HEIGHT = 17.0
_MOST_ROWS = 8
_UPRIGHT_ROOM = 108.0
_NARROWEST_LABEL = 11.0
_LONGEST_NAME = 7
_TYPE = 10.5
_SMALL_TYPE = 8.5
_NOTE = 9.5


@dataclass(frozen=True)
class Panel:
    """One output's axes over a row of queries.

    Attributes:
        box: Of the axes.
        slots: How many queries share the width.
        limit: The y axis runs from -limit to limit.
    """

    box: Box
    slots: int
    limit: float

    @property
    def pitch(self) -> float:
        """Width of a slot."""
        return self.box.width / self.slots

    def x(self, slot: int) -> float:
        """The middle of a slot."""
        return self.box.left + (slot + 0.5) * self.pitch

    def y(self, value: float) -> float:
        """The height of a value; one off the scale is put at the edge."""
        return self.box.bottom - min(max(0.5 + 0.5 * (value / self.limit), 0.0), 1.0) * self.box.height

    def holds(self, value: float) -> bool:
        """Whether the value is on the scale."""
        return abs(value) <= self.limit

    def column(self, slot: int) -> Box:
        """The part of the axes that belongs to a slot."""
        return self.box._replace(left=self.box.left + slot * self.pitch, right=self.box.left + (slot + 1) * self.pitch)


@dataclass(frozen=True)
class Labels:
    """How the queries are written below the panels.

    Attributes:
        nodes: A line of numbers for each of these nodes; if there are none, a label read from below for each query.
        size: Of the type.
    """

    nodes: tuple[str, ...]
    size: float

    @property
    def height(self) -> float:
        """Height of the whole."""
        return len(self.nodes) * _ROW_HEIGHT + 6 if self.nodes else _UPRIGHT_ROOM + 6


def draw_caption(canvas: Canvas, at: Point, text: str) -> float:
    """Write the heading of a part of the page and return its width."""
    return canvas.text(at, text.upper(), 10, MUTED, bold=True)


def draw_panels(canvas: Canvas, view: View, box: Box) -> None:
    """Draw the readouts and, after a submission, the predictions against their targets."""
    task = view.task
    queries = task.measured_queries, task.prediction_queries
    measured, predicted = map(len, queries)
    share = min(max(measured / (measured + predicted), 0.3), 0.7)
    gutter = _gutter(canvas, task)
    middle = box.left + gutter + (box.width - gutter - _GAP) * share
    left, right = box._replace(left=box.left + gutter, right=middle), box._replace(left=middle + _GAP)
    labels = _choose_labels(canvas, task, min(left.width / measured, right.width / predicted))
    readouts, predictions = (_panels(task, b, labels, len(q)) for b, q in zip((left, right), queries, strict=True))
    _draw_captions(canvas, view, left, right)
    _draw_readouts(canvas, view, readouts)
    _draw_predictions(canvas, view, predictions)
    _draw_labels(canvas, labels, readouts[-1], queries[0], _readout_colors(view))
    _draw_labels(canvas, labels, predictions[-1], queries[1], [INK if view.outcome else MUTED] * predicted)
    _draw_label_names(canvas, labels, readouts[-1])


def _draw_captions(canvas: Canvas, view: View, left: Box, right: Box) -> None:
    width = draw_caption(canvas, (left.left, left.top), "Readouts")
    hollow = any(node in view.task.outputs for query in view.task.measured_queries for node, _ in query)
    note = "bar: \u00b1 2 s.d. of the noise" + ("; hollow: the output itself is clamped" if hollow else "")
    canvas.text((left.right, left.top), note, _NOTE, MUTED, align="right", room=left.width - width - 12)
    width = draw_caption(canvas, (right.left, right.top), "Predictions")
    if view.outcome is not None:
        note = "dot: predicted; line: target"
        canvas.text((right.right, right.top), note, _NOTE, MUTED, align="right", room=right.width - width - 12)


def _gutter(canvas: Canvas, task: Task) -> float:
    widest = max(canvas.measure(node, _TYPE, bold=True) for node in _clamped_nodes(task) or ("",))
    return min(max(widest + 10, _NARROWEST_GUTTER), _WIDEST_GUTTER)


def _clamped_nodes(task: Task) -> tuple[str, ...]:
    clamped = {node for query in task.measured_queries + task.prediction_queries for node, _ in query}
    return tuple(node for node in task.nodes if node in clamped)


def _panels(task: Task, box: Box, labels: Labels, slots: int) -> list[Panel]:
    top, bottom = box.top + _CAPTION, box.bottom - labels.height
    count = min(len(task.outputs), _MOST_PANELS)
    pitch = (bottom - top) / count
    return [
        Panel(Box(box.left, top + j * pitch + _HEADER, box.right, top + (j + 1) * pitch), slots, _limit(task, j))
        for j in range(count)
    ]


def _limit(task: Task, output: int) -> float:
    """What a readout does not exceed: 1, or a clamp of the output itself, and the noise."""
    queries = task.measured_queries + task.prediction_queries
    clamps = [abs(value) for query in queries for node, value in query if node == task.outputs[output]]
    return max(1.0, *clamps, 0.0) + 5 * task.noise_std[output] + 0.05


def _draw_axes(canvas: Canvas, panel: Panel, marked: int = NO_ROW) -> None:
    box = panel.box
    canvas.rectangles([box], PANEL)
    if marked >= 0:
        canvas.rectangles([panel.column(marked)], ORANGE_TINT)
    ticks = _ticks(panel)
    canvas.lines([[(box.left, panel.y(tick)), (box.right, panel.y(tick))] for tick in ticks if tick], RULE)
    canvas.lines([[(box.left, panel.y(0)), (box.right, panel.y(0))]], FAINT)


def _write_axes(canvas: Canvas, task: Task, panel: Panel, output: int) -> None:
    """Write the numbers of the y axis and, above the panel, which output it shows."""
    box = panel.box
    for tick in _ticks(panel):
        canvas.text(
            (box.left - 7, panel.y(tick)), number_text(tick, 2), 9.5, MUTED, align="right", room=_NARROWEST_GUTTER - 8
        )
    width = canvas.text((box.left, box.top - 9), task.outputs[output], 12, BLUE, bold=True, room=box.width * 0.6)
    note = f"noise s.d. {task.noise_std[output]:g}"
    hidden = len(task.outputs) - _MOST_PANELS
    if hidden > 0 and output == _MOST_PANELS - 1:
        note += f"; {hidden} more output{'s' if hidden > 1 else ''} not drawn"
    canvas.text((box.left + width + 10, box.top - 9), note, 9.5, MUTED, room=box.width - width - 10)


def _ticks(panel: Panel) -> list[float]:
    """Round numbers on the scale, at most five, or three in a low panel."""
    most = 2 if panel.box.height > 110 else 1
    decade = 10.0 ** math.floor(math.log10(panel.limit / most))
    step = next(factor * decade for factor in (1, 2, 5, 10) if int(panel.limit / (factor * decade)) <= most)
    reach = int(panel.limit / step)
    return [k * step for k in range(-reach, reach + 1)]


def _draw_readouts(canvas: Canvas, view: View, panels: Sequence[Panel]) -> None:
    rows = _by_row(view)
    for j, panel in enumerate(panels):
        _draw_axes(canvas, panel, view.last)
        _write_axes(canvas, view.task, panel, j)
        empty = [panel.x(row) for row, readouts in enumerate(rows) if not readouts]
        canvas.lines([[(x, panel.box.top), (x, panel.box.bottom)] for x in empty], RULE, 0.8)
        _draw_points(canvas, view.task, panel, j, rows)


def _by_row(view: View) -> list[list[Readout]]:
    """The readouts of each measured query, in order of replicates."""
    initial = [[readout] for readout in view.payload.readouts if readout.experiment is None]
    ids = [experiment.id for experiment in view.task.experiments]
    return initial + [[readout for readout in view.payload.readouts if readout.experiment == name] for name in ids]


def _draw_points(canvas: Canvas, task: Task, panel: Panel, output: int, rows: Sequence[Sequence[Readout]]) -> None:
    """Readouts with bars of two standard deviations; hollow where the output itself is clamped."""
    name, std = task.outputs[output], task.noise_std[output]
    radius = min(4.0, max(1.2, panel.pitch * 0.16))
    offset = min(2.6 * radius, panel.pitch / (task.max_replicates + 1))
    free: list[Point] = []
    clamped: list[Point] = []
    bars: list[list[Point]] = []
    for row, readouts in enumerate(rows):
        for readout in readouts:
            x = panel.x(row) + (readout.replicate - (len(readouts) - 1) / 2) * offset
            value = readout.values[output]
            bars.append([(x, panel.y(value - 2 * std)), (x, panel.y(value + 2 * std))])
            (clamped if name in dict(readout.query) else free).append((x, panel.y(value)))
    canvas.lines(bars, BLUE, min(1.6, radius * 0.5))
    canvas.circles(free, radius, BLUE)
    canvas.circles(clamped, radius, PAPER, BLUE, min(1.3, radius * 0.4))


def _readout_colors(view: View) -> list[str]:
    colors = [INK if readouts else FAINT for readouts in _by_row(view)]
    if view.last >= 0:
        colors[view.last] = ORANGE
    return colors


def _draw_predictions(canvas: Canvas, view: View, panels: Sequence[Panel]) -> None:
    for j, panel in enumerate(panels):
        _draw_axes(canvas, panel)
        if view.outcome is not None:
            _draw_comparison(canvas, view.outcome, panel, j)
    if view.outcome is None:
        middle = panels[(len(panels) - 1) // 2]
        text = "shown after the submission" if view.is_running else "no submission"
        at = ((middle.box.left + middle.box.right) / 2, middle.y(_ticks(middle)[-1] / len(_ticks(middle))))
        canvas.text(at, text, 11.5, MUTED, align="center", room=middle.box.width - 8, halo=PANEL)


def _draw_comparison(canvas: Canvas, outcome: Outcome, panel: Panel, output: int) -> None:
    """Targets as bars, predictions as dots, or as triangles at the edge where they are off the scale."""
    half = panel.pitch * 0.32
    radius = min(4.0, max(1.2, panel.pitch * 0.16))
    pairs = list(zip(outcome.prediction[:, output].tolist(), outcome.target[:, output].tolist(), strict=True))
    ends = [(panel.x(i), panel.y(predicted), panel.y(target)) for i, (predicted, target) in enumerate(pairs)]
    canvas.lines([[(x, predicted), (x, target)] for x, predicted, target in ends], BLUE, min(1.4, radius * 0.4))
    canvas.lines([[(x - half, target), (x + half, target)] for x, _, target in ends], INK, 2.2)
    is_held = [panel.holds(predicted) for predicted, _ in pairs]
    canvas.circles([end[:2] for end, held in zip(ends, is_held, strict=True) if held], radius, BLUE)
    outside = [(x, predicted) for (x, predicted, _), held in zip(ends, is_held, strict=True) if not held]
    canvas.polygons([_pointer(panel, at, radius) for at in outside], BLUE)


def _pointer(panel: Panel, at: Point, radius: float) -> list[Point]:
    x, y = at
    inward = radius * 2 if y < (panel.box.top + panel.box.bottom) / 2 else -radius * 2
    return [(x, y), (x - radius * 1.2, y + inward), (x + radius * 1.2, y + inward)]


def _choose_labels(canvas: Canvas, task: Task, pitch: float) -> Labels:
    """Lines of numbers where these fit into the slots, upright labels otherwise."""
    queries = task.measured_queries + task.prediction_queries
    nodes = _clamped_nodes(task)
    numbers = {number_text(value) for query in queries for _, value in query}
    widest = max((canvas.measure(number, _TYPE) for number in numbers), default=1.0)
    size = min(_TYPE, _TYPE * (pitch - 5) / widest)
    if nodes and len(nodes) <= _MOST_ROWS and size >= _SMALL_TYPE:
        return Labels(nodes, size)
    longest = max(canvas.measure(_upright_label(query), _TYPE) for query in queries)
    return Labels((), max(SMALLEST_TYPE, min(_TYPE, _TYPE * _UPRIGHT_ROOM / longest, pitch * 0.7)))


def _upright_label(query: Query) -> str:
    short = tuple((n if len(n) <= _LONGEST_NAME else n[: _LONGEST_NAME - 1] + "\u2026", value) for n, value in query)
    return query_text(short).replace("-", "\u2212")


def _draw_labels(canvas: Canvas, labels: Labels, panel: Panel, queries: Sequence[Query], colors: Sequence[str]) -> None:
    if not labels.nodes:
        _draw_upright_labels(canvas, labels, panel, queries, colors)
        return
    box = panel.box
    heights = [box.bottom + 6 + (i + 0.5) * _ROW_HEIGHT for i in range(len(labels.nodes))]
    canvas.lines([[(box.left, y + _ROW_HEIGHT / 2), (box.right, y + _ROW_HEIGHT / 2)] for y in heights], RULE)
    for slot, (query, color) in enumerate(zip(queries, colors, strict=True)):
        for node, value in query:
            y = heights[labels.nodes.index(node)]
            canvas.text((panel.x(slot), y), number_text(value), labels.size, color, align="center")


def _draw_upright_labels(
    canvas: Canvas, labels: Labels, panel: Panel, queries: Sequence[Query], colors: Sequence[str]
) -> None:
    """One label for each query, or for every second, third, ... where they would touch."""
    every = math.ceil(_NARROWEST_LABEL / panel.pitch)
    for slot in range(0, len(queries), every):
        at = (panel.x(slot), panel.box.bottom + 6)
        text = _upright_label(queries[slot])
        canvas.text(at, text, labels.size, colors[slot], align="right", room=_UPRIGHT_ROOM, is_upright=True)


def _draw_label_names(canvas: Canvas, labels: Labels, panel: Panel) -> None:
    for i, node in enumerate(labels.nodes):
        at = (panel.box.left - 7, panel.box.bottom + 6 + (i + 0.5) * _ROW_HEIGHT)
        canvas.text(at, node, _TYPE, MUTED, bold=True, align="right", room=_WIDEST_GUTTER - 7)
