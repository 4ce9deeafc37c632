"""An agent's mistake is data: a code, a sentence with what, the value and what is allowed, no cost, no other effect."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from types import MappingProxyType

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.request import Refusal, read_prediction

GOOD = np.zeros((8, 2))
HUGE = 10**5000


def matrix(entry):
    """A list of rows with one entry replaced."""
    rows = GOOD.tolist()
    rows[4][1] = entry
    return rows


def array(entry):
    return np.array(matrix(entry))


def submission(prediction):
    return {"choice": 12, "prediction": prediction}


RECURSIVE = []
RECURSIVE.append(RECURSIVE)

SHAPES = [
    np.zeros((2, 8)),
    np.zeros(16),
    np.zeros((8, 3)),
    np.zeros((7, 2)),
    np.zeros((8, 2, 1)),
    np.zeros((1, 8, 2)),
    np.zeros((0, 2)),
    np.zeros(0),
    np.array(0.0),
    [],
    [[]] * 8,
    [0.0] * 16,
    np.zeros((2, 8)).tolist(),
    [[0.0, 0.0]] * 7,
    [*[[0.0, 0.0]] * 7, [0.0]],
    [*[[0.0, 0.0]] * 7, [0.0, 0.0, 0.0]],
    [*[[0.0, 0.0]] * 7, 0.0],
    [np.zeros(2)] * 7,
    [np.array(1.0)] * 8,
    [np.zeros((2, 1))] * 8,
]
TYPES = [
    None,
    True,
    1.0,
    "0.5",
    b"0.5",
    {},
    {"x": 1},
    object(),
    GOOD.astype(bool),
    GOOD.astype(complex),
    GOOD.astype(object),
    GOOD.astype(str),
    GOOD.astype("datetime64[s]"),
    matrix(True),
    matrix(np.True_),
    matrix("1.0"),
    matrix(None),
    matrix(1 + 0j),
    matrix([0.0]),
    matrix({}),
    GOOD[..., None].tolist(),
    [np.zeros(2, bool)] * 8,
    ["ab"] * 8,
    iter(GOOD.tolist()),
    {(0.0, 0.0)},
    RECURSIVE,
    [[HUGE, "a"]] * 8,
]
NON_FINITE = [
    array(np.nan),
    array(np.inf),
    array(-np.inf),
    matrix(np.nan),
    matrix(float("inf")),
    matrix(np.float64("-inf")),
    matrix(10**400),
    matrix(-HUGE),
    matrix(Fraction(10**400)),
    matrix(np.longdouble("1e400")),
    array(np.longdouble("1e400")),
    array(np.nan).astype(np.float32),
    array(np.inf).astype(np.float16),
]
CHOICES_OF_WRONG_TYPE = [
    True, False, np.True_, 3.0, np.float64(3.0), np.nan, "3", b"3", None, [3], (3,), {},
    np.array([3]), np.array([0, 1]),     np.array(3.0), 3 + 0j, object(), np.str_("3"), Fraction(3),
]  # fmt: skip
UNKNOWN_CHOICES = [
    -1,
    13,
    2**31,
    2**63,
    2**64 + 3,
    -(2**64),
    HUGE,
    -HUGE,
    np.int8(-1),
    np.uint64(2**64 - 1),
    np.array(13),
]
NO_MAPPINGS = [
    None,
    3,
    12,
    "submit",
    b"",
    [12, GOOD],
    (12, GOOD),
    {},
    {"prediction": GOOD},
    GOOD,
    np.int64(3),
    HUGE,
    object(),
    {1: 2},
]

CASES = [
    *((submission(prediction), Refusal.WRONG_SHAPE, "prediction") for prediction in SHAPES),
    *((submission(prediction), Refusal.WRONG_TYPE, "prediction") for prediction in TYPES),
    *((submission(prediction), Refusal.NON_FINITE_PREDICTION, "prediction") for prediction in NON_FINITE),
    *(({"choice": choice, "prediction": GOOD}, Refusal.WRONG_TYPE, "choice") for choice in CHOICES_OF_WRONG_TYPE),
    *(({"choice": choice, "prediction": GOOD}, Refusal.UNKNOWN_EXPERIMENT, "choice") for choice in UNKNOWN_CHOICES),
    *((action, Refusal.WRONG_TYPE, "action") for action in NO_MAPPINGS),
    ({"choice": 12}, Refusal.WRONG_TYPE, "prediction"),
]


@pytest.fixture
def env():
    made = gym.make("CausalCircuits-v0").unwrapped
    made.reset(seed=0)
    return made


def step(env, choice, prediction=None):
    return env.step({"choice": choice, "prediction": prediction})


def assert_refused(env, action, code):
    """Send a request that must be refused; return its reason."""
    before = copy.deepcopy(env)
    observation, reward, terminated, truncated, info = env.step(action)
    assert (info["refusal"], reward, terminated, truncated) == (code, 0.0, False, False)
    unchanged, *_ = before.step({"choice": 13, "prediction": GOOD})
    for key in unchanged:
        assert observation[key].tobytes() == unchanged[key].tobytes()
    assert env.step({"choice": 5})[0]["readouts"].tobytes() == before.step({"choice": 5})[0]["readouts"].tobytes()
    assert isinstance(info["reason"], str)
    json.dumps(info["reason"])
    return info["reason"]


@pytest.mark.parametrize(("action", "code", "what"), CASES, ids=range(len(CASES)))
def test_step__refuses_and_says_what_was_wrong_and_what_is_allowed(env, action, code, what):
    reason = assert_refused(env, action, code)
    assert what in reason
    assert "allowed" in reason
    assert len(reason) < 400
    assert not [name for name in ("np.float64(", "np.int64(", "np.str_(", "np.True_") if name in reason]


@pytest.mark.parametrize(
    ("action", "parts"),
    [
        ({"choice": 13}, ["choice 13 is unknown", "0 to 11", "12 (submit)"]),
        ({"choice": -1}, ["choice -1"]),
        ({"choice": 2.5}, ["choice is 2.5", "float", "integers"]),
        ({"choice": np.float64(2.5)}, ["choice is 2.5 of type float64"]),
        ({"choice": True}, ["choice is True of type bool"]),
        (submission(array(np.nan)), ["prediction[4, 1] is nan", "finite"]),
        (submission(matrix(-np.inf)), ["prediction[4, 1] is -inf"]),
        (submission(np.zeros((2, 8))), ["(2, 8)", "transposed", "(8, 2)", "x, y"]),
        (submission(np.zeros((8, 3))), ["(8, 3)", "(8, 2)"]),
        (submission([[0.0]] * 7 + [[0.0, 0.0]]), ["rows of different lengths", "(8, 2)"]),
        (submission(GOOD.astype(complex)), ["complex128"]),
        (submission(None), ["prediction is None"]),
        ("submit", ["'submit'", "'choice'", "'prediction'"]),
    ],
)
def test_reason__names_the_value(env, action, parts):
    reason = env.step(action)[4]["reason"]
    assert all(part in reason for part in parts), reason
    assert ("transposed" in reason) == ("transposed" in parts)


def test_reason__of_exhausted_replicates_and_credits_names_the_experiment(env):
    assert [step(env, 4)[4]["refusal"] for _ in range(2)] == [0, 0]
    info = step(env, 4)[4]
    assert info["refusal"] == Refusal.REPLICATES_EXHAUSTED
    assert "'clamp-v-0'" in info["reason"]
    assert "2 times" in info["reason"]
    for choice in (0, 1, 2, 3, 5, 6):
        assert step(env, choice)[4]["refusal"] == 0
    info = step(env, 7)[4]
    assert info["refusal"] == Refusal.NO_CREDITS
    assert "'clamp-v-3' costs 1" in info["reason"]
    assert "left are 0" in info["reason"]
    assert step(env, 4)[4]["refusal"] == Refusal.REPLICATES_EXHAUSTED  # the nearer of two reasons
    assert env.action_masks().tolist() == [False] * 12 + [True]


def test_accepted_request__has_code_zero_and_no_reason(env):
    for choice in (0, np.int64(1), np.uint8(2), np.array(3), np.int32(11)):
        info = step(env, choice)[4]
        assert (info["refusal"], info["reason"]) == (0, "")


def test_experiment__ignores_the_prediction(env):
    for prediction in ("junk", None, np.zeros((2, 8)), array(np.nan), matrix(True), object()):
        assert step(copy.deepcopy(env), 3, prediction)[4]["refusal"] == 0


@pytest.mark.parametrize(
    "prediction",
    [
        GOOD,
        GOOD + 5.0,
        GOOD - 1e308,
        GOOD.astype(int),
        GOOD.astype(np.float32),
        GOOD.astype(np.float16),
        GOOD.astype(np.longdouble),
        GOOD.astype(np.uint8),
        GOOD.tolist(),
        tuple(map(tuple, GOOD.tolist())),
        [np.zeros(2)] * 8,
        [*[(1, 2)] * 7, [np.float32(0.5), 3]],
        matrix(Fraction(1, 3)),
        matrix(10**300),
        np.asfortranarray(GOOD),
        np.zeros((16, 2))[::2],
        np.zeros((2, 8)).T,
        np.zeros((8, 2)).astype(">f8"),
    ],
    ids=lambda prediction: type(prediction).__name__,
)
def test_submission__any_finite_real_matrix_of_the_shape_is_accepted(env, prediction):
    _, reward, terminated, _, info = step(env, 12, prediction)
    assert (info["refusal"], info["reason"], terminated) == (0, "", True)
    assert 0.0 <= reward <= 1.0


def test_submission__layout_and_precision_do_not_matter_to_the_score(env):
    numbers = np.round(np.random.default_rng(0).normal(size=(8, 2)) * 64) / 64
    forms = [
        numbers,
        np.asfortranarray(numbers),
        numbers.tolist(),
        numbers.astype(np.float32),
        numbers.astype(">f8"),
        list(numbers),
    ]
    assert len({step(copy.deepcopy(env), 12, form)[1] for form in forms}) == 1


def test_step__leaves_lists_of_the_caller_alone(env):
    for rows in (matrix("a"), matrix(np.inf), matrix(HUGE), [[0.0]] * 8, matrix(0.5)):
        action = submission(rows)
        before = copy.deepcopy(action)
        env.step(action)
        assert action == before


def test_read_prediction__copies_into_one_layout(env):
    """Another layout would be another type to the kernels, which cost seconds to compile for it."""
    for prediction in (
        GOOD,
        np.asfortranarray(GOOD),
        np.zeros((2, 8)).T,
        np.zeros((16, 4))[::2, ::2],
        GOOD.astype(">f8"),
    ):
        copied, code = read_prediction(prediction, env.task)
        assert code is Refusal.NONE
        assert copied.flags.c_contiguous
        assert copied.dtype.isnative
        assert not np.shares_memory(copied, prediction)


def test_action__may_be_any_mapping(env):
    assert env.step(MappingProxyType({"choice": 3, "prediction": GOOD}))[4]["refusal"] == 0


def test_refusal__codes_are_frozen():
    assert [(member.name, member.value) for member in Refusal] == [
        ("NONE", 0),
        ("UNKNOWN_EXPERIMENT", 1),
        ("REPLICATES_EXHAUSTED", 2),
        ("NO_CREDITS", 3),
        ("NON_FINITE_PREDICTION", 4),
        ("WRONG_SHAPE", 5),
        ("WRONG_TYPE", 6),
        ("EPISODE_OVER", 7),
    ]


numbers = st.floats() | st.integers() | st.fractions() | st.decimals() | st.complex_numbers() | st.booleans()
scalars = (
    st.none() | numbers | st.text(max_size=5) | st.binary(max_size=5) | npst.scalar_dtypes().flatmap(npst.from_dtype)
)
arrays = npst.arrays(npst.scalar_dtypes(), npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=8))
shaped = npst.arrays(npst.scalar_dtypes() | st.just(np.dtype(object)), (8, 2), elements=None, fill=st.nothing())
rows = st.lists(st.lists(scalars, min_size=2, max_size=2), min_size=8, max_size=8)
junk = st.recursive(
    scalars | arrays,
    lambda children: (
        st.lists(children, max_size=8)
        | st.dictionaries(st.text(max_size=3), children, max_size=3)
        | st.tuples(children)
    ),
    max_leaves=12,
)
actions = junk | st.fixed_dictionaries({"choice": st.just(12) | junk, "prediction": rows | arrays | junk | shaped})


@settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(actions)
@example(submission([np.array(1.0)] * 8))
@example({"choice": HUGE})
@example(HUGE)
def test_step__never_raises_whatever_the_action(action):
    env = gym.make("CausalCircuits-v0", disable_env_checker=True).unwrapped
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(action)
    assert terminated == (info["refusal"] == 0 and int(action["choice"]) == 12)
    assert (info["reason"] == "") == (info["refusal"] == 0)
    assert 0.0 <= reward <= 1.0
    assert reward == 0.0 or terminated
    assert not truncated


@settings(max_examples=100, deadline=None, derandomize=True)
@given(npst.arrays(np.float64, (8, 2), elements=st.floats(allow_nan=False, allow_infinity=False)), st.booleans())
def test_submission__every_finite_matrix_is_accepted(prediction, as_list):
    env = gym.make("CausalCircuits-v0", disable_env_checker=True).unwrapped
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(submission(prediction.tolist() if as_list else prediction))
    assert (terminated, info["refusal"]) == (True, 0)
    assert 0.0 <= reward <= 1.0
