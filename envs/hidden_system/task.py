"""The parameters of generated hidden systems: what anyone may know before the first episode.

A task file is JSON with the fields of `Task`; `hidden_system.json` beside this module is the default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from veilgym.envs.core.arguments import plain_number, read_task_file
from veilgym.envs.core.records import convert

DEFAULT_TASK_FILE = Path(__file__).with_name("hidden_system.json")
PRESETS = {"short": 4, "medium": 6, "long": 8}

_Range = tuple[Annotated[float, Meta(ge=0, le=1)], Annotated[float, Meta(ge=0, le=1)]]


class Probabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The range, both ends included, from which a rule's probability is drawn, by the rule's part in the system."""

    add: _Range = (0.5, 0.95)
    flag: _Range = (0.2, 0.95)
    effect: _Range = (0.2, 0.95)
    gated_add: _Range = (0.2, 0.95)
    gated_veto: _Range = (0.1, 0.95)


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A validated task.

    Attributes:
        task_id, version, title: Text.
        length: "short" (4 events), "medium" (6), "long" (8), or a number of events from 4 to 10.
        trials: Trials per support case, 1 to 1,000; None for 48 up to four events and 64 above.
        margin: Queries whose exact probability is nearer to 1/2 than this are not asked.
        attributes: How many attributes a case has, 4 to 8.
        pivotal_share: The share of instances whose answer turns on the level of one attribute of the query; in the
            others it turns on the probability of one rule.
        probability_steps: N; probabilities are multiples of 1/N, 1 to 1,000.
        probabilities: Ranges of the rules' probabilities.
    """

    task_id: Annotated[str, Meta(min_length=1)] = "hidden-system"
    version: Annotated[str, Meta(min_length=1)] = "0.2.0"
    title: str = ""
    length: Literal["short", "medium", "long"] | Annotated[int, Meta(ge=4, le=10)] = "short"
    trials: Annotated[int, Meta(ge=1, le=1000)] | None = None
    margin: Annotated[float, Meta(ge=0, lt=0.5)] = 0.08
    attributes: Annotated[int, Meta(ge=4, le=8)] = 4
    pivotal_share: Annotated[float, Meta(ge=0, le=1)] = 0.4
    probability_steps: Annotated[int, Meta(ge=1, le=1000)] = 20
    probabilities: Probabilities = Probabilities()

    def __post_init__(self) -> None:
        for name in Probabilities.__struct_fields__:
            low, high = self.steps_of(name)
            if low > high:
                got = getattr(self.probabilities, name)
                allowed = f"[low, high] with a multiple of 1/{self.probability_steps} between them"
                raise ValueError(f"probabilities.{name}: got {list(got)!r}, allowed is {allowed}")

    @property
    def complexity(self) -> int:
        """n, the number of events in the query."""
        return PRESETS[self.length] if isinstance(self.length, str) else self.length

    @property
    def trials_per_case(self) -> int:
        """Trials of a support case."""
        if self.trials is not None:
            return self.trials
        return 48 if self.complexity <= 4 else 64

    def steps_of(self, name: str) -> tuple[int, int]:
        """The range of a probability in steps of 1/N, both ends included."""
        low, high = getattr(self.probabilities, name)
        slack = 1e-9  # so that 0.15 counts as three steps of 1/20
        return -int((slack - low * self.probability_steps) // 1), int((high * self.probability_steps + slack) // 1)


TaskSource = Task | Mapping[str, Any] | str | os.PathLike[str] | None
"""What `load_task` takes."""


def load_task(source: TaskSource = None, **overrides: Any) -> Task:
    """The task that `source` describes, with fields replaced.

    Args:
        source: a path, a mapping of the schema of `Task`, a `Task`, or None for the default task.
        **overrides: fields of `Task`; None leaves a field as it is.

    Raises:
        ValueError: the file cannot be read, or a field is wrong; the message names the field, its value and what is
            allowed.
    """
    if isinstance(source, Task):
        document: dict[str, Any] = msgspec.to_builtins(source)
    elif isinstance(source, Mapping):
        document = dict(source)
    elif isinstance(source, (str, os.PathLike, type(None))):
        document = read_task_file(DEFAULT_TASK_FILE if source is None else source)
    else:
        kind = type(source).__name__
        raise ValueError(f"task must be a path, a mapping, a Task or None, got {source!r} of type {kind}")
    given = {name: plain_number(value) for name, value in overrides.items() if value is not None}
    return convert({**document, **given}, Task, "task field")
