"""The public half of a circuit task: what anyone may know before the first experiment.

A task file is JSON with the fields of `TaskFile`; `causal_circuits.json` beside this module is the default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
from msgspec import Meta

from veilgym.envs.causal_circuits.equations import (
    Equation,
    UniformPrior,
    model_text,
    parse_model,
    parse_prior,
    prior_text,
)
from veilgym.envs.core.arguments import read_task_file
from veilgym.envs.core.records import convert

DEFAULT_TASK_FILE = Path(__file__).with_name("causal_circuits.json")

Query = tuple[tuple[str, float], ...]
"""An intervention: (node, value) pairs; nodes that are not named follow their equations."""

_Credits = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_Positive = Annotated[int, Meta(ge=1, le=127)]
_Name = Annotated[str, Meta(min_length=1)]
_Interventions = Annotated[list[dict[str, float]], Meta(min_length=1)]

# Readouts are computed in float32, targets in float64; within these bounds no sum of a circuit overflows in either.
_LARGEST, _LARGEST_PREDICTED = 1e6, 1e300


@dataclass(frozen=True)
class Experiment:
    """One intervention on offer.

    Attributes:
        id: Unique name.
        label: What a person reads.
        query: The clamped nodes and their values.
        cost: Credits that an accepted run costs, at least 1.
        max_replicates: How often it may be run, 1 to 127.
    """

    id: str
    label: str
    query: Query
    cost: int
    max_replicates: int


@dataclass(frozen=True)
class Task:
    """A validated circuit task. E experiments, Q prediction queries, O outputs; rows are Q, columns O.

    Attributes:
        task_id, version, title, instructions: Text from the file.
        budget: Credits at the start of an episode.
        equations: The circuit, parents before children.
        priors: Range of every coefficient, in the file's order.
        outputs: The O observed nodes.
        noise_std: O standard deviations of the measurement noise.
        scale: O divisors of the prediction error in the score.
        initial_queries: Measured once, free of charge, at the start.
        experiments: The E interventions on offer; their order is that of the action indices.
        prediction_queries: The Q interventions whose outputs are to be predicted.
    """

    task_id: str
    version: str
    title: str
    instructions: str
    budget: int
    equations: tuple[Equation, ...]
    priors: tuple[UniformPrior, ...]
    outputs: tuple[str, ...]
    noise_std: tuple[float, ...]
    scale: tuple[float, ...]
    initial_queries: tuple[Query, ...]
    experiments: tuple[Experiment, ...]
    prediction_queries: tuple[Query, ...]

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Every node: roots in order of appearance, then determined nodes, parents before children."""
        determined = [equation.node for equation in self.equations]
        parents = [parent for equation in self.equations for _, parent in equation.weights]
        roots = dict.fromkeys(parent for parent in parents if parent not in determined)
        return (*roots, *determined)

    @cached_property
    def measured_queries(self) -> tuple[Query, ...]:
        """The rows of a readout array: the initial queries, then the experiments' queries."""
        return self.initial_queries + tuple(experiment.query for experiment in self.experiments)

    @property
    def prediction_shape(self) -> tuple[int, int]:
        """(Q, O)."""
        return len(self.prediction_queries), len(self.outputs)

    @property
    def submit(self) -> int:
        """The action index that submits the prediction; the experiments have the indices below it."""
        return len(self.experiments)

    @cached_property
    def longest_episode(self) -> int:
        """The most accepted requests that an episode can have: the cheapest experiments first, then the submission."""
        left, steps = self.budget, 1
        for experiment in sorted(self.experiments, key=lambda experiment: experiment.cost):
            runs = min(experiment.max_replicates, left // experiment.cost)
            steps, left = steps + runs, left - runs * experiment.cost
        return steps

    @property
    def max_replicates(self) -> int:
        """The largest number of replicates of any measured query."""
        return max([1, *(experiment.max_replicates for experiment in self.experiments)])


TaskSource = Task | Mapping[str, Any] | str | os.PathLike[str] | None
"""What `load_task` takes."""


class ScoringFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The field `scoring` of a task file; `formula`, `range` and `meaning` describe the named rule."""

    name: str
    scale: list[float]
    formula: str = ""
    range: tuple[float, float] = (0, 1)
    meaning: str = ""


class ExperimentFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An element of the field `experiments` of a task file."""

    id: _Name
    query: dict[str, float]
    label: str = ""
    cost: _Positive = 1
    max_replicates: _Positive = 1


class TaskFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The schema of a task file; the notation of `model` and `prior` is that of the module `equations`."""

    task_id: _Name
    version: _Name
    budget: _Credits
    model: str
    prior: str
    outputs: Annotated[list[_Name], Meta(min_length=1)]
    noise_std: list[float]
    scoring: ScoringFile
    prediction_queries: _Interventions
    experiments: Annotated[list[ExperimentFile], Meta(min_length=1)]
    initial_queries: list[dict[str, float]] = []
    prediction_shape: list[int] | None = None
    action_schema: dict[str, Any] | None = None
    title: str = ""
    status: str = ""
    instructions: str = ""
    cost_semantics: str = ""
    measurement_noise: str = ""
    split_definition: str = ""
    submission: str = ""


def load_task(source: TaskSource = None) -> Task:
    """Return the task that `source` describes: a file path, a mapping of its schema, a `Task`, or None for the default.

    Raises:
        ValueError: the file cannot be read, or a field is wrong; the message names the field, its value and what is
            allowed.
    """
    if isinstance(source, Task):
        return _checked(source)
    document = dict(source) if isinstance(source, Mapping) else read_document(source)
    return task_of(convert(document, TaskFile, "task field"))


def _checked(task: Task) -> Task:
    """The task, if a task file could describe it: one that was put together in Python may hold anything."""
    try:
        document = msgspec.to_builtins(task_file(task))
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"task must be a Task whose fields are of the documented types: {error}") from None
    found = task_of(convert(document, TaskFile, "task field"))
    return task if found == task else found


def read_document(path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Read a task file (default: the one that ships with the package) into a dictionary that may be edited."""
    if not isinstance(path, (str, os.PathLike, type(None))):
        raise ValueError(f"task must be a path, a mapping, a Task or None, got {path!r} of type {type(path).__name__}")
    return read_task_file(DEFAULT_TASK_FILE if path is None else path)


def task_of(file: TaskFile) -> Task:
    """The task that a document describes; a `ValueError` as for `load_task`."""
    equations = _parsed("model", file.model, parse_model)
    priors = _parsed("prior", file.prior, parse_prior)
    _check_coefficients(equations, priors, file)
    task = Task(
        task_id=file.task_id,
        version=file.version,
        title=file.title or file.task_id,
        instructions=file.instructions,
        budget=file.budget,
        equations=equations,
        priors=priors,
        outputs=tuple(file.outputs),
        noise_std=tuple(file.noise_std),
        scale=tuple(file.scoring.scale),
        initial_queries=tuple(tuple(query.items()) for query in file.initial_queries),
        experiments=tuple(
            Experiment(e.id, e.label or e.id, tuple(e.query.items()), e.cost, e.max_replicates)
            for e in file.experiments
        ),
        prediction_queries=tuple(tuple(query.items()) for query in file.prediction_queries),
    )
    _check_outputs(task)
    _check_queries(task)
    _check_restatements(file, task)
    return task


def task_file(task: Task) -> TaskFile:
    """The document of a task: `task_of` makes an equal task of it, and equal tasks have equal documents."""
    return TaskFile(
        task_id=task.task_id,
        version=task.version,
        title=task.title,
        instructions=task.instructions,
        budget=task.budget,
        model=model_text(task.equations),
        prior=prior_text(task.priors),
        outputs=list(task.outputs),
        noise_std=list(task.noise_std),
        scoring=ScoringFile("inverse_normalized_mse", list(task.scale)),
        initial_queries=[dict(query) for query in task.initial_queries],
        experiments=[ExperimentFile(e.id, dict(e.query), e.label, e.cost, e.max_replicates) for e in task.experiments],
        prediction_queries=[dict(query) for query in task.prediction_queries],
    )


def _fail(field: str, value: Any, allowed: str) -> NoReturn:
    raise ValueError(f"task field {field}: got {value!r}, allowed is {allowed}")


def _parsed(field: str, text: str, parse: Any) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"task field {field}: {error}") from None


def _check_coefficients(equations: Sequence[Equation], priors: Sequence[UniformPrior], file: TaskFile) -> None:
    used = {name for e in equations for name in (e.bias, *(weight for weight, _ in e.weights)) if name is not None}
    nodes = {name for e in equations for name in (e.node, *(parent for _, parent in e.weights))}
    if used & nodes:
        _fail("model", file.model, f"a name for a node or for a coefficient, not both ({min(used & nodes)})")
    named = [prior.coefficient for prior in priors]
    if len(set(named)) < len(named) or set(named) != used:
        _fail("prior", file.prior, f"one range for each of the coefficients {', '.join(sorted(used))}")
    for prior in priors:
        if not max(-prior.low, prior.high) <= _LARGEST:
            _fail("prior", file.prior, f"bounds within +-{_LARGEST:g}")


def _check_outputs(task: Task) -> None:
    if len(set(task.outputs)) < len(task.outputs) or not set(task.outputs) <= set(task.nodes):
        _fail("outputs", list(task.outputs), f"distinct nodes out of {', '.join(task.nodes)}")
    for field, values, positive in (("noise_std", task.noise_std, False), ("scoring.scale", task.scale, True)):
        allowed = f"one number {'> 0' if positive else '>= 0'} and at most {_LARGEST:g} for each of the outputs"
        if len(values) != len(task.outputs):
            _fail(field, list(values), allowed)
        if not all(0 <= value <= _LARGEST and not (positive and value == 0) for value in values):
            _fail(field, list(values), allowed)


def _check_queries(task: Task) -> None:
    for i, query in enumerate(task.initial_queries):
        _check_query(f"initial_queries[{i}]", query, _LARGEST, task)
    for i, experiment in enumerate(task.experiments):
        _check_query(f"experiments[{i}].query", experiment.query, _LARGEST, task)
    for i, query in enumerate(task.prediction_queries):
        _check_query(f"prediction_queries[{i}]", query, _LARGEST_PREDICTED, task)
    ids = [experiment.id for experiment in task.experiments]
    for i, name in enumerate(ids):
        if name in ids[:i]:
            _fail(f"experiments[{i}].id", name, "an id that no other experiment has")


def _check_query(field: str, query: Query, largest: float, task: Task) -> None:
    for node, value in query:
        if node not in task.nodes:
            _fail(field, dict(query), f"values for nodes out of {', '.join(task.nodes)}")
        if not abs(value) <= largest:
            _fail(f"{field}.{node}", value, f"a number within +-{largest:g}")


def _check_restatements(file: TaskFile, task: Task) -> None:
    """Fields that say again what others define must agree with them."""
    if file.scoring.name != "inverse_normalized_mse":
        _fail("scoring.name", file.scoring.name, "'inverse_normalized_mse'")
    if file.scoring.range != (0, 1):
        _fail("scoring.range", list(file.scoring.range), "[0, 1]")
    if file.prediction_shape is not None and tuple(file.prediction_shape) != task.prediction_shape:
        _fail("prediction_shape", file.prediction_shape, f"{list(task.prediction_shape)} (queries, outputs)")
    if file.action_schema is not None and file.action_schema != action_schema(task):
        _fail("action_schema", file.action_schema, f"{action_schema(task)}")


def action_schema(task: Task) -> dict[str, Any]:
    """The JSON schema of a request for an experiment: an object whose only field, `action_id`, is an id."""
    return {
        "type": "object",
        "properties": {"action_id": {"type": "string", "enum": [experiment.id for experiment in task.experiments]}},
        "required": ["action_id"],
        "additionalProperties": False,
    }
