"""The JSON protocol of an episode: one object a turn, which runs an experiment, shows the start again, or submits.

A turn that cannot be read is data: it is refused at no cost, with a sentence that names what was wrong, and what is
allowed.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from veilgym.envs.causal_circuits.payload import Payload
from veilgym.envs.causal_circuits.prose import OBSERVE_INITIAL, clamps, name_of, reading
from veilgym.envs.causal_circuits.task import Task, action_schema
from veilgym.envs.core.replies import Reason, Unparsed, json_fault, last_words, read_matrix
from veilgym.envs.core.strict_json import Found, find_json

ACTION, PREDICTION = "action_id", "prediction"


@dataclass(frozen=True)
class Turn:
    """A request that can be read.

    Attributes:
        choice: As the env takes it: an experiment's index, or E to submit; None for `observe_initial`.
        prediction: Q rows of O numbers if it submits, otherwise None.
    """

    choice: int | None
    prediction: tuple[tuple[float, ...], ...] | None = None


def action_request(task: Task) -> dict[str, Any]:
    """The JSON schema of a request for an experiment: the task file's `action_schema`, and `observe_initial`."""
    schema = action_schema(task)
    schema["properties"][ACTION]["enum"].append(OBSERVE_INITIAL)
    return schema


def submission(task: Task) -> dict[str, Any]:
    """The JSON schema of the submission."""
    rows, columns = task.prediction_shape
    row = {"type": "array", "items": {"type": "number"}, "minItems": columns, "maxItems": columns}
    return {
        "type": "object",
        "properties": {PREDICTION: {"type": "array", "items": row, "minItems": rows, "maxItems": rows}},
        "required": [PREDICTION],
        "additionalProperties": False,
    }


class TurnReader:
    """Reads the turns of episodes of one task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._action, self._submission = (
            Draft202012Validator(schema) for schema in (action_request(task), submission(task))
        )

    def read(self, reply: Any) -> Turn | Unparsed:
        """The request in a reply: its one JSON object with an `action_id` or a `prediction`, whatever is around it.

        Args:
            reply: Text, or a mapping.
        """
        request = dict(reply) if isinstance(reply, Mapping) else self._find(reply)
        if isinstance(request, Unparsed):
            return request
        return self._submitted(request) if PREDICTION in request else self._acted(request)

    def _find(self, reply: Any) -> dict[str, Any] | Unparsed:
        text = last_words(reply)
        if isinstance(text, Unparsed):
            return text
        found = [one for one in find_json(text) if text[one.start] == "{"]
        requests = [one for one in found if _is_request(one, text)] or found
        if not requests:
            return Unparsed(Reason.NO_ANSWER, f"the reply has no JSON object; {self._allowed}")
        if (fault := requests[-1].fault) is not None:
            return Unparsed(json_fault(fault).reason, f"{fault}; {self._allowed}")
        values: list[dict[str, Any]] = [one.value for one in requests if one.fault is None]
        if any(value != values[0] for value in values):
            return Unparsed(Reason.SEVERAL_ANSWERS, f"the reply has {len(values)} requests; allowed is one a turn")
        return values[0]

    @property
    def _allowed(self) -> str:
        action = json.dumps({ACTION: self._task.experiments[0].id})
        return f'allowed is one JSON object like {action} or {{"{PREDICTION}": [[...], ...]}}'

    def _acted(self, request: dict[str, Any]) -> Turn | Unparsed:
        error = best_match(self._action.iter_errors(request))
        if error is not None:
            return self._explain(request, error)
        name = request[ACTION]
        ids = [experiment.id for experiment in self._task.experiments]
        return Turn(ids.index(name)) if name in ids else Turn(None)

    def _submitted(self, request: dict[str, Any]) -> Turn | Unparsed:
        found = read_matrix({PREDICTION: request[PREDICTION]}, self._task.prediction_shape)
        if isinstance(found, Unparsed):  # it says more than a schema's validator
            return found
        error = best_match(self._submission.iter_errors(request))
        return self._explain(request, error) if error is not None else Turn(self._task.submit, found.rows)

    def _explain(self, request: dict[str, Any], error: ValidationError) -> Unparsed:
        if error.validator == "enum":
            names = ", ".join(map(str, error.validator_value))
            said = f"{ACTION} {reprlib.repr(request[ACTION])} is unknown; allowed are {names}"
            return Unparsed(Reason.UNKNOWN_REQUEST, said)
        if error.validator == "type":
            said = f"{ACTION} is {reprlib.repr(request[ACTION])}; allowed is the id of an experiment, as a string"
            return Unparsed(Reason.WRONG_TYPE, said)
        fields = ", ".join(map(repr, request)) or "no fields"
        return Unparsed(Reason.WRONG_FIELDS, f"the JSON object has {reprlib.repr(fields)[1:-1]}; {self._allowed}")


def _is_request(found: Found, text: str) -> bool:
    if found.fault is None:
        return ACTION in found.value or PREDICTION in found.value
    return any(f'"{key}"' in text[found.start : found.start + 300] for key in (ACTION, PREDICTION))


def tell_initial(record: Payload, task: Task) -> str:
    """The free readings in words."""
    lines = [
        f"free of charge ({clamps(readout.query)}): {reading(task.outputs, readout.values)}"
        for readout in record.readouts
        if readout.experiment is None
    ]
    return "\n".join(lines or ["There are no readings free of charge."])


def tell_run(record: Payload, task: Task, choice: int) -> str:
    """What the last run of an experiment read, in words."""
    name = task.experiments[choice].id
    last = [readout for readout in record.readouts if readout.experiment == name][-1]
    return f"{name_of(name)}, run {last.replicate + 1}: {reading(task.outputs, last.values)}"


def tell_what_is_left(record: Payload, task: Task) -> str:
    """Credits, and the experiments that can still be run."""
    left = f"Credits left: {record.credits} of {task.budget}."
    names = list(_runnable(record, task))
    if not names:
        return f"{left} No experiment can be run any more: submit your prediction."
    return f"{left} Experiments that can still be run: {', '.join(names)}."


def _runnable(record: Payload, task: Task) -> Iterator[str]:
    runs = [readout.experiment for readout in record.readouts]
    for experiment in task.experiments:
        if experiment.cost <= record.credits and runs.count(experiment.id) < experiment.max_replicates:
            yield name_of(experiment.id)
