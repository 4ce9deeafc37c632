"""One episode as the specification tells it: what it starts with, what an experiment costs, when it ends."""

from __future__ import annotations

import inspect

import gymnasium as gym
import numpy as np
import pytest

import veilgym
from veilgym.envs.causal_circuits.env import CausalCircuitsEnv
from veilgym.envs.causal_circuits.task import load_task, read_document

ZEROS = np.zeros((8, 2))


def step(env, choice, prediction=ZEROS):
    return env.step({"choice": choice, "prediction": prediction})


def test_reset__has_measured_the_initial_query_once():
    env = gym.make("CausalCircuits-v0")
    observation, info = env.reset(seed=0)
    assert observation["replicates"].tolist() == [1] + [0] * 12
    assert observation["credits"].tolist() == [8]
    readouts = observation["readouts"].reshape(13, 2, 2)
    assert (readouts[0, 0] != 0).all()
    assert not readouts[0, 1].any()
    assert not readouts[1:].any()
    assert info["action_mask"].tolist() == [1] * 13
    assert (info["refusal"], info["reason"]) == (0, "")


def test_step__an_experiment_costs_a_credit_and_keeps_what_was_read():
    env = gym.make("CausalCircuits-v0")
    before, _ = env.reset(seed=0)
    for number, choice in enumerate((3, 3, 0, 11), 1):
        after, reward, terminated, truncated, _ = step(env, choice)
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert after["credits"].tolist() == [8 - number]
        old, new = before["readouts"].reshape(-1, 2), after["readouts"].reshape(-1, 2)
        assert (new[old.any(axis=1)] == old[old.any(axis=1)]).all()
        assert new.any(axis=1).sum() == number + 1
        before = after


def test_step__eight_credits_buy_eight_experiments_with_at_most_two_runs_each():
    env = gym.make("CausalCircuits-v0")
    env.reset(seed=0)
    codes = [step(env, choice)[4]["refusal"] for choice in (0, 0, 0, 1, 1, 2, 2, 3, 3, 4)]
    assert codes == [0, 0, 2, 0, 0, 0, 0, 0, 0, 3]


def test_step__costs_and_replicates_of_a_task_are_kept():
    document = {**read_document(), "budget": 7}
    document["experiments"][0] |= {"cost": 3, "max_replicates": 5}
    document["experiments"][1] |= {"cost": 2, "max_replicates": 1}
    env = gym.make("CausalCircuits-v0", task=document)
    _, info = env.reset(seed=0)
    history = []
    for choice in (1, 1, 0, 0, 2, 2):
        observation, *_, info = step(env, choice)
        history.append((info["refusal"], int(observation["credits"][0]), info["action_mask"][:3].tolist()))
    assert history == [
        (0, 5, [1, 0, 1]),
        (2, 5, [1, 0, 1]),
        (0, 2, [0, 0, 1]),
        (3, 2, [0, 0, 1]),
        (0, 1, [0, 0, 1]),
        (0, 0, [0, 0, 0]),
    ]
    assert observation["readouts"].size == 13 * 5 * 2


def test_submission__ends_the_episode_with_all_experiments_masked():
    env = gym.make("CausalCircuits-v0")
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = step(env, 12)
    assert (terminated, truncated) == (True, False)
    assert 0 < reward < 1
    assert info["action_mask"].tolist() == [0] * 12 + [1]
    assert observation["credits"].tolist() == [8]


def test_make__truncates_after_64_requests_refused_ones_included():
    env = gym.make("CausalCircuits-v0")
    env.reset(seed=0)
    flags = [step(env, 99)[1:4] for _ in range(64)]
    assert flags == [(0.0, False, False)] * 63 + [(0.0, False, True)]
    envs = gym.make_vec("CausalCircuits-v0", num_envs=2)
    envs.reset(seed=0)
    for number in range(64):
        _, _, terminated, truncated, _ = envs.step({"choice": np.array([99, 0]), "prediction": np.zeros((2, 8, 2))})
        assert not terminated.any()
        assert truncated.tolist() == [number == 63] * 2


def test_reset__ignores_options():
    env = CausalCircuitsEnv()
    expected = env.reset(seed=3)[0]
    assert env.reset(seed=3, options={"anything": 1})[0]["readouts"].tobytes() == expected["readouts"].tobytes()


def test_docstring__states_the_spaces_and_the_default_arguments():
    doc = inspect.getdoc(CausalCircuitsEnv)
    env = CausalCircuitsEnv()
    for key, space in env.observation_space.items():
        line = next(line for line in doc.splitlines() if f"| `{key}` |" in line)
        assert str(space.dtype) in line
        assert str(tuple(space.shape)) in line
    assert f"Discrete({env.action_space['choice'].n})" in doc
    assert "(8, 2), float64" in doc
    assert {*inspect.signature(CausalCircuitsEnv).parameters} == {"task", "split", "render_mode"}
    assert all(f"* `{name}`" in doc for name in inspect.signature(CausalCircuitsEnv).parameters)


def test_env__shows_the_public_task():
    env = gym.make("CausalCircuits-v0").unwrapped
    assert env.task == load_task()
    assert env.split == "train"


@pytest.mark.parametrize("bad", [3, "no such file", {}, [1]])
def test_make__refuses_a_bad_task(bad):
    with pytest.raises(ValueError, match="task"):
        gym.make("CausalCircuits-v0", task=bad)


def test_import__registers_the_id():
    assert veilgym.__version__
    assert gym.spec("CausalCircuits-v0").max_episode_steps == 64
