"""The support cases as heat: a strip for single events, a matrix for pairs and lists for the rest, or one long list.

The table is for payloads like the generated ones: few events with short names, attributes of two levels, up to three
events in a case. Any other payload gets the list.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from veilgym.envs.core.canvas import MUTED, PANEL, Box
from veilgym.envs.core.page import Page, spread, widest
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload
from veilgym.envs.hidden_system.rendering.case_list import draw_list
from veilgym.envs.hidden_system.rendering.cells import (
    Style,
    chain_width,
    count_text,
    draw_cell,
    write_chain,
)
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

_COLUMN_GAP = 28
_TYPE = 10.0


class Grid(NamedTuple):
    """Cells of one size.

    Attributes:
        left, top: Of the first cell.
        width, height: Of a cell, with the space around it.
    """

    left: float
    top: float
    width: float
    height: float

    def cell(self, row: int, column: int) -> Box:
        """What is painted of a cell, in whole pixels."""
        x, y = self.left + column * self.width, self.top + row * self.height
        return Box(round(x) + 2, round(y) + 2, round(x + self.width) - 2, round(y + self.height) - 3)


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
    draw_list(page, payload, style, box)
    return False


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
    width = min((box.width - _ROW_NAME) / len(names), _WIDEST_CELL)
    height = min((box.height - _HEADER - _BETWEEN) / (len(names) + 1), _HIGHEST_CELL)
    strip = Grid(box.left + _ROW_NAME, box.top + _HEADER, width, height)
    matrix = strip._replace(top=strip.top + height + _BETWEEN)
    _write_head(page, names, strip, "One event")
    _write_head(page, names, matrix, "Two events")
    page.write((box.left + 96, matrix.top - _HEADER), "row: the first, column: the second", _TYPE, MUTED)
    first = {case.events: case for group in groups if not group.is_again for case in group.cases}
    for i, one in enumerate(names):
        _fill_cell(page, first.get((one,)), style, strip.cell(0, i))
        page.write((matrix.left - 8, matrix.top + (i + 0.5) * height - 5), one, 11, align="right", bold=True)
        for j, two in enumerate(names):
            _fill_cell(page, first.get((one, two)), style, matrix.cell(i, j))


def _write_head(page: Page, names: Sequence[str], grid: Grid, caption: str) -> None:
    page.caption((grid.left - _ROW_NAME, grid.top - _HEADER), caption)
    for i, name in enumerate(names):
        page.write((grid.left + (i + 0.5) * grid.width, grid.top - 9), name, 11, align="center", bold=True)


def _fill_cell(page: Page, case: BehaviorCase | None, style: Style, box: Box) -> None:
    if case is None:
        page.fill([box], PANEL)
    else:
        draw_cell(page, case, style, box)


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
