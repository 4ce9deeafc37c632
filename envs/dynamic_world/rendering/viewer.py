"""What a person sees of a world: a chronicle, or a picture.

Both are made from the public payload; what the hidden half has to say comes as a `Verdict`, after the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.rendering import printable, require_matplotlib, reward_text
from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES, Observation, WorldEvent, WorldPayload
from veilgym.envs.dynamic_world.inference import stated_fact

_COLUMNS = 100
_INDENT = "  "
_GUTTER = "   "
_KINDS = dict(
    zip(
        ENTITY_TYPES,
        (("entity", "entities"), ("set", "sets"), ("region", "regions"), ("counter", "counters")),
        strict=True,
    )
)


@dataclass(frozen=True)
class Verdict:
    """What may be shown once the answer has been given.

    Attributes:
        answer: What the agent said: "YES", "NO", or a probability as in "0.73 YES".
        gold: "YES" or "NO".
        proof: The ids of the events of a shortest proof, in the order of its chain.
        reward: What the answer earned.
    """

    answer: str
    gold: str
    proof: tuple[str, ...]
    reward: float

    @property
    def side(self) -> str | None:
        """The option that the answer takes; None for a stated 0.50."""
        share, is_stated, _ = self.answer.partition(" ")
        if not is_stated:
            return self.answer
        return None if float(share) == 0.5 else "YES" if float(share) > 0.5 else "NO"

    @property
    def judgement(self) -> str:
        """What there is to say of the answer in words."""
        if self.side is None:
            return "takes no side"
        return "right" if self.side == self.gold else "wrong"


def render_world(payload: WorldPayload, verdict: Verdict | None, mode: str) -> str | NDArray[np.uint8]:
    """Show one world.

    Args:
        payload: The public record.
        verdict: None until the answer has been given.
        mode: "ansi" or "rgb_array".

    Returns:
        "ansi": ASCII text without colour codes, 100 columns where the names allow it. "rgb_array": (720, 1280, 3)
        uint8.

    Raises:
        DependencyNotInstalled: a picture is asked for and matplotlib is missing.
    """
    if mode == "ansi":
        return write_chronicle(payload, verdict)
    require_matplotlib()
    from veilgym.envs.dynamic_world.rendering.drawing import draw_picture

    return draw_picture(payload, verdict)


def census_texts(payload: WorldPayload) -> list[str]:
    """How many symbols of each type there are, such as "56 entities"."""
    counts: Counter[str] = Counter(payload.entity_types.values())
    return [counted(counts[kind], *_KINDS[kind]) for kind in ENTITY_TYPES]


def counted(count: int, one: str, many: str) -> str:
    """Such as "1 set" or "1,000 sets"."""
    return f"{count:,} {one if count == 1 else many}"


def title_text(payload: WorldPayload) -> str:
    """Such as "Dynamic world of 128 symbols"."""
    return f"Dynamic world of {counted(len(payload.entity_types), 'symbol', 'symbols')}"


def question_text(payload: WorldPayload) -> str:
    """Such as "Is E07 above E12?"."""
    left, right = payload.query.arguments
    return f"Is {left} {'above' if payload.query.predicate == 'ABOVE' else 'a member of'} {right}?"


def event_text(event: WorldEvent) -> str:
    """What happened, such as "E07 ABOVE E12 in R03", "E07 moves R01 -> R03" or "C04 ADD 5: 12 -> 17"."""
    arguments: dict[str, Any] = event.arguments
    fact = stated_fact(event)
    if fact is not None:
        relation, left, right = fact
        place = f" in {arguments['region']}" if "region" in arguments else ""
        return f"{left} {relation} {right}{place}"
    if event.kind == "MOVE":
        return "{entity} moves {origin} -> {destination}".format(**arguments)
    if event.kind == "UPDATE_NUMBER":
        return "{counter} {operator} {amount}: {before} -> {after}".format(**arguments)
    before, after = (str(arguments[when]).lower() for when in ("before", "after"))
    return f"{arguments['entity']} {arguments['flag']}: {before} -> {after}"


def proof_events(payload: WorldPayload, verdict: Verdict) -> list[WorldEvent]:
    """The events of the proof, in the order of its chain."""
    events = {event.id: event for event in payload.events}
    return [events[event_id] for event_id in verdict.proof]


def write_chronicle(payload: WorldPayload, verdict: Verdict | None) -> str:
    """The world as text; nothing in it but the verdict is hidden from an agent."""
    parts = [_title(payload)]
    parts += _section("At the start", _in_columns([_observed(fact) for fact in payload.initial_observations]))
    parts += _section("Events", _event_lines(payload.events))
    parts += _section("Query", _query_lines(payload))
    if verdict is not None:
        parts += _section("Answer", _answer_lines(payload, verdict))
    return "\n\n".join(parts)


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["\n".join([title, *(_INDENT + line for line in lines)])] if lines else []


def _title(payload: WorldPayload) -> str:
    census = ", ".join(census_texts(payload))
    events = counted(len(payload.events), "event", "events")
    return f"{title_text(payload)}\n{_INDENT}{census}; {events} in {counted(payload.query.time, 'step', 'steps')}"


def _observed(fact: Observation) -> str:
    name, value = fact.arguments
    return printable(f"{fact.id} {name} {'in' if fact.relation == 'LOCATED_IN' else '='} {value}")


def _in_columns(entries: Sequence[str]) -> list[str]:
    """The entries in rows, as many on a line as fit."""
    width = max(map(len, entries), default=0)
    share = max(1, (_COLUMNS - len(_INDENT) + len(_GUTTER)) // (width + len(_GUTTER)))
    rows = [entries[i : i + share] for i in range(0, len(entries), share)]
    return [_GUTTER.join(entry.ljust(width) for entry in row).rstrip() for row in rows]


def _event_lines(events: Sequence[WorldEvent]) -> list[str]:
    """A line for each event: id, time, what happened."""
    width = max((len(str(event.time)) for event in events), default=0)
    return [f"{event.id} t={event.time:<{width}}  {printable(event_text(event))}" for event in events]


def _query_lines(payload: WorldPayload) -> list[str]:
    question = printable(question_text(payload))
    return [f"{question}  {' or '.join(payload.answer_options)}", f"as of t={payload.query.time}"]


def _answer_lines(payload: WorldPayload, verdict: Verdict) -> list[str]:
    lines = [
        f"said    {verdict.answer}: {verdict.judgement}",
        f"gold    {verdict.gold}",
        f"reward  {reward_text(verdict.reward)}",
        f"proof   {counted(len(verdict.proof), 'event', 'events')}",
    ]
    return lines + [_INDENT + line for line in _event_lines(proof_events(payload, verdict))]
