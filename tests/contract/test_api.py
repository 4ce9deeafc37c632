"""The promises of every registered id to whoever steps it: checkers, life cycle, masks, infos, copies, randomness."""

from __future__ import annotations

import pickle
import random
import tracemalloc
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics

REFUSED_SEEDS = (-1, True, 5.0, "5")


def test_env__passes_gymnasium_checker(entry, env):
    check_env(env)


def test_make__passes_gymnasium_checker_in_every_render_mode(entry):
    for mode in gym.make(entry.id).metadata["render_modes"]:
        check_env(gym.make(entry.id, render_mode=mode).unwrapped)


def test_make__wrapped_env_plays_without_a_warning(entry, play):
    env = gym.make(entry.id)
    for seed in range(3):
        env.reset(seed=seed)
        assert play(env, np.random.default_rng(seed))


def test_env__passes_stable_baselines3_checker(entry):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env = gym.make(entry.id)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checker.check_env(env, warn=True)
    expected = ["Dict"] if isinstance(env.action_space, spaces.Dict) else []
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == len(expected), messages
    assert all("action" in message and "Dict" in message for message in messages), messages


def test_spaces__are_single_dicts_of_fixed_shapes(env):
    for name, space in env.observation_space.items():
        assert isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)), name
        assert name not in {"done", "terminated", "truncated", "reward", "action"}


def test_observation__is_in_its_space_at_reset_step_refusal_and_end(env, play):
    for seed in range(10):
        observations = [env.reset(seed=seed)[0]]
        observations += [step[0] for step in play(env, np.random.default_rng(seed))]
        for observation in observations:
            assert set(observation) == set(env.observation_space)
            assert all(observation[key].dtype == space.dtype for key, space in env.observation_space.items())
            assert env.observation_space.contains(observation)


def test_info__has_the_same_keys_and_types_at_reset_step_refusal_and_end(env, play):
    seen = set()
    for seed in range(10):
        infos = [env.reset(seed=seed)[1]]
        infos += [step[4] for step in play(env, np.random.default_rng(seed))]
        seen |= {tuple((key, type(value)) for key, value in info.items()) for info in infos}
    assert len(seen) == 1


def test_info__is_strict_json_after_tolist(env, play, to_json):
    for seed in range(10):
        data = [env.reset(seed=seed), *play(env, np.random.default_rng(seed))]
        to_json(data)


def test_info__refusal_as_first_and_as_later_action_reads_the_same(env, family, freeze):
    for action in family.refused:
        env.reset(seed=1)
        first = env.step(action)[4]
        env.step(family.action(0, 0.5))
        assert {key: freeze(first[key]) for key in ("refusal", "reason")} == {
            key: freeze(env.step(action)[4][key]) for key in ("refusal", "reason")
        }
        assert first["refusal"] > 0
        assert first["reason"]


def test_reward__is_a_float_and_zero_before_the_end(env, play):
    for seed in range(30):
        env.reset(seed=seed)
        *before, last = play(env, np.random.default_rng(seed), steps=1000)
        assert all(
            type(step[1]) is float and type(step[2]) is bool and type(step[3]) is bool for step in (*before, last)
        )
        assert all(step[1] == 0.0 and not step[2] for step in before)
        assert last[2]
        assert 0.0 <= last[1] <= 1.0


def test_step__refused_action_changes_nothing(env, family, freeze):
    observation, info = env.reset(seed=3)
    for action in family.refused:
        after, reward, terminated, truncated, refused_info = env.step(action)
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert freeze(after) == freeze(observation)
        assert freeze(refused_info["action_mask"]) == freeze(info["action_mask"])


def test_action_mask__is_true_exactly_where_step_accepts(env, family):
    rng = np.random.default_rng(0)
    for episode in range(40):
        _, info = env.reset(seed=episode)
        over = False
        while not over:
            mask = env.action_masks()
            assert mask.dtype == np.bool_
            assert mask.tolist() == info["action_mask"].tolist()
            assert info["action_mask"].dtype == np.int8
            assert mask.any()
            state = pickle.dumps(env)
            accepted = []
            for choice in range(mask.size):
                trial = pickle.loads(state)
                accepted.append(trial.step(family.action(choice, 0.3))[4]["refusal"] == 0)
            assert accepted == mask.tolist()
            # The answer seldom, so that most episodes run until nothing else is left.
            weights = mask * np.where(np.isin(np.arange(mask.size), family.answers(mask.size)), 0.02, 1.0)
            choice = rng.choice(mask.size, p=weights / weights.sum())
            *_, terminated, truncated, info = env.step(family.action(int(choice), 0.3))
            over = terminated or truncated


def test_step__before_reset_and_after_the_end_raises_reset_needed(entry, family):
    for env in (gym.make(entry.id), gym.make(entry.id).unwrapped):
        for act in (lambda env=env: env.step(family.action(0, 0.0)), env.unwrapped.action_masks):
            with pytest.raises(ResetNeeded, match="reset"):
                act()
        env.reset(seed=0)
        answer = family.action(family.answers(env.unwrapped.action_masks().size)[0], 0.5)
        _, reward, terminated, *_ = env.step(answer)
        assert terminated
        for _ in range(10):
            with pytest.raises(ResetNeeded, match="reset"):
                env.step(answer)
        env.reset()
        assert env.step(answer)[1] != reward


def test_render__before_reset_raises_reset_needed(entry):
    env = gym.make(entry.id, render_mode="ansi")
    with pytest.raises(ResetNeeded, match="reset"):
        env.unwrapped.render()


def test_close__twice_and_before_reset_is_quiet(entry):
    env = gym.make(entry.id)
    env.close()
    env.close()


def test_make__refuses_an_unknown_argument_and_bad_values(entry):
    for bad in ({"split": "validation"}, {"split": None}, {"render_mode": "holo"}):
        ((name, value),) = bad.items()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Gymnasium's own remark on the render mode
            with pytest.raises(ValueError, match=f"{name}.*{value!r}"):
                gym.make(entry.id, **bad)
    for mode in ("sync", "vector_entry_point"):
        with pytest.raises(TypeError, match="budgett"):
            gym.make_vec(entry.id, num_envs=2, vectorization_mode=mode, budgett=3)


def test_returned_arrays__do_not_change_in_later_steps(env, play, freeze):
    for seed in range(5):
        kept, at_once = [env.reset(seed=seed)], []
        step = type(env).step

        def recording_step(action, step=step, at_once=at_once):
            result = step(env, action)
            at_once.append(freeze(result))
            return result

        at_once.append(freeze(kept[0]))
        env.step = recording_step
        kept += play(env, np.random.default_rng(seed), refusals=0.3)
        assert [freeze(result) for result in kept] == at_once


def test_returned_arrays__may_be_changed_without_effect(env, play, freeze):
    expected = [freeze(env.reset(seed=5)), *map(freeze, play(env, np.random.default_rng(5), refusals=0.3))]
    results = []

    def spoil(result):
        results.append(freeze(result))
        for array in (*result[0].values(), result[-1]["action_mask"]):
            array[...] = 77
        return result

    step = type(env).step
    spoil(env.reset(seed=5))
    env.step = lambda action: spoil(step(env, action))
    play(env, np.random.default_rng(5), refusals=0.3)
    assert results == expected
    assert env.observation_space.contains(env.reset()[0])


def test_step__leaves_the_callers_action_alone(env, family, freeze):
    env.reset(seed=0)
    actions = [*family.refused, family.action(0, 0.1), family.action(family.answers(env.action_masks().size)[0], 0.2)]
    for action in actions:
        before = freeze(action)
        env.step(action)
        assert freeze(action) == before


def test_global_random_state__is_neither_read_nor_written(entry, play, freeze):
    def rollout(disturb):
        env = gym.make(entry.id)
        data = [env.reset(seed=11)]
        step = env.step

        def disturbed_step(action):
            if disturb:
                random.random()
                np.random.seed(1)  # noqa: NPY002
                np.random.rand(5)  # noqa: NPY002
            return step(action)

        env.step = disturbed_step
        data += [*play(env, np.random.default_rng(0)), env.reset(), env.reset(seed=12)]
        return freeze(data)

    before = random.getstate(), freeze(np.random.get_state())  # noqa: NPY002
    undisturbed = rollout(disturb=False)
    gym.make(entry.id).reset()
    gym.make_vec(entry.id, num_envs=3).reset()
    assert (random.getstate(), freeze(np.random.get_state())) == before  # noqa: NPY002
    assert rollout(disturb=True) == undisturbed


def test_record_episode_statistics__counts_length_and_return(entry, play):
    env = RecordEpisodeStatistics(gym.make(entry.id))
    for seed in range(5):
        env.reset(seed=seed)
        trajectory = play(env, np.random.default_rng(seed))
        episode = trajectory[-1][4]["episode"]
        assert episode["l"] == len(trajectory)
        assert episode["r"] == pytest.approx(trajectory[-1][1], abs=1e-6)


def test_time_limit__on_the_answering_step_keeps_the_reward(entry, family):
    limit = 2 if entry.max_episode_steps else None
    if limit is None:
        pytest.skip("one-step family")
    env = gym.make(entry.id, max_episode_steps=limit)
    env.reset(seed=0)
    env.step(family.action(0, 0.5))
    answer = family.action(family.answers(env.unwrapped.action_masks().size)[0], 0.5)
    _, reward, terminated, *_ = env.step(answer)
    assert terminated
    assert reward > 0
    env.reset(seed=0)
    env.step(family.action(0, 0.5))
    _, reward, terminated, truncated, _ = env.step(family.action(0, 0.5))
    assert (reward, terminated, truncated) == (0.0, False, True)


def resident_bytes():
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 if statm.exists() else 0


def test_reset__twenty_thousand_times_does_not_grow_memory(env, family, entry):
    answer = family.action(family.answers(env.reset(seed=0)[1]["action_mask"].size)[0], 0.5)
    envs = gym.make_vec(entry.id, num_envs=10)
    envs.reset(seed=0)

    def work(resets):
        for _ in range(resets):
            env.reset()
            env.step(answer)
        for _ in range(resets // 10):
            envs.reset()

    work(1000)
    resident = resident_bytes()
    work(20_000)
    assert resident_bytes() - resident < 20e6
    tracemalloc.start()
    work(100)
    traced = tracemalloc.get_traced_memory()[0]
    work(1000)
    growth = tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    assert growth < 50e3
