"""The support cases as one list in columns, for payloads that do not fit the table: count, levels, events."""

from __future__ import annotations

import math
from collections.abc import Sequence

from veilgym.envs.core.canvas import FAINT, INK, MUTED, SMALLEST_TYPE, Box
from veilgym.envs.core.page import Page, measure, widest
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload
from veilgym.envs.hidden_system.rendering.cells import Style, chain_width, draw_heat, write_chain

_ROW, _HIGHEST_ROW = 17, 24
_HEADER = 28
_MOST_COLUMNS, _MOST_CASES = 5, 1000
_GAP = 16
_NARROWEST_COUNT = 48
_LEVEL = (10, 72)  # narrowest and widest column of levels
_TYPE = 10.0


def list_height(payload: BehaviorPayload, width: float) -> int:
    """How much room the list needs; it is never less than what the table of a generated payload needs."""
    cases = min(len(payload.support_cases), _MOST_CASES)
    return _HEADER + _ROW * math.ceil(cases / _list_columns(payload, width))


def _count_width(payload: BehaviorPayload) -> float:
    """The width of the column of counts in the list, for any counts of these trials."""
    trials = [str(case.trials) for case in payload.support_cases]
    texts = trials if len(set(trials)) == 1 else [f"{text}/{text}" for text in trials]
    return max(widest(texts, _TYPE) + 8, _NARROWEST_COUNT)


def _level_widths(payload: BehaviorPayload) -> list[float]:
    """The widths of the columns of levels in the list."""
    low, high = _LEVEL
    return [
        min(max(widest([name, *map(str, levels)], _TYPE) + 5, low), high)
        for name, levels in payload.attribute_vocabulary.items()
    ]


def _list_columns(payload: BehaviorPayload, width: float) -> int:
    """How many columns of the list have room for whole entries, at least one."""
    events = max(len(case.events) for case in payload.support_cases)
    longest = sorted(payload.event_vocabulary, key=lambda name: -measure(name, _TYPE))
    label = chain_width((longest * events)[:events], _TYPE)
    entry = _count_width(payload) + 4 + sum(_level_widths(payload)) + 12 + label
    return min(max(int((width + _GAP) // (entry + _GAP)), 1), _MOST_COLUMNS)


def draw_list(page: Page, payload: BehaviorPayload, style: Style, box: Box) -> None:
    """Every case on a line of its own: count, levels, events."""
    cases = payload.support_cases[:_MOST_CASES]
    room = box.height - _HEADER
    most = _list_columns(payload, box.width)
    columns = next((k for k in range(1, most) if room / math.ceil(len(cases) / k) >= _HIGHEST_ROW), most)
    lines = math.ceil(len(cases) / columns)
    height = min(room / lines, _HIGHEST_ROW)
    pitch = (box.width + _GAP) / columns
    _draw_list_caption(page, payload, box)
    count, levels = _count_width(payload), _level_widths(payload)
    for i, case in enumerate(cases):
        column, line = divmod(i, lines)
        left = box.left + column * pitch
        top = box.top + _HEADER + line * height
        if line == 0:
            _write_level_names(page, payload, levels, left + count + 4, box.top + _HEADER - 8)
        _draw_entry(page, case, style, count, levels, Box(left, top, left + pitch - _GAP, top + height))


def _draw_list_caption(page: Page, payload: BehaviorPayload, box: Box) -> None:
    count = len(payload.support_cases)
    width = page.caption((box.left, box.top), f"{count} case{'' if count == 1 else 's'}")
    if count > _MOST_CASES:
        page.write((box.left + width + 12, box.top), f"{count - _MOST_CASES} more are not drawn", _TYPE, MUTED)


def _write_level_names(page: Page, payload: BehaviorPayload, levels: Sequence[float], x: float, y: float) -> None:
    for name, width in zip(payload.attribute_vocabulary, levels, strict=True):
        page.write((x + width, y), name, 9, MUTED, align="right", room=width - 3)
        x += width


def _draw_entry(page: Page, case: BehaviorCase, style: Style, count: float, levels: Sequence[float], box: Box) -> None:
    middle = round((box.top + box.bottom) / 2)
    draw_heat(page, case, style, Box(box.left, round(box.top) + 1, box.left + count, round(box.bottom) - 1))
    x = box.left + count + 4
    for name, width in zip(style.attributes, levels, strict=True):
        page.write((x + width, middle), str(case.attributes[name]), _TYPE, INK, align="right", room=width - 3)
        x += width
    _write_sequence(page, case.events, x + 12, middle, box.right)


def _write_sequence(page: Page, events: Sequence[str], x: float, y: float, right: float) -> None:
    """The chain if it fits, in smaller type if need be; otherwise the events share the room, each cut short."""
    for size in (_TYPE, 9.0, SMALLEST_TYPE):
        if x + chain_width(events, size) <= right:
            write_chain(page, (x, y), events, size)
            return
    share = (right - x) / len(events)
    for i, event in enumerate(events):
        if i:
            page.write((x + i * share - 2, y), ">", 8, FAINT, align="right")
        page.write((x + i * share, y), event, _TYPE, room=max(share - 12, 6))
