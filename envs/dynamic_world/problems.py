"""Dynamic worlds as language and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from veilgym.envs.core.family import Family, read_option, score_option
from veilgym.envs.dynamic_world.generator import worlds_at
from veilgym.envs.dynamic_world.grammar import WorldPayload, WorldSkeleton
from veilgym.envs.dynamic_world.payload import renderer_payload
from veilgym.envs.dynamic_world.task_file import TaskSource, document_of, load_task


def _document(length: str | int | None = None, task: TaskSource = None, **sizes: int) -> dict[str, Any]:
    return document_of(load_task(task, length=length, **sizes))


def _records(document: Mapping[str, Any], seed: int, split: str, indices: Sequence[int]) -> Iterator[WorldSkeleton]:
    return worlds_at(indices, load_task(document), seed, split)


FAMILY = Family(
    slug="dynamic-world",
    skeleton_type=WorldSkeleton,
    payload_type=WorldPayload,
    parameters=("task", "entity_count", "simulation_steps"),
    document=_document,
    records=_records,
    payload=renderer_payload,
    prose="veilgym.envs.dynamic_world.prose",
    read_answer=read_option,
    score=score_option,
    # The answer is drawn with equal probability, and follows from what is shown.
    floor=0.5,
    ideal=1.0,
)
