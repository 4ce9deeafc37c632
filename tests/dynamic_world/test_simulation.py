"""The evolution of worlds: replay, consistency, the program as data, determinism."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from veilgym.envs.dynamic_world.grammar import EVENT_FORMS, HiddenProgram
from veilgym.envs.dynamic_world.program import expression, make_program
from veilgym.envs.dynamic_world.task import DEFAULT_TRANSITIONS, Task, Transition, make_task
from veilgym.envs.dynamic_world.transitions import compile_transitions
from veilgym.envs.dynamic_world.worlds import Simulator, Worlds, make_worlds


def arrays(batch: Worlds) -> list[np.ndarray]:
    """The defined part of a batch."""
    events = [rows[:count] for rows, count in zip(batch.events, batch.num_events, strict=True)]
    return [batch.initial, batch.num_events, batch.queries, batch.is_yes, batch.proofs, *events]


def assert_equal(left: Worlds, right: Worlds) -> None:
    for a, b in zip(arrays(left), arrays(right), strict=True):
        np.testing.assert_array_equal(a, b)


def test_replay_reaches_the_final_state(length: int, worlds: SimpleNamespace, second: SimpleNamespace) -> None:
    for world in worlds.skeletons(length):
        assert second.replay(world) == world["final_state"]
        assert world["final_state"] != world["initial_state"]


def test_initial_state_is_complete_and_without_relations(length: int, worlds: SimpleNamespace) -> None:
    for world in worlds.skeletons(length):
        state, by_type = world["initial_state"], Counter(entity["type"] for entity in world["entities"])
        assert by_type == {"Entity": 56, "Set": 48, "Region": 8, "Number": 16}
        assert len(state["locations"]) == len(state["boolean_flags"]) == 56
        assert len(state["numeric_values"]) == 16
        assert not any(value for name, value in state.items() if name.endswith(("relations", "memberships")))


def test_order_and_subsets_join_adjacent_hidden_levels(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    for world in worlds.skeletons(length):
        level = world["initial_state"]["hidden_generation_attributes"]["levels"]
        edges = second.stated(world["events"], "ABOVE") + second.stated(world["events"], "SUBSET")
        assert edges
        assert all(level[right] == level[left] + 1 for left, right in edges)


def test_no_membership_contradicts_a_disjointness(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    """Neither of an entity nor of a set, read both ways round."""
    for world in worlds.skeletons(length):
        above = {}
        for entity in world["entities"]:
            if entity["type"] == "Set":
                above[entity["id"]] = {entity["id"]}
        for _ in above:
            for child, parent in second.stated(world["events"], "SUBSET"):
                above[child] |= above[parent]
        inside = dict(above)
        for entity, group in second.stated(world["events"], "MEMBER"):
            inside[entity] = inside.get(entity, set()) | above[group]
        disjoint = second.stated(world["events"], "DISJOINT")
        assert disjoint
        assert not any({left, right} <= groups for left, right in disjoint for groups in inside.values())


def test_about_four_hundred_events_of_all_forms(length: int) -> None:
    batch = make_worlds(make_task(length), 300, seed=1)
    assert 350 <= batch.num_events.mean() <= 450
    forms = np.concatenate([rows[:n, 1] for rows, n in zip(batch.events, batch.num_events, strict=True)])
    per_world = np.bincount(forms, minlength=len(EVENT_FORMS)) / 300
    assert (per_world > 20).all()
    # The lowest rate of an accepted step is far from the padding.
    assert batch.num_events.max() < 500


def test_a_world_depends_on_its_index_alone() -> None:
    task = make_task(6)
    whole = make_worlds(task, 12, seed=3)
    assert len({rows[:50].tobytes() for rows in whole.events}) == 12
    for i in (0, 5, 11):
        alone = make_worlds(task, 1, seed=3, first=i)
        assert_equal(alone, Worlds(*(getattr(whole, name)[i : i + 1] for name in whole.__dataclass_fields__)))


def test_seeds_and_splits_share_nothing() -> None:
    task = make_task(4)
    base = make_worlds(task, 2, seed=3)
    for other in (make_worlds(task, 2, seed=4), make_worlds(task, 2, seed=3, split="test")):
        assert not np.array_equal(base.events[0, :50], other.events[0, :50])
        assert not np.array_equal(base.events[1, :50], other.events[0, :50])


def test_another_process_makes_the_same_bytes() -> None:
    code = (
        "import hashlib; from veilgym.envs.dynamic_world import generate_worlds; "
        "from veilgym.envs.core.records import to_json; "
        "print(hashlib.sha256(b''.join(map(to_json, generate_worlds(3, 'medium', 9)))).hexdigest())"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


def change(program: HiddenProgram, rule_id: str, **changes: object) -> HiddenProgram:
    rules = tuple(
        msgspec.structs.replace(rule, **changes) if rule.id == rule_id else rule for rule in program.transition_rules
    )
    return msgspec.structs.replace(program, transition_rules=rules)


def forms_of(program: HiddenProgram, task: Task, count: int = 40) -> np.ndarray:
    keys, indices = np.full(count, 7, np.uint64), np.arange(count, dtype=np.uint64)
    batch = Simulator(task, program).make(keys, indices)
    rows = [rows[:n, 1] for rows, n in zip(batch.events, batch.num_events, strict=True)]
    return np.bincount(np.concatenate(rows), minlength=len(EVENT_FORMS)) / count


def test_the_simulation_executes_the_program() -> None:
    """Editing the data changes what happens: a probability, a precondition, an effect, the constants of a draw."""
    task = make_task(4)
    program = make_program(task)
    plain = forms_of(program, task)
    assert forms_of(change(program, "connected", probability=0.0), task)[5] == 0
    assert forms_of(change(program, "move", preconditions=()), task)[0] > 1.1 * plain[0]
    tighter = (expression("COMPARE", "<", expression("COUNT", expression("CONNECTED", "left_entity", "*")), 1),)
    assert forms_of(change(program, "connected", preconditions=tighter), task)[5] < 0.9 * plain[5]
    swapped = (expression("RELATE", "CONNECTED", "right_entity", "left_entity"),)
    keys, indices = np.full(1, 7, np.uint64), np.zeros(1, np.uint64)
    before, after = (
        Simulator(task, p).make(keys, indices) for p in (program, change(program, "connected", effects=swapped))
    )
    rows = before.events[0, :, 1] == 5
    np.testing.assert_array_equal(before.events[0, rows][:10, 2:4], after.events[0, rows][:10, 3:1:-1])


@pytest.mark.parametrize(
    ("rule_id", "changes"),
    [
        ("move", {"effects": (expression("TELEPORT", "entity"),)}),
        ("move", {"effects": (expression("MOVE", "entity", "origin", "entity"),)}),
        ("move", {"preconditions": (expression("OR", "origin", "destination"),)}),
        ("above", {"preconditions": (expression("NOT", expression("ABOVE", "higher", "region")),)}),
        ("update_number", {"preconditions": (expression("COMPARE", ">", "after", 0),)}),
        ("update_number", {"preconditions": (expression("COMPARE", ">=", "counter", 0),)}),
    ],
)
def test_what_cannot_be_compiled_is_refused(rule_id: str, changes: dict[str, object]) -> None:
    program = change(make_program(Task()), rule_id, **changes)
    with pytest.raises(ValueError, match=f"transition rule '{rule_id}': cannot compile"):
        compile_transitions(program)


def test_weights_and_probabilities_are_parameters() -> None:
    transitions = {**DEFAULT_TRANSITIONS, "set_state": Transition(100, 0.0), "connected": Transition(0, 1.0)}
    batch = make_worlds(replace(Task(), transitions=transitions), 20, seed=0)
    forms = np.concatenate([rows[:n, 1] for rows, n in zip(batch.events, batch.num_events, strict=True)])
    assert not np.isin(forms, [5, 7]).any()
    assert np.isin([0, 1, 2, 3, 4, 6], forms).all()
