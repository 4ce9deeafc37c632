"""Episodes as records: the complete one, which bears the answer, and the public half.

A record is what the env with the same task, split, seed and index plays: its potential readouts are those that the env
reveals, and a prediction scores in both the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.episodes import FAMILY, NO_LIMIT, Episodes
from veilgym.envs.causal_circuits.payload import Observation, decode
from veilgym.envs.causal_circuits.task import Task, TaskFile, TaskSource, load_task, task_file, task_of
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.records import from_json, to_json
from veilgym.envs.core.replies import Unparsed, read_matrix
from veilgym.envs.core.seeding import Split, check_seed, check_split, derive_key

_CHUNK = 256
_MOST_CREDITS = 2**31 - 1

Values = tuple[float, ...]
"""What one measurement reads, by output; float32 numbers."""


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An experiment that has been run, and what it read."""

    experiment: Annotated[str, Meta(min_length=1)]
    values: Values


class CircuitPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that may be known of an episode.

    Attributes:
        family: "causal_circuits".
        task: The public document.
        initial_readouts: What each initial query read.
        measurements: The experiments run so far, in that order.
        credits: What is left of the budget.
    """

    family: Literal["causal_circuits"]
    task: TaskFile
    initial_readouts: tuple[Values, ...]
    credits: Annotated[int, Meta(ge=0)]
    measurements: tuple[Measurement, ...] = ()

    def __post_init__(self) -> None:
        check_payload(self)


class CircuitSkeleton(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The complete record of an episode, answer included.

    Attributes:
        id: Names family and version, split, seed and index.
        family: "causal_circuits".
        split, seed, index: Which episode it is.
        task: The public document.
        coefficients: The hidden coefficients; float32 numbers.
        targets: Noiseless outputs, a row for each prediction query.
        initial_readouts: What each initial query reads.
        potential_readouts: What each run of each experiment reads, in whatever order experiments are run.
        experiments: Ids of the experiments that have been run when the question is asked, in that order.
    """

    id: Annotated[str, Meta(min_length=1)]
    family: Literal["causal_circuits"]
    split: Split
    seed: Annotated[int, Meta(ge=0)]
    index: Annotated[int, Meta(ge=0)]
    task: TaskFile
    coefficients: dict[str, float]
    targets: tuple[Values, ...]
    initial_readouts: tuple[Values, ...]
    potential_readouts: dict[str, tuple[Values, ...]]
    experiments: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []


def generate_skeletons(
    count: int, seed: int = 0, split: str = "train", task: TaskSource = None, first: int = 0
) -> list[CircuitSkeleton]:
    """Generate complete records; the same arguments give the same bytes.

    Args:
        count: How many, at least 1.
        seed: Names the sequence: record i is the i-th episode after the env's `reset(seed=seed)`.
        split: "train" or "test", independent draws from the same distributions.
        task: As for the env.
        first: The place of the first record in the sequence.

    Raises:
        ValueError: an argument is wrong.
    """
    if isinstance(first, bool) or not isinstance(first, int) or first < 0:
        raise ValueError(f"first must be a non-negative integer, got {first!r}")
    places = range(first, first + check_count("count", count))
    return list(skeletons_at(places, load_task(task), check_seed(seed), check_split(split)))


def skeletons_at(indices: Sequence[int], task: Task, seed: int, split: Split) -> Iterator[CircuitSkeleton]:
    """The records at any places of a seed's sequence, one after another."""
    document, places = task_file(task), iter(indices)
    while chunk := list(islice(places, _CHUNK)):
        episodes = _played_out(chunk, task, seed, split)
        shape = (len(chunk), len(task.measured_queries), task.max_replicates, len(task.outputs))
        readouts = episodes.readouts.reshape(shape)
        for i, index in enumerate(chunk):
            yield _skeleton(i, index, seed, split, document, episodes, readouts[i])


def _played_out(indices: Sequence[int], task: Task, seed: int, split: Split) -> Episodes:
    """Episodes in which every experiment has been run as often as it may be."""
    runs = [e for e, experiment in enumerate(task.experiments) for _ in range(experiment.max_replicates)]
    budget = sum(task.experiments[e].cost for e in runs)
    if budget > _MOST_CREDITS:
        raise ValueError(f"all runs of all experiments must cost at most {_MOST_CREDITS} together, got {budget}")
    # What an experiment reads depends on neither the budget nor what has been run before.
    episodes = Episodes(replace(task, budget=budget), len(indices), split, NO_LIMIT)
    _place(episodes, [(derive_key(FAMILY, split, seed), index) for index in indices])
    for e in runs:
        episodes.advance(np.full(len(indices), e), episodes.submissions)
    return episodes


def _place(episodes: Episodes, sequence: Sequence[tuple[int, int]]) -> None:
    """Begin the episodes of these keys and indices."""
    lanes = episodes.sequence.shape[-1]
    for i, (key, index) in enumerate(sequence):
        episodes.sequence[i // lanes, :, i % lanes] = key, (index - 1) % 2**64
    episodes.begin(np.ones(len(sequence), np.bool_))


def _skeleton(
    i: int,
    index: int,
    seed: int,
    split: Split,
    document: TaskFile,
    episodes: Episodes,
    readouts: NDArray[np.float32],
) -> CircuitSkeleton:
    task, lanes = episodes.task, episodes.sequence.shape[-1]
    rows = [_rows(row) for row in readouts]
    initial, experiments = len(task.initial_queries), task.experiments
    coefficients = episodes.coefficients[i // lanes, :, i % lanes].tolist()
    return CircuitSkeleton(
        id=f"{FAMILY}/{split}/{seed}/{index}",
        family="causal_circuits",
        split=split,
        seed=seed,
        index=index,
        task=document,
        coefficients=dict(zip([prior.coefficient for prior in task.priors], coefficients, strict=True)),
        targets=_rows(episodes.targets(i)),
        initial_readouts=tuple(row[0] for row in rows[:initial]),
        potential_readouts={
            experiment.id: row[: experiment.max_replicates]
            for experiment, row in zip(experiments, rows[initial:], strict=True)
        },
    )


def _rows(array: NDArray[np.floating[Any]]) -> tuple[Values, ...]:
    return tuple(map(tuple, array.tolist()))


def renderer_payload(skeleton: CircuitSkeleton, experiments: Sequence[str] | None = None) -> CircuitPayload:
    """What a renderer, a solver or an agent may know of a skeleton: an allow-list, field by field.

    Args:
        skeleton: The complete record.
        experiments: Ids of experiments that have been run, in that order; an id twice for two runs. None for those of
            the record.

    Raises:
        ValueError: an experiment is unknown, is run too often, or there are not enough credits.
    """
    task = cached_task(skeleton.task)
    offers = {experiment.id: experiment for experiment in task.experiments}
    experiments = skeleton.experiments if experiments is None else experiments
    if isinstance(experiments, str):
        raise ValueError(f"experiments must be a list of ids, got {experiments!r}")
    left, runs, measurements = task.budget, dict.fromkeys(offers, 0), []
    for i, name in enumerate(experiments):
        if name not in offers:
            raise ValueError(f"experiments[{i}] must be one of {', '.join(offers)}, got {name!r}")
        if runs[name] == offers[name].max_replicates:
            raise ValueError(f"experiments[{i}]: {name!r} may be run {runs[name]} times, got more")
        left -= offers[name].cost
        if left < 0:
            raise ValueError(f"experiments must cost at most {task.budget} credits, got {', '.join(experiments)}")
        measurements.append(Measurement(name, skeleton.potential_readouts[name][runs[name]]))
        runs[name] += 1
    return CircuitPayload("causal_circuits", skeleton.task, skeleton.initial_readouts, left, tuple(measurements))


def payload_of(observation: Observation, task: Task) -> CircuitPayload:
    """The public record of an episode as an agent sees it; experiments come in the task's order."""
    seen = decode(observation, task)
    initial = tuple(readout.values for readout in seen.readouts if readout.experiment is None)
    measurements = tuple(
        Measurement(readout.experiment, readout.values) for readout in seen.readouts if readout.experiment is not None
    )
    return CircuitPayload("causal_circuits", task_file(task), initial, seen.credits, measurements)


def check_payload(payload: CircuitPayload) -> None:
    """Check what concerns more than one field of a payload; a `ValueError` names the place, the value, the allowed."""
    task = cached_task(payload.task)
    offers = {experiment.id: experiment for experiment in task.experiments}
    if len(payload.initial_readouts) != len(task.initial_queries):
        _fail("initial_readouts", len(payload.initial_readouts), f"{len(task.initial_queries)}, one for each query")
    for i, values in enumerate(payload.initial_readouts):
        _check_values(f"initial_readouts[{i}]", values, task)
    runs, spent = dict.fromkeys(offers, 0), 0
    for i, measurement in enumerate(payload.measurements):
        if measurement.experiment not in offers:
            _fail(f"measurements[{i}].experiment", measurement.experiment, f"one of {', '.join(offers)}")
        _check_values(f"measurements[{i}].values", measurement.values, task)
        runs[measurement.experiment] += 1
        spent += offers[measurement.experiment].cost
        if runs[measurement.experiment] > offers[measurement.experiment].max_replicates:
            _fail(f"measurements[{i}].experiment", measurement.experiment, "an experiment that may be run once more")
    if payload.credits != task.budget - spent:
        _fail("credits", payload.credits, f"{task.budget - spent}, the budget less what the experiments cost")


def _check_values(place: str, values: Values, task: Task) -> None:
    if len(values) != len(task.outputs):
        _fail(place, list(values), f"a number for each of {', '.join(task.outputs)}")
    with np.errstate(over="ignore"):
        if not all(float(np.float32(value)) == value and np.isfinite(value) for value in values):
            _fail(place, list(values), "finite float32 numbers")


def _fail(place: str, value: Any, allowed: str) -> None:
    raise ValueError(f"{place}: got {value!r}, allowed is {allowed}")


def cached_task(document: TaskFile | bytes) -> Task:
    """`task_of`, for a document that comes again and again; also in canonical JSON."""
    return _task_of_json(document if isinstance(document, bytes) else to_json(document))


@lru_cache(maxsize=64)
def _task_of_json(document: bytes) -> Task:
    return task_of(from_json(document, TaskFile, "task field"))


@lru_cache(maxsize=16)
def _judge(document: bytes) -> Episodes:
    return Episodes(_task_of_json(document), 1, "train", NO_LIMIT)


def score(skeleton: CircuitSkeleton, matrix: Any) -> float:
    """What a prediction scores: the env's reward for it, computed by the same code.

    Args:
        skeleton: The complete record.
        matrix: (Q, O) finite numbers: rows, an array, or the JSON text of a reply.

    Raises:
        ValueError: it is no such matrix.
    """
    task = cached_task(skeleton.task)
    found = read_matrix(matrix, task.prediction_shape)
    if isinstance(found, Unparsed):
        raise ValueError(found.sentence)
    episodes = _judge(to_json(skeleton.task))
    episodes.begin(np.ones(1, np.bool_))
    episodes.coefficients[0, :, 0] = [skeleton.coefficients[prior.coefficient] for prior in task.priors]
    reward, *_ = episodes.advance(np.array([task.submit]), np.array([found.rows]))
    return float(reward[0])
