"""A native vector env equals SyncVectorEnv of the scalar env, element by element, for the same list of seeds."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from veilgym.envs.core.seeding import spread_seed

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
EVERY_MODE = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
SEEDS = [0, 1, 2**32 + 5, 2**63 + 5, 7, 8]


def native(subject, num_envs, mode=AutoresetMode.NEXT_STEP, limit=None, **kwargs):
    if limit is not None:
        kwargs["max_episode_steps"] = limit
    return subject.make_vec(num_envs, autoreset_mode=mode.value, **kwargs)


def synchronous(subject, num_envs, mode, limit=None, **kwargs):
    def make():
        return subject.make(max_episode_steps=limit, disable_env_checker=True, **kwargs)

    return SyncVectorEnv([make] * num_envs, autoreset_mode=mode)


@pytest.fixture
def limit(subject):
    """A time limit that random play meets, for the families that have one."""
    return 5 if subject.limit else None


@pytest.mark.every_variant
def test_make_vec__gives_the_native_class_with_the_declared_mode(subject):
    for mode in MODES:
        for value in (mode, mode.value):
            envs = subject.make_vec(3, autoreset_mode=value)
            assert envs.unwrapped.__class__.__name__ in subject.entry.vector_entry_point
            assert envs.metadata["autoreset_mode"] is mode
            assert envs.spec.id == subject.entry.id
            scalar = subject.make()
            assert envs.single_observation_space == scalar.observation_space
            assert envs.single_action_space == scalar.action_space


def test_make_vec__gives_a_spec_that_can_be_written(subject):
    assert subject.make_vec(2, autoreset_mode="SameStep").spec.to_json()


def test_make_vec__has_the_default_autoreset_mode_of_the_family(subject, family):
    assert subject.make_vec(2).metadata["autoreset_mode"] is family.autoreset


def test_make_vec__refuses_bad_arguments_and_names_them(subject):
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
        # A one-step family takes no limit at all.
        error = TypeError if name == "max_episode_steps" and subject.limit is None else ValueError
        with pytest.raises(error, match=name) as raised:
            subject.make_vec(**{"num_envs": 2, name: value})
        assert error is TypeError or repr(value) in str(raised.value)


def compare(one, other, mode, random_batch, freeze, steps):
    """Play random actions in both; the numbers of terminated and truncated episodes."""
    rng, ends = np.random.default_rng(0), np.zeros(2, int)
    observation, info = one.reset(seed=SEEDS)
    assert freeze(other.reset(seed=SEEDS)) == freeze((observation, info))
    for _ in range(steps):
        actions = random_batch(one, rng)
        *result, info = one.step(actions)
        assert freeze((*result, info)) == freeze(other.step(actions))
        if "action_mask" in info:
            assert freeze(info["action_mask"]) == freeze(one.unwrapped.action_masks().astype(np.int8))
        terminated, truncated = result[2], result[3]
        ends += terminated.sum(), truncated.sum()
        over = terminated | truncated
        if mode is AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            result = one.reset(options=options)
            assert options == {"reset_mask": over}  # SyncVectorEnv takes the mask out of the caller's dictionary
            assert freeze(result) == freeze(other.reset(options={"reset_mask": over}))
    return ends


@EVERY_MODE
@pytest.mark.every_variant
def test_vector_env__equals_sync_vector_env(subject, random_batch, freeze, mode, limit):
    steps = 120 if subject.is_default else 30
    for short in {None, limit}:
        one = native(subject, len(SEEDS), mode, short)
        other = synchronous(subject, len(SEEDS), mode, short or subject.limit)
        ends = compare(one, other, mode, random_batch, freeze, steps)
        assert ends[0] > steps / 6
        assert (ends[1] > steps / 24) == (short is not None)


@pytest.mark.every_variant
@EVERY_MODE
def test_vector_env__equals_sync_vector_env_in_malformed_actions(subject, family, freeze, mode, limit):
    one, other = native(subject, len(SEEDS), mode, limit), synchronous(subject, len(SEEDS), mode, limit)
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
@pytest.mark.every_variant
def test_vector_env__partial_resets_with_seeds_equal_sync_vector_env(subject, random_batch, freeze, mode):
    one, other = native(subject, len(SEEDS), mode), synchronous(subject, len(SEEDS), mode, subject.limit)
    rng = np.random.default_rng(3)
    assert freeze(one.reset(seed=SEEDS)) == freeze(other.reset(seed=SEEDS))
    for turn in range(20 if subject.is_default else 6):
        chosen = rng.random(len(SEEDS)) < 0.5
        chosen[turn % len(SEEDS)] = True
        seeds = [int(s) if rng.random() < 0.5 else None for s in rng.integers(2**40, size=len(SEEDS))]
        result = one.reset(seed=seeds, options={"reset_mask": chosen})
        assert freeze(result) == freeze(other.reset(seed=seeds, options={"reset_mask": chosen}))
        if mode is not AutoresetMode.DISABLED:
            actions = random_batch(one, rng)
            assert freeze(one.step(actions)) == freeze(other.step(actions))


@EVERY_MODE
@pytest.mark.every_variant
def test_vector_env__infos_have_one_length_companion_masks_and_json(subject, random_batch, to_json, limit, mode):
    envs = native(subject, 4, mode, limit)
    _, info = envs.reset(seed=0)
    keys, rng = set(), np.random.default_rng(0)
    for _ in range(30):
        for infos in (info, info.get("final_info", {})):
            names = {key for key in infos if not key.startswith("_")}
            assert {f"_{key}" for key in names} == set(infos) - names
            assert all(infos[f"_{key}"].dtype == np.bool_ and len(infos[f"_{key}"]) == 4 for key in names)
            keys |= {frozenset(names - {"final_obs", "final_info"})} if names else set()
        to_json(info)
        *_, terminated, truncated, info = envs.step(random_batch(envs, rng))
        over = terminated | truncated
        if mode is AutoresetMode.DISABLED and over.any():
            to_json(envs.reset(options={"reset_mask": over})[1])
    assert keys == {frozenset(subject.make().reset()[1])}


def test_dict_info_to_list__works_at_reset_and_at_the_end(subject, family):
    envs = DictInfoToList(native(subject, 3, AutoresetMode.SAME_STEP))
    _, infos = envs.reset(seed=0)
    assert [set(info) for info in infos] == [{"action_mask", "refusal", "reason"}] * 3
    *_, infos = envs.step(family.batch([subject.answer(), family.waits[0], subject.answer()]))
    assert [set(info) >= {"action_mask", "refusal", "reason"} for info in infos] == [True] * 3
    assert ["final_info" in info for info in infos][0::2] == [True, True]
    assert not infos[1].get("final_info")
    assert set(infos[0]["final_info"]) == {"action_mask", "refusal", "reason"}


@pytest.mark.every_variant(fresh=True)
def test_reset__base_seeds_zero_and_one_share_no_instance(subject, freeze):
    seen = set()
    for seed in (0, 1):
        envs = native(subject, 64)
        for observation in (envs.reset(seed=seed)[0], envs.reset()[0]):
            seen |= {b"".join(array.tobytes() for array in one.values()) for one in subject.observed(observation)}
    assert len(seen) == 2 * 2 * 64


def test_reset__one_integer_is_spread_as_documented(subject, freeze):
    envs = native(subject, 5)
    assert freeze(envs.reset(seed=3)) == freeze(native(subject, 5).reset(seed=spread_seed(3, 5)))
    assert freeze(envs.reset(seed=np.int64(3))) == freeze(envs.reset(seed=3))


@pytest.mark.parametrize(
    "seed", [-1, True, 5.0, "55", [1, 2], [1, 2, True], [1, 2, -1], [1, 2, "3"], [1.0, 2, 3]], ids=repr
)
def test_reset__refuses_what_is_no_list_of_seeds(subject, seed):
    with pytest.raises(ValueError, match="seed"):
        native(subject, 3).reset(seed=seed)


def test_reset__without_any_seed_differs(subject, freeze):
    seen = [freeze(native(subject, 2).reset()[0]) for _ in range(4)]
    assert all(a != b for i, a in enumerate(seen) for b in seen[:i])


@pytest.mark.every_variant
def test_results__do_not_depend_on_the_width(subject, family, freeze):
    seeds = [spread_seed(99, 130)[i] for i in range(130)]
    rng = np.random.default_rng(0)
    script = [
        [
            family.action(int(c), f)
            for c, f in zip(rng.integers(family.entries or 1, size=130), rng.random(130), strict=True)
        ]
        for _ in range(6)
    ]

    def play(first, width):
        envs = native(subject, width)
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
    for width in (1, 7) if subject.is_default else (7,):
        for first in range(0, 126, width):
            narrow = play(first, width)
            assert [[freeze(lane(result, i)) for result in narrow] for i in range(width)] == expected[
                first : first + width
            ]


@pytest.mark.every_variant
@pytest.mark.parametrize("mode", MODES[:2], ids=lambda mode: mode.name)
def test_autoreset__plays_the_instances_of_manual_resets(subject, family, freeze, mode):
    envs, seeds = native(subject, 3, mode), [4, 5, 6]
    started = [[one] for one in subject.observed(envs.reset(seed=seeds)[0])]
    rng, over = np.random.default_rng(1), np.zeros(3, bool)
    for _ in range(60 if subject.is_default else 25):
        answers = rng.random(3) < 0.4
        actions = family.batch([subject.answer(0.2) if is_answer else family.waits[0] for is_answer in answers])
        observation, _, terminated, truncated, _ = envs.step(actions)
        begun = over if mode is AutoresetMode.NEXT_STEP else terminated | truncated
        for i in np.flatnonzero(begun):
            started[i].append(subject.observed(observation)[i])
        over = terminated | truncated
    assert len(set(map(len, started))) > 1  # the envs got out of step
    for i, seed in enumerate(seeds):
        env = subject.make()
        expected = [env.reset(seed=seed)[0], *(env.reset()[0] for _ in started[i][1:])]
        assert len(expected) > 2
        assert freeze(started[i]) == freeze(expected)


def test_record_episode_statistics__agrees_with_what_was_played(subject, random_batch, limit):
    envs = RecordEpisodeStatistics(native(subject, 4, AutoresetMode.NEXT_STEP, limit))
    envs.reset(seed=0)
    rng, length, total, over, ended = np.random.default_rng(0), np.zeros(4), np.zeros(4), np.zeros(4, bool), 0
    for _ in range(60):
        _, reward, terminated, truncated, info = envs.step(random_batch(envs, rng))
        length, total = np.where(over, 0, length + 1), np.where(over, 0.0, total + reward)
        over = terminated | truncated
        if over.any():
            ended += over.sum()
            assert info["episode"]["l"][over].tolist() == length[over].tolist()
            assert info["episode"]["r"][over] == pytest.approx(total[over], abs=1e-6)
    assert ended > 10


@pytest.mark.every_variant
@EVERY_MODE
def test_returned_arrays__are_copies(subject, random_batch, freeze, limit, mode):
    def spoil(data):
        for value in data.values() if isinstance(data, dict) else data if isinstance(data, (tuple, list)) else ():
            if isinstance(value, np.ndarray) and value.dtype != object:
                value[...] = 77
            elif isinstance(value, np.ndarray):
                value[...] = None
            else:
                spoil(value)

    def play(spoiling):
        envs, rng, results, kept = native(subject, 4, mode, limit), np.random.default_rng(0), [], []
        for turn in range(12):
            fresh = mode is AutoresetMode.DISABLED and turn % 4 == 0
            result = envs.reset(seed=SEEDS[:4]) if turn == 0 or fresh else envs.step(random_batch(envs, rng))
            results.append(freeze(result))
            kept.append(result)
            if spoiling:
                spoil(result)
        if not spoiling:
            assert [freeze(result) for result in kept] == results
        return results

    assert play(spoiling=True) == play(spoiling=False)


@pytest.mark.every_variant
@EVERY_MODE
def test_returned_arrays__share_no_memory(subject, random_batch, limit, mode):
    def arrays(data):
        if isinstance(data, np.ndarray):
            return [data] if data.size else []
        parts = data.values() if isinstance(data, dict) else data if isinstance(data, tuple) else ()
        return [array for part in parts for array in arrays(part)]

    envs, rng = native(subject, 4, mode, limit), np.random.default_rng(0)
    results = [envs.reset(seed=SEEDS[:4])]
    for _ in range(4):
        results.append(envs.step(random_batch(envs, rng)))
    found = [array for result in results for array in arrays(result)]
    assert not any(np.may_share_memory(one, other) for one, other in combinations(found, 2))


@pytest.mark.every_variant
def test_step__leaves_the_callers_actions_alone(subject, random_batch, freeze):
    envs, rng = native(subject, 4), np.random.default_rng(0)
    envs.reset(seed=0)
    for _ in range(20):
        actions = random_batch(envs, rng)
        before = freeze(actions)
        envs.step(actions)
        assert freeze(actions) == before


@pytest.mark.every_variant
@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))], ids=["copy", "pickle"]
)
def test_copy__keeps_the_episodes(subject, random_batch, freeze, duplicate):
    def play(envs):
        rng = np.random.default_rng(0)
        return [freeze(envs.step(random_batch(envs, rng))) for _ in range(15)]

    envs = native(subject, 3)
    envs.reset(seed=0)
    play(envs)
    twin = duplicate(envs)
    played = play(twin)
    assert played == play(envs)


def test_step__before_reset_raises_reset_needed(subject, family):
    for mode in MODES:
        envs = native(subject, 2, mode, render_mode="ansi")
        with pytest.raises(ResetNeeded, match="reset"):
            envs.render()
        with pytest.raises(ResetNeeded, match="reset"):
            envs.step(family.batch([family.waits[0]] * 2))
        with pytest.raises(ResetNeeded, match="reset"):
            envs.unwrapped.action_masks()


def scalar_reward(subject, seed, answer):
    env = subject.make()
    env.reset(seed=seed)
    return env.step(answer)[1]


@pytest.fixture
def paying(subject, family):
    """An answer that earns something in the first episode of seed 1."""
    answers = [subject.answer(which=which) for which in range(len(family.answers))]
    return next(answer for answer in answers if scalar_reward(subject, 1, answer) != 0)


def test_step__with_an_env_that_was_never_reset_raises(subject, family, paying):
    envs = native(subject, 2, AutoresetMode.DISABLED)
    actions = family.batch([paying, paying])
    envs.reset(seed=[1, 2], options={"reset_mask": np.array([True, False])})
    with pytest.raises(ResetNeeded, match="reset"):
        envs.step(actions)
    envs.reset(seed=[None, 2], options={"reset_mask": np.array([False, True])})
    assert envs.step(actions)[1].tolist() == [scalar_reward(subject, seed, paying) for seed in (1, 2)]


@pytest.mark.every_variant
def test_step__disabled_mode_pays_a_finished_episode_once(subject, family, freeze, paying):
    envs = native(subject, 2, AutoresetMode.DISABLED, render_mode="ansi")
    envs.reset(seed=[1, 2])
    observation, reward, terminated, _, _ = envs.step(family.batch([paying, family.waits[0]]))
    assert reward[0] == scalar_reward(subject, 1, paying)
    assert terminated.tolist() == [True, False]
    frame = envs.render()[0]
    for k in range(10):
        last = [paying, *family.waits, *family.refused][k % 4]
        after, reward, terminated, truncated, info = envs.step(family.batch([last, family.waits[0]]))
        assert (reward[0], terminated.tolist(), truncated[0]) == (0.0, [True, False], False)
        assert info["refusal"][0] > 0
        assert "over" in info["reason"][0]
        assert freeze(subject.observed(after)[0]) == freeze(subject.observed(observation)[0])
        assert envs.render()[0] == frame


@pytest.mark.every_variant
def test_step__refuses_actions_that_are_not_batched(subject, family):
    envs = native(subject, 3)
    envs.reset(seed=0)
    for actions in family.bad:
        with pytest.raises(ValueError, match="action"):
            envs.step(actions)


@pytest.mark.parametrize(
    "mask",
    [None, True, [True, True, True], np.ones(2, bool), np.ones(3, int), np.ones((3, 1), bool), np.zeros(3, bool)],
    ids=repr,
)
def test_reset__refuses_a_bad_reset_mask(subject, mask):
    envs = native(subject, 3)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="reset_mask"):
        envs.reset(options={"reset_mask": mask})


@pytest.mark.every_variant
def test_render__gives_the_scalar_frame_of_each_env(subject, family):
    envs = native(subject, 3, AutoresetMode.DISABLED, render_mode="ansi")
    envs.reset(seed=[1, 2, 3])
    answers = [subject.answer(0.1 * i, i % len(family.answers)) for i in range(3)]
    frames = envs.render()
    envs.step(family.batch(answers))
    after = envs.render()
    for i, seed in enumerate([1, 2, 3]):
        env = subject.make(render_mode="ansi")
        env.reset(seed=seed)
        assert env.render() == frames[i]
        env.step(answers[i])
        assert env.render() == after[i] != frames[i]
    with pytest.warns(UserWarning, match="made without a render mode"):
        assert native(subject, 3).render() is None
