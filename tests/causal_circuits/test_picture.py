"""What the picture of an episode says, read back from what is drawn: readouts, error bars, predictions, credits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from veilgym.envs.causal_circuits.env import CausalCircuitsEnv
from veilgym.envs.core.canvas import BLUE, INK, PAPER, RULE, Box, Canvas, Point

NEAR = 0.02  # pixels


@dataclass
class Drawing:
    """What a picture consists of, in the order in which it is drawn.

    Attributes:
        lines: ends, and colour, of each line of two points.
        circles: centre and face of each circle.
        boxes: face of each rectangle.
        texts: position and text.
    """

    lines: list[tuple[Point, Point, str]] = field(default_factory=list)
    circles: list[tuple[Point, str]] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    texts: list[tuple[Point, str]] = field(default_factory=list)


@pytest.fixture(name="drawing")
def drawing_fixture(monkeypatch: pytest.MonkeyPatch) -> Drawing:
    found = Drawing()

    def lines(_: Canvas, many: Iterable[Sequence[Point]], color: str, *rest: Any, **more: Any) -> None:
        found.lines.extend((points[0], points[-1], color) for points in many if len(points) == 2)

    def circles(_: Canvas, centres: Iterable[Point], radius: float, face: str, *rest: Any, **more: Any) -> None:
        found.circles.extend((centre, face) for centre in centres)

    def rectangles(_: Canvas, boxes: Iterable[Box], face: str) -> None:
        found.boxes.extend(face for _ in boxes)

    def text(canvas: Canvas, at: Point, line: str, size: float = 11, *rest: Any, **more: Any) -> float:
        found.texts.append((at, line))
        return canvas.measure(line, size)

    for method in (lines, circles, rectangles, text):
        monkeypatch.setattr(Canvas, method.__name__, method)
    return found


def played(choices: Sequence[int], prediction: Any = 0.0) -> CausalCircuitsEnv:
    env = CausalCircuitsEnv(render_mode="rgb_array")
    env.reset(seed=4)
    matrix = np.broadcast_to(np.asarray(prediction, np.float64), env.task.prediction_shape)
    for choice in choices:
        env.step({"choice": choice, "prediction": matrix})
    return env


def heights(drawing: Drawing, output: str) -> tuple[float, float]:
    """The height of 0 on the axis of an output, and how much higher 1 is, from the numbers beside the axis."""
    ticks: dict[float, float] = {}
    for (_, y), text in drawing.texts:
        if text == output and len(ticks) > 2:  # the name above a panel follows the numbers of its axis
            low, high = min(ticks), max(ticks)
            scale = (ticks[high] - ticks[low]) / (high - low)
            assert scale < 0
            return ticks[0.0], scale
        try:
            ticks[float(text.replace("\u2212", "-"))] = y
        except ValueError:
            ticks = {}
    raise AssertionError(f"no panel of {output}")


def test_each_readout_is_a_point_with_a_bar_of_two_standard_deviations(drawing: Drawing) -> None:
    env = played([0, 9, 0, 4])
    env.render()
    places: dict[int, list[float]] = {}
    for j, output in enumerate(env.task.outputs):
        zero, scale = heights(drawing, output)
        for readout in env.record.readouts:
            middle = zero + scale * readout.values[j]
            face = PAPER if output in dict(readout.query) else BLUE
            (x,) = [at[0] for at, found in drawing.circles if found == face and abs(at[1] - middle) < NEAR]
            bars = [
                sorted((start[1], end[1]))
                for start, end, color in drawing.lines
                if color == BLUE
                and start[0] == end[0] == x
                and start[1] <= zero - scale * 2
                and abs(start[1] + end[1] - 2 * middle) < NEAR
            ]
            reach = -scale * 2 * env.task.noise_std[j]
            assert bars == [pytest.approx([middle - reach, middle + reach], abs=NEAR)]
            row = (
                0 if readout.experiment is None else 1 + [e.id for e in env.task.experiments].index(readout.experiment)
            )
            places.setdefault(row, []).append(x)
    # From left to right in the order of the queries; the replicates of one beside each other.
    assert sorted(places, key=lambda row: min(places[row])) == [0, 1, 5, 10]
    assert len(set(places[1])) == 2
    assert max(places[1]) < min(places[5])
    assert sum(face in (BLUE, PAPER) for _, face in drawing.circles) >= 2 * len(env.record.readouts)


def test_each_prediction_is_a_point_beside_a_line_at_its_target(drawing: Drawing) -> None:
    prediction = np.linspace(-0.9, 0.9, 16).reshape(8, 2)
    env = played([12], prediction)
    targets = env._episodes.targets(0)
    env.render()
    for j, output in enumerate(env.task.outputs):
        zero, scale = heights(drawing, output)
        places = []
        for predicted, target in zip(prediction[:, j], targets[:, j], strict=True):
            dots = [
                at[0] for at, face in drawing.circles if face == BLUE and abs(at[1] - zero - scale * predicted) < NEAR
            ]
            marks = [
                (start[0] + end[0]) / 2
                for start, end, color in drawing.lines
                if color == INK and start[1] == end[1] and abs(start[1] - zero - scale * target) < NEAR
            ]
            (place,) = [x for x in dots if any(abs(x - mark) < NEAR for mark in marks)]
            places.append(place)
        assert places == sorted(set(places))


@pytest.mark.parametrize("choices", [[], [3], [0, 1, 2, 3, 4, 5, 6, 7]])
def test_credits_are_those_that_are_left(drawing: Drawing, choices: list[int]) -> None:
    env = played(choices)
    env.render()
    left = 8 - len(choices)
    texts = [text for _, text in drawing.texts]
    assert texts[texts.index("of 8 left") - 1] == str(left)
    assert drawing.boxes.count(BLUE) == left
    assert drawing.boxes.count(RULE) == len(choices)


def test_no_target_is_drawn_before_the_submission(drawing: Drawing) -> None:
    env = played([0, 9])
    env.render()
    right = max(x for x, _ in (at for at, _ in drawing.circles))
    captions = {text: at[0] for at, text in drawing.texts}
    assert right < captions["PREDICTIONS"]
    assert not any(color == INK for _, _, color in drawing.lines)
