"""Worlds to test on, and second implementations that share no code with the package: they read JSON only."""

from __future__ import annotations

import functools
import json
from types import SimpleNamespace
from typing import Any

import clingo
import numpy as np
import pytest

from veilgym.envs.core.records import to_json
from veilgym.envs.dynamic_world import generate_worlds, renderer_payload
from veilgym.envs.dynamic_world.grammar import WorldSkeleton

Json = dict[str, Any]


@functools.cache
def some_worlds(length: int, count: int = 60, seed: int = 5) -> list[WorldSkeleton]:
    return list(generate_worlds(count, length, seed))


@functools.cache
def skeletons(length: int, count: int = 60, seed: int = 5) -> list[Json]:
    return [json.loads(to_json(world)) for world in some_worlds(length, count, seed)]


@functools.cache
def payloads(length: int, count: int = 60, seed: int = 5) -> list[Json]:
    return [json.loads(to_json(renderer_payload(world))) for world in some_worlds(length, count, seed)]


def replay(world: Json) -> Json:
    """Let the events change the initial state, checking that each holds in the state it meets."""
    state = json.loads(json.dumps(world["initial_state"]))
    order = {entity["id"]: number for number, entity in enumerate(world["entities"])}
    lists = {
        "ABOVE": ("directed_order_relations", "higher", "lower"),
        "MEMBER": ("memberships", "entity", "set"),
        "SUBSET": ("subset_relations", "child_set", "parent_set"),
        "DISJOINT": ("disjoint_relations", "left_set", "right_set"),
        "CONNECTED": ("connections", "left_entity", "right_entity"),
    }
    times = [event["time"] for event in world["events"]]
    assert times == sorted(set(times))
    assert 1 <= times[0] <= times[-1] <= world["simulation_steps"]
    for event in world["events"]:
        a = event["arguments"]
        if event["kind"] == "MOVE":
            assert state["locations"][a["entity"]] == a["origin"] != a["destination"]
            state["locations"][a["entity"]] = a["destination"]
        elif event["kind"] == "UPDATE_NUMBER":
            change = {"ADD": a["amount"], "SUBTRACT": -a["amount"]}[a["operator"]]
            assert state["numeric_values"][a["counter"]] == a["before"] == a["after"] - change
            assert a["amount"] > 0 <= a["after"]
            state["numeric_values"][a["counter"]] = a["after"]
        elif event["kind"] == "SET_STATE":
            assert state["boolean_flags"][a["entity"]][a["flag"]] is a["before"] is not a["after"]
            state["boolean_flags"][a["entity"]][a["flag"]] = a["after"]
        else:
            field, left, right = lists[a["relation"]]
            pair = [a[left], a[right]]
            assert pair[0] != pair[1]
            if a["relation"] == "ABOVE":
                assert state["locations"][a["higher"]] == a["region"]
            if a["relation"] in ("DISJOINT", "CONNECTED"):
                pair.sort(key=order.__getitem__)
            assert pair not in state[field]
            state[field].append(pair)
    for field, *_ in lists.values():
        state[field].sort(key=lambda pair: (order[pair[0]], order[pair[1]]))
    return state


def stated(events: list[Json], relation: str) -> list[tuple[str, str]]:
    """The two related symbols of every RELATE event of a relation."""
    names = {
        "ABOVE": ("higher", "lower"),
        "MEMBER": ("entity", "set"),
        "SUBSET": ("child_set", "parent_set"),
        "DISJOINT": ("left_set", "right_set"),
        "CONNECTED": ("left_entity", "right_entity"),
    }
    facts = [event["arguments"] for event in events if event["arguments"].get("relation") == relation]
    return [(fact[names[relation][0]], fact[names[relation][1]]) for fact in facts]


def matrix(events: list[Json], relation: str, numbers: dict[str, int]) -> np.ndarray[Any, Any]:
    """The relation as a matrix of zeros and ones."""
    result = np.zeros((len(numbers), len(numbers)), np.float32)
    for left, right in stated(events, relation):
        result[numbers[left], numbers[right]] = 1
    return result


def proof_length(payload: Json) -> tuple[str, int] | None:
    """The answer and the least number of events that imply it, by powers of matrices."""
    query, events = payload["query"], payload["events"]
    numbers = {name: number for number, name in enumerate(payload["entity_types"])}
    left, right = (numbers[name] for name in query["arguments"])
    above, member = matrix(events, "ABOVE", numbers), matrix(events, "MEMBER", numbers)
    subset, disjoint = matrix(events, "SUBSET", numbers), matrix(events, "DISJOINT", numbers)
    is_order = query["predicate"] == "ABOVE"
    reached = above if is_order else member
    for length in range(1, len(numbers)):
        if reached[left, right]:
            return "YES", length
        if is_order and reached[right, left]:
            return "NO", length
        if not is_order and (reached @ disjoint)[left, right]:
            # One event more for the disjointness; a proof of that length would come first.
            assert not (reached @ subset)[left, right]
            return "NO", length + 1
        reached = np.minimum(reached @ (above if is_order else subset), 1)
    return None


RULES = """
above(X, Y) :- stated_above(X, Y).
above(X, Z) :- stated_above(X, Y), above(Y, Z).
below(Y, X) :- above(X, Y).
member(X, B) :- member(X, A), subset(A, B).
not_member(X, B) :- member(X, A), disjoint(A, B).
wrong :- above(X, Y), above(Y, X).
wrong :- member(X, A), not_member(X, A).
"""


def decide(payload: Json, only: set[str] | None = None, is_symmetric: bool = False) -> str | None:
    """The answer by an answer-set solver that knows the rules of inference and the public events, or some of them."""
    # The closure of a relation is the same when one of its two steps is a stated one, and found much faster.
    names = {"ABOVE": "stated_above", "MEMBER": "member", "SUBSET": "subset", "DISJOINT": "disjoint"}
    events = [event for event in payload["events"] if only is None or event["id"] in only]
    facts = [
        f'{names[relation]}("{left}","{right}").' for relation in names for left, right in stated(events, relation)
    ]
    left, right = payload["query"]["arguments"]
    if payload["query"]["predicate"] == "ABOVE":
        answers = f'yes :- above("{left}","{right}"). no :- below("{left}","{right}").'
    else:
        answers = f'yes :- member("{left}","{right}"). no :- not_member("{left}","{right}").'
    control = clingo.Control(["--warn=none"])
    mirrored = "disjoint(A, B) :- disjoint(B, A)." if is_symmetric else ""
    control.add("base", [], "\n".join([*facts, RULES, answers, mirrored, "#show yes/0. #show no/0. #show wrong/0."]))
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        (atoms,) = ({str(atom) for atom in model.symbols(shown=True)} for model in models)
    assert "wrong" not in atoms
    assert len(atoms) <= 1
    return {"yes": "YES", "no": "NO"}[atoms.pop()] if atoms else None


def degrees(payload: Json, symbol: str) -> tuple[int, ...]:
    """How many facts of the relations that matter have the symbol on either side."""
    relations = ("ABOVE",) if payload["query"]["predicate"] == "ABOVE" else ("SUBSET", "DISJOINT", "MEMBER")
    pairs = [(stated(payload["events"], relation), side) for relation in relations for side in (0, 1)]
    return tuple(sum(pair[side] == symbol for pair in facts) for facts, side in pairs)


@pytest.fixture(scope="session")
def second() -> SimpleNamespace:
    """The second implementations."""
    return SimpleNamespace(replay=replay, stated=stated, proof_length=proof_length, decide=decide, degrees=degrees)


@pytest.fixture(scope="session")
def worlds() -> SimpleNamespace:
    """Worlds of a length: as records, as JSON, and the public half as JSON."""
    return SimpleNamespace(records=some_worlds, skeletons=skeletons, payloads=payloads)


@pytest.fixture(scope="session", params=[4, 6, 8], ids=["short", "medium", "long"])
def length(request: pytest.FixtureRequest) -> int:
    return int(request.param)
