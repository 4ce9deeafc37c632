"""A native vector env equals SyncVectorEnv of the scalar env, element by element, for the same list of seeds."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from veilgym.envs.core.seeding import spread_seed

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
EVERY_MODE = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
SEEDS = [0, 1, 2**32 + 5, 2**63 + 5, 7, 8]


def native(entry, num_envs, mode=AutoresetMode.NEXT_STEP, limit=None, **kwargs):
    if limit is not None:
        kwargs["max_episode_steps"] = limit
    return gym.make_vec(entry.id, num_envs=num_envs, autoreset_mode=mode.value, **kwargs)


def synchronous(entry, num_envs, mode, limit=None, **kwargs):
    def make():
        return gym.make(entry.id, max_episode_steps=limit, disable_env_checker=True, **kwargs)

    return SyncVectorEnv([make] * num_envs, autoreset_mode=mode)


@pytest.fixture
def limit(entry):
    """A time limit that random play meets, for the families that have one."""
    return 5 if entry.max_episode_steps else None


def test_make_vec__gives_the_native_class_with_the_declared_mode(entry):
    for mode in MODES:
        for value in (mode, mode.value):
            envs = gym.make_vec(entry.id, num_envs=3, autoreset_mode=value)
            assert envs.unwrapped.__class__.__name__ in entry.vector_entry_point
            assert envs.metadata["autoreset_mode"] is mode
            assert envs.spec.id == entry.id
            scalar = gym.make(entry.id)
            assert envs.single_observation_space == scalar.observation_space
            assert envs.single_action_space == scalar.action_space
    assert gym.make_vec(entry.id, num_envs=2, autoreset_mode="SameStep").spec.to_json()


def test_make_vec__refuses_bad_arguments_and_names_them(entry):
    for name, value in (
        ("num_envs", 0),
        ("num_envs", -1),
        ("num_envs", True),
        ("num_envs", 2.0),
        ("autoreset_mode", "Never"),
        ("autoreset_mode", None),
        ("max_episode_steps", 0),
        ("split", "dev"),
        ("render_mode", "holo"),
    ):
        arguments = {"num_envs": 2, name: value}
        if name == "max_episode_steps" and entry.max_episode_steps is None:
            continue
        with pytest.raises(ValueError, match=name) as error:
            gym.make_vec(entry.id, **arguments)
        assert repr(value) in str(error.value)


@EVERY_MODE
@pytest.mark.parametrize("time_limit", ["registered", "short"])
def test_vector_env__equals_sync_vector_env(entry, random_batch, freeze, mode, limit, time_limit):
    steps = limit if time_limit == "short" else entry.max_episode_steps
    one, other = (
        native(entry, len(SEEDS), mode, limit if time_limit == "short" else None),
        synchronous(entry, len(SEEDS), mode, steps),
    )
    rng, ends = np.random.default_rng(0), np.zeros(2, int)
    observation, info = one.reset(seed=SEEDS)
    assert freeze(other.reset(seed=SEEDS)) == freeze((observation, info))
    for _ in range(120):
        actions = random_batch(info["action_mask"], rng)
        *result, info = one.step(actions)
        assert freeze((*result, info)) == freeze(other.step(actions))
        terminated, truncated = result[2], result[3]
        ends += terminated.sum(), truncated.sum()
        over = terminated | truncated
        if mode is AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            observation, reset_info = one.reset(options=options)
            assert options == {"reset_mask": over}  # SyncVectorEnv takes the mask out of the caller's dictionary
            assert freeze((observation, reset_info)) == freeze(other.reset(options={"reset_mask": over}))
            info = {"action_mask": np.where(over[:, None], reset_info["action_mask"], info["action_mask"])}
    assert ends[0] > 20
    assert (ends[1] > 5) == (time_limit == "short" and limit is not None)


@EVERY_MODE
def test_vector_env__equals_sync_vector_env_in_malformed_actions(entry, family, freeze, mode, limit):
    one, other = native(entry, len(SEEDS), mode, limit), synchronous(entry, len(SEEDS), mode, limit)
    assert freeze(one.reset(seed=SEEDS)) == freeze(other.reset(seed=SEEDS))
    for actions in family.malformed(len(SEEDS)):
        before = freeze(actions)
        *result, info = one.step(actions)
        assert freeze((*result, info)) == freeze(other.step(actions))
        assert freeze(actions) == before
        over = result[2] | result[3]
        if mode is AutoresetMode.DISABLED and over.any():
            assert freeze(one.reset(options={"reset_mask": over})) == freeze(other.reset(options={"reset_mask": over}))


@EVERY_MODE
def test_vector_env__partial_resets_with_seeds_equal_sync_vector_env(entry, random_batch, freeze, mode):
    one, other = native(entry, len(SEEDS), mode), synchronous(entry, len(SEEDS), mode, entry.max_episode_steps)
    rng = np.random.default_rng(3)
    masks = one.reset(seed=SEEDS)[1]["action_mask"]
    other.reset(seed=SEEDS)
    for turn in range(20):
        chosen = rng.random(len(SEEDS)) < 0.5
        chosen[turn % len(SEEDS)] = True
        seeds = [int(s) if rng.random() < 0.5 else None for s in rng.integers(2**40, size=len(SEEDS))]
        result = one.reset(seed=seeds, options={"reset_mask": chosen})
        assert freeze(result) == freeze(other.reset(seed=seeds, options={"reset_mask": chosen}))
        masks = np.where(chosen[:, None], result[1]["action_mask"], masks)
        if mode is not AutoresetMode.DISABLED:
            actions = random_batch(masks, rng)
            result = one.step(actions)
            assert freeze(result) == freeze(other.step(actions))
            masks = result[-1]["action_mask"]


@EVERY_MODE
def test_vector_env__infos_have_one_length_companion_masks_and_json(entry, random_batch, to_json, limit, mode):
    envs = native(entry, 4, mode, limit)
    _, info = envs.reset(seed=0)
    masks, keys, rng = info["action_mask"], set(), np.random.default_rng(0)
    for _ in range(30):
        for infos in (info, info.get("final_info", {})):
            names = {key for key in infos if not key.startswith("_")}
            assert {f"_{key}" for key in names} == set(infos) - names
            assert all(infos[f"_{key}"].dtype == np.bool_ and len(infos[f"_{key}"]) == 4 for key in names)
            keys |= {frozenset(names - {"final_obs", "final_info"})} if names else set()
        to_json(info)
        *_, terminated, truncated, info = envs.step(random_batch(masks, rng))
        masks = info["action_mask"]
        over = terminated | truncated
        if mode is AutoresetMode.DISABLED and over.any():
            reset_info = envs.reset(options={"reset_mask": over})[1]
            masks = np.where(over[:, None], reset_info["action_mask"], masks)
    assert keys == {frozenset(gym.make(entry.id).reset()[1])}


def test_dict_info_to_list__works_at_reset_and_at_the_end(entry, family):
    envs = DictInfoToList(native(entry, 3, AutoresetMode.SAME_STEP))
    _, infos = envs.reset(seed=0)
    entries = infos[0]["action_mask"].size
    answer = family.action(family.answers(entries)[0], 0.5)
    *_, infos = envs.step(family.batch([answer, family.action(0, 0.0), answer]))
    assert [set(info) >= {"action_mask", "refusal", "reason"} for info in infos] == [True] * 3
    assert ["final_info" in info for info in infos][0::2] == [True, True]
    assert set(infos[0]["final_info"]) == {"action_mask", "refusal", "reason"}


def test_reset__base_seeds_zero_and_one_share_no_instance(entry, freeze):
    seen = set()
    for seed in (0, 1):
        envs = native(entry, 64)
        for observation in (envs.reset(seed=seed)[0], envs.reset()[0]):
            seen |= {b"".join(batch[i].tobytes() for batch in observation.values()) for i in range(64)}
    assert len(seen) == 2 * 2 * 64


def test_reset__one_integer_is_spread_as_documented(entry, freeze):
    envs = native(entry, 5)
    assert freeze(envs.reset(seed=3)) == freeze(native(entry, 5).reset(seed=spread_seed(3, 5)))
    assert freeze(envs.reset(seed=np.int64(3))) == freeze(envs.reset(seed=3))


@pytest.mark.parametrize(
    "seed", [-1, True, 5.0, "55", [1, 2], [1, 2, True], [1, 2, -1], [1, 2, "3"], [1.0, 2, 3]], ids=repr
)
def test_reset__refuses_what_is_no_list_of_seeds(entry, seed):
    with pytest.raises(ValueError, match="seed"):
        native(entry, 3).reset(seed=seed)


def test_reset__without_any_seed_differs(entry, freeze):
    seen = [freeze(native(entry, 2).reset()[0]) for _ in range(4)]
    assert all(a != b for i, a in enumerate(seen) for b in seen[:i])


def test_results__do_not_depend_on_the_width(entry, family, freeze):
    seeds = [spread_seed(99, 130)[i] for i in range(130)]
    entries = gym.make(entry.id).reset()[1]["action_mask"].size
    rng = np.random.default_rng(0)
    script = [
        [family.action(int(c), f) for c, f in zip(rng.integers(entries, size=130), rng.random(130), strict=True)]
        for _ in range(6)
    ]

    def play(first, width):
        envs = native(entry, width)
        results = [envs.reset(seed=seeds[first : first + width])]
        results += [envs.step(family.batch(actions[first : first + width])) for actions in script]
        return results

    def lane(result, i):
        return [
            {key: batch[i] for key, batch in result[0].items()},
            *(r[i] for r in result[1:-1]),
            result[-1]["reason"][i],
        ]

    wide = play(0, 130)
    expected = [[freeze(lane(result, i)) for result in wide] for i in range(130)]
    for width in (1, 7):
        for first in range(0, 126, width):
            narrow = play(first, width)
            assert [[freeze(lane(result, i)) for result in narrow] for i in range(width)] == expected[
                first : first + width
            ]


@pytest.mark.parametrize("mode", MODES[:2], ids=lambda mode: mode.name)
def test_autoreset__plays_the_instances_of_manual_resets(entry, family, freeze, mode):
    envs, seeds = native(entry, 3, mode), [4, 5, 6]
    observation, info = envs.reset(seed=seeds)
    entries = info["action_mask"].shape[1]
    started = [[{key: batch[i] for key, batch in observation.items()}] for i in range(3)]
    rng, over = np.random.default_rng(1), np.zeros(3, bool)
    for _ in range(60):
        choices = np.where(rng.random(3) < 0.4, family.answers(entries)[0], 0)
        observation, _, terminated, truncated, _ = envs.step(
            family.batch([family.action(int(c), 0.2) for c in choices])
        )
        begun = over if mode is AutoresetMode.NEXT_STEP else terminated | truncated
        for i in np.flatnonzero(begun):
            started[i].append({key: batch[i] for key, batch in observation.items()})
        over = terminated | truncated
    for i, seed in enumerate(seeds):
        env = gym.make(entry.id)
        expected = [env.reset(seed=seed)[0], *(env.reset()[0] for _ in started[i][1:])]
        assert len(expected) > 5
        assert freeze(started[i]) == freeze(expected)


def test_record_episode_statistics__agrees_with_what_was_played(entry, random_batch, limit):
    envs = RecordEpisodeStatistics(native(entry, 4, AutoresetMode.NEXT_STEP, limit))
    masks = envs.reset(seed=0)[1]["action_mask"]
    rng, length, total, over, ended = np.random.default_rng(0), np.zeros(4), np.zeros(4), np.zeros(4, bool), 0
    for _ in range(60):
        _, reward, terminated, truncated, info = envs.step(random_batch(masks, rng))
        masks = info["action_mask"]
        length, total = np.where(over, 0, length + 1), np.where(over, 0.0, total + reward)
        over = terminated | truncated
        if over.any():
            ended += over.sum()
            assert info["episode"]["l"][over].tolist() == length[over].tolist()
            assert info["episode"]["r"][over] == pytest.approx(total[over], abs=1e-6)
    assert ended > 10


@EVERY_MODE
def test_returned_arrays__are_copies(entry, random_batch, freeze, limit, mode):
    def spoil(data):
        for value in data.values() if isinstance(data, dict) else data if isinstance(data, (tuple, list)) else ():
            if isinstance(value, np.ndarray) and value.dtype != object:
                value[...] = 77
            elif isinstance(value, np.ndarray):
                value[...] = None
            else:
                spoil(value)

    def play(spoiling):
        envs, rng, results, kept = native(entry, 4, mode, limit), np.random.default_rng(0), [], []
        masks = np.zeros((4, 0))
        for turn in range(12):
            fresh = mode is AutoresetMode.DISABLED and turn % 4 == 0
            result = envs.reset(seed=SEEDS[:4]) if turn == 0 or fresh else envs.step(random_batch(masks, rng))
            masks = result[-1]["action_mask"].copy()
            results.append(freeze(result))
            kept.append(result)
            if spoiling:
                spoil(result)
        if not spoiling:
            assert [freeze(result) for result in kept] == results
        return results

    assert play(spoiling=True) == play(spoiling=False)


def test_step__leaves_the_callers_actions_alone(entry, random_batch, freeze):
    envs, rng = native(entry, 4), np.random.default_rng(0)
    masks = envs.reset(seed=0)[1]["action_mask"]
    for _ in range(20):
        actions = random_batch(masks, rng)
        before = freeze(actions)
        masks = envs.step(actions)[-1]["action_mask"]
        assert freeze(actions) == before


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))], ids=["copy", "pickle"]
)
def test_copy__keeps_the_episodes(entry, random_batch, freeze, duplicate):
    def play(envs):
        rng = np.random.default_rng(0)
        masks, results = envs.unwrapped.action_masks(), []
        for _ in range(15):
            results.append(freeze(envs.step(random_batch(masks, rng))))
            masks = envs.unwrapped.action_masks()
        return results

    envs = native(entry, 3)
    envs.reset(seed=0)
    play(envs)
    twin = duplicate(envs)
    played = play(twin)
    assert played == play(envs)


def test_step__before_reset_raises_reset_needed(entry, family):
    for mode in MODES:
        envs = native(entry, 2, mode)
        with pytest.raises(ResetNeeded, match="reset"):
            envs.step(family.batch([family.action(0, 0.0)] * 2))
        with pytest.raises(ResetNeeded, match="reset"):
            envs.unwrapped.action_masks()


def test_step__with_an_env_that_was_never_reset_raises(entry, family):
    envs = native(entry, 2, AutoresetMode.DISABLED)
    answer = family.action(family.answers(gym.make(entry.id).reset()[1]["action_mask"].size)[0], 0.5)
    envs.reset(seed=[1, 2], options={"reset_mask": np.array([True, False])})
    with pytest.raises(ResetNeeded, match="reset"):
        envs.step(family.batch([answer, answer]))
    envs.reset(seed=[None, 2], options={"reset_mask": np.array([False, True])})
    assert (envs.step(family.batch([answer, answer]))[1] > 0).all()


def test_step__disabled_mode_pays_a_finished_episode_once(entry, family, freeze):
    envs = native(entry, 2, AutoresetMode.DISABLED)
    entries = envs.reset(seed=[1, 2])[1]["action_mask"].shape[1]
    answer, wait = family.action(family.answers(entries)[0], 0.5), family.action(0, 0.5)
    observation, reward, terminated, _, _ = envs.step(family.batch([answer, wait]))
    assert reward[0] > 0
    assert terminated[0]
    for _ in range(10):
        after, reward, terminated, truncated, info = envs.step(family.batch([answer, wait]))
        assert (reward[0], terminated[0], truncated[0]) == (0.0, True, False)
        assert info["refusal"][0] > 0
        assert "over" in info["reason"][0]
        assert freeze({key: batch[0] for key, batch in after.items()}) == freeze(
            {k: b[0] for k, b in observation.items()}
        )


def test_step__refuses_actions_that_are_not_batched(entry, family):
    envs = native(entry, 3)
    envs.reset(seed=0)
    for actions in family.bad:
        with pytest.raises(ValueError, match="action"):
            envs.step(actions)


@pytest.mark.parametrize(
    "mask",
    [None, True, [True, True, True], np.ones(2, bool), np.ones(3, int), np.ones((3, 1), bool), np.zeros(3, bool)],
    ids=repr,
)
def test_reset__refuses_a_bad_reset_mask(entry, mask):
    envs = native(entry, 3)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="reset_mask"):
        envs.reset(options={"reset_mask": mask})


def test_render__gives_the_scalar_frame_of_each_env(entry):
    envs = native(entry, 3, render_mode="ansi")
    envs.reset(seed=[1, 2, 3])
    frames = envs.render()
    for seed, frame in zip([1, 2, 3], frames, strict=True):
        env = gym.make(entry.id, render_mode="ansi")
        env.reset(seed=seed)
        assert env.render() == frame
    assert native(entry, 3).render() is None
