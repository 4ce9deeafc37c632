"""Nothing leaks: until the answer is given, the hidden half cannot change one byte of what an agent sees.

A family says in `FAMILIES` (conftest.py) where its hidden half lies; here it is overwritten or marked after `reset`, so
that whatever has been revealed stays, and everything that can be looked at must stay too.
"""

from __future__ import annotations

import pickle
import struct

import gymnasium as gym
import numpy as np
import pytest


@pytest.fixture
def started(entry, family):
    """A wrapped env with "ansi" rendering in mid-episode."""
    env = gym.make(entry.id, render_mode="ansi")
    env.reset(seed=3)
    if entry.max_episode_steps:
        for choice in (0, 0, 3):
            env.step(family.action(choice, 0.5))
    return env


def looks(env, family):
    """All that an agent or a reader gets without new evidence."""
    results = [env.step(action) for action in family.refused]
    texts = [env.render(), env.unwrapped.render(), repr(env), str(env), repr(env.unwrapped), str(env.unwrapped)]
    texts += [repr(env.spec), repr(env.unwrapped.spec), repr(env.metadata)]
    texts += [repr(value) for value in vars(env.unwrapped).values() if not isinstance(value, np.random.Generator)]
    return results, texts, env.unwrapped.action_masks()


def test_hidden_half__cannot_change_a_byte_before_the_answer(started, family, freeze):
    before = freeze(looks(started, family))
    answer = family.action(family.answers(started.unwrapped.action_masks().size)[0], 0.5)
    rewards = {pickle.loads(pickle.dumps(started)).step(answer)[1]}
    for seed in range(8):  # within the time limit
        family.overwrite(started, np.random.default_rng(seed))
        assert freeze(looks(started, family)) == before
        rewards.add(pickle.loads(pickle.dumps(started)).step(answer)[1])
    assert len(rewards) > 1  # it was the hidden half that was overwritten


def test_hidden_half__cannot_change_a_byte_after_a_truncation(entry, family, freeze):
    if entry.max_episode_steps is None:
        pytest.skip("one-step family")
    seen = []
    for seed in range(3):
        envs = gym.make_vec(entry.id, num_envs=1, render_mode="ansi", autoreset_mode="Disabled", max_episode_steps=1)
        envs.reset(seed=[3])
        result = envs.step(family.batch([family.refused[0]]))
        assert result[3][0]
        family.overwrite(envs, np.random.default_rng(seed))
        seen.append(freeze([result, envs.render(), envs.step(family.batch([family.refused[0]]))]))
    assert seen[0] == seen[1] == seen[2]


def test_hidden_half__planted_canaries_appear_nowhere(started, family):
    canaries = family.plant(started)
    visible = pickle.dumps(looks(started, family))
    for canary in canaries:
        assert repr(canary)[:9].encode() not in visible
        for layout in ("<d", ">d", "<f") if isinstance(canary, float) else ("<Q", ">Q"):
            assert struct.pack(layout, canary) not in visible


def test_seed__appears_nowhere(entry, family):
    seed = 0x5EEDC0FFEE123457
    env = gym.make(entry.id, render_mode="ansi")
    results = [env.reset(seed=seed)]
    results.append(env.step(family.refused[0]) if family.refused else None)
    texts = [env.render(), repr(env), str(env.unwrapped), repr(env.spec), repr(env.metadata)]
    texts += [repr(value) for name, value in vars(env.unwrapped).items() if not name.startswith("_np_random")]
    answer = family.action(family.answers(env.unwrapped.action_masks().size)[0], 0.5)
    results.append(env.step(answer))
    visible = pickle.dumps((results, texts))
    for trace in (str(seed).encode(), f"{seed:x}".encode(), struct.pack("<Q", seed), struct.pack(">Q", seed)):
        assert trace not in visible


def test_refusal__says_the_same_for_near_and_far_answers(started, family, to_json):
    """A refused submission earns 0 and its text depends on the action and the public half alone."""
    for action in family.refused:
        said = set()
        for seed in range(5):
            family.overwrite(started, np.random.default_rng(seed))
            _, reward, terminated, _, info = started.step(action)
            assert (reward, terminated) == (0.0, False)
            assert info["refusal"] > 0
            said.add(to_json(info))
        assert len(said) == 1


def test_info__never_holds_a_word_for_what_is_hidden(entry, play, env):
    forbidden = ("target", "gold", "coefficient", "seed", "index", "truth", "secret", "answer")
    for seed in range(5):
        infos = [env.reset(seed=seed)[1], *(step[4] for step in play(env, np.random.default_rng(seed)))]
        assert not [key for info in infos for key in info if any(word in key.lower() for word in forbidden)]
