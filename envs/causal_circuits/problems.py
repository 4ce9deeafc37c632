"""Causal circuits as language and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from veilgym.envs.causal_circuits.records import (
    CircuitPayload,
    CircuitSkeleton,
    cached_task,
    renderer_payload,
    score,
    skeletons_at,
)
from veilgym.envs.causal_circuits.task import TaskSource, load_task, task_file
from veilgym.envs.core.family import Family
from veilgym.envs.core.replies import Matrix, Unparsed, read_matrix
from veilgym.envs.core.seeding import check_split

_RUN = "experiments_run"  # in the document, beside the fields of the task


def _document(
    length: str | int | None = None, task: TaskSource = None, experiments: Sequence[str] | None = None
) -> dict[str, Any]:
    """The task's document; `experiments` are ids of those that have been run when the question is asked."""
    if length is not None:
        raise ValueError(f"length must be None, for circuits have none, got {length!r}")
    if isinstance(task, Mapping) and _RUN in task:
        experiments = task[_RUN] if experiments is None else experiments
        task = {name: value for name, value in task.items() if name != _RUN}
    document: dict[str, Any] = msgspec.to_builtins(task_file(load_task(task)))
    if experiments:
        document[_RUN] = experiments
        renderer_payload(next(_records(document, 0, "train", [0])))  # says what is wrong with them
        document[_RUN] = list(experiments)
    return document


def _records(document: Mapping[str, Any], seed: int, split: str, indices: Sequence[int]) -> Iterator[CircuitSkeleton]:
    task = {name: value for name, value in document.items() if name != _RUN}
    run: Any = document.get(_RUN, ())
    run = run if isinstance(run, str) else tuple(run)  # a string is refused where it is used
    records = skeletons_at(indices, load_task(task), seed, check_split(split))
    return (msgspec.structs.replace(record, experiments=run) for record in records)


def _read_answer(reply: Any, payload: CircuitPayload) -> Matrix | Unparsed:
    return read_matrix(reply, cached_task(payload.task).prediction_shape)


def _score(skeleton: CircuitSkeleton, answer: Matrix) -> float:
    return score(skeleton, answer.rows)


FAMILY = Family(
    slug="causal-circuits",
    skeleton_type=CircuitSkeleton,
    payload_type=CircuitPayload,
    parameters=("task", "experiments"),
    document=_document,
    records=_records,
    payload=renderer_payload,
    prose="veilgym.envs.causal_circuits.prose",
    read_answer=_read_answer,
    score=_score,
    is_graded=True,
    # What the prior mean and the ideal observer score on the default task, the latter after eight experiments. A
    # prediction from the initial readouts alone stays close to the floor.
    floor=0.0083,
    ideal=0.72,
)
