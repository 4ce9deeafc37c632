"""The picture of a world: what is near the arguments, a panel about the world, and beneath them proof and verdict."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.canvas import MUTED, RULE, Box, Canvas
from veilgym.envs.core.page import Page, measure
from veilgym.envs.dynamic_world.grammar import WorldPayload
from veilgym.envs.dynamic_world.rendering.graph_panel import Graph
from veilgym.envs.dynamic_world.rendering.proof_panel import draw_proof, draw_verdict
from veilgym.envs.dynamic_world.rendering.viewer import Verdict, question_text, title_text
from veilgym.envs.dynamic_world.rendering.world_panel import draw_world

WIDTH, HEIGHT = 1280, 720

_MARGIN = 36
_HEAD = Box(_MARGIN, 26, WIDTH - _MARGIN, 54)
_GRAPH = Box(_MARGIN, 80, 936, 568)
_SIDE = Box(968, 80, WIDTH - _MARGIN, 568)
_PROOF = Box(_MARGIN, 600, 936, 696)
_VERDICT = Box(968, 600, WIDTH - _MARGIN, 696)


def draw_picture(payload: WorldPayload, verdict: Verdict | None) -> NDArray[np.uint8]:
    """Draw a world.

    Returns:
        (720, 1280, 3) uint8.
    """
    graph = Graph(payload, _GRAPH)
    canvas = Canvas(WIDTH, HEIGHT)
    graph.draw_edges(canvas, verdict)
    page = Page(WIDTH, HEIGHT)
    page.pixels()[:] = canvas.pixels()
    _draw_head(page, payload, verdict)
    graph.draw_symbols(page, verdict)
    draw_world(page, payload, verdict, _SIDE)
    page.fill([Box(_MARGIN, 583, WIDTH - _MARGIN, 584), Box(951, 80, 952, 696)], RULE)
    draw_proof(page, payload, verdict, _PROOF)
    draw_verdict(page, payload, verdict, _VERDICT)
    return page.pixels()


def _draw_head(page: Page, payload: WorldPayload, verdict: Verdict | None) -> None:
    middle = (_HEAD.top + _HEAD.bottom) / 2
    status = "answered" if verdict else "waiting for the answer"
    page.write((_HEAD.right, middle), status, 13, MUTED, align="right")
    title = title_text(payload)
    page.write((_HEAD.left, middle), title, 14, MUTED)
    left = _HEAD.left + measure(title, 14) + 24
    room = _HEAD.right - measure("waiting for the answer", 13) - 24 - left
    page.write((left, middle), question_text(payload), 20, bold=True, room=room)
    page.fill([Box(_HEAD.left, 62, _HEAD.right, 63)], RULE)
