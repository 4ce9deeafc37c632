"""What the contract suite cannot say in general of the native vector env of circuits."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.request import Refusal
from veilgym.envs.causal_circuits.task import read_document


def make(num_envs, **kwargs):
    envs = gym.make_vec("CausalCircuits-v0", num_envs=num_envs, **kwargs)
    return envs, envs.reset(seed=list(range(num_envs)))


def batch(choices, value=0.0):
    return {"choice": np.array(choices), "prediction": np.full((len(choices), 8, 2), value)}


def test_step__serves_each_env_its_own_request():
    envs, _ = make(4)
    observation, reward, terminated, _, info = envs.step(batch([0, 11, 12, 13]))
    assert observation["credits"].ravel().tolist() == [7, 7, 8, 8]
    assert np.argwhere(observation["replicates"][:, 1:]).tolist() == [[0, 0], [1, 11]]
    assert terminated.tolist() == [False, False, True, False]
    assert (reward > 0).tolist() == [False, False, True, False]
    assert info["refusal"].tolist() == [0, 0, 0, Refusal.UNKNOWN_EXPERIMENT]
    assert [bool(reason) for reason in info["reason"]] == [False, False, False, True]


def test_step__scores_each_env_its_own_prediction(hidden_coefficients, spec_targets):
    envs, _ = make(70)
    targets = spec_targets(hidden_coefficients(envs))
    shifted = targets + 0.035 * np.sqrt(np.arange(70))[:, None, None]
    _, reward, terminated, _, _ = envs.step({"choice": np.full(70, 12), "prediction": shifted})
    assert terminated.all()
    assert reward == pytest.approx(1 / (1 + np.arange(70)), rel=1e-12)


def test_step__one_bad_matrix_does_not_spoil_the_others():
    envs, _ = make(5)
    actions = batch([12, 12, 3, 12, 12])
    actions["prediction"][1, 7, 1] = np.nan
    actions["prediction"][2] = np.nan  # an experiment ignores it
    actions["prediction"][3] = 1e308
    _, reward, terminated, _, info = envs.step(actions)
    assert info["refusal"].tolist() == [0, Refusal.NON_FINITE_PREDICTION, 0, 0, 0]
    assert terminated.tolist() == [True, False, False, True, True]
    assert "prediction[7, 1] is nan" in info["reason"][1]
    assert np.isfinite(reward).all()


def test_step__malformed_batch_is_refused_everywhere_but_experiments_run():
    envs, _ = make(3)
    actions = {"choice": np.array([0, 12, 12]), "prediction": np.zeros((3, 2, 8))}
    observation, reward, terminated, _, info = envs.step(actions)
    assert info["refusal"].tolist() == [0, Refusal.WRONG_SHAPE, Refusal.WRONG_SHAPE]
    assert "transposed" in info["reason"][1]
    assert observation["credits"].ravel().tolist() == [7, 8, 8]
    assert not reward.any()
    assert not terminated.any()
    *_, info = envs.step({"choice": np.zeros(3), "prediction": np.zeros((3, 8, 2))})
    assert info["refusal"].tolist() == [Refusal.WRONG_TYPE] * 3


def test_step__without_predictions_experiments_run_and_nothing_is_submitted():
    envs, _ = make(2)
    observation, reward, terminated, _, info = envs.step({"choice": np.array([3, 12])})
    assert observation["credits"].ravel().tolist() == [7, 8]
    assert not reward.any()
    assert not terminated.any()
    env = gym.make("CausalCircuits-v0")
    env.reset(seed=1)
    alone = env.step({"choice": 12})[-1]
    assert info["refusal"].tolist() == [0, alone["refusal"]] == [0, Refusal.WRONG_TYPE]
    assert info["reason"].tolist() == ["", alone["reason"]]


def test_step__in_mid_batch_of_every_width_around_a_tile_equals_the_scalar_env():
    """Widths on both sides of the sizes in which the kernels work (16 lanes, 256 episodes)."""
    for width in (1, 15, 16, 17, 255, 256, 257, 513):
        envs, (observation, _) = make(width)
        after, reward, terminated, _, _ = envs.step(batch([*[5] * (width - 1), 12], 0.1))
        for i in {0, width // 2, width - 1}:
            env = gym.make("CausalCircuits-v0").unwrapped
            first, _ = env.reset(seed=i)
            assert first["readouts"].tobytes() == observation["readouts"][i].tobytes()
            then = env.step({"choice": 12 if i == width - 1 else 5, "prediction": np.full((8, 2), 0.1)})
            assert then[0]["readouts"].tobytes() == after["readouts"][i].tobytes()
            assert (then[1], then[2]) == (reward[i], terminated[i])


@pytest.mark.parametrize("initial", [0, 1, 3])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=lambda mode: mode.name)
def test_vector_env__equals_sync_vector_env_in_another_task(initial, mode):
    """Several initial queries or none, an odd number of outputs, costs above 1, more replicates, a clamped output."""
    document = {**read_document(), "outputs": ["y", "x", "v"], "noise_std": [0.1, 0.2, 0.3], "budget": 9}
    document["scoring"]["scale"] = [1.0, 2.0, 3.0]
    document["initial_queries"] = [{"u": 0.5 * i, "y": 0.25} for i in range(initial)]
    del document["prediction_shape"]
    for i, experiment in enumerate(document["experiments"]):
        experiment |= {"cost": 1 + i % 3, "max_replicates": 1 + i % 4}
    envs = gym.make_vec("CausalCircuits-v0", num_envs=5, task=document, autoreset_mode=mode.value, max_episode_steps=8)
    scalar = [lambda: gym.make("CausalCircuits-v0", task=document, max_episode_steps=8)] * 5
    other = SyncVectorEnv(scalar, autoreset_mode=mode)
    assert data_equivalence(envs.reset(seed=[1, 2, 3, 4, 5]), other.reset(seed=[1, 2, 3, 4, 5]), exact=True)
    rng, ends = np.random.default_rng(initial), 0
    for _ in range(80):
        actions = {"choice": rng.integers(13, size=5), "prediction": rng.normal(size=(5, 8, 3))}
        one, two = envs.step(actions), other.step(actions)
        assert data_equivalence(one, two, exact=True)
        ends += (one[2] | one[3]).sum()
    assert ends > 20


def test_reset__mask_leaves_the_other_envs_in_their_episodes():
    envs, _ = make(3, autoreset_mode="Disabled")
    before, *_ = envs.step(batch([0, 0, 0]))
    after, info = envs.reset(options={"reset_mask": np.array([False, True, False])})
    for i in (0, 2):
        assert all(after[key][i].tobytes() == before[key][i].tobytes() for key in before)
    assert after["credits"].ravel().tolist() == [7, 8, 7]
    assert info["_action_mask"].tolist() == [False, True, False]
    then, *_ = envs.step(batch([0, 0, 0]))
    assert then["credits"].ravel().tolist() == [6, 7, 6]


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_reset__mask_leaves_finished_envs_finished(mode):
    envs, _ = make(3, autoreset_mode=mode)
    before, _, terminated, *_ = envs.step(batch([12, 12, 0]))
    assert terminated.tolist() == [True, True, False]
    after, _ = envs.reset(seed=[7, 8, 9], options={"reset_mask": np.array([False, True, False])})
    assert [all(after[key][i].tobytes() == before[key][i].tobytes() for key in before) for i in range(3)] == [
        True,
        False,
        True,
    ]
    then, reward, terminated, _, info = envs.step(batch([12, 0, 0]))
    assert reward[0] == 0
    assert then["credits"].ravel().tolist() == [8, 7, 6]
    if mode == "Disabled":
        assert terminated.tolist() == [True, False, False]
        assert info["refusal"].tolist() == [Refusal.EPISODE_OVER, 0, 0]
    else:
        assert not terminated.any()
        expected = gym.make("CausalCircuits-v0")
        expected.reset(seed=0)
        assert then["readouts"][0].tobytes() == expected.reset()[0]["readouts"].tobytes()


def test_reset__seed_of_an_env_outside_the_mask_is_not_used():
    envs, _ = make(2, autoreset_mode="Disabled")
    other, _ = make(2, autoreset_mode="Disabled")
    first = np.array([True, False])
    envs.reset(seed=[50, 60], options={"reset_mask": first})
    other.reset(seed=[50, None], options={"reset_mask": first})
    assert all(
        a.tobytes() == b.tobytes() for a, b in zip(envs.reset()[0].values(), other.reset()[0].values(), strict=True)
    )


def test_make_vec__passes_the_task_and_the_split():
    _, (observation, _) = make(2, task={**read_document(), "budget": 3}, split="test")
    assert observation["credits"].ravel().tolist() == [3, 3]
    env = gym.make("CausalCircuits-v0", split="test")
    assert observation["readouts"][1].tobytes() == env.reset(seed=1)[0]["readouts"].tobytes()


def test_action_masks__is_the_boolean_mask_of_the_infos():
    envs, (_, info) = make(3)
    for choices in ([0, 1, 2], [0, 1, 2], [0, 12, 2]):
        assert envs.unwrapped.action_masks().dtype == np.bool_
        assert envs.unwrapped.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
        *_, info = envs.step(batch(choices))


def test_copy__keeps_the_prediction_that_it_is_given():
    envs, _ = make(3)
    other = copy.deepcopy(envs)
    for subject, value in ((envs, 0.25), (other, -0.5)):
        subject.step(batch([12, 0, 12], value))
        assert subject._episodes.submissions[0].tolist() == [[value] * 2] * 8
        assert not subject._episodes.submissions[1].any()
