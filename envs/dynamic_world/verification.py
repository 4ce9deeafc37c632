"""Checking a recorded proof against the public record alone: nothing here knows how worlds or proofs are made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from veilgym.envs.dynamic_world.grammar import Answer, EventForm, ProofFact, WorldEvent, WorldPayload, form_of


def verify_proof(
    payload: WorldPayload, answer: Answer, proof_event_ids: Sequence[str], proof_facts: Sequence[ProofFact]
) -> None:
    """Check that the named events state the facts, and that these form a chain which decides the query.

    The answer YES needs a chain from the first argument to the second: of ABOVE, or one MEMBER and then SUBSET. NO
    needs a chain of ABOVE from the second to the first; or one MEMBER, any number of SUBSET and at last one DISJOINT.

    Raises:
        ValueError: the proof fails; the message says where.
    """
    if answer not in payload.answer_options:
        raise ValueError(f"proof of {answer!r}: allowed is {' or '.join(payload.answer_options)}")
    events = {event.id: event for event in payload.events}
    if len(proof_event_ids) != len(proof_facts) or not proof_facts:
        raise ValueError(f"proof: {len(proof_event_ids)} events and {len(proof_facts)} facts, allowed is one for each")
    for name, fact in zip(proof_event_ids, proof_facts, strict=True):
        if name not in events or events[name].time > payload.query.time:
            raise ValueError(f"proof event {name}: not among the events up to time {payload.query.time}")
        if _stated(events[name], form_of(events[name])) != fact:
            raise ValueError(f"proof event {name}: does not state {fact.relation}{fact.arguments}")
    for fact, following in pairwise(proof_facts):
        if fact.arguments[1] != following.arguments[0]:
            raise ValueError(f"proof: {following.relation}{following.arguments} does not follow {fact.arguments[1]}")
    _check_conclusion(payload, answer, proof_facts)


def _stated(event: WorldEvent, form: EventForm) -> ProofFact | None:
    if form.relation is None:
        return None
    (left, _), (right, _) = form.fields[:2]
    return ProofFact(form.relation, (str(event.arguments[left]), str(event.arguments[right])))


def _check_conclusion(payload: WorldPayload, answer: Answer, facts: Sequence[ProofFact]) -> None:
    predicate, arguments = payload.query.predicate, payload.query.arguments
    relations = [fact.relation for fact in facts]
    ends = facts[0].arguments[0], facts[-1].arguments[1]
    if predicate == "ABOVE":
        wanted, expected = ["ABOVE"] * len(facts), arguments if answer == "YES" else arguments[::-1]
    elif predicate == "MEMBER" and answer == "YES":
        wanted, expected = ["MEMBER", *["SUBSET"] * (len(facts) - 1)], arguments
    elif predicate == "MEMBER" and len(facts) > 1:
        wanted, expected = ["MEMBER", *["SUBSET"] * (len(facts) - 2), "DISJOINT"], arguments
    else:
        raise ValueError(f"proof of {answer} for {predicate}: no rule concludes it from {len(facts)} facts")
    if relations != wanted or ends != expected:
        raise ValueError(f"proof: {relations} from {ends[0]} to {ends[1]} does not decide {predicate}{arguments}")
