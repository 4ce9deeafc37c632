"""The engine of the envs: questions drawn from a task, or taken from a list of records."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.arguments import check_flag
from veilgym.envs.core.philox import STREAM_WORDS, next_below, open_stream
from veilgym.envs.core.questions import Questions
from veilgym.envs.hidden_system.evaluator import gold_answer
from veilgym.envs.hidden_system.generator import DRAWN, Generator
from veilgym.envs.hidden_system.grammar import ABSENT, PRESENT, BehaviorSkeleton
from veilgym.envs.hidden_system.layout import Layout, layout_of
from veilgym.envs.hidden_system.payload import OPTIONS, decode, encode, observation_space, select
from veilgym.envs.hidden_system.rendering.viewer import Verdict, render_instance
from veilgym.envs.hidden_system.skeletons import FAMILY, check_skeletons, read_skeletons, sequence_name
from veilgym.envs.hidden_system.task import Task, TaskSource, load_task

_TRIAL_DRAWS = 8

Skeletons = Sequence[BehaviorSkeleton] | str | os.PathLike[str]


class _SystemQuestions(Questions):
    """What generated and recorded questions share.

    Attributes:
        layout: The shape of the arrays.
        public: The public arrays, with a first axis of B.
    """

    options = (PRESENT, ABSENT)
    layout: Layout
    public: dict[str, NDArray[Any]]

    def observe(self) -> dict[str, NDArray[Any]]:
        return {key: array.copy() for key, array in self.public.items()}

    def render(self, i: int, mode: str, answer: NDArray[Any] | None, reward: float) -> Any:
        verdict = None if answer is None else self._verdict(i, answer, reward)
        return render_instance(decode(select(self.public, i), self.layout), verdict, mode)

    def _verdict(self, i: int, answer: NDArray[Any], reward: float) -> Verdict:
        probability = float(self.probability[i])
        is_stated = np.ndim(answer) > 0
        said = f"{float(answer[0]):.2f} {PRESENT}" if is_stated else OPTIONS[int(self.swapped[i])][int(answer)]
        return Verdict(said, gold_answer(probability), probability, reward)

    @property
    def swapped(self) -> NDArray[np.bool_]:
        is_swapped: NDArray[np.bool_] = self.public["options"][:, 0] == 1
        return is_swapped


class GeneratedQuestions(_SystemQuestions):
    """Questions drawn from `task`."""

    def __init__(self, task: Task, batch: int, split: str, shuffle_options: bool) -> None:
        super().__init__(sequence_name(task), batch, split)
        self.task = task
        self._generator = Generator(task, shuffle_options)
        self.layout = self._generator.layout
        self.space = observation_space(self.layout)
        self.public = self.layout.public(batch)
        self.hidden = self._generator.hidden(batch)
        self._sides = np.full(batch, DRAWN, np.int64)
        self._try_out()

    def _try_out(self) -> None:
        """Draw some instances, so that a task that hardly has any fails when the env is made and not in an episode."""
        count, generator = _TRIAL_DRAWS, self._generator
        numbers, everywhere = np.arange(count, dtype=np.uint64), np.ones(count, np.bool_)
        public, hidden = self.layout.public(count), generator.hidden(count)
        generator.draw(numbers, numbers, everywhere, public, hidden, np.full(count, DRAWN, np.int64))

    def ask(self, which: NDArray[np.bool_]) -> None:  # noqa: D102
        self._generator.draw(self.keys, self.indices, which, self.public, self.hidden, self._sides)

    @property
    def probability(self) -> NDArray[np.float64]:  # noqa: D102
        return self.hidden.present


class RecordedQuestions(_SystemQuestions):
    """Questions drawn, each with equal probability, from a list of records."""

    def __init__(self, skeletons: Skeletons, task: Task, batch: int, split: str, shuffle_options: bool) -> None:
        super().__init__(FAMILY, batch, split)
        self.task = task
        is_path = isinstance(skeletons, (str, os.PathLike))
        records = read_skeletons(skeletons) if is_path else check_skeletons(skeletons)  # type: ignore[arg-type]
        self.layout = layout_of(records)
        self.space = observation_space(self.layout)
        self.public = self.layout.public(batch)
        bank = [encode(record, self.layout) for record in records]
        self._bank = {key: np.stack([observation[key] for observation in bank]) for key in bank[0]}
        self._probabilities = np.array([record.gold_present_probability for record in records])
        self._rows = np.zeros(batch, np.int64)
        self._shuffle_options = shuffle_options
        self._stream = np.zeros(STREAM_WORDS, np.uint64)

    def ask(self, which: NDArray[np.bool_]) -> None:  # noqa: D102
        for i in np.flatnonzero(which):
            open_stream(self._stream, self.keys[i], self.indices[i])
            self._rows[i] = next_below(self._stream, len(self._probabilities))
            for key, array in self.public.items():
                array[i] = self._bank[key][self._rows[i]]
            if self._shuffle_options:
                self.public["options"][i] = next_below(self._stream, len(OPTIONS))

    @property
    def probability(self) -> NDArray[np.float64]:  # noqa: D102
        chosen: NDArray[np.float64] = self._probabilities[self._rows]
        return chosen


def questions_of(
    skeletons: Skeletons | None,
    task: TaskSource,
    overrides: dict[str, Any],
    batch: int,
    split: str,
    shuffle_options: bool,
) -> GeneratedQuestions | RecordedQuestions:
    """The engine for the arguments of an env.

    Raises:
        ValueError: an argument is wrong, or records come with parameters for drawing others.
    """
    shuffle_options = check_flag("shuffle_options", shuffle_options)
    if skeletons is None:
        return GeneratedQuestions(load_task(task, **overrides), batch, split, shuffle_options)
    given = [name for name, value in {"task": task, **overrides}.items() if value is not None]
    if given:
        raise ValueError(f"skeletons settle what is asked, so {', '.join(given)} must be None, got {given[0]} as well")
    return RecordedQuestions(skeletons, load_task(), batch, split, shuffle_options)
