"""Exact probabilities, against an enumeration of every outcome and numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veilgym.envs.core.records import convert
from veilgym.envs.hidden_system.evaluator import gold_answer, latent_trace, present_probability
from veilgym.envs.hidden_system.grammar import HiddenSystem, LatentStep

ADD = ("a", "ADD", 0.9)
VETO = ("v", "VETO", 0.6)
SETTER = ("s", "x", 0.5)
GATED_ADD = ("f", "ADD", 0.8, ("x", "IS_SET", None))
GATED_VETO = ("f", "VETO", 0.8, ("x", "IS_SET", None))


def probability(system, events, **attributes):
    vocabulary = {name: (level,) for name, level in attributes.items()}
    return present_probability(convert(system, HiddenSystem, "system"), attributes, list(events), vocabulary)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_evaluator__equals_brute_force_in_every_field(data, system_documents, brute_force):
    file = data.draw(system_documents)
    system, vocabulary = convert(file["hidden_system"], HiddenSystem, "system"), file["attribute_vocabulary"]
    for case in (file["query_case"], *file["support_cases"]):
        attributes, events = case["attributes"], case["events"]
        steps = latent_trace(system, attributes, events, vocabulary)
        expected = brute_force(file["hidden_system"], attributes, events)
        assert [step.event for step in steps] == events
        for step, wanted in zip(steps, expected, strict=True):
            assert step.present_probability == pytest.approx(wanted["present_probability"], rel=0, abs=1e-12)
            assert step.invalidated_probability == pytest.approx(wanted["invalidated_probability"], rel=0, abs=1e-12)
            assert step.flag_probabilities == pytest.approx(wanted["flag_probabilities"], rel=0, abs=1e-12)
            numbers = step.present_probability, step.invalidated_probability, *step.flag_probabilities.values()
            assert all(0 <= number <= 1 for number in numbers)
        exact = present_probability(system, attributes, events, vocabulary)
        assert exact == steps[-1].present_probability


@pytest.mark.parametrize(
    ("rules", "events", "expected"),
    [
        ([ADD], "a", 0.9),
        ([ADD], "aa", 0.99),
        ([ADD, VETO], "av", 0.36),
        ([ADD, VETO], "va", 0.36),
        ([ADD, VETO], "ava", 0.396),  # an early veto persists: without the rest of the trial 0.936
        ([ADD, VETO], "vav", 0.144),
        ([SETTER, GATED_ADD], "sf", 0.4),
        ([SETTER, GATED_ADD], "fs", 0.0),  # the flag comes too late
        ([SETTER, GATED_ADD], "sff", 0.48),
        ([SETTER, GATED_ADD], "ssf", 0.6),
        ([ADD, SETTER, GATED_VETO], "asf", 0.54),
        ([ADD, SETTER, GATED_VETO], "afs", 0.9),
        ([ADD, SETTER, GATED_VETO], "sfa", 0.54),
        # One flag carries two effects: adding and vetoing are not independent.
        ([SETTER, GATED_ADD, ("g", "VETO", 0.5, ("x", "IS_SET", None))], "sfg", 0.2),
        ([SETTER, GATED_ADD, ("g", "ADD", 0.5, ("x", "EQ", False))], "sfg", 0.65),
        # Rules of one event act in stored order, each on the state that the one before has left.
        ([("e", "x", 0.5), ("e", "ADD", 0.8, ("x", "IS_SET", None))], "e", 0.4),
        ([("e", "ADD", 0.8, ("x", "IS_SET", None)), ("e", "x", 0.5)], "e", 0.0),
        ([("e", "ADD", 0.8, ("x", "IS_SET", None)), ("e", "x", 0.5)], "ee", 0.4),
        ([("e", "ADD", 0.9), ("e", "VETO", 0.5, ("record", "EQ", "PRESENT"))], "e", 0.45),
        ([("e", "VETO", 0.5, ("record", "EQ", "PRESENT")), ("e", "ADD", 0.9)], "e", 0.9),
        ([("e", "VETO", 0.5), ("e", "ADD", 0.9, ("invalidated", "EQ", False))], "e", 0.45),
        ([ADD, VETO, ("w", "x", 1.0, ("invalidated", "IS_SET", None)), GATED_ADD], "avwf", 0.36),
        ([("a", "ADD", 0.5, ("record", "EQ", "ABSENT"))], "aaa", 0.875),
        # Both of two contradictory conditions never hold.
        ([SETTER, ("f", "ADD", 1.0, ("x", "IS_SET", None), ("x", "EQ", False))], "sf", 0.0),
        ([ADD], "z", 0.0),
    ],
)
def test_present_probability__of_systems_worked_out_by_hand(written, rules, events, expected):
    assert probability(written(*rules), events) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("operator", "value", "opens_at"),
    [
        ("EQ", 4, {4}),
        ("EQ", 4.0, {4}),
        ("EQ", 4.5, set()),
        ("LE", 4, {1, 4}),
        ("LE", 4.5, {1, 4}),
        ("LE", 3.999, {1}),
        ("LE", 0, set()),
        ("GT", 4, {7}),
        ("GT", 3.5, {4, 7}),
        ("GT", 7, set()),
        ("GT", -(2**60), {1, 4, 7}),
        ("LE", 2**60, {1, 4, 7}),
        ("EQ", 2**60, set()),
        ("EQ", 2**15, set()),
    ],
)
def test_present_probability__opens_gates_at_the_right_levels(written, operator, value, opens_at):
    system = written(("a", "ADD", 0.9, ("dose", operator, value)), dose=[1, 4, 7])
    assert {level for level in (1, 4, 7) if probability(system, "a", dose=level) == 0.9} == opens_at
    assert all(probability(system, "a", dose=level) in (0.0, 0.9) for level in (1, 4, 7))


def test_present_probability__levels_at_the_ends_of_their_range(written):
    for level in (-(2**15), 2**15 - 1):
        above = written(("a", "ADD", 1.0, ("dose", "GT", level)), dose=[0])
        below = written(("a", "ADD", 1.0, ("dose", "LE", level)), dose=[0])
        at = written(("a", "ADD", 1.0, ("dose", "EQ", level)), dose=[0])
        assert [probability(system, "a", dose=level) for system in (above, below, at)] == [0.0, 1.0, 1.0]


def test_present_probability__does_not_depend_on_the_order_of_attributes(written):
    rules = [("a", "ADD", 0.9, ("dose", "LE", 2), ("age", "GT", 2)), ("v", "VETO", 0.5, ("age", "EQ", 1))]
    system = convert(written(*rules, dose=[1, 3], age=[1, 3]), HiddenSystem, "system")
    for vocabulary in ({"dose": (1, 3), "age": (1, 3)}, {"age": (1, 3), "dose": (1, 3)}):
        for attributes in ({"dose": 1, "age": 3}, {"age": 3, "dose": 1}):
            assert present_probability(system, attributes, ["a", "v"], vocabulary) == 0.9
            assert latent_trace(system, attributes, ["a", "v"], vocabulary)[-1].present_probability == 0.9


def test_present_probability__long_sequences_stay_in_the_unit_interval(written):
    system = written(("a", "ADD", 0.1), ("a", "x", 0.3), ("a", "y", 0.7))
    assert probability(system, "a" * 500) == pytest.approx(1.0, abs=1e-12)
    assert probability(system, "a" * 500) <= 1.0
    assert probability(written(("a", "ADD", 1.0)), "a" * 500) == 1.0


def test_latent_trace__worked_out_by_hand(written):
    system = convert(written(SETTER, ADD, GATED_VETO), HiddenSystem, "system")
    steps = latent_trace(system, {}, list("safa"), {})
    assert [step.present_probability for step in steps] == pytest.approx([0.0, 0.9, 0.54, 0.594], abs=1e-15)
    assert [step.invalidated_probability for step in steps] == pytest.approx([0.0, 0.0, 0.4, 0.4], abs=1e-15)
    assert [step.flag_probabilities for step in steps] == [{"x": 0.5}] * 4
    assert steps[0] == LatentStep("s", 0.0, 0.0, {"x": 0.5})


@pytest.mark.parametrize(
    ("exact", "answer"),
    [(0.0, "ABSENT"), (0.5, "ABSENT"), (math.nextafter(0.5, 1), "PRESENT"), (0.42, "ABSENT"), (1.0, "PRESENT")],
)
def test_gold_answer__is_present_above_one_half(exact, answer):
    assert gold_answer(exact) == answer


def test_evaluator__refuses_unknown_attributes_and_missing_levels(written):
    system = convert(written(("a", "ADD", 0.9, ("dose", "GT", 3)), dose=[1]), HiddenSystem, "system")
    for evaluate in (present_probability, latent_trace):
        with pytest.raises(ValueError, match=r"rules\[0\].conditions\[0\].key: got 'dose', allowed is one of age"):
            evaluate(system, {"age": 3}, ["a"], {"age": (3,)})
        with pytest.raises(ValueError, match=r"attributes: got \{\}, allowed is a level for each of dose"):
            evaluate(system, {}, ["a"], {"dose": (1,)})
        with pytest.raises(ValueError, match=r"attributes: got \{'dose': 1, 'age': 3\}"):
            evaluate(system, {"dose": 1, "age": 3}, ["a"], {"dose": (1,)})


@pytest.mark.parametrize("level", [2, 0, -1, 10**400, 1.5])
def test_evaluator__refuses_a_level_outside_the_vocabulary(written, level):
    system = convert(written(("a", "ADD", 0.9, ("dose", "GT", 3)), dose=[1, 4]), HiddenSystem, "system")
    for evaluate in (present_probability, latent_trace):
        with pytest.raises(ValueError, match=r"^attributes\.dose: got .*, allowed is one of the levels 1, 4$"):
            evaluate(system, {"dose": level}, ["a"], {"dose": (1, 4)})


@pytest.mark.parametrize("value", [10**400, math.inf, -math.inf, math.nan], ids=["huge", "inf", "-inf", "nan"])
def test_evaluator__a_condition_with_an_impossible_number_is_refused_by_name(written, value):
    document = written(("a", "ADD", 0.9, ("dose", "LE", value)), dose=[1])
    with pytest.raises(ValueError, match=r"conditions\[0\]\.value: got .*allowed is"):
        probability(document, "a", dose=1)
