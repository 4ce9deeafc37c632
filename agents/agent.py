"""What an agent is: a pure function from observations to actions.

An agent keeps no state between steps, and chance comes from the observation's own bytes. So an agent does the same in a
scalar env and at any place of any vector env.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Batch = Any
"""An array whose first axis is the batch, or a dictionary of such arrays."""


class Agent(ABC):
    """A policy.

    Attributes:
        name: What tables call it.
        description: One line for a reader.
    """

    name: str
    description: str

    @abstractmethod
    def act_batch(self, observations: Batch) -> Batch:
        """Actions for B observations, as a vector env takes them: the first axis of every array is B long."""

    def act(self, observation: Any) -> Any:
        """The action for one observation."""
        return select(self.act_batch(stack([observation])), 0)


class Judge(Agent):
    """A policy that also says how sure it is of an answer."""

    @abstractmethod
    def judge_batch(self, observations: Batch) -> tuple[Batch, NDArray[np.float64]]:
        """Actions as of `act_batch`, and the probability (B,) with which the agent holds each of them to be right."""

    def act_batch(self, observations: Batch) -> Batch:  # noqa: D102
        return self.judge_batch(observations)[0]


def stack(elements: list[Any]) -> Batch:
    """The batch that holds `elements`, dictionaries of arrays or arrays."""
    if isinstance(elements[0], dict):
        return {key: np.stack([element[key] for element in elements]) for key in elements[0]}
    return np.stack(elements)


def select(batch: Batch, rows: int | NDArray[Any]) -> Any:
    """The element at an integer, or the batch of the elements at an array of indices or under a mask."""
    return {key: value[rows] for key, value in batch.items()} if isinstance(batch, dict) else batch[rows]


def generators(observations: dict[str, NDArray[Any]], salt: str) -> list[np.random.Generator]:
    """A random generator for each of B observations, keyed by the bytes of the observation and by `salt`."""
    batch = len(next(iter(observations.values())))
    return [np.random.Generator(np.random.Philox(key=_digest(select(observations, i), salt))) for i in range(batch)]


def _digest(observation: dict[str, NDArray[Any]], salt: str) -> int:
    digest = hashlib.blake2b(salt.encode(), digest_size=16)
    for key in sorted(observation):
        digest.update(observation[key].tobytes())
    return int.from_bytes(digest.digest(), "little")
