"""What is known after the answer: a shortest proof as a chain of symbols, and the verdict in words."""

from __future__ import annotations

from veilgym.envs.core.canvas import BLUE, MUTED, ORANGE, Box
from veilgym.envs.core.page import Page
from veilgym.envs.core.rendering import reward_text
from veilgym.envs.dynamic_world.grammar import WorldPayload
from veilgym.envs.dynamic_world.inference import stated_fact
from veilgym.envs.dynamic_world.rendering.graph_panel import draw_symbol, proof_color
from veilgym.envs.dynamic_world.rendering.viewer import Verdict, counted, proof_events

_A_LINE, _MOST = 8, 16  # events
_CAPTION, _LINE = 28, 40
_SYMBOL = 44  # width
_TIP = "\u25b6"
_FOLLOWS = {"YES": "it follows", "NO": "the contrary follows"}


def draw_proof(page: Page, payload: WorldPayload, verdict: Verdict | None, box: Box) -> None:
    """Draw the chain of a shortest proof, as much of it as there is room for."""
    if verdict is None:
        page.caption((box.left, box.top), "Proof")
        page.write((box.left, box.top + _CAPTION), "shown after the answer", 12, MUTED)
        return
    width = page.caption((box.left, box.top), f"A shortest proof: {counted(len(verdict.proof), 'event', 'events')}")
    if len(verdict.proof) > _MOST:
        page.write((box.left + width + 12, box.top), f"the first {_MOST} are drawn", 9.5, MUTED)
    _draw_chain(page, payload, verdict, box._replace(top=box.top + _CAPTION))


def _draw_chain(page: Page, payload: WorldPayload, verdict: Verdict, box: Box) -> None:
    """Draw the symbols and, between them, the events; a line begins with the last symbol of the one above."""
    color, pitch = proof_color(verdict), (box.width - _SYMBOL) / _A_LINE
    for i, event in enumerate(proof_events(payload, verdict)[:_MOST]):
        relation, *symbols = stated_fact(event) or ("", "", "")
        line, place = divmod(i, _A_LINE)
        x, y = box.left + _SYMBOL / 2 + place * pitch, box.top + line * _LINE
        for symbol, at in zip(symbols, (x, x + pitch), strict=True):
            if place == 0 or at > x:
                draw_symbol(page, (round(at), y), symbol, _SYMBOL, symbol in payload.query.arguments, color)
        start, end = x + _SYMBOL / 2 + 2, x + pitch - _SYMBOL / 2 - 1
        page.fill([Box(start, y - 1, end - 5, y + 1)], color)
        page.write((end, y), _TIP, 8, color, align="right")
        page.write(((start + end) / 2, y - 9), relation, 8, align="center", room=end - start)
        page.write(((start + end) / 2, y + 10), event.id, 9.5, align="center", room=end - start)


def draw_verdict(page: Page, payload: WorldPayload, verdict: Verdict | None, box: Box) -> None:
    """Write what was said, what is so and what it earned."""
    page.caption((box.left, box.top), "Answer")
    if verdict is None:
        page.write((box.left, box.top + 28), " or ".join(payload.answer_options) + "?", 14, MUTED)
        return
    page.write((box.right, box.top), f"reward {reward_text(verdict.reward)}", 12, bold=True, align="right")
    width = page.write((box.left, box.top + 28), verdict.answer, 18, bold=True, room=box.width * 0.5) + 14
    mark, color = ("\u2713", BLUE) if verdict.judgement == "right" else ("\u2717", ORANGE)
    judgement = f"{mark} {verdict.judgement}"
    page.write((box.left + width, box.top + 29), judgement, 14, color, bold=True, room=box.width - width)
    page.write((box.left, box.top + 60), f"the answer is {verdict.gold}: {_FOLLOWS[verdict.gold]}", 12, room=box.width)
