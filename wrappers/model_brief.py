"""What a language model is told to render, family by family: instructions, records in parts, and the frame around them.

All of it is made from the payload, the public half; a skeleton is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from veilgym.envs.core.fidelity import Code, Fault
from veilgym.envs.dynamic_world import fidelity as world_fidelity
from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES, WorldPayload
from veilgym.envs.hidden_system import fidelity as system_fidelity
from veilgym.envs.hidden_system.grammar import BehaviorPayload

Payload = BehaviorPayload | WorldPayload

_TASK = """You rewrite a public record as prose for a reader who will be asked a question about it. You choose a \
scenario (a workshop, a garden, a museum, ...) and give every symbol one name in it; nothing else of the record may \
change.

Reply with two blocks and nothing else:
NAMES
SYMBOL = name
LINES
ID: sentence

Names: one a line, for every symbol that is listed; two or three plain words, all different, none inside \
another, never one of the words {labels} or an id. Use a name exactly as you have given it, once for each time \
the record has its symbol.
Lines: one for each record, in the given order, each beginning with its id and a colon. Keep every number as \
digits and write no other number. Never negate, round, estimate, explain, generalise or conclude; say nothing of\
 rules, causes, chances or the answer.
"""
_SYSTEM = """
A record of this kind sums up repeated trials: events applied in order under fixed attributes, and how often the\
 outcome was PRESENT and how often ABSENT. On its line, say the attributes, each by its name and right after it \
its level; the events by their names, in their order, joined by "then"; and the outcome in this form: "PRESENT \
in 12 of 48 trials and ABSENT in 36". The record Q has not been run: say its attributes and events in the same \
way and ask which outcome is more likely.

Example of a line: C7: With lamp height 3 and water depth 8, we did the bell ring, then the slow turn; the \
outcome was PRESENT in 12 of 48 trials and ABSENT in 36.
Example of the last line: Q: With lamp height 3 and water depth 2, we do the slow turn, then the bell ring. \
Which outcome is more likely?
"""
_WORLD = """
A record of this kind is an initial fact or an event of one history; an event's sentence begins with its step. \
The words for a relation stand between the two names:
LOCATED_IN(x, r): x is in r. EQUAL(c, n): c reads n.
MOVE(x, a, b): x went from a to b.
ABOVE(x, y, r): in r, x is above y; or: in r, y is below x. You may also use higher than, ahead of, outranks, \
lower than, behind, outranked by.
MEMBER(x, s): x joined s; x is a member of s. SUBSET(s, t): s is a part of t; s is contained in t.
DISJOINT(s, t): s is entirely separate from t. CONNECTED(x, y): x is linked to y.
UPDATE_NUMBER(c, ADD, n, before, after): c rose by n, from before to after; with SUBTRACT: c fell by n, from \
before to after.
SET_STATE(x, flag, before, after): the mark "flag" of x went from on to off, or from off to on; keep the word \
flag as it is.
The line Q asks the question, as of its time, with "?" at its end.

Example of a line: V00012: step 15, in the glass hall, the tin soldier is above the paper kite.
Example of the last line: Q: as of step 90, is the paper kite a member of the blue guild?
"""


class Brief(ABC):
    """How payloads of one family are put to a model."""

    def __init__(self, payload: Any) -> None:
        self.payload = payload

    @property
    @abstractmethod
    def system(self) -> str:
        """The instructions."""

    @property
    @abstractmethod
    def symbols(self) -> list[str]:
        """The symbols that need a name."""

    @property
    @abstractmethod
    def query_id(self) -> str:
        """What the line of the query begins with."""

    @abstractmethod
    def parts(self, size: int) -> list[Any]:
        """The payload in parts of at most `size` records; only the last asks the query."""

    @abstractmethod
    def records(self, part: Any, is_last: bool) -> list[str]:
        """The records of a part, one a line."""

    @abstractmethod
    def check(self, part: Any, text: str, names: Mapping[str, str]) -> list[Fault]:
        """The faults of a text that tells a part."""

    @abstractmethod
    def frame(self, names: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """What we write before and after the model's lines: who is who, and how to answer."""

    def compose(self, names: Mapping[str, str], lines: Sequence[str]) -> str:
        """The whole problem."""
        before, after = self.frame(names)
        return "\n".join([*before, "", *lines, "", *after])

    def check_part(self, part: Any, lines: Sequence[str], names: Mapping[str, str], is_last: bool) -> list[Fault]:
        """The faults of the lines of a part."""
        faults = self.check(part, self.compose(names, lines), names)
        if is_last:
            return faults
        of_query = (Code.QUERY_MISSING, Code.ID_MISSING)
        return [fault for fault in faults if not (fault.id == self.query_id and fault.code in of_query)]


class SystemBrief(Brief):
    """For hidden systems."""

    payload: BehaviorPayload

    @property
    def system(self) -> str:  # noqa: D102
        return _TASK.format(labels="PRESENT, ABSENT") + _SYSTEM

    @property
    def symbols(self) -> list[str]:  # noqa: D102
        return [*self.payload.event_vocabulary, *self.payload.attribute_vocabulary]

    @property
    def query_id(self) -> str:  # noqa: D102
        return self.payload.query_case.id

    def parts(self, size: int) -> list[BehaviorPayload]:  # noqa: D102
        cases = self.payload.support_cases
        return [
            msgspec.structs.replace(self.payload, support_cases=cases[i : i + size]) for i in range(0, len(cases), size)
        ]

    def records(self, part: BehaviorPayload, is_last: bool) -> list[str]:  # noqa: D102
        cases = [*part.support_cases, *([part.query_case] if is_last else [])]
        return [msgspec.json.encode(case, order="deterministic").decode() for case in cases]

    def check(self, part: BehaviorPayload, text: str, names: Mapping[str, str]) -> list[Fault]:  # noqa: D102
        return system_fidelity.check(part, text, names)

    def frame(self, names: Mapping[str, str]) -> tuple[list[str], list[str]]:  # noqa: D102
        vocabulary = self.payload.attribute_vocabulary
        levels = [f"{names[name]} ({' or '.join(map(str, values))})" for name, values in vocabulary.items()]
        first, second = self.payload.answer_options
        before = [
            "Each entry sums up repeated trials of one and the same system; the last entry has not been run.",
            "Every trial starts anew, with the outcome absent, and trials do not affect each other.",
            "The events of an entry are applied in the order in which they are written; its settings stay as they are.",
            "The outcome is what is there at the end of a trial. Settle which one is more likely in the last entry.",
            "",
            f"Events: {'; '.join(names[name] for name in self.payload.event_vocabulary)}.",
            f"Settings and the values that they can have: {'; '.join(levels)}." if levels else "There are no settings.",
        ]
        return before, [_closing(first, second)]


class WorldBrief(Brief):
    """For dynamic worlds."""

    payload: WorldPayload

    @property
    def system(self) -> str:  # noqa: D102
        return _TASK.format(labels="YES, NO, active, sealed") + _WORLD

    @property
    def symbols(self) -> list[str]:  # noqa: D102
        return list(self.payload.entity_types)

    @property
    def query_id(self) -> str:  # noqa: D102
        return world_fidelity.QUERY

    def parts(self, size: int) -> list[WorldPayload]:  # noqa: D102
        records = [*self.payload.initial_observations, *self.payload.events]
        facts = len(self.payload.initial_observations)
        return [
            msgspec.structs.replace(
                self.payload,
                initial_observations=records[i : min(i + size, facts)],
                events=records[max(i, facts) : i + size],
            )
            for i in range(0, len(records), size)
        ]

    def records(self, part: WorldPayload, is_last: bool) -> list[str]:  # noqa: D102
        facts = [f"{fact.id}: {fact.relation}{_arguments(fact.arguments)}" for fact in part.initial_observations]
        events = []
        for event in part.events:
            values = [value for name, value in event.arguments.items() if name != "relation"]
            head = event.arguments.get("relation", event.kind)
            events.append(f"{event.id}: step {event.time}, {head}{_arguments(values)}")
        query = f"Q: {part.query.predicate}{_arguments(part.query.arguments)} as of step {part.query.time}?"
        return [*facts, *events, *([query] if is_last else [])]

    def check(self, part: WorldPayload, text: str, names: Mapping[str, str]) -> list[Fault]:  # noqa: D102
        return world_fidelity.check(part, text, names)

    def frame(self, names: Mapping[str, str]) -> tuple[list[str], list[str]]:  # noqa: D102
        words: dict[str, str] = dict(zip(ENTITY_TYPES, ("Entities", "Sets", "Regions", "Counters"), strict=True))
        by_type: dict[str, list[str]] = {kind: [] for kind in words}
        for symbol, kind in self.payload.entity_types.items():
            by_type[kind].append(names[symbol])
        before = [
            "First what holds at the start, then everything that happened since, in the order of time.",
            "",
            *(f"{words[kind]}: {'; '.join(found)}." for kind, found in by_type.items() if found),
        ]
        first, second = self.payload.answer_options
        return before, [_closing(first, second)]


def _closing(first: str, second: str) -> str:
    return f'End your reply with a line that is either "Answer: {first}" or "Answer: {second}".'


def _arguments(values: Sequence[Any]) -> str:
    shown = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return f"({', '.join(shown)})"


def brief_of(payload: Payload) -> Brief:
    """The brief for a payload.

    Raises:
        ValueError: it is not a payload: a skeleton has the answer, which no model may see.
    """
    if type(payload) is BehaviorPayload:
        return SystemBrief(payload)
    if type(payload) is WorldPayload:
        return WorldBrief(payload)
    raise ValueError(f"payload must be a BehaviorPayload or a WorldPayload, got a {type(payload).__name__}")


def request(brief: Brief, part: Any, names: Mapping[str, str] | None, is_last: bool) -> str:
    """What the model is asked for one part.

    Args:
        brief: Of the payload.
        part: One of its parts.
        names: Those that an earlier part has fixed; None for the first part, which has to give them.
        is_last: Whether the part asks the query.
    """
    return "\n".join([*_names_wanted(brief, names), "", "Records:", *brief.records(part, is_last)])


def _names_wanted(brief: Brief, names: Mapping[str, str] | None) -> Iterator[str]:
    if names is not None:
        yield "The names are settled; reply with the block LINES alone."
        yield from (f"{symbol} = {name}" for symbol, name in names.items())
    elif isinstance(brief.payload, WorldPayload):
        yield "Symbols to be named, by type:"
        yield from (f"{symbol} ({kind})" for symbol, kind in brief.payload.entity_types.items())
    else:
        yield f"Events to be named: {', '.join(brief.payload.event_vocabulary)}"
        yield f"Attributes to be named: {', '.join(brief.payload.attribute_vocabulary)}"
