"""The picture of an episode: circuit, credits and score on the left, readouts and predictions on the right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.rendering.circuit_graph import draw_graph
from veilgym.envs.causal_circuits.rendering.panels import draw_caption, draw_panels
from veilgym.envs.causal_circuits.rendering.viewer import View, equation_text, score_text
from veilgym.envs.core.canvas import BLUE, FAINT, MUTED, RULE, Box, Canvas

WIDTH, HEIGHT = 1280, 720

_MARGIN = 36
_LEFT = Box(_MARGIN, 84, 416, HEIGHT - _MARGIN)
_RIGHT = Box(462, 84, WIDTH - _MARGIN, HEIGHT - _MARGIN)
_MOST_EQUATIONS = 4
_MOST_PIPS = 24


def draw_picture(view: View) -> NDArray[np.uint8]:
    """Draw a view.

    Returns:
        (720, 1280, 3) uint8, the same shape in every state of every task.
    """
    canvas = Canvas(WIDTH, HEIGHT)
    canvas.text((_MARGIN, 40), view.task.title, 20, bold=True, room=WIDTH - 2 * _MARGIN - 160)
    canvas.text((WIDTH - _MARGIN, 40), view.status, 13, MUTED, align="right")
    canvas.lines([[(_MARGIN, 62), (WIDTH - _MARGIN, 62)]], RULE)
    _draw_circuit(canvas, view)
    _draw_credits(canvas, view)
    _draw_score(canvas, view)
    draw_panels(canvas, view, _RIGHT)
    return canvas.pixels()


def _draw_circuit(canvas: Canvas, view: View) -> None:
    task = view.task
    width = draw_caption(canvas, (_LEFT.left, _LEFT.top), "Circuit")
    note = "badge: times clamped" + ("; orange: by the latest query" if view.last >= 0 else "")
    canvas.text((_LEFT.right, _LEFT.top), note, 9.5, MUTED, align="right", room=_LEFT.width - width - 12)
    lines = [equation_text(e).replace("*", "\u00b7") for e in task.equations]
    lines = lines if len(lines) <= _MOST_EQUATIONS else []
    bottom = _LEFT.bottom - 118
    for i, line in enumerate(lines):
        canvas.text((_LEFT.left, bottom - 18 * (len(lines) - 1 - i)), line, 11, MUTED, room=_LEFT.width)
    box = Box(_LEFT.left, _LEFT.top + 18, _LEFT.right, bottom - 18 * len(lines) - 6)
    clamped = dict(task.measured_queries[view.last]) if view.last >= 0 else {}
    draw_graph(canvas, task, box, _clamp_counts(view), clamped)


def _clamp_counts(view: View) -> dict[str, int]:
    counts = dict.fromkeys(view.task.nodes, 0)
    for readout in view.payload.readouts:
        if readout.experiment is not None:
            for node, _ in readout.query:
                counts[node] += 1
    return counts


def _draw_credits(canvas: Canvas, view: View) -> None:
    left, budget = view.payload.credits, view.task.budget
    x, y = _LEFT.left, _LEFT.bottom - 82
    draw_caption(canvas, (x, y), "Credits")
    width = canvas.text((x, y + 34), str(left), 26, bold=True)
    canvas.text((x + width + 8, y + 38), f"of {budget} left", 12, MUTED)
    bar = Box(x, _LEFT.bottom - 12, x + 216, _LEFT.bottom)
    if budget > _MOST_PIPS:
        canvas.rectangles([bar], RULE)
        canvas.rectangles([bar._replace(right=x + bar.width * left / budget)], BLUE)
        return
    pitch = min(bar.width / max(1, budget), 18.0)
    pips = [bar._replace(left=x + i * pitch, right=x + (i + 1) * pitch - 3) for i in range(budget)]
    canvas.rectangles(pips[:left], BLUE)
    canvas.rectangles(pips[left:], RULE)


def _draw_score(canvas: Canvas, view: View) -> None:
    x, y = _LEFT.left + 250, _LEFT.bottom - 82
    draw_caption(canvas, (x, y), "Score")
    if view.outcome is None:
        canvas.text((x, y + 34), "\u2013", 26, FAINT, bold=True)
    else:
        canvas.text((x, y + 34), score_text(view.outcome.score), 26, bold=True, room=_LEFT.right - x)
