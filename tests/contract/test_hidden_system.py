"""Promises of HiddenSystem-v0 that the suite cannot state in general: records that a user gives."""

from __future__ import annotations

import re

import gymnasium as gym
import msgspec
import numpy as np
import pytest

import veilgym  # noqa: F401
from veilgym.envs.core.records import to_json
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.evaluator import gold_answer, latent_trace, present_probability
from veilgym.envs.hidden_system.payload import decode

ID = "HiddenSystem-v0"


def with_other_probabilities(skeleton, probability):
    """The same public half over a system whose rules act with another probability."""
    rules = [msgspec.structs.replace(rule, probability=probability) for rule in skeleton.hidden_system.rules]
    system = msgspec.structs.replace(skeleton.hidden_system, rules=tuple(rules))
    query, vocabulary = skeleton.query_case, skeleton.attribute_vocabulary
    exact = present_probability(system, query.attributes, query.events, vocabulary)
    return msgspec.structs.replace(
        skeleton,
        hidden_system=system,
        gold_answer=gold_answer(exact),
        gold_present_probability=exact,
        latent_trace=latent_trace(system, query.attributes, query.events, vocabulary),
    )


@pytest.fixture(scope="module")
def records():
    return generate_skeletons(12, "short", seed=5)


def test_record__with_another_hidden_half_looks_the_same_until_the_answer(records, freeze):
    """Through the front door: nothing is overwritten, the hidden half comes in with the arguments."""
    rewards, seen = set(), []
    for probability in (0.05, 0.5, 0.95):
        record = with_other_probabilities(records[0], probability)
        env = gym.make(ID, skeletons=[record], reward="brier", render_mode="ansi")
        looks = [env.reset(seed=1), env.step(np.array([2.0])), env.render()]
        looks += [repr(thing) for thing in (env, env.unwrapped, env.spec, env.unwrapped.spec)]
        looks += [repr(value) for name, value in vars(env.unwrapped).items() if not name.startswith("_np_random")]
        seen.append(re.sub("0x[0-9a-f]+", "", repr(freeze(looks))))  # addresses
        rewards.add(env.step(np.array([0.3]))[1])
    assert seen[0] == seen[1] == seen[2]
    assert len(rewards) == 3


def test_record__names_in_no_repr_where_it_came_from(records):
    """The number of a record of `generate_skeletons` says which side is favoured: odd is PRESENT."""
    env = gym.make(ID, skeletons=[records[1]])
    env.reset(seed=1)
    shown = repr(env.spec) + repr(env.unwrapped.spec) + repr(vars(env.unwrapped))
    assert records[1].id not in shown


def test_records__are_all_asked_and_nothing_else(records):
    env = gym.make(ID, skeletons=records).unwrapped
    public = {to_json(renderer_payload(record)): record for record in records}
    asked = {}
    for _ in range(200):
        observation, _ = env.reset()
        payload = decode(observation, env.layout)
        query = msgspec.structs.replace(payload.query_case, id=records[0].query_case.id)
        record = public[to_json(msgspec.structs.replace(payload, query_case=query))]
        asked[record.id] = asked.get(record.id, 0) + 1
        side = payload.answer_options.index(record.gold_answer)
        assert env.step(side)[1] == 1.0
    assert len(asked) == len(records)
    assert max(asked.values()) < 50


def test_records__from_a_file_play_as_from_a_list(records, tmp_path, freeze):
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\n".join(map(to_json, records)))
    for source in (path, str(path), tuple(records)):
        for one, other in (
            (gym.make(ID, skeletons=source), gym.make(ID, skeletons=records)),
            (gym.make_vec(ID, num_envs=3, skeletons=source), gym.make_vec(ID, num_envs=3, skeletons=records)),
        ):
            assert freeze(one.reset(seed=4)) == freeze(other.reset(seed=4))
            answer = one.action_space.sample() * 0
            assert freeze(one.step(answer)) == freeze(other.step(answer))
    assert gym.make_vec(ID, num_envs=2, skeletons=str(path)).spec.to_json()


@pytest.mark.parametrize(
    "changes",
    [{"length": "long"}, {"trials": 7}, {"margin": 0.2}, {"task": {"length": 6}}],
    ids=lambda c: next(iter(c)),
)
def test_records__with_arguments_that_they_settle_are_refused(records, changes):
    """Records have their own length, trials and margin: an env that took others would state a task it does not play."""
    with pytest.raises(ValueError, match="skeletons"):
        gym.make(ID, skeletons=records, **changes)


def test_observation__of_every_length_is_that_of_the_record(freeze):
    """The env's questions are those of `generate_skeletons` with a drawn side, for all lengths."""
    for length in (*range(4, 11), "short", "medium", "long"):
        env = gym.make(ID, length=length).unwrapped
        for i, record in enumerate(generate_skeletons(3, length, seed=2, balance="drawn")):
            observation, _ = env.reset(seed=2) if i == 0 else env.reset()
            assert to_json(decode(observation, env.layout)) == to_json(renderer_payload(record))
            assert env.step(record.answer_options.index(record.gold_answer))[1] == 1.0


def test_shuffle_options__shows_both_orders_and_pays_by_what_is_shown():
    straight, shuffled = gym.make(ID), gym.make(ID, shuffle_options=True)
    orders = []
    for seed in range(60):
        known = straight.reset(seed=seed)[0]
        shown = shuffled.reset(seed=seed)[0]
        assert all(np.array_equal(known[key], shown[key]) for key in known if key != "options")
        orders.append(int(shown["options"][0]))
        reward = straight.step(0)[1]
        assert shuffled.step(orders[-1])[1] == reward  # PRESENT in both
    assert 15 < sum(orders) < 45


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
@pytest.mark.parametrize(
    "task",
    [
        {"margin": 0.499},
        {"probabilities": {part: [1, 1] for part in ("add", "flag", "effect", "gated_add", "gated_veto")}},
    ],
    ids=["margin", "no probability to change"],
)
def test_task__that_cannot_be_satisfied_fails_when_the_env_is_made(make, task):
    with pytest.raises(ValueError, match="task fields margin, pivotal_share and probabilities: got"):
        make(ID, task=task)
    make(ID, task={**task, "margin": 0.08, "pivotal_share": 1.0}).reset(seed=0)


def test_task__as_a_mapping_or_arguments_plays_the_same(freeze):
    task = {"length": 5, "trials": 20, "margin": 0.1}
    for one, other in (
        (gym.make(ID, task=task), gym.make(ID, **task)),
        (gym.make_vec(ID, num_envs=3, task=task), gym.make_vec(ID, num_envs=3, **task)),
        (gym.make(ID, task={"length": 9}, length=5), gym.make(ID, length=5)),
    ):
        assert freeze(one.reset(seed=4)) == freeze(other.reset(seed=4))
        assert freeze(one.reset()) == freeze(other.reset())
