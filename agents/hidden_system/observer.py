"""What can be inferred from a payload: the posterior over the programs that the generator can produce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.hidden_system import inference
from veilgym.envs.core.philox import STREAM_WORDS, open_stream
from veilgym.envs.core.seeding import derive_key
from veilgym.envs.hidden_system.generator import Generator, generated_layout
from veilgym.envs.hidden_system.grammar import BehaviorSkeleton, HiddenRule, HiddenSystem
from veilgym.envs.hidden_system.payload import encode
from veilgym.envs.hidden_system.task import Task

Observations = dict[str, NDArray[Any]]

ANSWERABLE = 0.9  # Bayes accuracy from which an instance counts as answerable
FAR_BELOW = 8.0
_PARTS = ("add", "flag", "effect", "effect", "gated_add", "gated_veto")  # in the order of the parts of `inference`


@dataclass(frozen=True)
class Posterior:
    """What the histories of B instances say of their queries.

    Attributes:
        present: (B,) probability of PRESENT: the posterior mean of the query's exact probability.
        favoured: (B,) posterior probability that this exact probability exceeds one half.
    """

    present: NDArray[np.float64]
    favoured: NDArray[np.float64]

    @property
    def bayes_accuracy(self) -> NDArray[np.float64]:
        """(B,) how often the best answer to the instance is right, from 1/2 to 1."""
        return np.maximum(self.favoured, 1.0 - self.favoured)


@dataclass(frozen=True)
class Identifiability:
    """How well an instance can be answered by anyone, for audits and exports; never for an agent.

    Attributes:
        bayes_accuracy: How often the best answer is right, from 1/2 to 1.
        label: "answerable" from a Bayes accuracy of `ANSWERABLE` on, else "ambiguous".
    """

    bayes_accuracy: float
    label: Literal["answerable", "ambiguous"]


class Observer:
    """Infers the posterior by Markov chains over programs; see `veilgym.agents.hidden_system.inference`.

    The result is a function of the observation: chance comes from a digest of its bytes.

    Args:
        task: What the instances are drawn from.
        chains: Chains per instance, each from a start of its own. One that has stayed at programs whose mean log
            likelihood is more than `FAR_BELOW` below that of the best chain is left out.
        burn_in: Sweeps of a chain that do not count.
        sweeps: Sweeps of a chain that count.
    """

    def __init__(self, task: Task, chains: int = 8, burn_in: int = 12, sweeps: int = 40) -> None:
        self.task, self.layout = task, generated_layout(task)
        self._chains, self._lengths = chains, np.array([burn_in, sweeps], np.int64)
        steps = np.array([task.steps_of(name) for name in _PARTS], np.int64)
        self._grid = (steps, float(task.probability_steps))
        levels, probabilities = Generator(task).acceptance()
        share = task.pivotal_share
        self._prior = np.array([task.margin, share / max(levels, 1e-9), (1.0 - share) / max(probabilities, 1e-9)])
        n = task.complexity
        most = int((steps[:, 1] - steps[:, 0]).max()) + 1
        self._table = np.zeros((2, 2 * task.attributes, most))
        self._saved = (np.zeros((2, n), np.int64), np.zeros(n))

    def infer(self, observations: Observations) -> Posterior:
        """The posterior for B observations, from what they show alone."""
        return self._infer(observations, None)

    def infer_told(self, skeletons: Sequence[BehaviorSkeleton]) -> Posterior:
        """The posterior of an observer that is told each system's parts and gates and has only to fit probabilities."""
        rows = [encode(skeleton, self.layout) for skeleton in skeletons]
        observations = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
        return self._infer(observations, [skeleton.hidden_system for skeleton in skeletons])

    def identify(self, observations: Observations) -> list[Identifiability]:
        """How well each of B instances can be answered."""
        return [
            Identifiability(float(accuracy), "answerable" if accuracy >= ANSWERABLE else "ambiguous")
            for accuracy in self.infer(observations).bayes_accuracy
        ]

    def _infer(self, observations: Observations, systems: Sequence[HiddenSystem] | None) -> Posterior:
        batch = len(observations["events"])
        sums = np.zeros((batch, 3))
        for i in range(batch):
            row = {key: array[i] for key, array in observations.items()}
            self._run(row, None if systems is None else systems[i], sums[i])
        # No weight: every program in the chains has its query in the margin.
        weight = np.where(sums[:, 0] > 0.0, sums[:, 0], 1.0)
        neutral = sums[:, 0] <= 0.0
        return Posterior(
            np.where(neutral, 0.5, np.clip(sums[:, 2] / weight, 0.0, 1.0)),
            np.where(neutral, 0.5, np.clip(sums[:, 1] / weight, 0.0, 1.0)),
        )

    def _run(self, row: dict[str, NDArray[Any]], system: HiddenSystem | None, out: NDArray[np.float64]) -> None:
        n, m = self.task.complexity, self.task.attributes
        cases = row["events"].reshape(self.layout.cases, self.layout.width).astype(np.int64) - 1
        high = row["levels"].reshape(m, self.layout.levels)[:, 1]
        bits = (row["attributes"].reshape(self.layout.cases, m) == high).astype(np.int64)
        query = row["query_events"][None].astype(np.int64) - 1, (row["query_attributes"] == high)[None].astype(np.int64)
        position = np.argsort(query[0][0])
        has = (cases[:, :, None] == np.arange(n)).any(axis=1)
        carriers = np.flatnonzero(has[cases[:, -1] >= 0].all(axis=0))
        if len(carriers) != 1:
            raise ValueError("the observer needs instances that the generator has drawn, with one event in all triples")
        carrier = int(carriers[0])
        others = has.sum(axis=1) - has[:, carrier]
        counted = cases, bits, row["present"].astype(np.float64), row["trials"].astype(np.float64)
        program = (np.zeros((2, n), np.int64), np.zeros(n))
        if system is not None:
            self._tell(system, high, program)
        stream = np.zeros(STREAM_WORDS, np.uint64)
        key = derive_key(*(row[name].tobytes().hex() for name in sorted(row)))
        outs = np.zeros((self._chains, 4))
        for chain in range(self._chains):
            open_stream(stream, np.uint64(key), np.uint64(chain))
            inference.sample(
                stream,
                system is not None,
                self._lengths,
                carrier,
                position,
                (*counted, *_members(has)),
                (*counted, *_members(has & (others <= 1)[:, None])),
                query,
                program,
                self._grid,
                self._prior,
                (self._table, self._saved, np.zeros(n), outs[chain]),
            )
        kept = outs[outs[:, 3] >= outs[:, 3].max() - FAR_BELOW]
        out[:] = kept[:, :3].sum(axis=0)

    def _tell(self, system: HiddenSystem, high: NDArray[Any], program: tuple[NDArray[Any], NDArray[Any]]) -> None:
        """Write a system's parts and gates, and probabilities in the middle of their ranges, into `program`."""
        levels = dict(zip(self.layout.attributes, high.tolist(), strict=True))
        for rule in system.rules:
            event = self.layout.events.index(rule.on_event)
            part = _part_of(rule)
            program[0][inference.PART, event] = part
            program[0][inference.GATE, event] = self._gate_of(rule, levels)
            program[1][event] = self._grid[0][part].mean() / self._grid[1]

    def _gate_of(self, rule: HiddenRule, levels: dict[str, int]) -> int:
        for condition in rule.conditions:
            if condition.source == "attribute":
                value, level = condition.value, levels[condition.key]
                opens_high = condition.operator == "GT" or (condition.operator == "EQ" and value == level)
                return 2 * self.layout.attributes.index(condition.key) + opens_high
        return inference.UNGATED


def _part_of(rule: HiddenRule) -> int:
    vetoes = rule.action == "INVALIDATE_RECORD"
    if rule.action == "SET_FLAG":
        return inference.FLAG
    if any(condition.source == "state" for condition in rule.conditions):
        return inference.EFFECT_VETO if vetoes else inference.EFFECT_ADD
    if not rule.conditions:
        return inference.ADD
    return inference.GATED_VETO if vetoes else inference.GATED_ADD


def _members(has: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cases of each event, (n, C) padded, and their numbers (n,), from (C, n) which case has which event."""
    members = np.zeros((has.shape[1], has.shape[0]), np.int64)
    for event, column in enumerate(has.T):
        cases = np.flatnonzero(column)
        members[event, : len(cases)] = cases
    return members, has.sum(axis=0)
