"""Hidden systems as language and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from veilgym.envs.core.family import Family, read_option, score_option
from veilgym.envs.hidden_system.grammar import BehaviorPayload, BehaviorSkeleton
from veilgym.envs.hidden_system.payload import renderer_payload
from veilgym.envs.hidden_system.skeletons import skeletons_at
from veilgym.envs.hidden_system.task import TaskSource, load_task


def _document(length: str | int | None = None, task: TaskSource = None) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(load_task(task, length=length))
    return document


def _records(document: Mapping[str, Any], seed: int, split: str, indices: Sequence[int]) -> Iterator[BehaviorSkeleton]:
    return skeletons_at(indices, load_task(document), seed, split)


FAMILY = Family(
    slug="hidden-system",
    skeleton_type=BehaviorSkeleton,
    payload_type=BehaviorPayload,
    parameters=("task",),
    document=_document,
    records=_records,
    payload=renderer_payload,
    prose="veilgym.envs.hidden_system.prose",
    read_answer=read_option,
    score=score_option,
    # The labels are balanced. An observer of finitely many trials cannot always be right: the ideal one of the ladder
    # scores 0.994 to 0.996 at every named length.
    floor=0.5,
    ideal=1.0,
)
