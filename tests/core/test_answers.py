"""Answers to a question with two options: what is accepted, what each earns, and what is said of the rest."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from veilgym.envs.core.answers import REWARDS, SMALLEST, Refusal, read_answer, scoring_of

ACCURACY, BRIER, LOG = map(scoring_of, REWARDS)
PROPER = pytest.mark.parametrize("scoring", [BRIER, LOG], ids=["brier", "log"])
EVERY = pytest.mark.parametrize("scoring", [ACCURACY, BRIER, LOG], ids=REWARDS)
HUGE = 10**5000  # Python refuses to print it


def score(scoring, answers, probability, swapped=False):
    """Rewards of many answers at one probability, or of one answer at many."""
    answers, probability = np.broadcast_arrays(np.asarray(answers, float), np.asarray(probability, float))
    given = answers.astype(np.int64) if scoring is ACCURACY else answers[:, None]
    return scoring.reward(given, probability, np.full(len(answers), swapped))


def refusal_of(scoring, action):
    """The code and the sentence for the action of one env."""
    answers, codes = read_answer(scoring, action)
    assert answers.shape == (1, *scoring.shape)
    assert answers.dtype == scoring.dtype
    assert codes.shape == (1,)
    code = int(codes[0])
    assert code == 0 or not answers.any()  # nothing of a refused answer is left
    return Refusal(code), scoring.explain(code, action)


# Accuracy


@pytest.mark.parametrize(
    ("answer", "probability", "swapped", "expected"),
    [
        (0, 0.9, False, 1.0),  # the first option, and it is the more probable one
        (1, 0.9, False, 0.0),
        (0, 0.1, False, 0.0),
        (1, 0.1, False, 1.0),
        (0, 0.9, True, 0.0),  # shown the other way round, 0 is the second option
        (1, 0.9, True, 1.0),
        (0, 0.1, True, 1.0),
        (1, 0.1, True, 0.0),
        (0, 1.0, False, 1.0),
        (1, 0.0, False, 1.0),
        (0, math.nextafter(0.5, 1), False, 1.0),
        (1, math.nextafter(0.5, 0), False, 1.0),
    ],
)
def test_accuracy__is_one_for_the_more_probable_option_as_shown(answer, probability, swapped, expected):
    assert score(ACCURACY, [answer], probability, swapped).tolist() == [expected]


def test_accuracy__scores_each_element_by_its_own_question():
    reward = ACCURACY.reward(
        np.array([0, 0, 1, 1]), np.array([0.9, 0.9, 0.9, 0.1]), np.array([False, True, True, False])
    )
    assert reward.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert reward.dtype == np.float64


# Proper scores


@pytest.mark.parametrize(
    ("scoring", "answer", "probability", "expected"),
    [
        (BRIER, 1.0, 1.0, 1.0),
        (BRIER, 0.0, 1.0, 0.0),
        (BRIER, 0.0, 0.0, 1.0),
        (BRIER, 0.5, 0.9, 0.75),
        (BRIER, 0.9, 0.9, 0.91),  # 1 - 0.9 * 0.01 - 0.1 * 0.81
        (BRIER, 0.2, 0.7, 0.54),  # 1 - 0.7 * 0.64 - 0.3 * 0.04
        (LOG, 1.0, 1.0, 0.6931461805594453),
        (LOG, 0.0, 1.0, -13.122363377404328),
        (LOG, 0.5, 0.123, 0.0),
        (LOG, 0.25, 0.75, -0.4184941083929179),  # log(2) + 0.75 log(1/4) + 0.25 log(3/4)
        (LOG, 1.0, 0.5, -6.214608598422192),  # log(2) + log(1 - 1e-6) / 2 + log(1e-6) / 2, to 1e-10
    ],
)
def test_proper_score__of_hand_computed_cases(scoring, answer, probability, expected):
    assert score(scoring, [answer], probability)[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(answer=st.floats(0, 1), probability=st.floats(0, 1))
def test_proper_score__is_the_mean_over_outcomes(answer, probability):
    p = min(max(answer, SMALLEST), 1 - SMALLEST)
    brier = probability * (1 - (1 - answer) ** 2) + (1 - probability) * (1 - (0 - answer) ** 2)
    assert score(BRIER, [answer], probability)[0] == pytest.approx(brier, abs=1e-12)
    log = math.log(2) + probability * math.log(p) + (1 - probability) * math.log(1 - p)
    assert score(LOG, [answer], probability)[0] == pytest.approx(log, abs=1e-9)


@PROPER
def test_proper_score__is_highest_at_the_exact_probability(scoring):
    grid = np.linspace(0, 1, 101)
    for probability in grid:
        scores = score(scoring, grid, probability)
        assert np.argmax(scores) == np.flatnonzero(grid == probability)[0]
        others = np.delete(scores, np.argmax(scores))
        assert others.max() < scores.max()
        # Falls on both sides, ever further.
        assert (np.diff(scores[grid <= probability]) > 0).all()
        assert (np.diff(scores[grid >= probability]) < 0).all()


@PROPER
def test_proper_score__does_not_depend_on_the_order_shown_and_mirrors(scoring):
    grid = np.linspace(0, 1, 21)
    straight, swapped = score(scoring, grid, 0.3), score(scoring, grid, 0.3, swapped=True)
    assert straight.tolist() == swapped.tolist()
    assert score(scoring, 1 - grid, 0.7) == pytest.approx(straight, rel=1e-9)


def test_log_score__is_finite_and_bounded_at_the_ends():
    ends = [0.0, 1e-300, 1e-7, 1 - 1e-9, 1.0]
    for probability in (0.0, 0.5, 1.0):
        scores = score(LOG, ends, probability)
        assert np.isfinite(scores).all()
        assert (scores >= math.log(2) + math.log(SMALLEST) - 1e-12).all()
        assert (scores <= math.log(2)).all()


@given(probability=st.floats(0, 1))
def test_log_score__is_what_an_answer_adds_to_one_half(probability):
    assert score(LOG, [0.5], probability)[0] == pytest.approx(0, abs=1e-15)
    assert score(LOG, [probability], probability)[0] >= -1e-15  # so calibrated answers earn no less than refused ones


# Reading


@pytest.mark.parametrize(
    "action",
    [0, 1, np.int64(1), np.int8(0), np.uint64(1), np.array(1), np.array(0, np.uint8)],
    ids=repr,
)
def test_read_answer__takes_an_option_of_any_integer_type(action):
    answers, codes = read_answer(ACCURACY, action)
    assert (answers.tolist(), codes.tolist()) == ([int(action)], [0])


@PROPER
@pytest.mark.parametrize(
    "action",
    [
        np.array([0.25], np.float32),
        np.array([0.25]),
        np.array([0.25], np.float16),
        np.array([0.25], np.longdouble),
        [0.25],
        (0.25,),
        np.array([1]),
        np.array([0], np.uint64),
        np.array([-0.0]),
    ],
    ids=repr,
)
def test_read_answer__takes_a_probability_of_any_number_type(scoring, action):
    answers, codes = read_answer(scoring, action)
    assert (answers.tolist(), codes.tolist()) == ([[float(action[0])]], [0])


@EVERY
def test_read__takes_what_the_space_samples(scoring):
    scoring.single_space.seed(0)
    for _ in range(50):
        action = scoring.single_space.sample()
        assert refusal_of(scoring, action) == (Refusal.NONE, "")


UNKNOWN, SHAPE, TYPE, NO_PROBABILITY = (
    Refusal.UNKNOWN_OPTION,
    Refusal.WRONG_SHAPE,
    Refusal.WRONG_TYPE,
    Refusal.NO_PROBABILITY,
)


@pytest.mark.parametrize(
    ("action", "code", "words"),
    [
        (2, UNKNOWN, ("answer 2 is unknown", "0 and 1")),
        (-1, UNKNOWN, ("answer -1 is unknown", "0 and 1")),
        (2**40, UNKNOWN, (str(2**40),)),
        (2**62, UNKNOWN, (str(2**62),)),
        (-(2**63), UNKNOWN, ("-9223372036854775808",)),
        (2**64 + 1, UNKNOWN, (str(2**64 + 1),)),  # not 1
        (2**64, UNKNOWN, (str(2**64),)),  # not 0
        (np.uint64(2**64 - 1), UNKNOWN, ("answer 18446744073709551615",)),
        (np.array(7), UNKNOWN, ("7",)),
        (HUGE, UNKNOWN, ("digits", "0 and 1")),
        (-HUGE, UNKNOWN, ("digits", "0 and 1")),
        (0.0, TYPE, ("answer 0.0 is of type float", "integers 0 and 1")),
        (1.0, TYPE, ("1.0", "float")),
        (np.float32(1), TYPE, ("answer 1.0 is of type float32", "integers")),
        (math.nan, TYPE, ("nan", "float")),
        (math.inf, TYPE, ("inf", "float")),
        (True, TYPE, ("answer True is of type bool",)),
        (np.True_, TYPE, ("answer True is of type bool",)),
        (np.array(True), TYPE, ("array(True)", "bool")),
        ("0", TYPE, ("answer '0' is of type str",)),
        (b"0", TYPE, ("b'0'", "bytes")),
        (None, TYPE, ("answer None is of type NoneType",)),
        ([0], TYPE, ("[0]", "list")),
        ({"answer": 0}, TYPE, ("{'answer': 0}", "dict")),
        (1j, TYPE, ("1j", "complex")),
        (Decimal(1), TYPE, ("Decimal('1')", "Decimal")),
        (np.array([0]), SHAPE, ("array([0]) has shape (1,)", "a single integer")),
        (np.zeros((2, 2), int), SHAPE, ("(2, 2)",)),
        (np.zeros(0, int), SHAPE, ("(0,)",)),
        (np.array([0.0]), TYPE, ("float64",)),
        (np.array("0"), TYPE, ("<U1",)),
        (np.array(None), TYPE, ("object",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_accuracy__refuses_with_a_code_and_a_sentence(action, code, words):
    found, reason = refusal_of(ACCURACY, action)
    assert found == code
    assert all(word in reason for word in (*words, "allowed")), reason
    assert len(reason) < 200


@PROPER
@pytest.mark.parametrize(
    ("action", "code", "words"),
    [
        (np.array([math.nan]), NO_PROBABILITY, ("nan", "numbers from 0 to 1")),
        (np.array([math.inf], np.float32), NO_PROBABILITY, ("inf", "numbers from 0 to 1")),
        (np.array([-math.inf]), NO_PROBABILITY, ("-inf",)),
        (np.array([-0.1]), NO_PROBABILITY, ("answer array([-0.1]) is not a probability", "numbers from 0 to 1")),
        (np.array([1.1]), NO_PROBABILITY, ("1.1",)),
        (np.array([math.nextafter(1, 2)]), NO_PROBABILITY, ("1.",)),
        (np.array([-5e-324]), NO_PROBABILITY, ("-",)),
        ([1.1], NO_PROBABILITY, ("[1.1]",)),
        (np.array([2]), NO_PROBABILITY, ("2",)),
        ([2**64 - 1], NO_PROBABILITY, ("18446744073709551615",)),
        (np.array([1e308]), NO_PROBABILITY, ("e+308",)),
        (0.5, SHAPE, ("answer 0.5 has shape ()", "(1,)")),
        (np.float32(0.5), SHAPE, ("answer 0.5 has shape ()", "(1,)")),
        (1, SHAPE, ("answer 1 has shape ()", "(1,)")),
        (np.array(0.5), SHAPE, ("()", "(1,)")),
        (np.zeros(2), SHAPE, ("has shape (2,)", "(1,)")),
        (np.zeros((1, 1)), SHAPE, ("(1, 1)", "(1,)")),
        (np.zeros(0), SHAPE, ("(0,)", "(1,)")),
        ([], SHAPE, ("[]", "(0,)")),
        (True, TYPE, ("answer True is of type bool", "one number")),
        (np.True_, TYPE, ("answer True is of type bool",)),
        ([True], TYPE, ("[True]",)),
        (np.array([True]), TYPE, ("bool",)),
        ("0.5", TYPE, ("answer '0.5' is of type str", "one number")),
        (["0.5"], TYPE, ("['0.5']", "list")),
        (None, TYPE, ("answer None is of type NoneType",)),
        ([None], TYPE, ("[None]", "list")),
        ({"p": 0.5}, TYPE, ("{'p': 0.5}", "dict")),
        (np.array([0.5 + 0j]), TYPE, ("complex128",)),
        (np.array([0.5], object), TYPE, ("object",)),
        ([[0.5], [0.5, 0.5]], TYPE, ("list",)),
        (HUGE, TYPE, ("digits", "int")),
        ([HUGE], TYPE, ("list",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_proper__refuses_with_a_code_and_a_sentence(scoring, action, code, words):
    found, reason = refusal_of(scoring, action)
    assert found == code
    assert all(word in reason for word in (*words, "allowed")), reason
    assert len(reason) < 200


@EVERY
def test_explain__says_nothing_of_an_accepted_answer_and_what_to_do_after_the_end(scoring):
    assert scoring.explain(Refusal.NONE, 0) == ""
    reason = scoring.explain(Refusal.EPISODE_OVER, 0)
    assert "episode is over" in reason
    assert "reset" in reason


def test_explain__cuts_a_long_answer_short():
    assert len(ACCURACY.explain(Refusal.WRONG_TYPE, "x" * 10**6)) < 200
    assert len(ACCURACY.explain(Refusal.WRONG_TYPE, [[0] * 1000] * 1000)) < 300
    assert len(BRIER.explain(Refusal.WRONG_SHAPE, np.zeros(10**6))) < 200


# Batches


def test_read__of_a_batch_judges_each_element():
    answers, codes = ACCURACY.read(np.array([0, 1, 2, -1]), 4)
    assert answers.tolist() == [0, 1, 0, 0]
    assert codes.tolist() == [0, 0, UNKNOWN, UNKNOWN]
    answers, codes = BRIER.read(np.array([[0.5], [np.nan], [1.0], [1.5], [-np.inf]], np.float32), 5)
    assert answers.tolist() == [[0.5], [0.0], [1.0], [0.0], [0.0]]
    assert codes.tolist() == [0, NO_PROBABILITY, 0, NO_PROBABILITY, NO_PROBABILITY]
    assert answers.dtype == np.float64


@pytest.mark.parametrize(
    ("scoring", "actions", "code"),
    [
        (ACCURACY, np.zeros(3), TYPE),
        (ACCURACY, np.zeros(3, bool), TYPE),
        (ACCURACY, np.array(["0", "1", "0"]), TYPE),
        (ACCURACY, np.zeros((3, 1), int), SHAPE),
        (ACCURACY, np.zeros((3, 1)), TYPE),
        (BRIER, np.zeros(3), SHAPE),
        (BRIER, np.zeros((3, 2)), SHAPE),
        (BRIER, np.zeros((3, 1), bool), TYPE),
        (BRIER, np.zeros((3, 1), complex), TYPE),
        (BRIER, np.array([["0"]] * 3), TYPE),
    ],
)
def test_read__refuses_a_malformed_batch_everywhere(scoring, actions, code):
    answers, codes = scoring.read(actions, 3)
    assert codes.tolist() == [code] * 3
    assert answers.shape == (3, *scoring.shape)
    assert not answers.any()


@EVERY
@pytest.mark.parametrize("actions", [None, 0, 0.5, "010", {}, np.zeros(2, int), np.zeros((4, 1)), [], np.int64(0)])
def test_read__raises_for_what_is_not_batched(scoring, actions):
    with pytest.raises(ValueError, match="actions must be batched over 3 envs, got shape"):
        scoring.read(actions, 3)


@EVERY
def test_read__does_not_keep_or_change_the_callers_array(scoring):
    actions = np.zeros((3, *scoring.shape), scoring.dtype)
    answers, _ = scoring.read(actions, 3)
    assert not np.shares_memory(answers, actions)
    answers[...] = 1
    assert not actions.any()


# Choosing


def test_scoring_of__gives_the_named_scoring_with_its_space():
    assert [scoring.name for scoring in (ACCURACY, BRIER, LOG)] == ["accuracy", "brier", "log"]
    assert ACCURACY.single_space == spaces.Discrete(2)
    assert BRIER.single_space == LOG.single_space == spaces.Box(0, 1, (1,), np.float32)
    assert [scoring.entries for scoring in (ACCURACY, BRIER, LOG)] == [2, 0, 0]


@pytest.mark.parametrize("reward", ["Accuracy", "mse", "", None, 0, True, ["brier"]], ids=repr)
def test_scoring_of__names_the_value_and_what_is_allowed(reward):
    with pytest.raises(ValueError, match=r"reward must be one of 'accuracy', 'brier', 'log', got") as error:
        scoring_of(reward)
    assert repr(reward) in str(error.value)
