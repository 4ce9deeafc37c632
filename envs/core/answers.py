"""Answers to a question with two options: reading them, refusing them, scoring them.

A mistake of the agent is data: the answer is refused at no cost, with a code and a sentence that names what was wrong,
the value, and what is allowed. Neither depends on anything hidden.
"""

from __future__ import annotations

import operator
import reprlib
from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Reward = Literal["accuracy", "brier", "log"]
REWARDS: tuple[str, ...] = get_args(Reward)
SMALLEST = 1e-6  # the log score takes probabilities from here to 1 - SMALLEST


class Refusal(IntEnum):
    """Outcome of an answer; a refused one (code above 0) changes nothing and earns 0."""

    NONE = 0
    UNKNOWN_OPTION = 1
    NO_PROBABILITY = 2
    WRONG_SHAPE = 3
    WRONG_TYPE = 4
    EPISODE_OVER = 5


class Scoring(ABC):
    """A form of answer and its reward.

    Attributes:
        name: The value of the env's argument `reward`.
        single_space: The action space of one env.
        entries: How many entries an action mask has, 0 if there is none.
        dtype: Of an answer.
        shape: Of an answer.
    """

    name: str
    single_space: spaces.Space[Any]
    entries: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @abstractmethod
    def judge(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """(B,) `Refusal` codes of readable answers."""

    @abstractmethod
    def reward(
        self, answers: NDArray[Any], probability: NDArray[np.float64], swapped: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Rewards of accepted answers.

        Args:
            answers: (B,) or (B, 1).
            probability: (B,) exact probability of the question's first option, as the specification orders them.
            swapped: (B,) whether the payload shows the options in the other order.
        """

    @abstractmethod
    def explain(self, refusal: int, answer: Any) -> str:
        """The sentence for a refused answer; "" for `Refusal.NONE`."""

    def read(self, actions: Any, batch: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Read the batched actions of a vector env.

        Returns:
            answers (B, ...) and `Refusal` codes (B,).

        Raises:
            ValueError: the first axis is not B long.
        """
        answers = np.asarray(actions)
        if answers.shape[:1] != (batch,):
            raise ValueError(f"actions must be batched over {batch} envs, got shape {answers.shape}")
        blank = np.zeros((batch, *self.shape), self.dtype)
        if answers.dtype.kind not in ("iu" if self.dtype.kind == "i" else "iuf"):
            return blank, np.full(batch, int(Refusal.WRONG_TYPE))
        if answers.shape[1:] != self.shape:
            return blank, np.full(batch, int(Refusal.WRONG_SHAPE))
        refusal = self.judge(answers)
        return np.where(refusal.reshape(-1, *(1 for _ in self.shape)) == 0, answers, blank).astype(self.dtype), refusal


class Accuracy(Scoring):
    """A `Discrete(2)` answer, an index into the payload's answer options; 1 for the more probable one, else 0."""

    name = "accuracy"
    single_space = spaces.Discrete(2)
    entries = 2
    dtype = np.dtype(np.int64)
    shape = ()

    def judge(self, answers: NDArray[Any]) -> NDArray[np.int64]:  # noqa: D102
        return np.where((answers == 0) | (answers == 1), int(Refusal.NONE), int(Refusal.UNKNOWN_OPTION))

    def reward(  # noqa: D102
        self, answers: NDArray[Any], probability: NDArray[np.float64], swapped: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        is_first = (answers == 0) != swapped
        is_right: NDArray[np.bool_] = is_first == (probability > 0.5)
        return is_right.astype(np.float64)

    def explain(self, refusal: int, answer: Any) -> str:  # noqa: D102
        match Refusal(refusal):
            case Refusal.UNKNOWN_OPTION:
                return f"answer {show(answer)} is unknown; allowed are 0 and 1, indices into the answer options"
            case Refusal.WRONG_SHAPE:
                return f"answer {show(answer)} has shape {np.shape(answer)}; allowed is a single integer"
            case Refusal.WRONG_TYPE:
                return f"answer {show(answer)} is of type {type_of(answer)}; allowed are the integers 0 and 1"
            case _:
                return over(refusal)


class Proper(Scoring):
    """A `Box(0, 1, (1,))` answer, the probability of the question's first option (PRESENT, YES), properly scored.

    The reward is the exact expectation of the score over the outcome, so it has no noise:
    with p the answer and P the exact probability, 1 - P (1 - p)**2 - (1 - P) p**2 for "brier" (Brier, 1950) and
    log(2) + P log(p) + (1 - P) log(1 - p) for "log" (Good, 1952), the nats by which p is better than 1/2, where p is
    moved into [1e-6, 1 - 1e-6]. So a well-calibrated answer never earns less than a refused one, which earns 0.
    """

    single_space = spaces.Box(0.0, 1.0, (1,), np.float32)
    entries = 0
    dtype = np.dtype(np.float64)
    shape = (1,)

    def __init__(self, name: Literal["brier", "log"]) -> None:
        self.name = name

    def judge(self, answers: NDArray[Any]) -> NDArray[np.int64]:  # noqa: D102
        value = answers[:, 0]
        return np.where((value >= 0) & (value <= 1), int(Refusal.NONE), int(Refusal.NO_PROBABILITY))

    def reward(  # noqa: D102
        self, answers: NDArray[Any], probability: NDArray[np.float64], swapped: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        p: NDArray[np.float64] = answers[:, 0]
        if self.name == "brier":
            return 1.0 - (probability * (1.0 - p) ** 2 + (1.0 - probability) * p**2)
        p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
        score: NDArray[np.float64] = np.log(2.0) + probability * np.log(p) + (1.0 - probability) * np.log1p(-p)
        return score

    def explain(self, refusal: int, answer: Any) -> str:  # noqa: D102
        match Refusal(refusal):
            case Refusal.NO_PROBABILITY:
                return f"answer {show(answer)} is not a probability; allowed are numbers from 0 to 1"
            case Refusal.WRONG_SHAPE:
                return f"answer {show(answer)} has shape {np.shape(answer)}; allowed is the shape (1,)"
            case Refusal.WRONG_TYPE:
                return f"answer {show(answer)} is of type {type_of(answer)}; allowed is an array of one number"
            case _:
                return over(refusal)


def scoring_of(reward: Any) -> Scoring:
    """The scoring that an env's argument `reward` names; a `ValueError` says what is allowed."""
    if reward == "accuracy":
        return Accuracy()
    if reward in ("brier", "log"):
        return Proper(reward)
    raise ValueError(f"reward must be one of {', '.join(map(repr, REWARDS))}, got {reward!r}")


def read_answer(scoring: Scoring, action: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Read the action of one env into a batch of one: an answer, and its `Refusal` code (1,)."""
    wrong = np.zeros((1, *scoring.shape), scoring.dtype), np.full(1, int(Refusal.WRONG_TYPE))
    if isinstance(action, (bool, np.bool_)):
        return wrong
    if not scoring.shape and not isinstance(action, np.ndarray):
        try:
            # A number that does not fit into 64 bits is as unknown as -1.
            number = operator.index(action)
        except TypeError:
            return wrong
        return scoring.read([number if abs(number) < 2**62 else -1], 1)
    try:
        return scoring.read(np.asarray(action)[None], 1)
    except ValueError:  # ragged
        return wrong


def over(refusal: int) -> str:
    """The sentence for `Refusal.EPISODE_OVER`."""
    return "the episode is over; allowed is only a reset" if refusal == Refusal.EPISODE_OVER else ""


def show(answer: Any) -> str:
    """A short repr that shows a NumPy scalar as the number it holds."""
    try:
        return reprlib.repr(answer.item() if isinstance(answer, np.generic) else answer)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return "with too many digits to print"


def type_of(answer: Any) -> str:
    """What to call the type of an answer."""
    return str(answer.dtype) if isinstance(answer, (np.ndarray, np.generic)) else type(answer).__name__
