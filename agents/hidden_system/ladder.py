"""The ladder of agents for hidden systems, from chance to the ideal observer."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent, Judge, generators
from veilgym.agents.hidden_system.observer import Observer
from veilgym.agents.hidden_system.table import CaseTable, attribute_contrasts, read_table
from veilgym.agents.ladder import Ladder
from veilgym.envs.hidden_system.generator import generated_layout
from veilgym.envs.hidden_system.task import Task

Observations = dict[str, NDArray[Any]]


def ladder(task: Task) -> Ladder:
    """The agents for `task`, weakest first; chance is the floor."""
    shallow = (MajorityClass, LastPair, MaximumPairRate, MeanRate, NoisyOr, NearestCase)
    next_rungs = (StrongestAttribute, GreedyComposer)
    agents = (RandomAgent(), *(agent(task) for agent in shallow + next_rungs), IdealObserver(task))
    return Ladder(agents, floor=RandomAgent.name, ideal=IdealObserver.name, floor_score=0.5)


def answer(favours_present: NDArray[np.bool_], observations: Observations) -> NDArray[np.int64]:
    """(B,) the index of PRESENT among the answer options where it is favoured, of ABSENT elsewhere."""
    is_second: NDArray[np.bool_] = favours_present == (observations["options"][:, 0] == 1)
    return is_second.astype(np.int64)


class RandomAgent(Agent):
    """Either option with equal probability."""

    name = "random"
    description = "either option with equal probability"

    def act_batch(self, observations: Observations) -> NDArray[np.int64]:  # noqa: D102
        return np.array([rng.integers(2) for rng in generators(observations, self.name)])


class _SystemAgent(Agent):
    """Says PRESENT where `favours_present` is true."""

    def __init__(self, task: Task) -> None:
        self.task, self.layout = task, generated_layout(task)

    @abstractmethod
    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:
        """(B,) bool."""

    def act_batch(self, observations: Observations) -> NDArray[np.int64]:
        table = read_table(observations, self.layout)
        return answer(self.favours_present(table), observations)


class MajorityClass(_SystemAgent):
    """Says PRESENT always; the classes are balanced, so there is no majority to learn."""

    name = "majority class"
    description = "always PRESENT"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        return np.ones(len(table.query), np.bool_)


class LastPair(_SystemAgent):
    """Looks up the query's last two events."""

    name = "last pair"
    description = "what the query's last two events do by themselves, in their order"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        first, second = table.query[:, -2, None], table.query[:, -1, None]
        is_pair = (table.sizes == 2) & (table.events[:, :, 0] == first) & (table.events[:, :, 1] == second)
        return table.mean(is_pair) > 0.5


class MaximumPairRate(_SystemAgent):
    """Takes the highest rate of a pair."""

    name = "maximum pair rate"
    description = "whether any case of two events mostly leaves the record present"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        rates: NDArray[np.float64] = np.where(table.sizes == 2, table.rates, 0.0).max(axis=1)
        return rates > 0.5


class MeanRate(_SystemAgent):
    """Takes the mean rate of all cases."""

    name = "mean rate"
    description = "whether the record is present in more than half of all trials"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        return table.mean(table.sizes > 0) > 0.5


class NoisyOr(_SystemAgent):
    """Combines single events as if each could only add."""

    name = "noisy-or of singles"
    description = "single events combined as independent causes"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        survival: NDArray[np.float64] = np.where(table.sizes == 1, 1.0 - table.rates, 1.0).prod(axis=1)
        return survival < 0.5


class NearestCase(_SystemAgent):
    """Takes the mean rate of the cases that share most events, and among these most levels, with the query."""

    name = "nearest case"
    description = "the support cases that share most events and levels with the query"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        likeness = table.sizes * 100 + table.agrees.sum(axis=2)
        return table.mean(likeness == likeness.max(axis=1, keepdims=True)) > 0.5


class StrongestAttribute(_SystemAgent):
    """Looks for the attribute that matters most in the controls, and asks whether the query has its better level."""

    name = "strongest attribute"
    description = "whether the query has the better level of the attribute that matters most"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        contrasts = attribute_contrasts(table)
        strongest = np.abs(contrasts).argmax(axis=1)
        chosen: NDArray[np.float64] = contrasts[np.arange(len(contrasts)), strongest]
        return chosen > 0.0


class GreedyComposer(_SystemAgent):
    """Fits each event's gate by itself, and composes the effects; blind to the flag.

    For each event but the carrier it looks for the attribute and level that best separate the rates of its controls,
    takes the difference to the carrier's own rate as its effect, and multiplies what is active in the query.
    """

    name = "greedy composer"
    description = "gates fitted event by event, effects multiplied; blind to the flag"

    def favours_present(self, table: CaseTable) -> NDArray[np.bool_]:  # noqa: D102
        rows = zip(table.events, table.rates, table.agrees, strict=True)
        return np.array([_compose(events, rates, agrees) > 0.5 for events, rates, agrees in rows])


def _compose(events: NDArray[np.int64], rates: NDArray[np.float64], agrees: NDArray[np.bool_]) -> float:
    """The probability of PRESENT that the effects of single events make, from a (C, W), (C,) and (C, M) table."""
    n = int(events.max()) + 1
    has = (events[:, :, None] == np.arange(n)).any(axis=1)
    sizes = has.sum(axis=1)
    carrier = int(has[sizes == sizes.max()].all(axis=0).argmax())
    base = float(rates[has[:, carrier] & (sizes == 1)].mean())
    absent, unvetoed = 1.0 - base, 1.0
    for event in range(n):
        if event != carrier:
            pairs = has[:, event] & has[:, carrier] & (sizes == 2)
            rate = _query_rate(rates[pairs], agrees[pairs])
            if rate > base:
                absent *= (1.0 - rate) / max(1.0 - base, 1e-9)
            else:
                unvetoed *= rate / max(base, 1e-9)
    return (1.0 - absent) * unvetoed


def _query_rate(rates: NDArray[np.float64], agrees: NDArray[np.bool_]) -> float:
    """The mean rate of the cases that agree with the query in the attribute that best separates the rates."""
    splits = [column for column in agrees.T if column.any() and not column.all()]
    if not splits:
        return float(rates.mean())
    best = max(splits, key=lambda column: abs(rates[column].mean() - rates[~column].mean()))
    return float(rates[best].mean())


class IdealObserver(Judge):
    """Answers from the posterior over the programs that the generator can produce."""

    name = "ideal observer"
    description = "the posterior over all programs that the generator can produce"

    def __init__(self, task: Task) -> None:
        self.observer = Observer(task)

    def judge_batch(  # noqa: D102
        self, observations: Observations
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        posterior = self.observer.infer(observations)
        return answer(posterior.favoured > 0.5, observations), posterior.bayes_accuracy


class Forecaster(Agent):
    """The ideal observer for envs with `reward="brier"` or `"log"`: the posterior mean of the exact probability."""

    name = "ideal forecaster"
    description = "the posterior mean of the probability of PRESENT"

    def __init__(self, task: Task) -> None:
        self.observer = Observer(task)

    def act_batch(self, observations: Observations) -> NDArray[np.float32]:  # noqa: D102
        return self.observer.infer(observations).present[:, None].astype(np.float32)
