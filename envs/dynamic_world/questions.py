"""The engine of the envs: worlds with a question each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.questions import Questions
from veilgym.envs.dynamic_world.observation import decode, observation_space, observe, types_of
from veilgym.envs.dynamic_world.rendering.viewer import Verdict, render_world
from veilgym.envs.dynamic_world.task import Task
from veilgym.envs.dynamic_world.worlds import Simulator, room_for, sequence_name

OPTIONS = ("YES", "NO")


class WorldQuestions(Questions):
    """Worlds of `task`, each with its question.

    Attributes:
        worlds: What has been made; `is_yes` and `proofs` are hidden.
    """

    options = OPTIONS

    def __init__(self, task: Task, batch: int, split: str) -> None:
        super().__init__(sequence_name(task), batch, split)
        self.task = task
        self.space = observation_space(task)
        self._types = types_of(task)
        self._simulator = Simulator(task)
        self.worlds = room_for(task, batch)

    def ask(self, which: NDArray[np.bool_]) -> None:
        """Make the worlds (keys[i], indices[i]) where `which`."""
        self._simulator.make_into(self.keys, self.indices, which, self.worlds)

    def observe(self) -> dict[str, NDArray[Any]]:
        """Copies of the public arrays, each with a first axis of B."""
        return observe(self.worlds, self.task, self._types)

    def render(self, i: int, mode: str, answer: NDArray[Any] | None, reward: float) -> Any:
        """World `i` as text or as an image; the verdict and the proof only after the answer."""
        alone = observe(self.worlds.only(i), self.task, self._types)
        payload = decode({key: array[0] for key, array in alone.items()}, self.task)
        if answer is None:
            return render_world(payload, None, mode)
        said = f"{float(answer[0]):.2f} YES" if np.ndim(answer) else OPTIONS[int(answer)]
        proof = tuple(payload.events[row].id for row in self.worlds.proofs[i].tolist())
        gold = "YES" if self.worlds.is_yes[i] else "NO"
        return render_world(payload, Verdict(said, gold, proof, reward), mode)

    @property
    def probability(self) -> NDArray[np.float64]:
        """(B,) 1 where YES is right, else 0."""
        return self.worlds.is_yes.astype(np.float64)

    @property
    def swapped(self) -> NDArray[np.bool_]:
        """(B,) all false: the options are always in the specification's order."""
        return np.zeros(len(self.phase), np.bool_)
