"""The benchmark of an id: its ladder on one set of instances, on a common scale, with what each agent lost and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from veilgym import __version__
from veilgym.agents.agent import Agent
from veilgym.agents.evaluation import Evaluation, evaluate, score_actions
from veilgym.agents.ladder import Ladder, load_ladder
from veilgym.agents.statistics import mean_interval
from veilgym.registry import entry_of

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Regret:
    """How far an agent's mean score is below the ideal observer's: total = experiments + inference, exactly.

    Attributes:
        total: The ideal observer's mean score minus the agent's, over the same instances.
        interval: 95 % paired bootstrap interval of `total`.
        experiments: Lost by the choice of experiments: the ideal observer's score on its own data minus its score on
            the agent's data. None for ids without experiments.
        inference: Lost by inference: the ideal observer's score on the agent's data minus the agent's score. None
            likewise.
    """

    total: float
    interval: Interval
    experiments: float | None
    inference: float | None


@dataclass(frozen=True)
class Standing:
    """An agent's line in the table.

    Attributes:
        agent, description: Text.
        score: Mean score over the instances.
        interval: 95 % bootstrap interval of `score`.
        normalised: (score - floor) / (ideal - floor); None where the two ends coincide.
        regret: See `Regret`.
        experiments: Mean number of experiments.
        refused: Mean number of refused requests.
        truncated: How many episodes ran into the step limit.
        episodes_per_second: Speed in this run, acting and stepping, one thread.
        scores: One score per instance.
    """

    agent: str
    description: str
    score: float
    interval: Interval
    normalised: float | None
    regret: Regret
    experiments: float
    refused: float
    truncated: int
    episodes_per_second: float
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Bench:
    """The standings of an id.

    Attributes:
        env_id, split, seed, episodes, arguments: What was evaluated; `arguments` are those given to the env.
        veilgym: Version of the package.
        floor, ideal: Names of the agents at the ends of the normalised scale.
        standings: In the order of the ladder.
    """

    env_id: str
    split: str
    seed: int
    episodes: int
    arguments: dict[str, Any]
    veilgym: str
    floor: str
    ideal: str
    standings: tuple[Standing, ...]

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain Python values."""
        return asdict(self)


def bench(
    env_id: str,
    episodes: int = 1000,
    num_envs: int = 256,
    seed: int = 0,
    split: str = "test",
    progress: Callable[[int, str, int], None] | None = None,
    extra: Sequence[Agent] = (),
    **arguments: Any,
) -> Bench:
    """Evaluate the ladder of `env_id`.

    Args:
        env_id, episodes, num_envs, seed, split: As for `evaluate`.
        progress: Called with the number of episodes in all, an agent's name and how many of its episodes just ended.
        extra: Further agents, with names of their own; they come last.
        **arguments: For the env, `task` for instance.

    Raises:
        ValueError: an argument is wrong.
    """
    entry = entry_of(env_id)
    ladder = load_ladder(entry.id, **arguments)
    ladder = replace(ladder, agents=(*ladder.agents, *extra))
    evaluations = []
    for agent in ladder.agents:
        report = None if progress is None else partial(progress, len(ladder.agents) * episodes, agent.name)
        evaluations.append(evaluate(agent, entry.id, episodes, num_envs, seed, split, report, **arguments))
    by_name = {evaluation.agent: evaluation for evaluation in evaluations}
    floor, ideal = by_name[ladder.floor], by_name[ladder.ideal]
    standings = tuple(_standing(e, floor, ideal, ladder, entry.id, split, arguments) for e in evaluations)
    return Bench(
        env_id=entry.id,
        split=split,
        seed=seed,
        episodes=episodes,
        arguments=arguments,
        veilgym=__version__,
        floor=ladder.floor,
        ideal=ladder.ideal,
        standings=standings,
    )


def _standing(
    evaluation: Evaluation,
    floor: Evaluation,
    ideal: Evaluation,
    ladder: Ladder,
    env_id: str,
    split: str,
    arguments: dict[str, Any],
) -> Standing:
    score, low, high = (float(e.scores.mean()) for e in (evaluation, floor, ideal))
    return Standing(
        agent=evaluation.agent,
        description=ladder[evaluation.agent].description,
        score=score,
        interval=mean_interval(evaluation.scores),
        normalised=(score - low) / (high - low) if high != low else None,
        regret=_regret(evaluation, ideal, ladder, env_id, split, arguments),
        experiments=float(evaluation.experiments.mean()),
        refused=float(evaluation.refused.mean()),
        truncated=int(evaluation.truncated.sum()),
        episodes_per_second=len(evaluation.scores) / evaluation.seconds,
        scores=tuple(evaluation.scores.tolist()),
    )


def _regret(
    evaluation: Evaluation, ideal: Evaluation, ladder: Ladder, env_id: str, split: str, arguments: dict[str, Any]
) -> Regret:
    losses = ideal.scores - evaluation.scores
    experiments = inference = None
    if ladder.infer is not None:
        actions = ladder.infer(evaluation.observations)
        on_own_data = score_actions(env_id, list(evaluation.seeds), actions, split, **arguments)
        experiments = float(np.mean(ideal.scores - on_own_data))
        inference = float(np.mean(on_own_data - evaluation.scores))
    return Regret(float(losses.mean()), mean_interval(losses), experiments, inference)
