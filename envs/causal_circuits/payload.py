"""The public record of an episode, as arrays for an agent and as a list of readouts for a reader.

Letters: R measured queries (initial, then experiments), J replicates, O outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.episodes import Record
from veilgym.envs.causal_circuits.task import Query, Task

Observation = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Readout:
    """One measurement.

    Attributes:
        experiment: The experiment's id; None for an initial query.
        query: What was clamped.
        replicate: 0 for the first run.
        values: O measured values, float32 numbers.
    """

    experiment: str | None
    query: Query
    replicate: int
    values: tuple[float, ...]


@dataclass(frozen=True)
class Payload:
    """All that an agent may know of an episode beyond the task: credits left and the readouts, by row and replicate."""

    credits: int
    readouts: tuple[Readout, ...]


def observation_space(task: Task) -> spaces.Dict:
    """The space of `observe` for one episode; the shapes are stated in the env's docstring."""
    rows = len(task.measured_queries)
    clamps = [abs(value) for query in task.measured_queries for _, value in query]
    # Finite, for Gymnasium's checker: the generator's normal numbers stay below 6.7, so nothing is clipped.
    reach = max([1.0, *clamps]) + 7.0 * np.tile(task.noise_std, rows * task.max_replicates).astype(np.float32)
    return spaces.Dict(
        {
            "readouts": spaces.Box(-reach, reach, dtype=np.float32),
            "replicates": spaces.Box(0, task.max_replicates, (rows,), np.int8),
            "credits": spaces.Box(0, max(1, task.budget), (1,), np.int32),  # Gymnasium wants low < high
        }
    )


def action_space(task: Task) -> spaces.Dict:
    """Dict(choice=Discrete(E + 1), prediction=Box(-1, 1, (Q, O), float64))."""
    return spaces.Dict(
        {
            "choice": spaces.Discrete(task.submit + 1),
            "prediction": spaces.Box(-1.0, 1.0, task.prediction_shape, np.float64),
        }
    )


def observe(record: Record) -> Observation:
    """Name the public arrays of a batch: what the agents see, and all that they see."""
    readouts, replicates, credits_left, _ = record
    return {"readouts": readouts, "replicates": replicates, "credits": credits_left}


def decode(observation: Observation, task: Task) -> Payload:
    """Turn the observation of one episode into its public record."""
    ids = [None] * len(task.initial_queries) + [experiment.id for experiment in task.experiments]
    measured = observation["readouts"].reshape(len(ids), task.max_replicates, len(task.outputs))
    readouts = [
        Readout(ids[row], task.measured_queries[row], replicate, tuple(measured[row, replicate].tolist()))
        for row, count in enumerate(observation["replicates"])
        for replicate in range(count)
    ]
    return Payload(int(observation["credits"][0]), tuple(readouts))


def encode(payload: Payload, task: Task) -> Observation:
    """The inverse of `decode`."""
    rows = {experiment.id: len(task.initial_queries) + i for i, experiment in enumerate(task.experiments)}
    initial = list(range(len(task.initial_queries)))
    shape = (len(task.measured_queries), task.max_replicates, len(task.outputs))
    readouts, replicates = np.zeros(shape, np.float32), np.zeros(shape[0], np.int8)
    for readout in payload.readouts:
        row = initial.pop(0) if readout.experiment is None else rows[readout.experiment]
        readouts[row, readout.replicate] = readout.values
        replicates[row] += 1
    return {"readouts": readouts.ravel(), "replicates": replicates, "credits": np.array([payload.credits], np.int32)}
