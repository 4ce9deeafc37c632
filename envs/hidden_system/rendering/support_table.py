"""The support cases as heat: a strip for single events, a matrix for pairs and lists for the rest, or one long list.

The table is for payloads like the generated ones: few events with short names, attributes of two levels, up to three
events in a case. Any other payload gets the list.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from veilgym.envs.causal_circuits.rendering.canvas import FAINT, INK, MUTED, PANEL, SMALLEST_TYPE, Box
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload
from veilgym.envs.hidden_system.rendering.cells import (
    Style,
    chain_width,
    count_text,
    draw_cell,
    draw_heat,
    write_chain,
)
from veilgym.envs.hidden_system.rendering.page import Page, measure, spread, widest
from veilgym.envs.hidden_system.rendering.viewer import Group, group_cases

_LEFT = 560  # width of the strip and the matrix
_GAP = 40
_HEADER = 30  # above the strip: a caption and the names of the events
_BETWEEN = 48  # the strip and the matrix
_ROW_NAME = 40
_MOST_EVENTS, _MOST_ATTRIBUTES, _LONGEST_NAME = 10, 8, 30
_WIDEST_CELL, _HIGHEST_CELL = 110, 64

_CAPTION = 22  # above a list
_CELL = 48  # width of a cell in a list
_LOWEST_ROW, _EASY_ROW, _HIGHEST_ROW = 29, 36, 52

_LIST_ROW, _HIGHEST_LIST_ROW = 17, 24
_LIST_HEADER = 28
_MOST_COLUMNS, _MOST_CASES = 5, 1000
_COLUMN_GAP, _LIST_GAP = 28, 16
_LEVEL = (10, 72)  # narrowest and widest column of levels
_TYPE = 10.0


class Row(NamedTuple):
    """Cases of one sequence of events."""

    events: tuple[str, ...]
    cases: tuple[BehaviorCase, ...]


class Section(NamedTuple):
    """A list of rows in columns.

    Attributes:
        title: Its caption.
        rows: What it lists.
        label: Width of the widest chain of events.
        width: Of the widest row.
        most: How many columns have room.
    """

    title: str
    rows: list[Row]
    label: float
    width: float
    most: int

    def lines(self, columns: int) -> int:
        """How many lines it takes in as many columns as it has room for."""
        return math.ceil(len(self.rows) / min(columns, self.most))


def draw_support(page: Page, payload: BehaviorPayload, style: Style, box: Box) -> bool:
    """Draw the support cases into a box; whether marks stand for their levels."""
    left, right = box._replace(right=box.left + _LEFT), box._replace(left=box.left + _LEFT + _GAP)
    groups = group_cases(payload.support_cases)
    sections = [_section(group, right.width) for group in groups if group.is_again or group.length > 2]
    columns = _choose_columns(sections, right.height)
    if _is_tabular(payload, style) and columns:
        _draw_matrix(page, payload, style, groups, left)
        _draw_sections(page, style, sections, columns, right)
        return True
    _draw_list(page, payload, style, box)
    return False


def list_height(payload: BehaviorPayload, width: float) -> int:
    """How much room the list needs; it is never less than what the table of a generated payload needs."""
    cases = min(len(payload.support_cases), _MOST_CASES)
    return _LIST_HEADER + _LIST_ROW * math.ceil(cases / _list_columns(payload, width))


def _is_tabular(payload: BehaviorPayload, style: Style) -> bool:
    names = payload.event_vocabulary
    return (
        len(names) <= _MOST_EVENTS
        and widest(names, 11) <= _LONGEST_NAME
        and len(style.attributes) <= _MOST_ATTRIBUTES
        and max(map(len, style.attributes.values()), default=0) <= 2
        and len({case.events for case in payload.support_cases if len(case.events) == 2}) >= len(names)
        and max(spread(count_text(case, style), _TYPE) for case in payload.support_cases) < _CELL
    )


def _draw_matrix(page: Page, payload: BehaviorPayload, style: Style, groups: Sequence[Group], box: Box) -> None:
    """A strip of single events above a matrix of pairs, in the same columns."""
    names = payload.event_vocabulary
    n = len(names)
    width = min((box.width - _ROW_NAME) / n, _WIDEST_CELL)
    height = min((box.height - _HEADER - _BETWEEN) / (n + 1), _HIGHEST_CELL)
    strip = Box(box.left + _ROW_NAME, box.top + _HEADER, box.left + _ROW_NAME + n * width, box.top + _HEADER + height)
    matrix = strip._replace(top=strip.bottom + _BETWEEN, bottom=strip.bottom + _BETWEEN + n * height)
    captions = "One event", "Two events"
    for caption, part in zip(captions, (strip, matrix), strict=True):
        page.caption((box.left, part.top - _HEADER), caption)
        for i, name in enumerate(names):
            page.write((part.left + (i + 0.5) * width, part.top - 9), name, 11, align="center", bold=True)
    page.write((box.left + 96, matrix.top - _HEADER), "row: the first, column: the second", _TYPE, MUTED)
    for i, name in enumerate(names):
        page.write((matrix.left - 8, matrix.top + (i + 0.5) * height - 5), name, 11, align="right", bold=True)
    first = {case.events: case for group in groups if not group.is_again for case in group.cases}
    slots = {(name,): (strip.left + i * width, strip.top) for i, name in enumerate(names)}
    for i, one in enumerate(names):
        slots |= {(one, two): (matrix.left + j * width, matrix.top + i * height) for j, two in enumerate(names)}
    for events, (x, y) in slots.items():
        cell = Box(round(x) + 2, round(y) + 2, round(x + width) - 2, round(y + height) - 3)
        if events in first:
            draw_cell(page, first[events], style, cell)
        else:
            page.fill([cell], PANEL)


def _section(group: Group, width: float) -> Section:
    rows = [Row(events, tuple(cases)) for events, cases in groupby(group.cases, key=lambda case: case.events)]
    label = max(chain_width(row.events, _TYPE) for row in rows)
    entry = label + 10 + max(_cells_width(len(row.cases)) for row in rows)
    return Section(group.title, rows, label, entry, int((width + _COLUMN_GAP) // (entry + _COLUMN_GAP)))


def _cells_width(cases: int) -> int:
    """Cells come in twos, of opposite levels in a generated instance, with a little more between these."""
    return cases * _CELL + (cases - 1) // 2 * 8


def _choose_columns(sections: Sequence[Section], height: float) -> int:
    """The fewest columns whose rows are easy to read, or else the most; 0 if even these are too many rows."""
    if not all(section.most for section in sections):
        return 0
    most = max((section.most for section in sections), default=1)
    for columns in range(1, most + 1):
        row = _row_height(sections, columns, height)
        if row >= _EASY_ROW or (columns == most and row >= _LOWEST_ROW):
            return columns
    return 0


def _row_height(sections: Sequence[Section], columns: int, height: float) -> float:
    lines = sum(section.lines(columns) for section in sections)
    return min((height - _CAPTION * len(sections) - 14 * max(0, len(sections) - 1)) / max(1, lines), _HIGHEST_ROW)


def _draw_sections(page: Page, style: Style, sections: Sequence[Section], columns: int, box: Box) -> None:
    height = _row_height(sections, columns, box.height)
    top = box.top
    for section in sections:
        page.caption((box.left, top), section.title)
        top += _CAPTION - 8
        across = min(columns, section.most)
        pitch = min((box.width + _COLUMN_GAP) / across, section.width + 2 * _COLUMN_GAP)
        for i, row in enumerate(section.rows):
            line, column = divmod(i, across)
            x = box.left + column * pitch
            _draw_row(
                page, style, row, section.label, Box(x, top + line * height, box.right, top + (line + 1) * height)
            )
        top += section.lines(columns) * height + 8 + 14


def _draw_row(page: Page, style: Style, row: Row, label: float, box: Box) -> None:
    write_chain(page, (box.left, (box.top + box.bottom) / 2 - 4), row.events, _TYPE)
    for i, case in enumerate(row.cases):
        x = round(box.left + label + 10) + _cells_width(i + 1) - _CELL
        draw_cell(page, case, style, Box(x + 2, round(box.top) + 2, x + _CELL - 2, round(box.bottom) - 3))


def _count_width(payload: BehaviorPayload) -> float:
    """The width of the column of counts in the list, for any counts of these trials."""
    trials = [str(case.trials) for case in payload.support_cases]
    texts = trials if len(set(trials)) == 1 else [f"{text}/{text}" for text in trials]
    return max(widest(texts, _TYPE) + 8, _CELL)


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
    return min(max(int((width + _LIST_GAP) // (entry + _LIST_GAP)), 1), _MOST_COLUMNS)


def _draw_list(page: Page, payload: BehaviorPayload, style: Style, box: Box) -> None:
    """Every case on a line of its own: count, levels, events."""
    cases = payload.support_cases[:_MOST_CASES]
    room = box.height - _LIST_HEADER
    most = _list_columns(payload, box.width)
    columns = next((k for k in range(1, most) if room / math.ceil(len(cases) / k) >= _HIGHEST_LIST_ROW), most)
    lines = math.ceil(len(cases) / columns)
    height = min(room / lines, _HIGHEST_LIST_ROW)
    pitch = (box.width + _LIST_GAP) / columns
    _draw_list_caption(page, payload, box)
    count, levels = _count_width(payload), _level_widths(payload)
    for i, case in enumerate(cases):
        column, line = divmod(i, lines)
        left = box.left + column * pitch
        top = box.top + _LIST_HEADER + line * height
        if line == 0:
            _write_level_names(page, payload, levels, left + count + 4, box.top + _LIST_HEADER - 8)
        _draw_entry(page, case, style, count, levels, Box(left, top, left + pitch - _LIST_GAP, top + height))


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
