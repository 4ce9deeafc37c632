"""Records of circuits: what the env plays, without loss, and a public half that knows nothing more."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Any

import gymnasium as gym
import msgspec
import numpy as np
import pytest

from veilgym.envs.causal_circuits import generate_skeletons, renderer_payload, score
from veilgym.envs.causal_circuits.payload import decode
from veilgym.envs.causal_circuits.problems import FAMILY
from veilgym.envs.causal_circuits.records import CircuitPayload, CircuitSkeleton
from veilgym.envs.causal_circuits.task import Task, load_task, task_file, task_of
from veilgym.envs.core.records import content_id, convert, from_json, to_json


@pytest.fixture(params=["default", "chain"])
def task(request: pytest.FixtureRequest, chain: Task) -> Task:
    return chain if request.param == "chain" else load_task()


def played(task: Task, order: list[int], seed: int, index: int, split: str) -> tuple[Any, Any]:
    env = gym.make("CausalCircuits-v0", task=task, split=split)
    observation, _ = env.reset(seed=seed)
    for _ in range(index):
        observation, _ = env.reset()
    for choice in order:
        observation, _, _, _, info = env.step({"choice": choice, "prediction": np.zeros(task.prediction_shape)})
        assert info["refusal"] == 0
    return env, decode(observation, task)


def order_within(task: Task, rng: np.random.Generator) -> list[int]:
    """Experiments in a drawn order, as many as the credits pay."""
    runs = [e for e, experiment in enumerate(task.experiments) for _ in range(experiment.max_replicates)]
    order, left = [], task.budget
    for e in rng.permutation(runs).tolist():
        if task.experiments[e].cost <= left:
            order.append(e)
            left -= task.experiments[e].cost
    return order


@pytest.mark.parametrize(
    ("seed", "index", "split"), [(0, 0, "train"), (0, 3, "train"), (7, 2, "test"), (2**63, 1, "test")]
)
def test_a_record_is_what_the_env_plays(task: Task, seed: int, index: int, split: str) -> None:
    skeleton = generate_skeletons(1, seed, split, task, first=index)[0]
    rng = np.random.default_rng(seed % 1000 + index)
    for _ in range(3):
        order = order_within(task, rng)
        env, seen = played(task, order, seed, index, split)
        payload = renderer_payload(skeleton, [task.experiments[e].id for e in order])
        initial = tuple(readout.values for readout in seen.readouts if readout.experiment is None)
        assert (payload.initial_readouts, payload.credits) == (initial, seen.credits)
        revealed = {(r.experiment, r.replicate): r.values for r in seen.readouts if r.experiment is not None}
        runs: dict[str, int] = {}
        for measurement in payload.measurements:
            run = runs.setdefault(measurement.experiment, 0)
            assert measurement.values == revealed.pop((measurement.experiment, run))
            runs[measurement.experiment] += 1
        assert not revealed
        prediction = rng.normal(size=task.prediction_shape)
        reward = env.step({"choice": task.submit, "prediction": prediction})[1]
        assert score(skeleton, prediction) == score(skeleton, prediction.tolist()) == reward
        assert env.unwrapped._episodes.targets(0).tolist() == [list(row) for row in skeleton.targets]


def test_the_same_arguments_give_the_same_bytes_wherever_a_record_stands(chain: Task) -> None:
    whole = [to_json(record) for record in generate_skeletons(300, 5, "test", chain)]
    assert len(set(whole)) == 300
    assert [to_json(record) for record in generate_skeletons(7, 5, "test", chain, first=254)] == whole[254:261]
    assert not set(whole) & {to_json(record) for record in generate_skeletons(300, 6, "test", chain)}
    assert not set(whole) & {to_json(record) for record in generate_skeletons(300, 5, "train", chain)}
    readouts = {record.initial_readouts for split in ("train", "test") for record in generate_skeletons(300, 5, split)}
    assert len(readouts) == 600


def test_readouts_are_the_circuit_and_noise_of_the_stated_size() -> None:
    """A second implementation, from the coefficients: what is left is noise."""
    task, errors = load_task(), []
    for record in generate_skeletons(300):
        c = record.coefficients
        for experiment in task.experiments:
            q = dict(experiment.query)
            u, v = q.get("u", 0.0), q.get("v", 0.0)
            x = q.get("x", np.tanh(c["bx"] + c["wu"] * u + c["wv"] * v))
            y = np.tanh(c["by"] + c["wx"] * x + c["yu"] * u + c["yv"] * v)
            errors.append(np.array(record.potential_readouts[experiment.id]) - [x, y])
        for q, target in zip(task.prediction_queries, record.targets, strict=True):
            u, v, x = (dict(q).get(node, 0.0) for node in "uvx")
            x = x if "x" in dict(q) else np.tanh(c["bx"] + c["wu"] * u + c["wv"] * v)
            assert target == pytest.approx((x, np.tanh(c["by"] + c["wx"] * x + c["yu"] * u + c["yv"] * v)), abs=1e-12)
    assert np.std(errors) == pytest.approx(0.035, rel=0.02)
    assert np.mean(errors) == pytest.approx(0, abs=0.002)


def test_an_exact_prediction_scores_one_and_half_at_one_scale() -> None:
    (record,) = generate_skeletons(1)
    assert score(record, record.targets) == 1.0
    assert score(record, np.array(record.targets) + 0.035) == pytest.approx(0.5)
    assert (
        FAMILY.score(record, FAMILY.read_answer(msgspec.json.encode(record.targets).decode(), FAMILY.payload(record)))
        == 1.0
    )
    with pytest.raises(ValueError, match="8 rows of 2 numbers"):
        score(record, [[0.0, 0.0]])


def test_records_and_payloads_survive_json(task: Task) -> None:
    for record in generate_skeletons(3, task=task):
        assert from_json(to_json(record), CircuitSkeleton, "record") == record
        payload = renderer_payload(record, [task.experiments[0].id] * 2)
        assert from_json(to_json(payload), CircuitPayload, "payload") == payload
        assert "coefficients" not in msgspec.to_builtins(payload)


def test_the_payload_does_not_depend_on_the_hidden_half(task: Task) -> None:
    (record,) = generate_skeletons(1, task=task)
    name = task.experiments[0].id
    others = {key: tuple((0.0,) * 3 for _ in rows) for key, rows in record.potential_readouts.items()}
    others[name] = record.potential_readouts[name][:1]
    forged = msgspec.structs.replace(
        record,
        id="another",
        seed=9,
        index=9,
        split="test",
        coefficients=dict.fromkeys(record.coefficients, 0.5),
        targets=record.targets[::-1],
        potential_readouts=others,
    )
    for experiments in ([], [name]):
        assert to_json(renderer_payload(forged, experiments)) == to_json(renderer_payload(record, experiments))
        assert content_id(renderer_payload(forged, experiments)) == content_id(renderer_payload(record, experiments))


def test_a_skeleton_does_not_print_what_it_holds() -> None:
    (record,) = generate_skeletons(1)
    assert repr(record) == str(record) == "CircuitSkeleton()"


def test_the_document_of_a_task_makes_the_same_task(task: Task) -> None:
    document = task_file(task)
    assert task_of(document) == task == load_task(msgspec.to_builtins(document))
    assert to_json(task_file(task_of(document))) == to_json(document)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Task)])
def test_the_document_has_every_field_of_a_task(field: str, chain: Task) -> None:
    """The default task and the chain differ in every field, so each one must come through."""
    assert getattr(load_task(), field) != getattr(chain, field)
    assert getattr(task_of(task_file(chain)), field) == getattr(chain, field)


@pytest.mark.parametrize(
    ("experiments", "message"),
    [
        (["clamp-w-0"], r"experiments\[0\] must be one of clamp-u-0, .*got 'clamp-w-0'"),
        (["clamp-u-0"] * 3, r"experiments\[2\]: 'clamp-u-0' may be run 2 times"),
        ([f"clamp-{node}-{i}" for node in "uv" for i in range(4)] + ["clamp-x-0"], "at most 8 credits"),
        ("clamp-u-0", "must be a list of ids"),
    ],
)
def test_experiments_that_cannot_be_run_are_named(experiments, message) -> None:
    (record,) = generate_skeletons(1)
    with pytest.raises(ValueError, match=message):
        renderer_payload(record, experiments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"credits": 8}, "credits: got 8, allowed is 7"),
        ({"credits": -1}, "credits"),
        ({"initial_readouts": []}, "initial_readouts: got 0, allowed is 1"),
        ({"initial_readouts": [[0.1, 0.2]]}, "float32"),
        ({"initial_readouts": [[0.5]]}, "a number for each of x, y"),
        ({"measurements": [{"experiment": "clamp", "values": [0, 0]}]}, "one of clamp-u-0"),
        ({"measurements": [{"experiment": "clamp-u-0", "values": [0, 0]}] * 3}, "run once more"),
        ({"family": "circuits"}, "family"),
        ({"answer": 1}, "answer"),
    ],
)
def test_a_payload_that_no_episode_has_is_refused(change, message) -> None:
    (record,) = generate_skeletons(1)
    document = msgspec.to_builtins(renderer_payload(record, ["clamp-u-0"]))
    assert convert(document, CircuitPayload, "field") == renderer_payload(record, ["clamp-u-0"])
    with pytest.raises(ValueError, match=message):
        convert(document | change, CircuitPayload, "field")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0}, "count"),
        ({"count": 1, "seed": -1}, "seed"),
        ({"count": 1, "first": -1}, "first"),
        ({"count": 1, "first": True}, "first"),
        ({"count": 1, "split": "validation"}, "split"),
        ({"count": 1, "task": {"task_id": "x"}}, "task field"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        generate_skeletons(**arguments)


def test_circuits_have_no_length() -> None:
    with pytest.raises(ValueError, match="length must be None"):
        FAMILY.resolve("short")
    with pytest.raises(AttributeError, match=r"no attribute .circuits."):
        import_module("veilgym.envs.causal_circuits").circuits  # noqa: B018
