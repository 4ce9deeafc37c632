"""The query with its events and levels, and beside it the answer, on a scale with the exact probability."""

from __future__ import annotations

import math
from collections.abc import Sequence

from veilgym.envs.core.canvas import (
    BLUE,
    BLUE_TINT,
    FAINT,
    INK,
    MUTED,
    ORANGE,
    ORANGE_TINT,
    PAPER,
    Box,
)
from veilgym.envs.core.page import Page, measure
from veilgym.envs.core.rendering import reward_text
from veilgym.envs.hidden_system.grammar import ABSENT, PRESENT, BehaviorPayload
from veilgym.envs.hidden_system.rendering.cells import ARROW
from veilgym.envs.hidden_system.rendering.viewer import Verdict

_LOWEST = 100
_CAPTION = 16
_EVENTS_A_LINE, _EVENT_LINE = 10, 38
_NARROWEST_EVENT, _EVENT_HEIGHT, _ARROW = 54, 28, 18
_LEVEL_LINE = 24
_WIDEST_LEVEL, _LEVEL_GAP, _MOST_LEVELS = 230, 22, 3
_ROOM = 740  # for the events and levels of the query
_MARK = 9
_TYPE, _SMALL_TYPE = 12.0, 9.5


def query_height(payload: BehaviorPayload) -> int:
    """How much room the query needs, and the verdict beside it."""
    lines = math.ceil(len(payload.query_case.events) / _EVENTS_A_LINE)
    levels = math.ceil(len(payload.attribute_vocabulary) / _levels_a_line(payload))
    return max(_LOWEST, _CAPTION + lines * _EVENT_LINE + levels * _LEVEL_LINE + 10)


def draw_query(page: Page, payload: BehaviorPayload, box: Box, has_marks: bool) -> None:
    """Draw the events as a chain that ends in a question mark, and the levels, with marks where the cells have them."""
    width = page.caption((box.left, box.top), "Query")
    if has_marks and payload.attribute_vocabulary:
        note = "squares, here and below each count: filled for the higher level of an attribute"
        page.write((box.left + width + 12, box.top), note, 9.5, MUTED)
    _draw_events(page, payload, box)
    _draw_levels(page, payload, box, has_marks)


def _draw_events(page: Page, payload: BehaviorPayload, box: Box) -> None:
    events = payload.query_case.events
    most = (box.width - 16) / min(len(events), _EVENTS_A_LINE) - _ARROW
    width = min(max(measure(event, _TYPE, bold=True) for event in events) + 16, most)
    width = max(width, min(_NARROWEST_EVENT, most))
    boxes = []
    for i in range(len(events)):
        line, place = divmod(i, _EVENTS_A_LINE)
        left, top = box.left + place * (width + _ARROW), box.top + _CAPTION + line * _EVENT_LINE
        boxes.append(Box(left, top, left + width, top + _EVENT_HEIGHT))
    page.fill(boxes, FAINT)
    page.fill((Box(b.left + 1, b.top + 1, b.right - 1, b.bottom - 1) for b in boxes), PAPER)
    for event, b in zip(events, boxes, strict=True):
        middle = (b.top + b.bottom) / 2
        at = ((b.left + b.right) / 2, middle)
        page.write(at, event, _TYPE, bold=True, align="center", room=width - 6)
        page.write((b.right + _ARROW / 2, middle), ARROW, 12, MUTED, align="center")
    end = boxes[-1]
    page.write((end.right + _ARROW + 2, (end.top + end.bottom) / 2), "?", 18, bold=True)


def _level_texts(name: str, level: int, levels: Sequence[int]) -> tuple[str, str]:
    """What is written of a level: "X1 = 9" and, in smaller type, "of 2, 9"."""
    few = len(levels) <= _MOST_LEVELS
    return f"{name} = {level}", "of " + (", ".join(map(str, levels)) if few else f"{levels[0]} to {levels[-1]}")


def _level_width(payload: BehaviorPayload) -> float:
    """How wide the widest of the levels can be, whatever the query's are."""
    texts = [
        _level_texts(name, level, levels) for name, levels in payload.attribute_vocabulary.items() for level in levels
    ]
    return max((measure(one, _TYPE) + measure(other, _SMALL_TYPE) for one, other in texts), default=0.0) + 22


def _levels_a_line(payload: BehaviorPayload) -> int:
    return max(1, int((_ROOM + _LEVEL_GAP) // (min(_level_width(payload), _WIDEST_LEVEL) + _LEVEL_GAP)))


def _draw_levels(page: Page, payload: BehaviorPayload, box: Box, has_marks: bool) -> None:
    a_line = _levels_a_line(payload)
    room = min(_level_width(payload), _WIDEST_LEVEL)
    top = box.top + _CAPTION + math.ceil(len(payload.query_case.events) / _EVENTS_A_LINE) * _EVENT_LINE + 12
    for i, (name, levels) in enumerate(payload.attribute_vocabulary.items()):
        line, place = divmod(i, a_line)
        left, y = box.left + place * (room + _LEVEL_GAP), top + line * _LEVEL_LINE
        level, x = payload.query_case.attributes[name], left
        if has_marks:
            _draw_mark(page, Box(x, y - 5, x + _MARK, y - 5 + _MARK), level > levels[0])
            x += _MARK + 7
        text, choice = _level_texts(name, level, levels)
        x += page.write((x, y), text, _TYPE, room=left + room - x - 6 - measure(choice, _SMALL_TYPE)) + 6
        page.write((x, y), choice, _SMALL_TYPE, MUTED)


def _draw_mark(page: Page, box: Box, is_high: bool) -> None:
    page.fill([box], MUTED)
    if not is_high:
        page.fill([Box(box.left + 1, box.top + 1, box.right - 1, box.bottom - 1)], PAPER)


def draw_verdict(page: Page, payload: BehaviorPayload, verdict: Verdict | None, box: Box) -> None:
    """Draw the scale of the probability and, after the answer, what was said, what is so and what it earned."""
    bar = Box(box.left, box.top + 66, box.right, box.top + 76)
    page.caption((box.left, box.top), "Answer")
    if verdict is None:
        page.write((box.left, box.top + 28), " or ".join(payload.answer_options) + "?", 14, MUTED)
    else:
        _write_answer(page, verdict, box)
    _draw_scale(page, bar)
    if verdict is not None:
        _draw_probability(page, verdict, bar)


def _write_answer(page: Page, verdict: Verdict, box: Box) -> None:
    page.write((box.right, box.top), f"reward {reward_text(verdict.reward)}", 12, bold=True, align="right")
    width = page.write((box.left, box.top + 27), verdict.answer, 18, bold=True, room=box.width * 0.55)
    text = "\u2713 right" if verdict.is_right else f"\u2717 {verdict.judgement}, it is {verdict.gold}"
    color = BLUE if verdict.is_right else ORANGE
    page.write((box.left + width + 16, box.top + 28), text, 14, color, bold=True, room=box.width - width - 16)


def _draw_scale(page: Page, bar: Box) -> None:
    """From 0, where the record is never present, to 1."""
    middle = (bar.left + bar.right) / 2
    page.fill([bar._replace(right=middle)], ORANGE_TINT)
    page.fill([bar._replace(left=middle)], BLUE_TINT)
    y = bar.bottom + 12
    page.write((bar.left, y), f"0  {ABSENT}", 10, MUTED)
    page.write((middle, y), "\u00bd", 10, MUTED, align="center")
    page.write((bar.right, y), f"{PRESENT}  1", 10, MUTED, align="right")
    page.fill([Box(middle - 1, bar.top - 4, middle + 1, bar.bottom + 4)], MUTED)


def _draw_probability(page: Page, verdict: Verdict, bar: Box) -> None:
    """The margin as a band from one half to the exact probability; a probability that was said, as a hollow square."""
    p = verdict.present_probability
    middle, x = (bar.left + bar.right) / 2, bar.left + p * bar.width
    page.fill([bar._replace(left=min(middle, x), right=max(middle, x))], BLUE if p > 0.5 else ORANGE)
    page.fill([Box(x - 1, bar.top - 5, x + 2, bar.bottom + 5)], INK)
    text = f"exact {p:.3f}, {verdict.margin:.3f} from \u00bd"
    width = measure(text, 10.5, True)
    left = min(max(x - width / 2, bar.left), bar.right - width)
    page.write((left, bar.top - 13), text, 10.5, bold=True)
    if verdict.stated_probability is not None:
        said = bar.left + min(verdict.stated_probability, 1.0) * bar.width
        page.fill([Box(said - 6, bar.top - 1, said + 6, bar.bottom + 1)], INK)
        page.fill([Box(said - 4, bar.top + 1, said + 4, bar.bottom - 1)], PAPER)
