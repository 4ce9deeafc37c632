"""What an agent asks for: reading it, and saying why it was refused.

A mistake of the agent is data: the request is refused at no cost, with a code and a sentence that names what was wrong,
the value, and what is allowed. Neither depends on anything hidden.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable, Mapping
from enum import IntEnum
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.task import Task

_ARRAY, _INT64, _FLOAT64 = np.ndarray, np.dtype(np.int64), np.dtype(np.float64)


class Refusal(IntEnum):
    """Outcome of a request; a refused one (code above 0) changes nothing and earns 0."""

    NONE = 0
    UNKNOWN_EXPERIMENT = 1
    REPLICATES_EXHAUSTED = 2
    NO_CREDITS = 3
    NON_FINITE_PREDICTION = 4
    WRONG_SHAPE = 5
    WRONG_TYPE = 6
    EPISODE_OVER = 7


NO_FAULTS = (0, 0)


def read_choice(choice: Any) -> tuple[int, Refusal]:
    """Return a choice as an int that fits into 64 bits, and `WRONG_TYPE` if it is not an integer (a bool is none)."""
    if isinstance(choice, (bool, np.bool_)):
        return 0, Refusal.WRONG_TYPE
    try:
        return max(-1, min(operator.index(choice), 2**31)), Refusal.NONE
    except TypeError:
        return 0, Refusal.WRONG_TYPE


def read_prediction(prediction: Any, task: Task) -> tuple[NDArray[np.float64], Refusal]:
    """Return a prediction as a (Q, O) float64 copy, and a code if it is not a (Q, O) matrix of real numbers."""
    blank = np.zeros(task.prediction_shape)
    if not _is_numeric(prediction):
        return blank, Refusal.WRONG_TYPE
    if _shape(prediction) != task.prediction_shape:
        return blank, Refusal.WRONG_SHAPE
    try:
        with np.errstate(over="ignore"):  # a long double beyond the range of float64 becomes inf
            return np.array(prediction, np.float64, order="C"), Refusal.NONE
    except OverflowError:  # a Python integer beyond the range of float64
        return np.full(task.prediction_shape, np.inf), Refusal.NONE


def _is_numeric(prediction: Any) -> bool:
    if isinstance(prediction, np.ndarray):
        return prediction.dtype.kind in "iuf"
    if not isinstance(prediction, (list, tuple)):
        return False
    return all(isinstance(entry, Real) and not isinstance(entry, bool) for row in prediction for entry in _entries(row))


def _entries(row: Any) -> Iterable[Any]:
    if isinstance(row, np.ndarray):
        return row.flat
    return row if isinstance(row, (list, tuple)) else [row]


def _shape(prediction: Any) -> tuple[int, ...] | None:
    try:
        return tuple(np.shape(prediction))
    except ValueError:  # ragged
        return None


def explain(refusal: int, task: Task, choice: Any, prediction: Any, credits_left: int) -> str:
    """Return the sentence for a refused request; "" for `Refusal.NONE`."""
    match Refusal(refusal):
        case Refusal.NONE:
            return ""
        case Refusal.UNKNOWN_EXPERIMENT:
            allowed = f"allowed are 0 to {task.submit - 1} (experiments) and {task.submit} (submit)"
            return f"choice {_show(int(choice))} is unknown; {allowed}"
        case Refusal.REPLICATES_EXHAUSTED:
            experiment = task.experiments[int(choice)]
            limit = experiment.max_replicates
            return f"experiment {experiment.id!r} has already been run {limit} times; allowed are at most {limit}"
        case Refusal.NO_CREDITS:
            experiment = task.experiments[int(choice)]
            return f"experiment {experiment.id!r} costs {experiment.cost}; credits left are {int(credits_left)}"
        case Refusal.NON_FINITE_PREDICTION:
            return _explain_non_finite(prediction)
        case Refusal.WRONG_SHAPE:
            return _explain_shape(_shape(prediction), task)
        case Refusal.WRONG_TYPE:
            return _explain_type(choice, prediction)
        case Refusal.EPISODE_OVER:
            return "the episode is over; allowed is only a reset"


class _Repr(reprlib.Repr):
    """A short repr that shows a NumPy scalar as the number it holds."""

    def repr1(self, x: Any, level: int) -> str:
        try:
            return super().repr1(x.item() if isinstance(x, np.generic) else x, level)
        except ValueError:  # Python refuses to print integers of thousands of digits
            return f"<{type(x).__name__} with too many digits to print>"


_show = _Repr().repr


def _explain_non_finite(prediction: Any) -> str:
    entries = np.asarray(prediction, object)
    for index, value in np.ndenumerate(entries):
        if not abs(value) < float("inf"):
            return f"prediction{list(index)} is {value}; allowed are finite numbers"
    return "prediction has a number beyond the range of float64; allowed are finite numbers"


def _explain_shape(shape: tuple[int, ...] | None, task: Task) -> str:
    allowed = f"allowed is {task.prediction_shape}: a row per prediction query, the columns {', '.join(task.outputs)}"
    if shape is None:
        return f"prediction has rows of different lengths; {allowed}"
    transposed = shape == task.prediction_shape[::-1]
    return f"prediction has shape {shape}{', which looks transposed' if transposed else ''}; {allowed}"


def _explain_type(choice: Any, prediction: Any) -> str:
    if read_choice(choice)[1] is Refusal.WRONG_TYPE:
        return f"choice is {_show(choice)} of type {type(choice).__name__}; allowed are integers"
    if isinstance(prediction, np.ndarray):
        return f"prediction has dtype {prediction.dtype}; allowed are real numbers"
    return f"prediction is {_show(prediction)}; allowed is a matrix of real numbers"


def read_request(action: Any, task: Task) -> tuple[NDArray[np.int64], NDArray[np.float64], tuple[int, int]]:
    """Read the action of one env into a batch of one: choice (1,), prediction (1, Q, O), and two `Refusal` codes."""
    if not isinstance(action, Mapping) or "choice" not in action:
        return np.zeros(1, np.int64), np.zeros((1, *task.prediction_shape)), (Refusal.WRONG_TYPE, Refusal.NONE)
    choice, choice_fault = read_choice(action["choice"])
    prediction, prediction_fault = read_prediction(action.get("prediction"), task)
    return np.array([choice], np.int64), prediction[None], (choice_fault, prediction_fault)


def explain_request(refusal: int, task: Task, action: Any, credits_left: int) -> str:
    """`explain` for the action of one env."""
    if refusal == Refusal.NONE:
        return ""
    if not isinstance(action, Mapping) or "choice" not in action:
        return f"the action is {_show(action)}; allowed is a mapping with the keys 'choice' and 'prediction'"
    return explain(refusal, task, action["choice"], action.get("prediction"), credits_left)


def read_requests(
    actions: Any, shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float64], tuple[int, int]]:
    """Read the batched actions of a vector env.

    Args:
        actions: a mapping with `choice`, an array of shape (B,), and `prediction`, an array of shape (B, Q, O); without
            `prediction` nothing can be submitted.
        shape: (B, Q, O).

    Returns:
        choice (B,) int64, prediction (B, Q, O) float64, and the `Refusal` codes of a wrong dtype or trailing shape,
        which concern the whole batch.

    Raises:
        ValueError: there is no `choice`, or the first axis is not B long.
    """
    if type(actions) is dict:
        choice: Any = actions.get("choice")
        prediction: Any = actions.get("prediction")
        if (  # arrays that can go to the kernels as they are
            type(choice) is type(prediction) is _ARRAY
            and choice.dtype is _INT64
            and prediction.dtype is _FLOAT64
            and prediction.shape == shape
            and choice.ndim == 1
            and len(choice) == shape[0]
            and choice.flags.carray
            and prediction.flags.carray
        ):
            return choice, prediction, NO_FAULTS
    batch, trailing = shape[0], shape[1:]
    if not isinstance(actions, Mapping) or "choice" not in actions:
        keys = "the keys 'choice' and 'prediction'"
        raise ValueError(f"actions must be a mapping with {keys}, got {reprlib.repr(actions)}")
    given = actions.get("prediction")
    choice, prediction = np.asarray(actions["choice"]), np.asarray([given] * batch if given is None else given)
    if choice.shape != (batch,) or prediction.shape[:1] != (batch,):
        raise ValueError(
            f"actions must be batched over {batch} envs, got choice of shape {choice.shape} "
            f"and prediction of shape {prediction.shape}"
        )
    choice_fault = Refusal.NONE if choice.dtype.kind in "iu" else Refusal.WRONG_TYPE
    if choice_fault is not Refusal.NONE:
        choice = np.zeros(batch, np.int64)
    prediction_fault = Refusal.NONE if prediction.dtype.kind in "iuf" else Refusal.WRONG_TYPE
    if prediction_fault is Refusal.NONE and prediction.shape[1:] != trailing:
        prediction_fault = Refusal.WRONG_SHAPE
    if prediction_fault is not Refusal.NONE:
        prediction = np.zeros(shape)
    faults = int(choice_fault), int(prediction_fault)
    # Writeable, or numba would compile the kernels anew.
    return np.require(choice, _INT64, ["C", "A", "W"]), np.require(prediction, _FLOAT64, ["C", "A", "W"]), faults
