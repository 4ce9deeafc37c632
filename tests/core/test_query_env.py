"""The life cycle of a one-step env and of its vector env, on a family that is a few lines long."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from veilgym.envs.core.answers import Refusal
from veilgym.envs.core.query_env import QueryEnv
from veilgym.envs.core.query_vector_env import QueryVectorEnv
from veilgym.envs.core.questions import ANSWERED, ASKED, UNSTARTED, Questions
from veilgym.envs.core.seeding import derive_key, spread_seed


class Coin(Questions):
    """Shows two numbers that name the question; the exact probability is one of them, the order of options the other.

    With a = (key + index) mod 97, the first option has the probability a / 96, and odd a swap the options.
    """

    options = ("HEADS", "TAILS")
    space = spaces.Dict({"a": spaces.Box(0, 96, (1,), np.int64), "index": spaces.Box(0, 2**31, (1,), np.int64)})

    def __init__(self, batch, split="train"):
        super().__init__("Coin-v0", batch, split)
        self.task = {"sides": 2}
        self.a = np.zeros(batch, np.int64)
        self.asked = []

    def ask(self, which):
        self.asked.append(which.tolist())
        for i in np.flatnonzero(which):
            self.a[i] = (int(self.keys[i]) + int(self.indices[i])) % 97

    def observe(self):
        return {"a": self.a[:, None].copy(), "index": self.indices.astype(np.int64)[:, None]}

    def render(self, i, mode, answer, reward):
        shown = f"{mode} of {self.a[i]}"
        return shown if answer is None else f"{shown}: {np.ravel(answer)[0]:g} earns {reward:g}"

    @property
    def probability(self):
        return self.a / 96

    @property
    def swapped(self):
        return self.a % 2 == 1


def make(reward="accuracy", split="train", render_mode=None):
    return QueryEnv(Coin(1, split), reward, render_mode)


def make_vec(batch, mode="SameStep", reward="accuracy", render_mode=None):
    return QueryVectorEnv(Coin(batch), reward, render_mode, mode)


def number(seed, index):
    """What question `index` of a seed shows."""
    return (derive_key("Coin-v0", "train", seed) + index) % 97


def right(a):
    """The index of the more probable option as shown."""
    return int((a / 96 > 0.5) == (a % 2 == 1))


# One env


def test_env__passes_gymnasium_checker():
    for reward in ("accuracy", "brier", "log"):
        check_env(make(reward), skip_render_check=True)  # which needs a spec


def test_reset__asks_the_questions_of_a_sequence_in_order():
    env = make()
    shown = [env.reset(seed=7)[0], *(env.reset()[0] for _ in range(4))]
    assert [(o["a"][0], o["index"][0]) for o in shown] == [(number(7, i), i) for i in range(5)]
    assert env.reset(seed=7)[0]["index"] == [0]
    assert env.reset(seed=8)[0]["a"] == [number(8, 0)]


def test_reset__without_any_seed_draws_one_and_goes_on_with_it():
    shown = set()
    for _ in range(20):
        env = make()
        a = [int(env.reset()[0]["a"][0]) for _ in range(3)]
        assert [(a[0] + k) % 97 for k in range(3)] == a
        shown.add(a[0])
    assert len(shown) > 5


@pytest.mark.parametrize("seed", [-1, True, 2.0, "3"], ids=repr)
def test_reset__refused_seed_asks_nothing(seed):
    env = make()
    env.reset(seed=7)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)
    assert env._questions.asked == [[True]]
    assert env.reset()[0]["index"] == [1]


def test_step__ends_with_the_first_accepted_answer_and_shows_the_same_question():
    env = make()
    for seed in range(40):
        a = number(seed, 0)
        for answer in (0, 1):
            observation, info = env.reset(seed=seed)
            after, reward, terminated, truncated, step_info = env.step(answer)
            assert (reward, terminated, truncated) == (float(answer == right(a)), True, False)
            assert type(reward) is float
            assert after["a"] == observation["a"] == [a]
            assert (info["refusal"], info["reason"]) == (step_info["refusal"], step_info["reason"]) == (0, "")
            assert info["action_mask"].tolist() == step_info["action_mask"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("brier", lambda p, chance: 1 - chance * (1 - p) ** 2 - (1 - chance) * p**2),
        ("log", lambda p, chance: np.log(2) + chance * np.log(p) + (1 - chance) * np.log(1 - p)),
    ],
)
def test_step__pays_the_expected_score_of_the_first_option_in_any_order(reward, expected):
    env = make(reward)
    seen = set()
    for seed in range(40):
        env.reset(seed=seed)
        a = number(seed, 0)
        seen.add(a % 2)
        assert env.step(np.array([0.3], np.float32))[1] == pytest.approx(
            expected(float(np.float32(0.3)), a / 96), rel=1e-6
        )
    assert seen == {0, 1}
    assert "action_mask" not in env.reset()[1]
    assert env.action_masks().shape == (0,)


def test_step__refused_answers_cost_nothing_and_any_number_may_follow():
    env = make()
    observation, _ = env.reset(seed=3)
    for action in [2, -1, None, "0", 0.5, np.array([0])] * 50:
        after, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert after == observation
        assert info["refusal"] > 0
        assert "allowed" in info["reason"]
    assert env.step(right(number(3, 0)))[1] == 1.0
    assert env._questions.asked == [[True]]


def test_step__and_masks_need_a_reset_first_and_step_after_the_end():
    env = make()
    for act in (lambda: env.step(0), env.action_masks):
        with pytest.raises(ResetNeeded, match="reset"):
            act()
    env.reset(seed=0)
    env.step(0)
    assert env.action_masks().tolist() == [True, True]
    for action in (0, 1, 2, None):
        with pytest.raises(ResetNeeded, match="over"):
            env.step(action)
    env.reset()
    assert env.step(0)[2]


def test_copies__go_on_by_themselves():
    env = make()
    env.reset(seed=5)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.step(0)[1:4] == (float(right(number(5, 0)) == 0), True, False)
        assert twin.reset()[0]["index"] == [1]
    assert env._questions.phase.tolist() == [ASKED]
    assert env.step(0)[2]


def test_render__shows_the_answer_only_once_it_is_accepted():
    env, envs = make(render_mode="ansi"), make_vec(2, "Disabled", render_mode="ansi")
    for made in (env, envs):
        with pytest.raises(ResetNeeded, match="reset"):
            made.render()
    a, b = number(1, 0), number(2, 0)
    for _ in range(2):
        env.reset(seed=1)
        envs.reset(seed=[1, 2])
        assert env.render() == f"ansi of {a}"
        env.step(5)
        assert env.render() == f"ansi of {a}"
        env.step(right(a))
        assert env.render() == f"ansi of {a}: {right(a)} earns 1"
        assert envs.render() == (f"ansi of {a}", f"ansi of {b}")
        envs.step(np.array([1 - right(a), 5]))
        assert envs.render() == (f"ansi of {a}: {1 - right(a)} earns 0", f"ansi of {b}")
        envs.step(np.array([right(a), right(b)]))  # the first is over
        assert envs.render() == (f"ansi of {a}: {1 - right(a)} earns 0", f"ansi of {b}: {right(b)} earns 1")
    for made in (make(), make_vec(2)):
        with pytest.warns(UserWarning, match="made without a render mode"):
            assert made.render() is None


def test_render_mode__is_named_if_wrong():
    for made in (make, lambda **kwargs: make_vec(2, **kwargs)):
        with pytest.raises(ValueError, match=r"render_mode.*'holo'"):
            made(render_mode="holo")


def test_split__is_part_of_the_key():
    train, test = make(split="train"), make(split="test")
    assert (train.split, test.split) == ("train", "test")
    assert [train.reset(seed=s)[0]["a"][0] for s in range(9)] != [test.reset(seed=s)[0]["a"][0] for s in range(9)]
    with pytest.raises(ValueError, match=r"split.*'dev'"):
        Coin(1, "dev")


def test_env__refuses_an_unknown_reward():
    with pytest.raises(ValueError, match=r"reward.*'mse'"):
        make("mse")
    with pytest.raises(ValueError, match=r"reward.*'mse'"):
        make_vec(2, reward="mse")


def test_repr__of_an_engine_shows_no_key():
    questions = Coin(2)
    questions.seed([5, 6])
    assert repr(questions) == "Coin(batch=2)"


# Many at once


def synchronous(batch, mode):
    return SyncVectorEnv([make] * batch, autoreset_mode=mode)


def test_vector_reset__asks_where_the_mask_is_true_and_leaves_the_others():
    envs = make_vec(3, "Disabled")
    envs.reset(seed=[1, 2, 3])
    mask = np.array([False, True, False])
    observation, infos = envs.reset(seed=[9, None, 9], options={"reset_mask": mask})
    assert observation["index"].ravel().tolist() == [0, 1, 0]
    assert observation["a"].ravel().tolist() == [number(1, 0), number(2, 1), number(3, 0)]
    assert infos["_refusal"].tolist() == infos["_reason"].tolist() == infos["_action_mask"].tolist() == mask.tolist()
    assert infos["reason"].tolist() == [None, "", None]
    assert infos["action_mask"].tolist() == [[0, 0], [1, 1], [0, 0]]
    assert envs._questions.asked[-1] == mask.tolist()


def test_vector_reset__spreads_an_integer():
    envs = make_vec(4)
    observation, _ = envs.reset(seed=3)
    assert observation["a"].ravel().tolist() == [number(seed, 0) for seed in spread_seed(3, 4)]


def test_vector_reset__refused_arguments_ask_nothing():
    envs = make_vec(2)
    envs.reset(seed=[1, 2])
    for arguments in ({"seed": [1]}, {"seed": -1}, {"seed": [1, -2]}, {"options": {"reset_mask": [True, True]}}):
        with pytest.raises(ValueError, match=r"seed|reset_mask"):
            envs.reset(**arguments)
    assert len(envs._questions.asked) == 1
    assert envs._questions.indices.tolist() == [0, 0]


def test_vector_step__in_next_step_mode_asks_a_step_later_whatever_the_action():
    envs = make_vec(2, "NextStep")
    envs.reset(seed=[1, 2])
    observation, reward, terminated, _, _ = envs.step(np.array([right(number(1, 0)), 7]))
    assert (reward.tolist(), terminated.tolist()) == ([1.0, 0.0], [True, False])
    assert observation["index"].ravel().tolist() == [0, 0]
    observation, reward, terminated, _, infos = envs.step(np.array([7, 7]))
    assert observation["index"].ravel().tolist() == [1, 0]
    assert (reward.tolist(), terminated.tolist()) == ([0.0, 0.0], [False, False])
    assert infos["refusal"].tolist() == [0, Refusal.UNKNOWN_OPTION]
    assert infos["reason"][0] == ""


def test_vector_step__in_same_step_mode_asks_at_once_and_keeps_the_end():
    envs = make_vec(3)
    envs.reset(seed=[1, 2, 3])
    observation, reward, terminated, truncated, infos = envs.step(np.array([right(number(1, 0)), 5, 0]))
    assert observation["index"].ravel().tolist() == [1, 0, 1]
    assert observation["a"].ravel().tolist() == [number(1, 1), number(2, 0), number(3, 1)]
    assert reward.tolist() == [1.0, 0.0, float(right(number(3, 0)) == 0)]
    assert terminated.tolist() == infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [True, False, True]
    assert not truncated.any()
    assert [final and final["a"].tolist() for final in infos["final_obs"]] == [[number(1, 0)], None, [number(3, 0)]]
    assert infos["final_info"]["_refusal"].tolist() == [True, False, True]
    assert infos["refusal"].tolist() == [0, Refusal.UNKNOWN_OPTION, 0]
    infos = envs.step(np.array([5, 5, 5]))[-1]
    assert "final_obs" not in infos


def test_vector_step__without_autoreset_pays_once_and_then_refuses():
    envs = make_vec(2, "Disabled")
    envs.reset(seed=[1, 2])
    good = right(number(1, 0))
    assert envs.step(np.array([good, 9]))[1].tolist() == [1.0, 0.0]
    for action in (good, 1 - good, 9):
        observation, reward, terminated, truncated, infos = envs.step(np.array([action, 9]))
        assert (reward.tolist(), terminated.tolist(), truncated.any()) == ([0.0, 0.0], [True, False], False)
        assert infos["refusal"].tolist() == [Refusal.EPISODE_OVER, Refusal.UNKNOWN_OPTION]
        assert observation["index"].ravel().tolist() == [0, 0]
    assert envs._questions.phase.tolist() == [ANSWERED, ASKED]


def test_vector_step__needs_every_env_to_have_been_reset():
    envs = make_vec(2, "Disabled")
    assert envs._questions.phase.tolist() == [UNSTARTED] * 2
    for options in (None, {"reset_mask": np.array([True, False])}):
        for act in (lambda: envs.step(np.zeros(2, int)), envs.action_masks):
            with pytest.raises(ResetNeeded, match="reset"):
                act()
        if options is None:
            envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(options={"reset_mask": np.array([False, True])})
    assert envs.step(np.zeros(2, int))[2].all()


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_vector_env__equals_sync_vector_env(mode):
    envs, others = make_vec(4, mode), synchronous(4, mode)
    rng = np.random.default_rng(0)
    results = [envs.reset(seed=[1, 2, 3, 4]), others.reset(seed=[1, 2, 3, 4])]
    for _ in range(30):
        assert str(normal(results[0])) == str(normal(results[1]))
        actions = rng.integers(-1, 3, size=4)
        results = [envs.step(actions), others.step(actions)]
        over = results[0][2]
        if mode is AutoresetMode.DISABLED and over.any():
            assert str(normal(results[0])) == str(normal(results[1]))
            results = [made.reset(options={"reset_mask": over.copy()}) for made in (envs, others)]


def normal(data):
    """Nested data whose text compares, with sorted keys."""
    if isinstance(data, dict):
        return [(key, normal(data[key])) for key in sorted(data)]
    if isinstance(data, (list, tuple)):
        return [normal(value) for value in data]
    if isinstance(data, np.ndarray):
        return [str(data.dtype), [normal(value) for value in data] if data.dtype == object else data.tolist()]
    return data


def test_vector_env__gives_arrays_of_its_own():
    """What a caller does to flags, rewards and observations changes neither the infos nor the env."""
    envs = make_vec(3)
    envs.reset(seed=[1, 2, 3])
    for _ in range(3):
        observation, reward, terminated, truncated, infos = envs.step(np.array([0, 5, 1]))
        arrays = [*observation.values(), reward, terminated, truncated]
        known = [value for value in (*infos.values(), *infos["final_info"].values()) if isinstance(value, np.ndarray)]
        held = [value for value in vars(envs).values() if isinstance(value, np.ndarray)]
        held += [value for value in vars(envs._questions).values() if isinstance(value, np.ndarray)]
        assert not [1 for array in arrays for other in (*known, *held) if np.shares_memory(array, other)]
        assert not [1 for array in known for other in held if np.shares_memory(array, other)]
        for array in arrays:
            array[...] = 1
        assert infos["_final_obs"].tolist() == [True, False, True]


def test_vector_env__is_what_gymnasium_expects():
    envs = make_vec(3, AutoresetMode.NEXT_STEP)
    assert isinstance(envs, gym.vector.VectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert QueryVectorEnv.metadata.get("autoreset_mode") is not AutoresetMode.NEXT_STEP  # not the class's
    assert envs.single_action_space == spaces.Discrete(2)
    assert envs.action_space == spaces.MultiDiscrete([2, 2, 2])
    assert envs.observation_space.contains(envs.reset(seed=0)[0])
    assert (envs.task, envs.split) == ({"sides": 2}, "train")
    assert make_vec(3, reward="log").action_space == spaces.Box(0, 1, (3, 1), np.float32)
