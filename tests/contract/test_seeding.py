"""An instance is a pure function of (id, split, seed, index): in one process, in copies, in fresh processes."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv

REFUSED_SEEDS = (-1, np.int64(-3), True, 5.0, np.float64(5), "5", [5])


@pytest.mark.every_variant
def test_reset__twin_rollouts_from_one_seed_are_equal_byte_for_byte(subject, play, freeze):
    for seed in (0, 1, 2**32 + 5, 2**63 + 5, 2**200):
        one, two = subject.make(), subject.make()
        rollouts = [[env.reset(seed=seed), *play(env, np.random.default_rng(3))] for env in (one, two)]
        assert freeze(rollouts[0]) == freeze(rollouts[1])


def test_reset__numpy_integer_counts_as_the_integer(env, freeze):
    for number in (np.int64(5), np.uint8(5), np.int32(5)):
        assert freeze(env.reset(seed=number)) == freeze(env.reset(seed=5))


@pytest.mark.every_variant(fresh=True)
def test_reset__large_seeds_are_not_cut_to_32_or_64_bits(env, freeze):
    observations = [freeze(env.reset(seed=seed)[0]) for seed in (5, 2**32 + 5, 2**63 + 5, 2**64 + 5)]
    assert all(a != b for i, a in enumerate(observations) for b in observations[:i])


@pytest.mark.parametrize("seed", REFUSED_SEEDS, ids=repr)
def test_reset__refuses_what_is_no_seed_and_names_it(subject, seed):
    for env in (subject.make(), subject.make().unwrapped, subject.make_vec(2)):
        bad = [seed, 0] if isinstance(env, gym.vector.VectorEnv) and isinstance(seed, list) else seed
        with pytest.raises(ValueError, match="seed") as error:
            env.reset(seed=bad)
        assert repr(seed) in str(error.value)


def test_reset__refused_seed_leaves_the_episode_as_it_was(subject, env, family, freeze):
    env.reset(seed=4)
    env.step(family.waits[0])
    state = copy.deepcopy(env)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=-1)
    for action in (family.waits[1], subject.answer()):
        assert freeze(env.step(action)) == freeze(state.step(action))
    assert freeze(env.reset()) == freeze(state.reset())


@pytest.mark.every_variant(fresh=True)
def test_reset__fifty_seeds_give_fifty_first_observations(env, freeze):
    observations = [freeze(env.reset(seed=seed)[0]) for seed in range(50)]
    assert all(a != b for i, a in enumerate(observations) for b in observations[:i])


@pytest.mark.every_variant(fresh=True)
def test_reset__continues_a_reproducible_sequence(env, freeze):
    def sequence():
        return [freeze(env.reset(seed=7)), freeze(env.reset()), freeze(env.reset())]

    first = sequence()
    assert first == sequence()
    assert first[0] != first[1] != first[2] != first[0]


def test_reset__sequences_of_neighbouring_seeds_share_no_episode(env, freeze):
    seen = []
    for seed in range(8):
        seen += [freeze(env.reset(seed=seed)[0]), *(freeze(env.reset()[0]) for _ in range(7))]
    assert all(a != b for i, a in enumerate(seen) for b in seen[:i])


@pytest.mark.every_variant
def test_reset__sequence_does_not_depend_on_what_was_done(env, play, freeze):
    env.reset(seed=7)
    expected = freeze(env.reset())
    env.reset(seed=7)
    play(env, np.random.default_rng(0))
    assert freeze(env.reset()) == expected


def test_reset__without_any_seed_differs_between_envs(subject, freeze):
    observations = [freeze(subject.make().reset()[0]) for _ in range(5)]
    assert all(a != b for i, a in enumerate(observations) for b in observations[:i])


@pytest.mark.every_variant(fresh=True)
def test_split__train_and_test_differ_and_are_reproducible(subject, freeze):
    train, test, again = (subject.make(split=split) for split in ("train", "test", "test"))
    for seed in range(20):
        assert freeze(train.reset(seed=seed)[0]) != freeze(test.reset(seed=seed)[0])
        assert freeze(again.reset(seed=seed)) == freeze(test.reset(seed=seed))


@pytest.mark.every_variant
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"]
)
def test_copy__keeps_the_episode_and_does_not_advance_the_original(subject, family, play, freeze, duplicate, wrapped):
    env = subject.make() if wrapped else subject.make().unwrapped
    for seed in range(3):
        env.reset(seed=seed)
        for wait in family.waits:
            env.step(wait)
        twin, witness = duplicate(env), duplicate(env)
        played = freeze([*play(twin, np.random.default_rng(1)), twin.reset(), twin.reset()])
        assert played == freeze([*play(witness, np.random.default_rng(1)), witness.reset(), witness.reset()])
        assert played == freeze([*play(env, np.random.default_rng(1)), env.reset(), env.reset()])


PROGRAM = """
import hashlib, sys, gymnasium as gym, veilgym
env = gym.make(sys.argv[1])
digest = hashlib.sha256()
for seed in range(20):
    observation, info = env.reset(seed=seed)
    for _ in range(3):
        for key in observation:
            digest.update(observation[key].tobytes())
        digest.update(repr(info).encode())
        observation, info = env.reset()
print(digest.hexdigest())
"""


def test_reset__fresh_processes_with_other_hash_seeds_agree(subject):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, subject.entry.id],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        for hash_seed in ("0", "1", "random")
    ]
    digests = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(set(digests)) == 1
    assert len(digests[0].strip()) == hashlib.sha256().digest_size * 2


def test_async_vector_env__spawned_workers_play_the_same_episodes(subject, random_batch, freeze):
    native = subject.make_vec(2)
    make = partial(gym.make, f"veilgym:{subject.entry.id}")
    asynchronous = AsyncVectorEnv([make, make], context="spawn", autoreset_mode=native.metadata["autoreset_mode"])
    try:
        assert freeze(asynchronous.reset(seed=[3, 4])) == freeze(native.reset(seed=[3, 4]))
        rng, ends = np.random.default_rng(0), 0
        for _ in range(10):
            actions = random_batch(native, rng)
            result = native.step(actions)
            assert freeze(asynchronous.step(actions)) == freeze(result)
            ends += int((result[2] | result[3]).sum())
        assert ends > 0
    finally:
        asynchronous.close()
