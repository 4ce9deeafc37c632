"""The networks made for the families: blind to what has no meaning, and right about what they pool."""

from __future__ import annotations

import itertools

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch

import veilgym  # noqa: F401
from veilgym.agents.causal_circuits.encoder import CircuitEncoder
from veilgym.agents.dynamic_world.encoder import WorldEncoder
from veilgym.agents.dynamic_world.history import ABOVE, read_history
from veilgym.agents.dynamic_world.inference import NO, YES, decide
from veilgym.agents.hidden_system.encoder import SystemEncoder
from veilgym.envs.dynamic_world.grammar import EVENT_FORMS

BATCH = 6


def draw(env_id, **kwargs):
    envs = gym.make_vec(env_id, num_envs=BATCH, split="test", **kwargs)
    observations, _ = envs.reset(seed=1)
    return envs.single_observation_space, observations


def features(encoder, observations):
    with torch.no_grad():
        return encoder({key: torch.as_tensor(value) for key, value in observations.items()}).numpy()


@pytest.fixture(name="systems", params=["short", "long"])
def systems_fixture(request):
    torch.manual_seed(0)
    space, observations = draw("HiddenSystem-v0", length=request.param)
    return SystemEncoder(space), observations


def test_systems__names_of_events_do_not_matter(systems):
    encoder, observations = systems
    n = observations["query_events"].shape[1]
    names = np.concatenate([[0], 1 + np.random.default_rng(0).permutation(n)]).astype(np.int8)
    renamed = {**observations, "events": names[observations["events"]]}
    renamed["query_events"] = names[observations["query_events"]]
    assert (renamed["events"] != observations["events"]).any()
    np.testing.assert_allclose(features(encoder, renamed), features(encoder, observations), atol=1e-5)


def test_systems__order_of_attributes_and_cases_does_not_matter(systems):
    encoder, observations = systems
    m, cases = observations["query_attributes"].shape[1], observations["trials"].shape[1]
    rng = np.random.default_rng(0)
    attributes, order = rng.permutation(m), rng.permutation(cases)
    shuffled = {key: observations[key][:, order] for key in ("trials", "present")}
    shuffled["events"] = observations["events"].reshape(BATCH, cases, -1)[:, order].reshape(BATCH, -1)
    levels = observations["attributes"].reshape(BATCH, cases, m)[:, order][:, :, attributes]
    shuffled["attributes"] = levels.reshape(BATCH, -1)
    shuffled["query_attributes"] = observations["query_attributes"][:, attributes]
    shuffled = {**observations, **shuffled}
    np.testing.assert_allclose(features(encoder, shuffled), features(encoder, observations), atol=1e-5)


def test_systems__what_has_a_meaning_matters(systems):
    encoder, observations = systems
    before = features(encoder, observations)
    for key, value in (
        ("present", observations["trials"] - observations["present"]),
        ("query_events", observations["query_events"][:, ::-1].copy()),
        ("options", 1 - observations["options"]),
    ):
        assert np.abs(features(encoder, {**observations, key: value}) - before).max(axis=1).min() > 1e-4, key


def test_systems__pools_as_a_loop_does(systems):
    encoder, observations = systems
    stats, splits, carrier, base = encoder._cells({k: torch.as_tensor(v) for k, v in observations.items()})
    n, m = observations["query_events"].shape[1], observations["query_attributes"].shape[1]
    for i in range(2):
        query = observations["query_events"][i].tolist()
        cases = [
            ([query.index(code) for code in codes if code], levels == observations["query_attributes"][i], rate)
            for codes, levels, rate in zip(
                observations["events"][i].reshape(-1, 3),
                observations["attributes"][i].reshape(-1, m),
                observations["present"][i] / observations["trials"][i],
                strict=True,
            )
        ]
        counts = [sum(place in places for places, _, _ in cases) for place in range(n)]
        assert int(carrier[i]) == int(np.argmax(counts))
        alone = [rate for places, _, rate in cases if places == [int(carrier[i])]]
        assert float(base[i]) == pytest.approx(np.mean(alone), abs=1e-6)
        for one, other in itertools.combinations(range(n), 2):
            kinds = [
                [case for case in cases if case[0] == [one, other]],
                [case for case in cases if case[0] == [other, one]],
                [case for case in cases if len(case[0]) == 3 and one in case[0] and other in case[0]],
            ]
            for kind, chosen in enumerate(kinds):
                cell = stats[i, kind, one, other]
                assert float(cell[0]) == bool(chosen)
                assert float(cell[1]) == pytest.approx(np.mean([c[2] for c in chosen]) if chosen else 0.0, abs=1e-5)
                for k in range(m):
                    at = [c[2] for c in chosen if c[1][k]]
                    off = [c[2] for c in chosen if not c[1][k]]
                    change = np.mean(at) - np.mean(off) if at and off else 0.0
                    split = splits[i, kind, one, other, k]
                    assert float(split[0]) == pytest.approx(change, abs=1e-5)
                    assert float(split[1]) == pytest.approx(np.mean(at) if at else 0.0, abs=1e-5)


@pytest.fixture(name="worlds")
def worlds_fixture():
    torch.manual_seed(0)
    space, observations = draw("DynamicWorld-v0", length="short")
    return WorldEncoder(space, rounds=4), observations


def test_worlds__names_of_symbols_and_order_of_events_do_not_matter(worlds):
    encoder, observations = worlds
    rng = np.random.default_rng(0)
    types = observations["entity_types"][0]
    names = np.arange(len(types))
    for kind in range(4):
        names[types == kind] = rng.permutation(names[types == kind])
    events = observations["events"].reshape(BATCH, -1, 7).copy()
    for i, count in enumerate(observations["event_count"][:, 0]):
        for form, named in enumerate(EVENT_FORMS):
            rows = np.flatnonzero(events[i, :count, 1] == form)
            if named.relation:
                events[i, rows, 2:4] = names[events[i, rows, 2:4]]
        events[i, :count] = events[i, rng.permutation(count)]
    query = observations["query"].copy()
    query[:, 1:3] = names[query[:, 1:3]]
    renamed = {**observations, "events": events.reshape(BATCH, -1), "query": query}
    np.testing.assert_allclose(features(encoder, renamed), features(encoder, observations), atol=1e-4)


@pytest.mark.parametrize(("is_reversed", "answer"), [(False, YES), (True, NO)])
def test_worlds__can_follow_a_rule(worlds, is_reversed, answer):
    encoder, _ = worlds
    encoder.head = torch.nn.Identity()
    with torch.no_grad():
        encoder.passing.fill_(-1.0)
        encoder.follow.fill_(-40.0)
        relations = [index for index, form in enumerate(EVENT_FORMS) if form.relation is not None]
        # From the higher to the lower, or back.
        encoder.follow[relations.index(ABOVE) + is_reversed * len(relations)] = 4.0
    envs = gym.make_vec("DynamicWorld-v0", num_envs=40, length="short")
    observations, _ = envs.reset(seed=0)
    history = read_history(observations)
    reached = features(encoder, observations)[:, :-1].max(axis=1) > 1e-4
    is_order = history.is_order
    assert 5 < is_order.sum() < 35
    assert (reached[is_order] == (decide(history)[0][is_order] == answer)).all()
    assert not reached[~is_order].any()


def test_circuits__order_of_replicates_does_not_matter():
    torch.manual_seed(0)
    envs = gym.make_vec("CausalCircuits-v0", num_envs=BATCH, autoreset_mode="SameStep")
    envs.reset(seed=0)
    for experiment in (3, 3, 5):
        actions = {"choice": np.full(BATCH, experiment), "prediction": np.zeros((BATCH, 8, 2))}
        observations = envs.step(actions)[0]
    encoder = CircuitEncoder(envs.single_observation_space)
    swapped = observations["readouts"].reshape(BATCH, 13, 2, 2)
    swapped[:, 4] = swapped[:, 4, ::-1].copy()
    before = features(encoder, observations)
    after = features(encoder, {**observations, "readouts": swapped.reshape(BATCH, -1)})
    np.testing.assert_allclose(after, before, atol=1e-6)
    changed = {**observations, "readouts": observations["readouts"] + 0.1}
    assert np.abs(features(encoder, changed) - before).max() > 1e-3
