"""Nothing leaks: until the answer is given, the hidden half cannot change one byte of what an agent sees.

A family says in `FAMILIES` (conftest.py) where its hidden half lies; here it is overwritten or marked after `reset`, so
that whatever has been revealed stays, and everything that can be looked at must stay too.
"""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest


@pytest.fixture
def started(subject, family):
    """A wrapped env with "ansi" rendering in mid-episode."""
    env = subject.make(render_mode="ansi")
    env.reset(seed=3)
    for wait in family.waits:
        env.step(wait)
    return env


def looks(env, family):
    """All that an agent or a reader gets without new evidence."""
    results = [env.step(action) for action in family.refused]
    texts = [env.render(), env.unwrapped.render(), repr(env), str(env), repr(env.unwrapped), str(env.unwrapped)]
    texts += [repr(env.spec), repr(env.unwrapped.spec), repr(env.metadata)]
    texts += [repr(value) for value in vars(env.unwrapped).values() if not isinstance(value, np.random.Generator)]
    return results, texts, env.unwrapped.action_masks()


def answered(env, answer):
    """What an answer would give, without giving it."""
    return pickle.loads(pickle.dumps(env)).step(answer)


@pytest.mark.every_variant
def test_hidden_half__cannot_change_a_byte_before_the_answer(subject, started, family, freeze):
    before = freeze(looks(started, family))
    rewards = {answered(started, subject.answer())[1]}
    for seed in range(8):  # within the time limit
        family.overwrite(started, np.random.default_rng(seed))
        assert freeze(looks(started, family)) == before
        rewards.add(answered(started, subject.answer())[1])
    assert len(rewards) > 1  # it was the hidden half that was overwritten


@pytest.mark.every_variant
def test_hidden_half__changes_nothing_but_the_reward_of_the_answer(subject, started, family, freeze):
    results = []
    for seed in range(8):
        family.overwrite(started, np.random.default_rng(seed))
        results.append(answered(started, subject.answer()))
    assert len({reward for _, reward, *_ in results}) > 1
    seen = [freeze([observation, rest]) for observation, _, *rest in results]
    assert all(one == seen[0] for one in seen)


@pytest.mark.every_variant
def test_hidden_half__cannot_change_a_byte_of_a_vector_env_before_the_answer(subject, family, freeze):
    """Four envs wait; the fifth answers, and of the hidden half it shows the reward alone."""
    envs = subject.make_vec(5, render_mode="ansi", autoreset_mode="Disabled")
    envs.reset(seed=3)
    for wait in family.waits:
        envs.step(family.batch([wait] * 5))
    actions = family.batch([*[family.refused[-1]] * 4, subject.answer()])
    seen, rewards = [], set()
    for seed in range(8):
        twin = pickle.loads(pickle.dumps(envs))
        family.overwrite(twin, np.random.default_rng(seed))
        results = [twin.step(family.batch([action] * 5)) for action in family.refused] + [twin.render()]
        observation, reward, *rest = twin.step(actions)
        rewards.add(reward[4])
        assert not reward[:4].any()
        seen.append(freeze([results, observation, rest, twin.render()[:4], repr(twin), twin.unwrapped.action_masks()]))
    assert all(one == seen[0] for one in seen)
    assert len(rewards) > 1


def test_hidden_half__cannot_change_a_byte_after_a_truncation(subject, family, freeze):
    """By the native vector env's own limit; in a one-step family, which has none, by Gymnasium's wrapper."""
    seen = []
    for seed in range(3):
        if subject.limit is None:
            env, action = subject.make(render_mode="ansi", max_episode_steps=1), family.refused[0]
            env.reset(seed=3)
        else:
            env = subject.make_vec(1, render_mode="ansi", autoreset_mode="Disabled", max_episode_steps=1)
            env.reset(seed=[3])
            action = family.batch([family.refused[0]])
        result = env.step(action)
        assert result[3]
        family.overwrite(env, np.random.default_rng(seed))
        seen.append(freeze([result, env.render(), env.step(action)]))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.every_variant
def test_hidden_half__planted_canaries_appear_nowhere(started, family):
    canaries = family.plant(started)
    visible = pickle.dumps(looks(started, family))
    for canary in canaries:
        assert repr(canary)[:9].encode() not in visible
        for layout in ("<d", ">d", "<f") if isinstance(canary, float) else ("<Q", ">Q"):
            assert struct.pack(layout, canary) not in visible


@pytest.mark.every_variant
def test_seed__appears_nowhere(subject, family):
    seed = 0x5EEDC0FFEE123457
    env = subject.make(render_mode="ansi")
    results = [env.reset(seed=seed)]
    results.append(env.step(family.refused[0]))
    texts = [env.render(), repr(env), str(env.unwrapped), repr(env.spec), repr(env.metadata)]
    texts += [repr(value) for name, value in vars(env.unwrapped).items() if not name.startswith("_np_random")]
    results += [env.step(subject.answer()), env.render()]
    visible = pickle.dumps((results, texts))
    for trace in (str(seed).encode(), f"{seed:x}".encode(), struct.pack("<Q", seed), struct.pack(">Q", seed)):
        assert trace not in visible


@pytest.mark.every_variant
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


def test_info__never_holds_a_word_for_what_is_hidden(subject, play, env):
    forbidden = ("target", "gold", "coefficient", "seed", "index", "truth", "secret", "answer")
    for seed in range(5):
        infos = [env.reset(seed=seed)[1], *(step[4] for step in play(env, np.random.default_rng(seed)))]
        assert not [key for info in infos for key in info if any(word in key.lower() for word in forbidden)]
