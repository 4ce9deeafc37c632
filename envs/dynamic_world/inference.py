"""What follows from the events of a world: the latest state, the closure under the rules, and shortest proofs.

All of it works on public records alone. A proof is a list of events and the facts that they state, in the order of the
chain; it is as short as any if no fewer events imply the same.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from veilgym.envs.dynamic_world.grammar import (
    EVENT_FORMS,
    Answer,
    Expression,
    Observation,
    PredicateName,
    ProofFact,
    Query,
    WorldEvent,
)

# Where each relation keeps its two symbols.
_SIDES = {form.relation: (form.fields[0][0], form.fields[1][0]) for form in EVENT_FORMS if form.relation}

Fact = tuple[str, str, str]
"""Relation, left and right; a negated one has the relation NOT followed by a space and its name."""


class LatestValues(NamedTuple):
    """The last known value of everything that changes; what was never seen is absent."""

    locations: dict[str, str]
    numeric_values: dict[str, int]
    boolean_flags: dict[tuple[str, str], bool]


@dataclass(frozen=True)
class Proof:
    """A shortest proof of a query's answer."""

    answer: Answer
    event_ids: list[str]
    facts: list[ProofFact]


def events_until(events: Iterable[WorldEvent], time: int) -> Iterator[WorldEvent]:
    """The events that have happened by `time`."""
    return (event for event in events if event.time <= time)


def stated_fact(event: WorldEvent) -> Fact | None:
    """The fact that a RELATE event states; None for the other kinds."""
    arguments: dict[str, Any] = event.arguments
    relation = arguments.get("relation")
    if relation is None:
        return None
    left, right = _SIDES[relation]
    return relation, arguments[left], arguments[right]


def latest_values(observations: Iterable[Observation], events: Iterable[WorldEvent], time: int) -> LatestValues:
    """Let the events up to `time` replace the values that were observed at the start, in order."""
    latest = LatestValues({}, {}, {})
    for observation in observations:
        name, value = observation.arguments
        known: dict[str, Any] = latest.locations if observation.relation == "LOCATED_IN" else latest.numeric_values
        known[name] = value
    for event in events_until(events, time):
        values: Mapping[str, Any] = event.arguments
        if event.kind == "MOVE":
            latest.locations[values["entity"]] = values["destination"]
        elif event.kind == "UPDATE_NUMBER":
            latest.numeric_values[values["counter"]] = values["after"]
        elif event.kind == "SET_STATE":
            latest.boolean_flags[values["entity"], values["flag"]] = values["after"]
    return latest


def close(facts: Iterable[Fact], rules: Sequence[Expression]) -> set[Fact]:
    """Everything that follows from facts by the rules of the form IMPLIES.

    Raises:
        ValueError: a rule's premise is not a fact or an AND of two.
    """
    implications = [_implication(rule) for rule in rules if rule.head == "IMPLIES"]
    known: set[Fact] = set()
    by_relation: defaultdict[str, list[Fact]] = defaultdict(list)
    queue = deque(facts)
    while queue:
        fact = queue.popleft()
        if fact in known:
            continue
        known.add(fact)
        by_relation[fact[0]].append(fact)
        for premises, conclusion in implications:
            for place, premise in enumerate(premises):
                binding = _unify(premise, fact, {})
                if binding is None:
                    continue
                if len(premises) == 1:
                    queue.append(_substitute(conclusion, binding))
                    continue
                other = premises[1 - place]
                for candidate in by_relation[other[0]]:
                    joined = _unify(other, candidate, binding)
                    if joined is not None:
                        queue.append(_substitute(conclusion, joined))
    return known


def _implication(rule: Expression) -> tuple[list[Fact], Fact]:
    premise, conclusion = rule.arguments
    parts = premise.arguments if isinstance(premise, Expression) and premise.head == "AND" else (premise,)
    if len(parts) > 2:
        raise ValueError(f"inference rule {rule}: the premise must be a fact or an AND of two")
    return [_pattern(part) for part in parts], _pattern(conclusion)


def _pattern(term: object) -> Fact:
    if isinstance(term, Expression) and term.head == "NOT":
        relation, left, right = _pattern(term.arguments[0])
        return f"NOT {relation}", left, right
    if not isinstance(term, Expression) or len(term.arguments) != 2:
        raise ValueError(f"inference rule: {term} is no fact with two arguments")
    return term.head, str(term.arguments[0]), str(term.arguments[1])


def _unify(pattern: Fact, fact: Fact, binding: Mapping[str, str]) -> dict[str, str] | None:
    if pattern[0] != fact[0]:
        return None
    extended = dict(binding)
    for variable, value in zip(pattern[1:], fact[1:], strict=True):
        if extended.setdefault(variable, value) != value:
            return None
    return extended


def _substitute(pattern: Fact, binding: Mapping[str, str]) -> Fact:
    return pattern[0], binding[pattern[1]], binding[pattern[2]]


_PREMISES: dict[str, tuple[PredicateName, ...]] = {
    "ABOVE": ("ABOVE",),
    "BELOW": ("ABOVE",),
    "MEMBER": ("MEMBER", "SUBSET", "DISJOINT"),
}


Edges = Mapping[str, Sequence[tuple[str, str]]]
"""The edges out of each symbol: (symbol, id of the event)."""


def shortest_proof(events: Iterable[WorldEvent], query: Query) -> Proof | None:
    """A shortest proof that the query's proposition is true, or that it is false; None if neither follows.

    Raises:
        ValueError: the query's predicate is none of ABOVE, BELOW and MEMBER.
    """
    if query.predicate not in _PREMISES:
        raise ValueError(f"query predicate must be ABOVE, BELOW or MEMBER, got {query.predicate!r}")
    edges: dict[str, defaultdict[str, list[tuple[str, str]]]]
    edges = {relation: defaultdict(list) for relation in _PREMISES[query.predicate]}
    for event in events_until(events, query.time):
        if event.arguments.get("relation") in edges:
            relation, left, right = stated_fact(event) or ("", "", "")
            edges[relation][left].append((right, event.id))
    left, right = query.arguments
    if query.predicate == "MEMBER":
        return _membership_proof(edges, left, right)
    higher, lower = (left, right) if query.predicate == "ABOVE" else (right, left)
    for answer, source, target in (("YES", higher, lower), ("NO", lower, higher)):
        trails = _breadth_first({source: []}, edges["ABOVE"], "ABOVE")
        if target in trails and source != target:
            return _proof(answer, trails[target])  # type: ignore[arg-type]
    return None


_Step = tuple[PredicateName, str, str, str]


def _breadth_first(trails: dict[str, list[_Step]], edges: Edges, relation: PredicateName) -> dict[str, list[_Step]]:
    """Extend the trails, shortest first, to every symbol that can be reached."""
    queue = deque(trails)
    while queue:
        symbol = queue.popleft()
        for other, event in edges.get(symbol, ()):
            if other not in trails:
                trails[other] = [*trails[symbol], (relation, symbol, other, event)]
                queue.append(other)
    return trails


def _membership_proof(edges: Mapping[str, Edges], entity: str, queried: str) -> Proof | None:
    direct = {group: [("MEMBER", entity, group, event)] for group, event in edges["MEMBER"].get(entity, ())}
    trails = _breadth_first(direct, edges["SUBSET"], "SUBSET")  # type: ignore[arg-type]
    if queried in trails:
        return _proof("YES", trails[queried])
    refutations = [
        [*trail, ("DISJOINT", group, other, event)]
        for group, trail in trails.items()
        for other, event in edges["DISJOINT"].get(group, ())
        if other == queried
    ]
    return _proof("NO", min(refutations, key=len)) if refutations else None


def _proof(answer: Answer, trail: Sequence[_Step]) -> Proof:
    facts = [ProofFact(relation, (left, right)) for relation, left, right, _ in trail]
    return Proof(answer, [event for *_, event in trail], facts)
