"""What a person sees of an instance: a table, or a picture.

Both are made from the public payload; what the hidden half has to say comes as a `Verdict`, after the answer.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.rendering import printable, require_matplotlib, reward_text
from veilgym.envs.hidden_system.grammar import PRESENT, BehaviorCase, BehaviorPayload

_COLUMNS = 100
_INDENT = "  "
_GUTTER = "  |  "
_BAR = 7
_NUMBERS = ("", "One event", "Two events", "Three events")


@dataclass(frozen=True)
class Verdict:
    """What may be shown once the answer has been given.

    Attributes:
        answer: What the agent said: "PRESENT", "ABSENT", or a probability as in "0.73 PRESENT".
        gold: "PRESENT" or "ABSENT".
        present_probability: The exact one, in [0, 1].
        reward: What the answer earned.
    """

    answer: str
    gold: str
    present_probability: float
    reward: float

    @property
    def stated_probability(self) -> float | None:
        """The probability of PRESENT that the answer states, None if it only takes a side."""
        match = re.fullmatch(rf"(\d+(?:\.\d+)?) {PRESENT}", self.answer)
        return None if match is None else float(match[1])

    @property
    def is_right(self) -> bool | None:
        """Whether the answer takes the side of the gold; None for a stated 0.50, which takes no side."""
        stated = self.stated_probability
        if stated is None:
            return self.answer == self.gold
        return None if stated == 0.5 else (stated > 0.5) == (self.gold == PRESENT)

    @property
    def judgement(self) -> str:
        """What there is to say of the answer in words."""
        return {True: "right", False: "wrong", None: "takes no side"}[self.is_right]

    @property
    def margin(self) -> float:
        """How far from one half the exact probability is, in [0, 0.5]."""
        return abs(self.present_probability - 0.5)


class Group(NamedTuple):
    """Cases of one number of events.

    Attributes:
        length: How many events each has.
        is_again: Whether these are only further cases of sequences that another group has.
        cases: In the order of the payload, those of one sequence side by side.
    """

    length: int
    is_again: bool
    cases: tuple[BehaviorCase, ...]

    @property
    def title(self) -> str:
        """Such as "Two events"."""
        number = _NUMBERS[self.length] if self.length < len(_NUMBERS) else f"{self.length} events"
        return f"{number} again" if self.is_again else number


def group_cases(cases: Sequence[BehaviorCase]) -> list[Group]:
    """Put the cases of each number of events together, those of one sequence side by side.

    Of single events and pairs, which a matrix shows, a sequence's first case is apart from further ones (controls).
    """
    first: dict[tuple[str, ...], BehaviorCase] = {}
    again: dict[tuple[str, ...], list[BehaviorCase]] = {}
    for case in cases:
        if first.setdefault(case.events, case) is not case:
            again.setdefault(case.events, []).append(case)
    groups = []
    for length in sorted({len(events) for events in first}):
        firsts = [case for events, case in first.items() if len(events) == length]
        if length > 2:
            cases_of = ((case, *again.get(case.events, ())) for case in firsts)
            groups.append(Group(length, False, tuple(case for cases in cases_of for case in cases)))
        else:
            further = (case for events, more in again.items() if len(events) == length for case in more)
            groups += [Group(length, False, tuple(firsts)), Group(length, True, tuple(further))]
    return [group for group in groups if group.cases]


def render_instance(payload: BehaviorPayload, verdict: Verdict | None, mode: str) -> str | NDArray[np.uint8]:
    """Show one instance.

    Args:
        payload: The public record.
        verdict: None until the answer has been given.
        mode: "ansi" or "rgb_array".

    Returns:
        "ansi": ASCII text without colour codes, 100 columns where the names allow it. "rgb_array": (H, 1280, 3) uint8;
        H is at least 720, and the same for all instances of a task.

    Raises:
        DependencyNotInstalled: a picture is asked for and matplotlib is missing.
    """
    if mode == "ansi":
        return write_table(payload, verdict)
    require_matplotlib()
    from veilgym.envs.hidden_system.rendering.drawing import draw_picture

    return draw_picture(payload, verdict)


def title_text(payload: BehaviorPayload) -> str:
    """Such as "Hidden system of 4 events"."""
    count = len(payload.event_vocabulary)
    return f"Hidden system of {count} event{'' if count == 1 else 's'}"


def write_table(payload: BehaviorPayload, verdict: Verdict | None) -> str:
    """The record as text; nothing in it but the verdict is hidden from an agent."""
    parts = [_title(payload)]
    parts += ["\n".join([group.title, *_block(group.cases, payload)]) for group in group_cases(payload.support_cases)]
    parts.append(_query(payload))
    if verdict is not None:
        parts.append(_answer(verdict))
    return "\n\n".join(parts)


def _title(payload: BehaviorPayload) -> str:
    vocabulary = payload.attribute_vocabulary.items()
    levels = "; ".join(f"{name} is {' or '.join(map(str, levels))}" for name, levels in vocabulary)
    lines = [title_text(payload)]
    lines += _wrapped("in how many of the trials the record was present after the last event", "count   ")
    return "\n".join(lines + (_wrapped(levels, "levels  ") if levels else []))


def _block(cases: Sequence[BehaviorCase], payload: BehaviorPayload) -> list[str]:
    """Lines of a table, as many cases on a line as fit."""
    names = tuple(payload.attribute_vocabulary)
    rows = [("id", "events", *names, "count", "present")] + [_row(case, names) for case in cases]
    columns = [[printable(cell) for cell in column] for column in zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    entries = [_entry(row, widths) for row in zip(*columns, strict=True)]
    share = max(1, (_COLUMNS - len(_INDENT) + len(_GUTTER)) // (len(entries[0]) + len(_GUTTER)))
    lines = [entries[:1] * min(share, len(cases))]
    lines += [entries[i : i + share] for i in range(1, len(entries), share)]
    return [(_INDENT + _GUTTER.join(line)).rstrip() for line in lines]


def _row(case: BehaviorCase, names: Sequence[str]) -> tuple[str, ...]:
    present = case.observed_present or 0
    filled = round(_BAR * present / case.trials)
    levels = (str(case.attributes[name]) for name in names)
    return (case.id, " > ".join(case.events), *levels, f"{present}/{case.trials}", "#" * filled + "." * (_BAR - filled))


def _entry(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Names flush left, numbers flush right."""
    last = len(cells) - 1
    padded = [
        cell.ljust(width) if i < 2 or i == last else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    parts = [" ".join(padded[:2]), " ".join(padded[2:-2]), " ".join(padded[-2:])]
    return "  ".join(part for part in parts if part)


def _query(payload: BehaviorPayload) -> str:
    query = payload.query_case
    lines = [*_wrapped(" > ".join(query.events), "events  ")]
    if query.attributes:
        levels = (f"{name}={query.attributes[name]}" for name in payload.attribute_vocabulary)
        lines += _wrapped(" ".join(levels), "levels  ")
    options = " or ".join(payload.answer_options)
    return "\n".join([f"Query {printable(query.id)}", *lines, f"{_INDENT}record  ?  {options}"])


def _answer(verdict: Verdict) -> str:
    exact = f"{verdict.present_probability:.4f} {PRESENT}, {verdict.margin:.4f} from one half: {verdict.gold}"
    return "\n".join(
        [
            "Answer",
            f"{_INDENT}said    {verdict.answer}: {verdict.judgement}",
            f"{_INDENT}exact   {exact}",
            f"{_INDENT}reward  {reward_text(verdict.reward)}",
        ]
    )


def _wrapped(text: str, label: str = "") -> list[str]:
    return textwrap.wrap(
        printable(text),
        _COLUMNS,
        initial_indent=_INDENT + label,
        subsequent_indent=_INDENT + " " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
