"""Inference: small truth tables, the closure against the search, and the checking of proofs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from veilgym.envs.dynamic_world.grammar import Expression, ProofFact, Query, WorldEvent
from veilgym.envs.dynamic_world.inference import close, shortest_proof, stated_fact
from veilgym.envs.dynamic_world.payload import renderer_payload
from veilgym.envs.dynamic_world.program import INFERENCE_RULES
from veilgym.envs.dynamic_world.verification import verify_proof


def relate(number: int, relation: str, left: str, right: str) -> WorldEvent:
    names = {"ABOVE": ("higher", "lower"), "MEMBER": ("entity", "set"), "SUBSET": ("child_set", "parent_set")}
    first, second = names.get(relation, ("left_set", "right_set"))
    arguments = {"relation": relation, first: left, second: right}
    participants = [left, right]
    if relation == "ABOVE":
        arguments["region"] = "R1"
        participants.append("R1")
    return WorldEvent(f"V{number:05d}", number, "RELATE", participants, arguments)


TABLE = [
    relate(1, "ABOVE", "E1", "E2"),
    relate(2, "ABOVE", "E2", "E3"),
    relate(3, "MEMBER", "E1", "S1"),
    relate(4, "SUBSET", "S1", "S2"),
    relate(5, "DISJOINT", "S2", "S3"),
    relate(6, "ABOVE", "E1", "E3"),
    relate(7, "SUBSET", "S3", "S4"),
]


@pytest.mark.parametrize(
    ("predicate", "left", "right", "time", "expected"),
    [
        ("ABOVE", "E1", "E2", 1, ("YES", ["V00001"])),
        ("ABOVE", "E1", "E3", 1, None),
        ("ABOVE", "E1", "E3", 2, ("YES", ["V00001", "V00002"])),
        ("ABOVE", "E1", "E3", 6, ("YES", ["V00006"])),
        ("ABOVE", "E3", "E1", 2, ("NO", ["V00001", "V00002"])),
        ("BELOW", "E3", "E1", 2, ("YES", ["V00001", "V00002"])),
        ("ABOVE", "E1", "E1", 9, None),
        ("MEMBER", "E1", "S1", 9, ("YES", ["V00003"])),
        ("MEMBER", "E1", "S2", 9, ("YES", ["V00003", "V00004"])),
        ("MEMBER", "E1", "S3", 4, None),
        ("MEMBER", "E1", "S3", 5, ("NO", ["V00003", "V00004", "V00005"])),
        ("MEMBER", "E1", "S4", 9, None),
        ("MEMBER", "E2", "S1", 9, None),
    ],
)
def test_truth_table(predicate: str, left: str, right: str, time: int, expected: object) -> None:
    proof = shortest_proof(TABLE, Query(predicate, (left, right), time))  # type: ignore[arg-type]
    assert (proof and (proof.answer, proof.event_ids)) == expected


def test_other_predicates_are_refused() -> None:
    with pytest.raises(ValueError, match="got 'CAUSES'"):
        shortest_proof(TABLE, Query("CAUSES", ("E1", "E2"), 9))


def test_closure_of_the_table() -> None:
    facts = {fact for event in TABLE if (fact := stated_fact(event))}
    derived = close(facts, INFERENCE_RULES) - facts
    assert derived == {
        ("BELOW", "E2", "E1"),
        ("BELOW", "E3", "E2"),
        ("BELOW", "E3", "E1"),
        ("MEMBER", "E1", "S2"),
        ("NOT MEMBER", "E1", "S3"),
    }
    assert close([("CONNECTED", "a", "b")], INFERENCE_RULES) == {("CONNECTED", "a", "b"), ("CONNECTED", "b", "a")}


def test_closure_follows_the_rules_it_is_given() -> None:
    facts = [fact for event in TABLE if (fact := stated_fact(event))]
    assert close(facts, INFERENCE_RULES[1:2]) == {*facts, *(("BELOW", b, a) for r, a, b in facts if r == "ABOVE")}
    nested = Expression("IMPLIES", ("x", Expression("ABOVE", ("x", "y"))))
    with pytest.raises(ValueError, match="no fact with two arguments"):
        close(facts, [nested])


def test_the_closure_holds_what_the_proof_concludes(length: int, worlds: SimpleNamespace) -> None:
    for world in worlds.records(length)[:4]:
        facts = [fact for event in world.events if (fact := stated_fact(event))]
        closure = close(facts, world.hidden_program.inference_rules)
        left, right = world.query.arguments
        query = (world.query.predicate, left, right)
        refuted = ("BELOW", left, right) if query[0] == "ABOVE" else ("NOT MEMBER", left, right)
        assert (query in closure, refuted in closure) == (
            (True, False) if world.gold_answer == "YES" else (False, True)
        )
        assert not any(("BELOW", b, c) in closure for a, b, c in closure if a == "ABOVE")
        assert not any(("NOT MEMBER", b, c) in closure for a, b, c in closure if a == "MEMBER")


def test_recorded_proofs_pass_the_checker(length: int, worlds: SimpleNamespace) -> None:
    for world in worlds.records(length):
        payload = renderer_payload(world)
        verify_proof(payload, world.gold_answer, world.proof_event_ids, world.proof_facts)
        wrong = "NO" if world.gold_answer == "YES" else "YES"
        with pytest.raises(ValueError, match="does not decide"):
            verify_proof(payload, wrong, world.proof_event_ids, world.proof_facts)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="proof of 'MAYBE': allowed is YES or NO"):
            verify_proof(payload, "MAYBE", world.proof_event_ids, world.proof_facts)  # type: ignore[arg-type]


def test_the_checker_finds_every_damage(length: int, worlds: SimpleNamespace) -> None:
    for world in worlds.records(length)[:12]:
        payload, events, facts = renderer_payload(world), world.proof_event_ids, world.proof_facts
        moved = next(event.id for event in payload.events if event.kind == "MOVE")
        other = ProofFact(facts[0].relation, facts[0].arguments[::-1])
        damaged = [
            (events[1:], facts[1:]),
            (events[:-1], facts[:-1]),
            ([*events[:2], *events[3:]], [*facts[:2], *facts[3:]]),
            (events[:-1], facts),
            ([moved, *events[1:]], facts),
            (["V99999", *events[1:]], facts),
            (events, [other, *facts[1:]]),
            ([], []),
        ]
        for some_events, some_facts in damaged:
            with pytest.raises(ValueError, match="proof"):
                verify_proof(payload, world.gold_answer, some_events, some_facts)
