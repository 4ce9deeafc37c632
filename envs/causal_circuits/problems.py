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


def _document(length: str | int | None = None, task: TaskSource = None) -> dict[str, Any]:
    if length is not None:
        raise ValueError(f"length must be None, for circuits have none, got {length!r}")
    document: dict[str, Any] = msgspec.to_builtins(task_file(load_task(task)))
    return document


def _records(document: Mapping[str, Any], seed: int, split: str, indices: Sequence[int]) -> Iterator[CircuitSkeleton]:
    return skeletons_at(indices, load_task(document), seed, check_split(split))


def _read_answer(reply: Any, payload: CircuitPayload) -> Matrix | Unparsed:
    return read_matrix(reply, cached_task(payload.task).prediction_shape)


def _score(skeleton: CircuitSkeleton, answer: Matrix) -> float:
    return score(skeleton, answer.rows)


FAMILY = Family(
    slug="causal-circuits",
    skeleton_type=CircuitSkeleton,
    payload_type=CircuitPayload,
    parameters=("task",),
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
