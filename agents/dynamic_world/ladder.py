"""The ladder of agents for dynamic worlds, from chance to the complete solver."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent, generators, select
from veilgym.agents.dynamic_world.history import ABOVE, MEMBER, NO_EVENT, History, Observations, read_history
from veilgym.agents.dynamic_world.inference import NO, UNDECIDED, YES, decide
from veilgym.agents.ladder import Ladder
from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES
from veilgym.envs.dynamic_world.task import Task

WINDOW = 10
"""How many events before and after one that mentions an argument the local window holds."""

_SET = ENTITY_TYPES.index("Set")


def ladder(task: Task) -> Ladder:
    """The agents for `task`, weakest first; chance is the floor."""
    agents = (RandomAgent(), *(agent(task) for agent in (*SHALLOW, HalfHistory, CompleteSolver)))
    return Ladder(agents, floor=RandomAgent.name, ideal=CompleteSolver.name, floor_score=0.5)


class RandomAgent(Agent):
    """Either answer with equal probability."""

    name = "random"
    description = "either answer with equal probability"

    def act_batch(self, observations: Observations) -> NDArray[np.int64]:  # noqa: D102
        return _toss(observations, self.name)


def _toss(observations: Observations, salt: str) -> NDArray[np.int64]:
    return np.array([rng.integers(2) for rng in generators(observations, salt)], np.int64)


class _WorldAgent(Agent):
    """Answers by `conclude`, and throws a coin where that is `UNDECIDED`."""

    def __init__(self, task: Task) -> None:
        self.task = task

    @abstractmethod
    def conclude(self, history: History) -> NDArray[np.int8]:
        """(B,) `YES`, `NO` or `UNDECIDED`."""

    def act_batch(self, observations: Observations) -> NDArray[np.int64]:
        answers = self.conclude(read_history(observations)).astype(np.int64)
        is_open = answers == UNDECIDED
        if is_open.any():
            answers[is_open] = _toss(select(observations, is_open), self.name)
        return answers


def _by_sign(balance: NDArray[Any]) -> NDArray[np.int8]:
    """`YES` where a (B,) balance is positive, `NO` where it is negative."""
    return np.select([balance > 0, balance < 0], [YES, NO], UNDECIDED).astype(np.int8)


class MajorityClass(_WorldAgent):
    """Says YES always; the classes are balanced, so there is no majority to learn."""

    name = "majority class"
    description = "always YES"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        return np.full(len(history.family), YES, np.int8)


class KeywordOverlap(_WorldAgent):
    """Lets the events vote that share the most keywords with the query: its two symbols and its predicate.

    A vote is what an event by itself suggests, see `History.directions`.
    """

    name = "keyword overlap"
    description = "a vote of the events that share the most keywords with the query"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        predicate = np.where(history.is_order, ABOVE, MEMBER)[:, None]
        overlap = _shared(history).astype(np.int8) + (history.forms == predicate)
        is_best = overlap == overlap.max(axis=1, keepdims=True)
        return _by_sign((history.directions() * is_best).sum(axis=1))


class NearestNeighbour(_WorldAgent):
    """Takes what the event most like the query suggests: of those that share most arguments with it, the latest.

    Only events that suggest anything by themselves are compared, see `History.directions`.
    """

    name = "nearest neighbour"
    description = "what the event most similar to the query suggests by itself"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        directions = history.directions()
        likeness = np.where(directions != 0, _shared(history), 0)
        rows = likeness.shape[1]
        nearest = (likeness * rows + np.arange(rows)).argmax(axis=1)
        return _by_sign(directions[np.arange(len(nearest)), nearest])


def _shared(history: History) -> NDArray[np.int64]:
    """(B, T) how many of the query's two symbols an event mentions."""
    left, right = history.pair.T
    return history.mentions(left).astype(np.int64) + history.mentions(right)


class ArgumentDegree(_WorldAgent):
    """Counts the direct facts of the arguments.

    ABOVE(x, y): whether x, rather than y, is more often the upper side than the lower one. MEMBER(x, A): whether the
    events put more members into A than into a set on average.
    """

    name = "argument degree"
    description = "which argument is more often above another; whether the set has many members"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        left, right = history.pair.T
        height = _height(history, left) - _height(history, right)
        members = history.states(MEMBER, 1, right).sum(axis=1) * (history.types == _SET).sum(axis=1)
        crowd = members - (history.forms == MEMBER).sum(axis=1)
        return _by_sign(np.where(history.is_order, height, crowd))


def _height(history: History, symbols: NDArray[Any]) -> NDArray[np.int64]:
    """(B,) how much more often a symbol is the upper side than the lower one."""
    upper, lower = (history.states(ABOVE, side, symbols).sum(axis=1) for side in (0, 1))
    height: NDArray[np.int64] = upper - lower
    return height


class LocalWindow(_WorldAgent):
    """Infers exactly, from the events near those that mention an argument: up to `WINDOW` before and after each."""

    name = "local window"
    description = f"exact inference on the {WINDOW} events before and after each that mentions an argument"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        return decide(history, _widen(_shared(history) > 0))[0]


def _widen(is_marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(B, T) whether a marked row is at most `WINDOW` rows away."""
    before = np.pad(is_marked.cumsum(axis=1), ((0, 0), (WINDOW + 1, WINDOW)), mode="edge")
    before[:, : WINDOW + 1] = 0
    near: NDArray[np.bool_] = before[:, 2 * WINDOW + 1 :] > before[:, : -2 * WINDOW - 1]
    return near


class ShallowProof(_WorldAgent):
    """Infers exactly, but takes proofs of fewer events than the complexity only."""

    name = "shallow proof"
    description = "exact inference, by proofs of fewer events than the complexity"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        answers, lengths = decide(history)
        return np.where(lengths < self.task.complexity, answers, np.int8(UNDECIDED))


class HalfHistory(_WorldAgent):
    """Infers exactly, from the first half of the events only."""

    name = "half history"
    description = "exact inference on the first half of the events"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        is_event = history.forms != NO_EVENT
        half = is_event.sum(axis=1, keepdims=True) // 2
        return decide(history, is_event.cumsum(axis=1) <= half)[0]


class CompleteSolver(_WorldAgent):
    """Infers exactly, from all public events: each question of the generator has an answer that follows."""

    name = "complete solver"
    description = "exact inference on all public events"

    def conclude(self, history: History) -> NDArray[np.int8]:  # noqa: D102
        return decide(history)[0]


SHALLOW = (MajorityClass, KeywordOverlap, NearestNeighbour, ArgumentDegree, LocalWindow, ShallowProof)
"""The agents that no question may reward."""
