"""Hidden systems as language and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from veilgym.envs.core.family import Family
from veilgym.envs.core.replies import Unparsed, read_choice
from veilgym.envs.hidden_system.grammar import BehaviorPayload, BehaviorSkeleton
from veilgym.envs.hidden_system.payload import renderer_payload
from veilgym.envs.hidden_system.skeletons import skeletons_at
from veilgym.envs.hidden_system.task import TaskSource, load_task


def _document(length: str | int | None = None, task: TaskSource = None) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(load_task(task, length=length))
    return document


def _records(document: Mapping[str, Any], seed: int, split: str, indices: Sequence[int]) -> Iterator[BehaviorSkeleton]:
    return skeletons_at(indices, load_task(document), seed, split)


def _read_answer(reply: Any, payload: BehaviorPayload) -> str | Unparsed:
    found = read_choice(reply, payload.answer_options)
    return found if isinstance(found, Unparsed) else found.option


def _score(skeleton: BehaviorSkeleton, answer: str) -> float:
    return float(answer == skeleton.gold_answer)


FAMILY = Family(
    slug="hidden-system",
    skeleton_type=BehaviorSkeleton,
    payload_type=BehaviorPayload,
    parameters=("task",),
    document=_document,
    records=_records,
    payload=renderer_payload,
    prose="veilgym.envs.hidden_system.prose",
    read_answer=_read_answer,
    score=_score,
    # The labels are balanced. An observer of finitely many trials cannot always be right: the ideal one of the ladder
    # scores 0.994 to 0.996 at every named length.
    floor=0.5,
    ideal=1.0,
)
