"""Reading a task of dynamic worlds from JSON; `dynamic_world.json` beside this module is the default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from veilgym.envs.core.arguments import plain_number, read_task_file
from veilgym.envs.core.records import convert
from veilgym.envs.dynamic_world.task import (
    DEFAULT_TRANSITIONS,
    Allocation,
    Task,
    Transition,
    allocate,
    complexity_of,
)

DEFAULT_TASK_FILE = Path(__file__).with_name("dynamic_world.json")

_Count = Annotated[int, Meta(ge=1, le=4096)]


class AllocationFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The field `allocation` of a task file: how many entities of each type a world has."""

    entities: _Count
    sets: _Count
    regions: _Count
    counters: _Count


class TransitionFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the field `transitions`: its weight among the candidates, and how probably it then happens."""

    weight: Annotated[float, Meta(ge=0, le=1e6)]
    probability: Annotated[float, Meta(ge=0, le=1)]


class TaskFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The schema of a task file.

    Attributes:
        task_id, version, title: Text.
        length: "short" (4 events in a shortest proof), "medium" (6), "long" (8), or a number from 2 to 99.
        entity_count: Entities of all types, 8 to 4,096.
        simulation_steps: Candidate steps, 1 to 100,000.
        allocation: Entities by type, `entity_count` in all; left out, they are divided as the default ones are.
        transitions: By id; those left out are as in the default task.
    """

    task_id: Annotated[str, Meta(min_length=1)] = "dynamic-world"
    version: Annotated[str, Meta(min_length=1)] = "0.1.0"
    title: str = ""
    length: Literal["short", "medium", "long"] | Annotated[int, Meta(ge=2, le=99)] = "short"
    entity_count: Annotated[int, Meta(ge=8, le=4096)] = 128
    simulation_steps: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    allocation: AllocationFile | None = None
    transitions: dict[str, TransitionFile] = {}


TaskSource = Task | Mapping[str, Any] | str | os.PathLike[str] | None
"""What `load_task` takes."""


def load_task(source: TaskSource = None, **overrides: Any) -> Task:
    """The task that `source` describes, with fields replaced.

    Args:
        source: a path, a mapping of the schema of `TaskFile`, a `Task`, or None for the default task.
        **overrides: `length`, `entity_count` or `simulation_steps`; None leaves a field as it is. Another
            `entity_count` is divided among the types as the default one is.

    Raises:
        ValueError: the file cannot be read, or a field is wrong; the message names the field, its value and what is
            allowed.
    """
    given = {name: plain_number(value) for name, value in overrides.items() if value is not None}
    if isinstance(source, Task):
        if not given:
            return source
        document = document_of(source)
    elif isinstance(source, Mapping):
        document = dict(source)
    elif isinstance(source, (str, os.PathLike, type(None))):
        document = read_task_file(DEFAULT_TASK_FILE if source is None else source)
    else:
        kind = type(source).__name__
        raise ValueError(f"task must be a path, a mapping, a Task or None, got {source!r} of type {kind}")
    if "entity_count" in given and given["entity_count"] != document.get("entity_count"):
        document = {name: value for name, value in document.items() if name != "allocation"}
    levels = (source.entity_levels, source.set_levels) if isinstance(source, Task) else (0, 0)
    return _build(convert({**document, **given}, TaskFile, "task field"), levels)


def _build(file: TaskFile, levels: tuple[int, int]) -> Task:
    allocation = allocate(file.entity_count)
    if file.allocation is not None:
        allocation = Allocation(**msgspec.to_builtins(file.allocation))
        if allocation.total != file.entity_count:
            raise ValueError(
                f"task field allocation: got {allocation.total} entities in all, allowed is {file.entity_count}, "
                "the entity_count"
            )
    transitions = {name: Transition(t.weight, t.probability) for name, t in file.transitions.items()}
    try:
        return Task(
            complexity_of(file.length),
            file.simulation_steps,
            allocation,
            {**DEFAULT_TRANSITIONS, **transitions},
            *levels,
        )
    except ValueError as error:
        raise ValueError(f"task field {error}") from None


def document_of(task: Task) -> dict[str, Any]:
    """The task as plain data that `load_task` takes."""
    return {
        "length": task.complexity,
        "entity_count": task.allocation.total,
        "simulation_steps": task.simulation_steps,
        "allocation": vars(task.allocation),
        "transitions": {name: vars(transition) for name, transition in task.transitions.items()},
    }
