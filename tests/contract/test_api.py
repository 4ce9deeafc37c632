"""The promises of every registered id to whoever steps it: checkers, life cycle, masks, infos, copies, randomness."""

from __future__ import annotations

import pickle
import random
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, RecordVideo


@pytest.mark.every_variant
def test_env__passes_gymnasium_checker(subject, env):
    check_env(env)


def test_make__passes_gymnasium_checker_in_every_render_mode(subject):
    for mode in subject.make().metadata["render_modes"]:
        check_env(subject.make(render_mode=mode).unwrapped)


@pytest.mark.every_variant
def test_make__wrapped_env_plays_without_a_warning(subject, play):
    env = subject.make()
    for seed in range(3):
        env.reset(seed=seed)
        assert play(env, np.random.default_rng(seed))


@pytest.mark.every_variant
def test_env__passes_stable_baselines3_checker(subject):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env = subject.make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checker.check_env(env, warn=True)
    # What there is to say of the action space: a circuit's is a Dict, and probabilities are not in [-1, 1].
    expected = {spaces.Dict: ["Dict"], spaces.Box: ["symmetric and normalized"], spaces.Discrete: []}
    messages = [str(warning.message) for warning in caught]
    words = expected[type(env.action_space)]
    assert len(messages) == len(words), messages
    assert all("action" in message and word in message for message, word in zip(messages, words, strict=True)), messages


@pytest.mark.every_variant
def test_spaces__are_single_dicts_of_fixed_shapes(env):
    for name, space in env.observation_space.items():
        assert isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)), name
        assert name not in {"done", "terminated", "truncated", "reward", "action"}


@pytest.mark.every_variant
def test_observation__is_in_its_space_at_reset_step_refusal_and_end(env, play):
    for seed in range(10):
        observations = [env.reset(seed=seed)[0]]
        observations += [step[0] for step in play(env, np.random.default_rng(seed))]
        for observation in observations:
            assert set(observation) == set(env.observation_space)
            assert all(observation[key].dtype == space.dtype for key, space in env.observation_space.items())
            assert env.observation_space.contains(observation)


@pytest.mark.every_variant
def test_info__has_the_same_keys_and_types_at_reset_step_refusal_and_end(env, play):
    seen = set()
    for seed in range(10):
        infos = [env.reset(seed=seed)[1]]
        infos += [step[4] for step in play(env, np.random.default_rng(seed))]
        seen |= {tuple((key, type(value)) for key, value in info.items()) for info in infos}
    assert len(seen) == 1


@pytest.mark.every_variant
def test_info__is_strict_json_after_tolist(env, play, to_json):
    for seed in range(10):
        data = [env.reset(seed=seed), *play(env, np.random.default_rng(seed))]
        to_json(data)


@pytest.mark.every_variant
def test_info__refusal_as_first_and_as_later_action_reads_the_same(env, family, freeze):
    for action in family.refused:
        env.reset(seed=1)
        first = env.step(action)[4]
        assert first["refusal"] > 0
        assert first["reason"]
        for wait in family.waits:
            assert not env.step(wait)[2]
        later = env.step(action)[4]
        assert all(freeze(first[key]) == freeze(later[key]) for key in ("refusal", "reason"))


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


@pytest.mark.every_variant
def test_step__refused_action_changes_nothing(subject, env, family, freeze):
    observation, info = env.reset(seed=3)
    expected = pickle.loads(pickle.dumps(env)).step(subject.answer())
    for action in family.refused:
        after, reward, terminated, truncated, refused_info = env.step(action)
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert freeze(after) == freeze(observation)
        assert set(refused_info) == set(info)
        assert freeze(refused_info.get("action_mask")) == freeze(info.get("action_mask"))
    assert freeze(env.step(subject.answer())) == freeze(expected)


@pytest.mark.every_variant
def test_step__waiting_actions_leave_the_episode_running(subject, env, family):
    """What other tests of this suite rely on."""
    env.reset(seed=0)
    results = [env.step(wait) for wait in family.waits]
    assert not any(terminated or truncated for _, _, terminated, truncated, _ in results)
    assert all((step[4]["refusal"] == 0) == (subject.limit is not None) for step in results)


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
            weights = mask * np.where(np.isin(np.arange(mask.size), family.answers), 0.02, 1.0)
            choice = rng.choice(mask.size, p=weights / weights.sum())
            *_, terminated, truncated, info = env.step(family.action(int(choice), 0.3))
            over = terminated or truncated


@pytest.mark.every_variant
def test_action_mask__has_an_entry_per_discrete_action_and_none_without(subject, env, family):
    _, info = env.reset(seed=0)
    assert env.action_masks().shape == (family.entries,)
    assert ("action_mask" in info) == (family.entries > 0)
    envs = subject.make_vec(3)
    _, info = envs.reset(seed=0)
    assert envs.action_masks().shape == (3, family.entries)
    assert ("action_mask" in info) == (family.entries > 0)


@pytest.mark.every_variant
def test_step__before_reset_and_after_the_end_raises_reset_needed(subject, family):
    for env in (subject.make(), subject.make().unwrapped):
        for act in (lambda env=env: env.step(family.waits[0]), env.unwrapped.action_masks):
            with pytest.raises(ResetNeeded, match="reset"):
                act()
        env.reset(seed=0)
        _, reward, terminated, *_ = env.step(subject.answer())
        assert terminated
        for action in (*[subject.answer()] * 10, *family.waits, *family.refused):
            with pytest.raises(ResetNeeded, match="reset"):
                env.step(action)
        rewards = {reward}
        for _ in range(20):
            env.reset()
            rewards.add(env.step(subject.answer())[1])
        assert len(rewards) > 1  # each of an instance of its own


def test_render__before_reset_raises_reset_needed(subject):
    env = subject.make(render_mode="ansi")
    with pytest.raises(ResetNeeded, match="reset"):
        env.unwrapped.render()


def test_render__without_a_mode_warns(subject):
    env = subject.make()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="made without a render mode"):
        assert env.unwrapped.render() is None


def test_close__twice_and_before_reset_is_quiet(subject):
    env = subject.make()
    env.close()
    env.close()


def test_make__refuses_an_unknown_argument_and_bad_values(subject, family):
    for bad in ({"split": "validation"}, {"split": None}, {"render_mode": "holo"}):
        ((name, value),) = bad.items()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Gymnasium's own remark on the render mode
            with pytest.raises(ValueError, match=f"{name}.*{value!r}"):
                subject.make(**bad)
    for mode in ("sync", "vector_entry_point"):
        with pytest.raises(TypeError, match="budgett"):
            subject.make_vec(2, vectorization_mode=mode, budgett=3)


def test_make__refuses_wrong_arguments_of_the_family_and_names_them(subject, family, wrong):
    ((name, value),) = wrong.items()
    for make in (subject.make, partial(subject.make_vec, 2)):
        with pytest.raises(ValueError, match=name.removesuffix("s")) as error:
            make(**wrong)
        assert name == "skeletons" or repr(value) in str(error.value)


@pytest.mark.every_variant
def test_make__of_an_envs_own_spec_plays_the_same(subject, play, freeze):
    env = subject.make()
    again = gym.make(env.spec)
    for made in (env, again):
        made.reset(seed=4)
    assert freeze(play(again, np.random.default_rng(0))) == freeze(play(env, np.random.default_rng(0)))


@pytest.mark.every_variant
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


@pytest.mark.every_variant
def test_returned_arrays__may_be_changed_without_effect(env, play, freeze):
    expected = [freeze(env.reset(seed=5)), *map(freeze, play(env, np.random.default_rng(5), refusals=0.3))]
    results = []

    def spoil(result):
        results.append(freeze(result))
        for array in (*result[0].values(), *result[-1].values()):
            if isinstance(array, np.ndarray):
                array[...] = 77
        return result

    step = type(env).step
    spoil(env.reset(seed=5))
    env.step = lambda action: spoil(step(env, action))
    play(env, np.random.default_rng(5), refusals=0.3)
    assert results == expected
    assert env.observation_space.contains(env.reset()[0])


@pytest.mark.every_variant
def test_step__leaves_the_callers_action_alone(subject, env, family, freeze):
    env.reset(seed=0)
    actions = [*family.refused, *family.waits, subject.answer()]
    for action in actions:
        before = freeze(action)
        env.step(action)
        assert freeze(action) == before


@pytest.mark.every_variant
def test_global_random_state__is_neither_read_nor_written(subject, play, freeze):
    def rollout(disturb):
        env = subject.make()
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
    subject.make().reset()
    subject.make_vec(3).reset()
    assert (random.getstate(), freeze(np.random.get_state())) == before  # noqa: NPY002
    assert rollout(disturb=True) == undisturbed


def test_record_episode_statistics__counts_length_and_return(subject, play):
    env = RecordEpisodeStatistics(subject.make())
    for seed in range(5):
        env.reset(seed=seed)
        trajectory = play(env, np.random.default_rng(seed))
        episode = trajectory[-1][4]["episode"]
        assert episode["l"] == len(trajectory)
        assert episode["r"] == pytest.approx(trajectory[-1][1], abs=1e-6)


def test_time_limit__on_the_answering_step_keeps_the_reward(subject, family):
    """A one-step family has no limit of its own; a user may set one."""
    free, env = subject.make(), subject.make(max_episode_steps=4)
    for seed in range(5):
        for made in (free, env):
            made.reset(seed=seed)
            for wait in family.waits:
                made.step(wait)
        expected = free.step(subject.answer())[1]
        _, reward, terminated, *_ = env.step(subject.answer())
        assert terminated
        assert reward == expected
        env.reset(seed=seed)
        ends = [env.step(wait)[1:4] for wait in (*family.waits, family.waits[0])]
        assert ends == [(0.0, False, False)] * 3 + [(0.0, False, True)]


def test_record_video__writes_a_file_for_each_episode(subject, family, tmp_path):
    pytest.importorskip("moviepy")
    env = subject.make(render_mode="rgb_array")
    recorder = RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda episode: True, disable_logger=True)
    for seed in (1, 2):
        recorder.reset(seed=seed)
        for action in (*family.waits[:2], subject.answer()):
            recorder.step(action)
    recorder.close()
    videos = sorted(tmp_path.glob("videos/*.mp4"))
    assert len(videos) == 2
    assert all(video.stat().st_size > 1000 for video in videos)


def test_render__gives_frames_of_one_shape_and_shows_the_answer(subject, family):
    env = subject.make(render_mode="rgb_array")
    frames = []
    for seed in (1, 2):
        env.reset(seed=seed)
        frames.append(env.render())
        env.step(family.refused[0])
        assert np.array_equal(env.render(), frames[-1])  # a refusal changes nothing
        env.step(subject.answer())
        frames.append(env.render())
    assert {(frame.dtype, frame.shape) for frame in frames} == {(np.dtype(np.uint8), frames[0].shape)}
    assert frames[0].ndim == 3
    assert all(not np.array_equal(a, b) for i, a in enumerate(frames) for b in frames[:i])


def resident_bytes():
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 if statm.exists() else 0


def test_reset__twenty_thousand_times_does_not_grow_memory(subject, env, family):
    answer = subject.answer()
    envs = subject.make_vec(10)
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
