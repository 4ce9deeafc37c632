"""One trial by the book, and programs as arrays, against an enumeration of every outcome."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from veilgym.envs.core.records import convert
from veilgym.envs.hidden_system.execution import (
    FIRST_FLAG_BIT,
    INVALIDATED_BIT,
    MOST_FLAGS,
    PRESENT_BIT,
    State,
    activate,
    compile_system,
    holds,
    mass_where,
    propagate,
    run_trial,
    start,
)
from veilgym.envs.hidden_system.grammar import Condition, HiddenSystem

often = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


class Scripted:
    """A random generator whose numbers make the triggers fire as told."""

    def __init__(self, triggers):
        self.left = list(triggers)

    def random(self):
        return 0.0 if self.left.pop(0) else 1.0 - 2.0**-53


def outcome_of(state: State):
    return state.record == "PRESENT", state.invalidated, frozenset(state.flags)


def run(system, attributes, events, seed=0):
    return run_trial(convert(system, HiddenSystem, "system"), attributes, events, np.random.default_rng(seed))


@often
@given(data=st.data())
def test_run_trial__ends_where_the_triggers_lead(data, system_documents, every_path):
    file = data.draw(system_documents)
    system, query = convert(file["hidden_system"], HiddenSystem, "system"), file["query_case"]
    for path in every_path(file["hidden_system"], query["attributes"], query["events"]):
        rng = Scripted(path.triggers)
        state = run_trial(system, query["attributes"], query["events"], rng)
        assert outcome_of(state) == path.states[-1]
        assert rng.left == []  # a rule is tried if and only if its conditions hold


def test_run_trial__starts_absent_and_without_flags():
    state = State()
    assert outcome_of(state) == (False, False, frozenset())
    state.flags.add("x")
    assert State().flags == set()


@pytest.mark.parametrize(
    ("events", "present", "invalidated", "flags"),
    [
        ("a", True, False, set()),
        ("v", False, True, set()),
        ("av", False, True, set()),
        ("va", False, True, set()),
        ("avaaa", False, True, set()),
        ("s", False, False, {"x"}),
        ("sf", True, False, {"x"}),
        ("fs", False, False, {"x"}),
        ("fsf", True, False, {"x"}),
        ("n", False, False, set()),
    ],
)
def test_run_trial__of_certain_rules(written, events, present, invalidated, flags):
    system = written(("a", "ADD", 1.0), ("v", "VETO", 1.0), ("s", "x", 1.0), ("f", "ADD", 1.0, ("x", "IS_SET", None)))
    assert outcome_of(run(system, {}, events)) == (present, invalidated, flags)


def test_run_trial__rules_of_an_event_act_in_stored_order(written):
    sets, adds = ("e", "x", 1.0), ("e", "ADD", 1.0, ("x", "IS_SET", None))
    assert run(written(sets, adds), {}, "e").record == "PRESENT"
    assert run(written(adds, sets), {}, "e").record == "ABSENT"
    assert run(written(adds, sets), {}, "ee").record == "PRESENT"


def test_run_trial__a_failed_rule_leaves_the_next_one_to_be_tried(written):
    system = written(("e", "VETO", 0.0), ("e", "ADD", 1.0), ("e", "x", 0.0))
    assert outcome_of(run(system, {}, "eee")) == (True, False, frozenset())


def test_run_trial__frequencies_agree_with_the_exact_probability(written, brute_force):
    """The bound fails with a probability below 1e-7 for a lawful simulator, and the seed is fixed."""
    system = written(
        ("s", "x", 0.4),
        ("s", "y", 0.5, ("dose", "GT", 3)),
        ("a", "ADD", 0.7, ("x", "EQ", False)),
        ("a", "ADD", 0.9, ("y", "IS_SET", None)),
        ("v", "VETO", 0.35, ("record", "EQ", "PRESENT"), ("dose", "LE", 6)),
        ("v", "x", 0.8, ("invalidated", "EQ", True)),
        dose=[1, 6],
    )
    program, rng, trials = convert(system, HiddenSystem, "system"), np.random.default_rng(5), 12_000
    for dose, events in ((6, "saavas"), (1, "sava")):
        ends = [outcome_of(run_trial(program, {"dose": dose}, events, rng)) for _ in range(trials)]
        exact = brute_force(system, {"dose": dose}, events)[-1]
        expected = {
            exact["present_probability"]: sum(present for present, _, _ in ends),
            exact["invalidated_probability"]: sum(invalidated for _, invalidated, _ in ends),
            exact["flag_probabilities"]["x"]: sum("x" in flags for *_, flags in ends),
        }
        for probability, count in expected.items():
            assert 0.05 < probability < 0.95
            assert stats.binomtest(count, trials, probability).pvalue > 1e-8


@pytest.mark.parametrize("level", [-3, 0, 3, 4])
@pytest.mark.parametrize("value", [3, 3.0, 2.5, -0.5, 2**40, -(2**40)])
def test_holds__compares_numbers(level, value):
    results = [
        holds(Condition("attribute", "dose", operator, value), {"dose": level}, State())
        for operator in ("EQ", "LE", "GT")
    ]
    assert results == [level == value, level <= value, level > value]


def bits_of(state, flags):
    present, invalidated, raised = state
    bits = PRESENT_BIT * present + INVALIDATED_BIT * invalidated
    return bits + sum(FIRST_FLAG_BIT << i for i, name in enumerate(flags) if name in raised)


@often
@given(data=st.data())
def test_propagate__gives_every_state_its_probability(data, system_documents, every_path):
    file = data.draw(system_documents)
    query, vocabulary = file["query_case"], file["attribute_vocabulary"]
    system = convert(file["hidden_system"], HiddenSystem, "system")
    program = compile_system(system, file["event_vocabulary"], vocabulary)
    active, mass = np.zeros(len(system.rules), np.bool_), np.full(program.states, 0.125)
    activate(program.bounds, np.array([query["attributes"][name] for name in vocabulary], np.int64), active)
    start(mass)
    for event in query["events"]:
        propagate(program.rules, program.probability, active, file["event_vocabulary"].index(event), mass)
    expected = np.zeros_like(mass)
    for path in every_path(file["hidden_system"], query["attributes"], query["events"]):
        expected[bits_of(path.states[-1], program.flags)] += path.probability
    assert np.abs(mass - expected).max() <= 1e-12
    assert (mass >= 0).all()
    for bit in (PRESENT_BIT, INVALIDATED_BIT, *(FIRST_FLAG_BIT << i for i in range(len(program.flags)))):
        assert mass_where(mass, bit) == pytest.approx(expected[np.arange(mass.size) & bit > 0].sum(), abs=1e-12)


def test_compile_system__names_every_flag_that_is_set_or_tested_once(written):
    system = written(
        ("e", "ADD", 0.5, ("seen", "IS_SET", None), ("record", "EQ", "ABSENT"), ("invalidated", "EQ", False)),
        ("e", "x", 0.5, ("x", "EQ", False)),
        ("e", "y", 0.5, ("seen", "EQ", True)),
    )
    program = compile_system(convert(system, HiddenSystem, "system"), ["e"], {})
    assert program.flags == ("seen", "x", "y")
    assert program.states == 32


def test_compile_system__refuses_too_many_flags_and_says_how_many_are_allowed(written):
    flags = [("e", f"flag {i}", 0.5) for i in range(MOST_FLAGS + 1)]
    compile_system(convert(written(*flags[:-1]), HiddenSystem, "system"), ["e"], {})
    with pytest.raises(ValueError, match=rf"got {MOST_FLAGS + 1} different flags.*at most {MOST_FLAGS}"):
        compile_system(convert(written(*flags), HiddenSystem, "system"), ["e"], {})
