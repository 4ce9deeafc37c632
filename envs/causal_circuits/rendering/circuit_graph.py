"""The circuit as a layered graph: where its nodes stand, which way its arrows run, and the drawing of both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from veilgym.envs.causal_circuits.equations import Equation
from veilgym.envs.causal_circuits.task import Task
from veilgym.envs.core.canvas import (
    BLUE,
    BLUE_TINT,
    FAINT,
    INK,
    MUTED,
    ORANGE,
    ORANGE_TINT,
    PAPER,
    Align,
    Box,
    Canvas,
    Point,
)

Item = tuple[str, ...]
"""What occupies a place in a layer: (node,), or (parent, child, layer) where an arrow passes by."""

_SWEEPS = 8
_SAMPLES = 20
_LARGEST_RADIUS = 24.0
_CAPTION = 16.0  # below a circle
_HEAD = 8.0
_BADGE = 8.0
_NAME_TYPE = 13.0
_SMALL_TYPE = 10.5
_MOST_COEFFICIENTS = 14
_CLEARANCE = 8.0


@dataclass(frozen=True)
class Graph:
    """A circuit laid out in a box.

    Attributes:
        nodes: Centre of each node.
        arrows: Points of each arrow, by (parent, child), from rim to rim.
        coefficients: The name of each arrow's coefficient.
        radius: Of a node.
        spacing: From one layer to the next.
        is_tight: Whether there is no room for a name below a circle.
    """

    nodes: Mapping[str, Point]
    arrows: Mapping[tuple[str, str], Sequence[Point]]
    coefficients: Mapping[tuple[str, str], str]
    radius: float
    spacing: float
    is_tight: bool


def lay_out(task: Task, box: Box, margin: float) -> Graph:
    """Place the nodes by depth, roots on the left, and lead each arrow through a place of its own in every layer.

    Args:
        margin: From the sides of the box to the centres of the outer nodes, as a share of the spacing.
    """
    coefficients = {(parent, e.node): name for e in task.equations for name, parent in e.weights}
    depth = _depths(task.nodes, task.equations)
    chains = {edge: _chain(edge, depth) for edge in coefficients}
    layers = _ordered(_layers(task.nodes, depth, chains), list(chains.values()))
    spacing = box.width / (len(layers) - 1 + 2 * margin)
    pitch = box.height / max(map(len, layers))
    is_tight = pitch < 2 * _CAPTION
    radius = min(_LARGEST_RADIUS, spacing * 0.27, pitch * 0.3 if is_tight else (pitch - _CAPTION) / 2)
    heights = _heights(layers, list(chains.values()), box, radius)
    centre = {
        item: (box.left + (i + margin) * spacing, heights[item]) for i, layer in enumerate(layers) for item in layer
    }
    arrows = {edge: _route([centre[item] for item in chain], radius) for edge, chain in chains.items()}
    return Graph({node: centre[(node,)] for node in task.nodes}, arrows, coefficients, radius, spacing, is_tight)


def _depths(nodes: Sequence[str], equations: Sequence[Equation]) -> dict[str, int]:
    depth = dict.fromkeys(nodes, 0)
    for equation in equations:
        depth[equation.node] = max((depth[parent] + 1 for _, parent in equation.weights), default=0)
    return depth


def _chain(edge: tuple[str, str], depth: Mapping[str, int]) -> list[Item]:
    parent, child = edge
    passed = [(parent, child, str(layer)) for layer in range(depth[parent] + 1, depth[child])]
    return [(parent,), *passed, (child,)]


def _layers(
    nodes: Sequence[str], depth: Mapping[str, int], chains: Mapping[tuple[str, str], list[Item]]
) -> list[list[Item]]:
    layers: list[list[Item]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in nodes:
        layers[depth[node]].append((node,))
    for (parent, _), chain in chains.items():
        for layer, item in enumerate(chain[1:-1], depth[parent] + 1):
            layers[layer].append(item)
    return layers


def _ordered(layers: list[list[Item]], chains: Sequence[list[Item]]) -> list[list[Item]]:
    """Reduce crossings: sort each layer by the mean position of its neighbours, to and fro."""
    before, after = _neighbours(chains)
    place = {item: height for layer in layers for item, height in _even(layer).items()}
    for sweep in range(_SWEEPS):
        neighbours, order = (before, layers) if sweep % 2 == 0 else (after, layers[::-1])
        for layer in order:
            wish = {item: _mean([place[n] for n in neighbours.get(item, ())], place[item]) for item in layer}
            layer.sort(key=wish.__getitem__)
            place.update(_even(layer))
    return layers


def _neighbours(chains: Sequence[list[Item]]) -> tuple[dict[Item, list[Item]], dict[Item, list[Item]]]:
    """The items before and after each item on the chains."""
    before: dict[Item, list[Item]] = {}
    after: dict[Item, list[Item]] = {}
    for chain in chains:
        for left, right in pairwise(chain):
            before.setdefault(right, []).append(left)
            after.setdefault(left, []).append(right)
    return before, after


def _even(layer: Sequence[Item]) -> dict[Item, float]:
    return {item: (j + 0.5) / len(layer) for j, item in enumerate(layer)}


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _heights(layers: Sequence[list[Item]], chains: Sequence[list[Item]], box: Box, radius: float) -> dict[Item, float]:
    """Spread each layer evenly, then draw passing arrows straight as far as the circles leave room."""
    heights = {
        item: box.top + share * (box.height - _CAPTION) for layer in layers for item, share in _even(layer).items()
    }
    before, after = _neighbours(chains)
    for _ in range(_SWEEPS):
        for layer in layers:
            for item in layer:
                if len(item) > 1:
                    heights[item] = (heights[before[item][0]] + heights[after[item][0]]) / 2
            _keep_apart(layer, heights, radius)
    return heights


def _keep_apart(layer: Sequence[Item], heights: dict[Item, float], radius: float) -> None:
    """Move passing arrows off the circles, keeping the order of the layer."""
    for items, sign in ((layer, 1), (layer[::-1], -1)):
        for upper, lower in pairwise(items):
            gap = _CLEARANCE + (radius if len(upper) == 1 else 0) + (radius if len(lower) == 1 else 0)
            gap += _CAPTION if len((upper, lower)[sign < 0]) == 1 else 0
            if len(lower) > 1 and sign * (heights[lower] - heights[upper]) < gap:
                heights[lower] = heights[upper] + sign * gap


def _route(stations: Sequence[Point], radius: float) -> list[Point]:
    """A smooth line through the stations, level at its ends, from the first circle's rim to the last one's."""
    first, last = stations[0], stations[-1]
    stops = [(first[0] + radius, first[1]), *stations[1:-1], (last[0] - radius - 2, last[1])]
    slopes = [0.0, *(_slope(*three) for three in zip(stops, stops[1:], stops[2:], strict=False)), 0.0]
    points: list[Point] = []
    for (start, end), (a, b) in zip(pairwise(stops), pairwise(slopes), strict=True):
        width, rise = end[0] - start[0], end[1] - start[1]
        for k in range(_SAMPLES + 1):
            t = k / _SAMPLES
            bend = width * t * (1 - t) * (a * (1 - t) - b * t)
            points.append((start[0] + width * t, start[1] + rise * t * t * (3 - 2 * t) + bend))
    return points


def _slope(before: Point, at: Point, after: Point) -> float:
    """The slope at a station; level where the line turns."""
    if (at[1] - before[1]) * (after[1] - at[1]) <= 0:
        return 0.0
    return (after[1] - before[1]) / (after[0] - before[0])


def draw_graph(canvas: Canvas, task: Task, box: Box, counts: Mapping[str, int], clamped: Mapping[str, float]) -> None:
    """Draw the circuit.

    Args:
        counts: How many experiments have clamped each node.
        clamped: Values that the latest query gave to the nodes it clamped; their equations are out of force.
    """
    graph = lay_out(task, box, margin=0.3)
    size = _name_size(canvas, graph)
    if size is None:
        graph = lay_out(task, box, margin=0.5)
    _draw_arrows(canvas, graph, clamped)
    for node, centre in graph.nodes.items():
        canvas.circles([centre], graph.radius, *_node_style(node in clamped, node in task.outputs))
    _draw_coefficients(canvas, graph)
    for node in graph.nodes:
        _draw_name(canvas, graph, node, clamped.get(node), size)
        if counts.get(node, 0):
            _draw_badge(canvas, graph, node, counts[node])


def _name_size(canvas: Canvas, graph: Graph) -> float | None:
    """The size at which every name fits into its circle, or None."""
    room = graph.radius * 1.6
    sizes = [_NAME_TYPE - 0.5 * k for k in range(6)]
    return next((size for size in sizes if all(canvas.measure(n, size, bold=True) <= room for n in graph.nodes)), None)


def _node_style(is_clamped: bool, is_output: bool) -> tuple[str, str, float]:
    if is_clamped:
        return ORANGE_TINT, ORANGE, 2.4
    return (BLUE_TINT, BLUE, 1.6) if is_output else (PAPER, MUTED, 1.4)


def _draw_arrows(canvas: Canvas, graph: Graph, clamped: Mapping[str, float]) -> None:
    for in_force, color in ((False, FAINT), (True, MUTED)):
        arrows = [points for (_, child), points in graph.arrows.items() if (child not in clamped) is in_force]
        canvas.lines([points[:-2] for points in arrows], color, 1.3, is_dashed=not in_force)
        canvas.polygons([_arrow_head(points[-1], min(_HEAD, 2 * graph.radius)) for points in arrows], color)


def _arrow_head(tip: Point, length: float) -> list[Point]:
    x, y = tip
    return [(x, y), (x - length, y - length / 2), (x - length, y + length / 2)]


def _draw_name(canvas: Canvas, graph: Graph, node: str, value: float | None, size: float | None) -> None:
    """Write the name into the circle and a clamped value below it; if `size` is None, the name does not fit."""
    x, y = graph.nodes[node]
    below = y + graph.radius + 9
    color = INK if value is None else ORANGE
    number = "" if value is None else number_text(value)
    if size is not None:
        canvas.text((x, y), node, size, color, bold=True, align="center")
        if number:
            _write(canvas, graph, (x, below), f"= {number}", color)
        return
    at = (x + graph.radius + 5, y) if graph.is_tight else (x, below)
    _write(canvas, graph, at, node, color, align="left" if graph.is_tight else "center")
    if number and canvas.measure(number, _SMALL_TYPE, bold=True) <= 2 * graph.radius - 3:
        canvas.text((x, y), number, _SMALL_TYPE, color, bold=True, align="center")
    elif number:
        _write(canvas, graph, (x, below + (3 if graph.is_tight else 12)), f"= {number}", color)


def _write(canvas: Canvas, graph: Graph, at: Point, text: str, color: str, align: Align = "center") -> None:
    room = graph.spacing * (0.5 if align == "left" else 0.94)
    canvas.text(at, text, _SMALL_TYPE, color, bold=True, align=align, room=room, halo=PAPER)


def _draw_badge(canvas: Canvas, graph: Graph, node: str, count: int) -> None:
    x, y = graph.nodes[node]
    half = canvas.measure(str(count), 9, bold=True) / 2 + 4
    offset = graph.radius * math.sqrt(0.5) + 2
    centre = (x + offset, y - offset)
    canvas.circles([centre], max(_BADGE, half), INK, PAPER, 1.5)
    canvas.text(centre, str(count), 9, PAPER, bold=True, align="center")


def _draw_coefficients(canvas: Canvas, graph: Graph) -> None:
    """Name each arrow where there is room for it; in a crowded graph, and where there is none, names are left out."""
    if len(graph.coefficients) > _MOST_COEFFICIENTS:
        return
    reach = graph.radius + 3
    taken = [Box(x - reach, y - reach - 6, x + reach + 6, y + reach + _CAPTION) for x, y in graph.nodes.values()]
    for edge, name in graph.coefficients.items():
        points = graph.arrows[edge]
        half = canvas.measure(name, 10) / 2 + 3
        spots = [points[int(share * (len(points) - 1))] for share in (0.4, 0.5, 0.3, 0.6, 0.2, 0.7, 0.8)]
        boxes = [Box(x - half, y - 8, x + half, y + 8) for x, y in spots]
        free = [i for i, box in enumerate(boxes) if not any(box.overlaps(other) for other in taken)]
        if free:
            taken.append(boxes[free[0]])
            canvas.text(spots[free[0]], name, 10, MUTED, align="center", halo=PAPER)


def number_text(value: float, digits: int = 6) -> str:
    """A number in few characters, with a true minus sign."""
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}{e}{int(exponent) if e else ''}".replace("-", "\u2212")
