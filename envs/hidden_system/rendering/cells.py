"""What every part of the picture is made of: a cell of heat with its count, marks of levels, chains of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veilgym.envs.core.canvas import FAINT, INK, MUTED, PAPER, Align, Box, Point
from veilgym.envs.core.page import Page, contrast, measure, shade
from veilgym.envs.hidden_system.grammar import AttributeVocabulary, BehaviorCase, BehaviorPayload

HEAT = ("#edf2f7", "#b9d6ea", "#6aaed6", "#2478b4", "#08407e")
"""From no trial to all trials: one hue that only gets darker, so that it reads the same to every eye and in print."""

ARROW = "\u2192"

_ENOUGH_CONTRAST = 3.5  # for white: on the middle of the heat it reads better than dark letters of equal contrast
_MARK = 7  # largest side of a mark
_LARGEST_TYPE, _SMALLEST_TYPE = 17.0, 10.0


@dataclass(frozen=True)
class Style:
    """How the cells of a payload are written.

    Attributes:
        attributes: The levels of each attribute.
        trials: How many trials every case has, None if they differ; then a count is written with its trials.
    """

    attributes: AttributeVocabulary
    trials: int | None


def style_of(payload: BehaviorPayload) -> Style:
    """The style of a payload."""
    trials = {case.trials for case in payload.support_cases}
    return Style(payload.attribute_vocabulary, trials.pop() if len(trials) == 1 else None)


def count_text(case: BehaviorCase, style: Style) -> str:
    """What is written in a cell: "38", or "38/48" where cases differ in their trials."""
    return f"{case.observed_present}" + ("" if style.trials else f"/{case.trials}")


def draw_cell(page: Page, case: BehaviorCase, style: Style, box: Box) -> None:
    """The count on the colour of its share and, where a case has attributes, their marks beneath."""
    marks = mark_size(style, box.width)
    draw_heat(page, case, style, box._replace(bottom=box.bottom - marks - 4 if marks else box.bottom))
    if marks:
        left = (box.left + box.right - marks_width(style, marks)) / 2
        draw_marks(page, case.attributes, style, (round(left), round(box.bottom) - marks), marks)


def draw_heat(page: Page, case: BehaviorCase, style: Style, box: Box) -> None:
    """The count on the colour of its share."""
    color = shade((case.observed_present or 0) / case.trials, HEAT)
    size = min(max(round(box.height * 0.45), _SMALLEST_TYPE), _LARGEST_TYPE)
    page.fill([box], color)
    at = ((box.left + box.right) / 2, (box.top + box.bottom) / 2)
    page.write_number(at, count_text(case, style), size, ink_on(color), box.width - 2)


def ink_on(color: str) -> str:
    """White or dark, whichever reads better on a colour of the heat."""
    return PAPER if contrast(PAPER, color) >= _ENOUGH_CONTRAST else INK


def mark_size(style: Style, room: float) -> int:
    """The side of the marks of a case in a cell `room` wide."""
    return min(_MARK, int((room + 2) / len(style.attributes)) - 2) if style.attributes else 0


def marks_width(style: Style, size: int) -> float:
    """How wide the marks of a case are together."""
    return len(style.attributes) * (size + 2) - 2


def draw_marks(page: Page, levels: Mapping[str, int], style: Style, at: Point, size: int) -> None:
    """A square for each attribute from `at`, its top left corner, on: filled for the higher of two levels."""
    squares = [
        Box(at[0] + i * (size + 2), at[1], at[0] + i * (size + 2) + size, at[1] + size) for i in range(len(levels))
    ]
    is_high = [levels[name] > vocabulary[0] for name, vocabulary in style.attributes.items()]
    page.fill(squares, MUTED)
    page.fill(
        (
            Box(b.left + 1, b.top + 1, b.right - 1, b.bottom - 1)
            for b, high in zip(squares, is_high, strict=True)
            if not high
        ),
        PAPER,
    )


def chain_width(events: Sequence[str], size: float) -> float:
    """How wide `write_chain` writes."""
    return sum(measure(event, size) for event in events) + (len(events) - 1) * (measure(ARROW, size) + 6)


def write_chain(page: Page, at: Point, events: Sequence[str], size: float, align: Align = "left") -> None:
    """Events with arrows between them, each word by itself: there are too many chains to set each in type."""
    x = at[0] - (chain_width(events, size) if align == "right" else 0)
    for i, event in enumerate(events):
        if i:
            x += page.write((x + 3, at[1]), ARROW, size, FAINT) + 6
        x += page.write((x, at[1]), event, size)
