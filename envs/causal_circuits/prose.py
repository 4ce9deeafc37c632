"""Circuits as problems in natural language: everything that a solver may know, from the task's fields alone.

Numbers are the shortest decimals that mean exactly the number: of readings, as float32 numbers, of all else as float64.
Free text of a task file stands as it is if it is a plain line, and as a JSON string otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NoReturn

import numpy as np

from veilgym.envs.causal_circuits.equations import terms
from veilgym.envs.causal_circuits.records import CircuitPayload, Measurement, Values, cached_task
from veilgym.envs.causal_circuits.task import Experiment, ExperimentFile, Query, ScoringFile, Task, TaskFile, task_file
from veilgym.envs.core.prose import Rendering, check_skin
from veilgym.envs.core.records import to_json

SKINS = ("plain",)

FREE = "free of charge"
NOTHING = "nothing is clamped"
OBSERVE_INITIAL = "observe_initial"

_STRING = r'"(?:[^"\\]|\\.)*"'
_PLAIN_NAME = re.compile(r"[\w.+-]+", re.ASCII)
_EXPERIMENT = re.compile(
    rf"- (?P<id>[\w.+-]+|{_STRING})(?: \((?P<label>[^()\"]+|{_STRING})\))?: (?P<query>.+); "
    r"costs (?P<cost>\d+) credits?; at most (?P<runs>\d+) runs?"
)
_FREE_READING = re.compile(rf"- {FREE} \((?P<query>.+)\): (?P<values>.+)")
_READING = re.compile(rf"- (?P<id>[\w.+-]+|{_STRING}), run \d+: (?P<values>.+)")
_PRIOR = re.compile(r"- (?P<names>.+): uniform between (?P<low>\S+) and (?P<high>\S+)")


def render(payload: CircuitPayload, skin: str, is_interactive: bool = False) -> Rendering:
    """The problem of an episode in words.

    Args:
        payload: What is known so far.
        skin: One of `SKINS`.
        is_interactive: Whether experiments can still be run, by one JSON object a turn; otherwise the answer is due.

    Raises:
        ValueError: `skin` is unknown.
    """
    check_skin(skin, SKINS)
    task = cached_task(payload.task)
    before, after = _constant_parts(to_json(payload.task), is_interactive)
    readings = "\n".join(["Readings so far", *_readings(payload, task)])
    left = f"Credits left: {payload.credits} of {task.budget}."
    return Rendering(skin, f"{before}\n\n{readings}\n{left}\n\n{after}", {node: node for node in task.nodes})


@lru_cache(maxsize=64)
def _constant_parts(document: bytes, is_interactive: bool) -> tuple[str, str]:
    """What stands before and after the readings; a function of the task."""
    task = cached_task(document)
    before = [_heading(task), _circuit(task), _measurements(task), _offers(task)]
    after = [_questions(task), _scoring(task), _protocol(task) if is_interactive else _last_answer(task)]
    return tuple("\n\n".join("\n".join(part) for part in parts) for parts in (before, after))  # type: ignore[return-value]


def _heading(task: Task) -> Iterator[str]:
    yield _text(task.title)
    yield f"Task: {_text(task.task_id)}"
    yield f"Version: {_text(task.version)}"
    if task.instructions:
        yield f"Instructions: {_text(task.instructions)}"


def _circuit(task: Task) -> Iterator[str]:
    yield "The circuit"
    for equation in task.equations:
        yield f"{equation.node} = tanh({' + '.join(terms(equation))})"
    determined = [equation.node for equation in task.equations]
    roots = [node for node in task.nodes if node not in determined]
    if len(roots) == 1:
        yield f"{roots[0]} has no equation: it is 0 unless clamped."
    elif roots:
        yield f"{_listed(roots)} have no equation: they are 0 unless clamped."
    yield "Clamping a node replaces its equation: the node has the given value, and its parents no longer matter to it."
    yield "The coefficients are hidden. They were drawn once, independently of each other:"
    for prior in task_file(task).prior.split("; "):
        names, _, bounds = prior.partition(" ~ Uniform(")
        low, _, high = bounds.removesuffix(")").partition(",")
        yield f"- {names.replace(',', ', ')}: uniform between {low} and {high}"


def _measurements(task: Task) -> Iterator[str]:
    yield "Measurements"
    yield (
        f"Each measurement reads {_listed(task.outputs)}, each with independent Gaussian noise of mean 0 that is drawn "
        "anew for every run; readings are not clipped. Standard deviation of the noise:"
    )
    yield from _by_output(task.outputs, task.noise_std)


def _offers(task: Task) -> Iterator[str]:
    yield "Experiments"
    yield f"The budget is {_counted(task.budget, 'credit')}. Each run of an experiment is one measurement:"
    for experiment in task.experiments:
        yield _offer(experiment)


def _offer(experiment: Experiment) -> str:
    label = "" if experiment.label == experiment.id else f" ({_label(experiment.label)})"
    terms_of_use = f"costs {_counted(experiment.cost, 'credit')}; at most {_counted(experiment.max_replicates, 'run')}"
    return f"- {name_of(experiment.id)}{label}: {clamps(experiment.query)}; {terms_of_use}"


def _readings(payload: CircuitPayload, task: Task) -> Iterator[str]:
    for query, values in zip(task.initial_queries, payload.initial_readouts, strict=True):
        yield f"- {FREE} ({clamps(query)}): {reading(task.outputs, values)}"
    runs: dict[str, int] = {}
    for measurement in payload.measurements:
        run = runs[measurement.experiment] = runs.get(measurement.experiment, 0) + 1
        yield f"- {name_of(measurement.experiment)}, run {run}: {reading(task.outputs, measurement.values)}"
    if not task.initial_queries and not runs:
        yield "None."


def _questions(task: Task) -> Iterator[str]:
    yield "What to predict"
    yield f"The values of {_listed(task.outputs)}, without noise, under each of these interventions:"
    for number, query in enumerate(task.prediction_queries, 1):
        yield f"{number}. {clamps(query)}"


def _scoring(task: Task) -> Iterator[str]:
    rows, columns = task.prediction_shape
    yield "Scoring"
    yield (
        "The score is 1 / (1 + mean(((prediction - true value) / scale)^2)), the mean over all "
        f"{_counted(rows * columns, 'number')}: 1 for an exact prediction, and less the farther it is off. Unused "
        "credits do not count. Scale:"
    )
    yield from _by_output(task.outputs, task.scale)


def _last_answer(task: Task) -> Iterator[str]:
    yield "How to answer"
    yield (
        "Experiments cannot be run in this exchange: answer from the readings above. "
        f"Reply with one JSON object, {_form(task)}"
    )


def _protocol(task: Task) -> Iterator[str]:
    yield "How to act"
    yield "Reply with exactly one JSON object a turn:"
    first = json.dumps({"action_id": task.experiments[0].id})
    yield f"- {first} runs that experiment, if the credits and its runs last."
    yield f"- {json.dumps({'action_id': OBSERVE_INITIAL})} shows the readings that were free of charge again."
    yield f"- {_form(task)} This ends the episode; it cannot be repeated."
    yield "A request that cannot be served costs nothing."


def _form(task: Task) -> str:
    rows, columns = task.prediction_shape
    row = "[" + ", ".join(task.outputs) + "]"
    return (
        f'{{"prediction": [{row}, ...]}}, with {_counted(rows, "row")} of {_counted(columns, "number")}: '
        f"a row for each intervention above, in its order, and in it {_listed(task.outputs)}."
    )


def reading(outputs: Iterable[str], values: Values) -> str:
    """What a measurement read: "x = 0.1, y = -0.2"."""
    return ", ".join(f"{node} = {np.float32(value)!s}" for node, value in zip(outputs, values, strict=True))


def name_of(experiment: str) -> str:
    """An experiment's id as the text has it."""
    return experiment if _PLAIN_NAME.fullmatch(experiment) else json.dumps(experiment)


def clamps(query: Query) -> str:
    """An intervention: "u = -1.0, v = 0.5"."""
    return ", ".join(f"{node} = {value!r}" for node, value in query) or NOTHING


def _by_output(outputs: Iterable[str], values: Iterable[float]) -> Iterator[str]:
    return (f"- {node}: {value!r}" for node, value in zip(outputs, values, strict=True))


def _text(text: str) -> str:
    is_line = text.isascii() and text.isprintable() and text == text.strip() != "" and not text.startswith('"')
    return text if is_line else json.dumps(text)


def _label(label: str) -> str:
    return json.dumps(label) if any(mark in label for mark in '()"') else _text(label)


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def parse(text: str, skin: str, names: Mapping[str, str]) -> CircuitPayload:
    """The payload that a text of `render` tells.

    Args:
        text: A text of `render`, for one turn or for many.
        skin: One of `SKINS`.
        names: The name of each node, as `render` gave them; nodes keep their own.

    Raises:
        ValueError: the text is none that `render` writes; the message says where.
    """
    check_skin(skin, SKINS)
    (title, *heading), *others = (part.split("\n") for part in text.split("\n\n"))
    parts = {lines[0]: lines[1:] for lines in others}
    if len(parts) != 7:
        raise ValueError(f"a text of {len(parts)} different parts after its heading is not understood, allowed are 7")
    payload = _payload(_document(title, heading, parts), parts)
    is_interactive = "How to act" in parts
    told = render(payload, skin, is_interactive)
    if told.text != text:
        _fail_at_difference(text, told.text)
    if dict(names) != told.names:
        raise ValueError(f"names must be {told.names}, got {dict(names)}")
    return payload


def _document(title: str, heading: list[str], parts: Mapping[str, list[str]]) -> TaskFile:
    found = [_found(r"(Task|Version|Instructions): (.*)", line) for line in heading]
    fields = {match[1]: match[2] for match in found}
    if not {"Task", "Version"} <= set(fields):
        raise ValueError(f"the heading {heading!r} is not understood, allowed is one with Task and Version")
    circuit, offers = _part(parts, "The circuit"), _part(parts, "Experiments")
    groups = [match for line in circuit if (match := _PRIOR.fullmatch(line))]
    noise, scale = (
        [_found(r"- (\w+): (\S+)", line) for line in _part(parts, name)[1:]] for name in ("Measurements", "Scoring")
    )
    return TaskFile(
        task_id=_string(fields["Task"]),
        version=_string(fields["Version"]),
        title=_string(title),
        instructions=_string(fields.get("Instructions", '""')),
        budget=int(_found(r"The budget is (\d+) credits?\. .*", offers[0])[1]),
        model=", ".join(re.sub(r"\s", "", line) for line in circuit if " = tanh(" in line),
        prior="; ".join(f"{m['names'].replace(', ', ',')} ~ Uniform({m['low']},{m['high']})" for m in groups),
        outputs=[match[1] for match in noise],
        noise_std=[float(match[2]) for match in noise],
        scoring=ScoringFile("inverse_normalized_mse", [float(match[2]) for match in scale]),
        initial_queries=[
            _query(match["query"])
            for line in _part(parts, "Readings so far")
            if (match := _FREE_READING.fullmatch(line))
        ],
        experiments=[_experiment(line) for line in offers[1:]],
        prediction_queries=[_query(_found(r"\d+\. (.+)", line)[1]) for line in _part(parts, "What to predict")[1:]],
    )


def _payload(document: TaskFile, parts: Mapping[str, list[str]]) -> CircuitPayload:
    *readings, left = _part(parts, "Readings so far")
    free = [match for line in readings if (match := _FREE_READING.fullmatch(line))]
    bought = [match for line in readings if (match := _READING.fullmatch(line))]
    return CircuitPayload(
        family="causal_circuits",
        task=document,
        initial_readouts=tuple(_values(match["values"]) for match in free),
        credits=int(_found(r"Credits left: (\d+) of \d+\.", left)[1]),
        measurements=tuple(Measurement(_string(match["id"]), _values(match["values"])) for match in bought),
    )


def _part(parts: Mapping[str, list[str]], heading: str) -> list[str]:
    if heading not in parts or not parts[heading]:
        raise ValueError(f"the part {heading!r} is missing")
    return parts[heading]


def _found(pattern: str, line: str) -> re.Match[str]:
    match = re.fullmatch(pattern, line)
    if match is None:
        raise ValueError(f"the line {line!r} is not understood")
    return match


def _string(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text


def _query(text: str) -> dict[str, float]:
    if text == NOTHING:
        return {}
    pairs = (pair.split(" = ") for pair in text.split(", "))
    return {node: float(value) for node, value in pairs}


def _values(text: str) -> Values:
    return tuple(float(np.float32(pair.rpartition(" = ")[2])) for pair in text.split(", "))


def _experiment(line: str) -> ExperimentFile:
    match = _EXPERIMENT.fullmatch(line)
    if match is None:
        raise ValueError(f"the line {line!r} is not understood")
    name = _string(match["id"])
    label = name if match["label"] is None else _string(match["label"])
    return ExperimentFile(name, _query(match["query"]), label, int(match["cost"]), int(match["runs"]))


def _fail_at_difference(text: str, told: str) -> NoReturn:
    for line, expected in zip(text.split("\n"), told.split("\n"), strict=False):
        if line != expected:
            raise ValueError(f"the line {line!r} is not understood, allowed is {expected!r}")
    raise ValueError("the text is not understood: it ends too early or too late")
