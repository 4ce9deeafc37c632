"""One-step episodes in a batch: which instances are shown, and what their exact answers are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from veilgym.envs.core.seeding import Split, check_split, derive_key

UNSTARTED, ASKED, ANSWERED = range(3)

_BEFORE_FIRST = np.uint64(2**64 - 1)  # an index to which adding 1 gives 0


class Questions(ABC):
    """B sequences of questions with two options; the engine of a query family's envs.

    A question is a pure function of its sequence's key and its index, so neither the width of the batch nor the other
    sequences can change it.

    Attributes:
        task: The family's parameters.
        options: The two options in the specification's order.
        space: The observation space of one question.
        split: "train" or "test".
        keys: (B,) uint64, the key of each sequence; hidden.
        indices: (B,) uint64, the index of the current question in it; hidden.
        phase: (B,) `UNSTARTED`, `ASKED` or `ANSWERED`.
    """

    task: Any
    options: tuple[str, str]
    space: spaces.Dict

    def __init__(self, family: str, batch: int, split: str) -> None:
        self._family = family
        self.split: Split = check_split(split)
        self.keys = np.zeros(batch, np.uint64)
        self.indices = np.full(batch, _BEFORE_FIRST)
        self.phase = np.full(batch, UNSTARTED)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch={len(self.phase)})"

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Point the sequences with a seed at the start of that seed's questions; the others go on with theirs."""
        for i, seed in enumerate(seeds):
            if seed is not None:
                self.keys[i] = derive_key(self._family, self.split, seed)
                self.indices[i] = _BEFORE_FIRST

    def begin(self, which: NDArray[np.bool_]) -> None:
        """Ask the next question of each sequence where `which`, a (B,) mask, is true."""
        self.indices[which] += np.uint64(1)
        self.ask(which)
        self.phase[which] = ASKED

    @abstractmethod
    def ask(self, which: NDArray[np.bool_]) -> None:
        """Make the questions (keys[i], indices[i]) where `which`."""

    @abstractmethod
    def observe(self) -> dict[str, NDArray[Any]]:
        """Copies of the public arrays, each with a first axis of B."""

    @abstractmethod
    def render(self, i: int, mode: str, answer: NDArray[Any] | None, reward: float) -> Any:
        """Question `i` as text ("ansi") or as an image (H, W, 3) uint8 ("rgb_array").

        Args:
            i: Place in the batch.
            mode: Checked.
            answer: What has been accepted as its answer; None before, when nothing hidden may be shown.
            reward: What the answer earned.
        """

    @property
    @abstractmethod
    def probability(self) -> NDArray[np.float64]:
        """(B,) exact probability of the first of `options`; hidden. 0 or 1 in families without chance."""

    @property
    @abstractmethod
    def swapped(self) -> NDArray[np.bool_]:
        """(B,) whether the payload shows the options in the other order."""
