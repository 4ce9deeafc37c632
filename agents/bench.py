"""The benchmark of an id: its ladder on one set of instances, on a common scale, with what each agent lost and how."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import msgspec
import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent
from veilgym.agents.engines import Engine, in_this_process
from veilgym.agents.evaluation import Evaluation, evaluate, score_actions
from veilgym.agents.ladder import Ladder, load_ladder
from veilgym.agents.playing import PROPER
from veilgym.agents.results import Bench, Run
from veilgym.envs.core.arguments import read_task_file
from veilgym.registry import Entry, entry_of


def bench(
    env_id: str,
    episodes: int = 1000,
    num_envs: int = 256,
    seed: int = 0,
    split: str = "test",
    progress: Callable[[int, str, int], None] | None = None,
    agents: Sequence[Agent] | None = None,
    engine: Engine = in_this_process,
    **arguments: Any,
) -> Bench:
    """Evaluate the ladder of `env_id`, or other agents.

    Args:
        env_id, episodes, num_envs, seed, split: As for `evaluate`.
        progress: Called with the number of episodes in all, an agent's name and how many of its episodes just ended.
        agents: Who plays; None for the ladder. Their results can be merged with those of the ladder on the same
            instances (`veilgym.agents.results.merge_results`).
        engine: Who plays, see `veilgym.agents.engines`; changes no score.
        **arguments: For the env, `task` for instance. With `reward="brier"` or `"log"` there is no ladder.

    Raises:
        ValueError: an argument is wrong.
    """
    entry = entry_of(env_id)
    arguments = _with_length(entry, arguments)
    has_ladder = agents is None or arguments.get("reward") not in PROPER
    ladder = load_ladder(entry.id, **arguments) if has_ladder else None
    playing = ladder.agents if agents is None and ladder is not None else tuple(agents or ())
    runs: list[Run] = []
    instances: tuple[str, ...] = ()
    for agent in playing:
        report = None if progress is None else partial(progress, len(playing) * episodes, agent.name)
        if report is not None:
            report(0)  # names the agent while it plays its first episodes
        evaluation = evaluate(agent, entry.id, episodes, num_envs, seed, split, report, engine, True, **arguments)
        runs.append(_run_of(evaluation, agent, ladder, entry.id, split, arguments))
        instances = evaluation.instances
    if not runs:
        raise ValueError("agents must be at least one agent, got none")
    return Bench(
        env_id=entry.id,
        split=split,
        seed=seed,
        arguments=plain_arguments(arguments),
        instances=instances,
        floor=None if ladder is None else ladder.floor,
        floor_score=None if ladder is None else ladder.floor_score,
        ideal=None if ladder is None else ladder.ideal,
        runs=tuple(runs),
    )


def _with_length(entry: Entry, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with the length by name, also where it is not given: the same instances, the same arguments."""
    if not entry.has_length or arguments.get("task") is not None or arguments.get("skeletons") is not None:
        return arguments

    def complexity(given: dict[str, Any]) -> int:
        found: int = gym.make(entry.id, **given).unwrapped.task.complexity  # type: ignore[attr-defined]
        return found

    number = complexity(arguments)
    names = [name for name in ("short", "medium", "long") if complexity({**arguments, "length": name}) == number]
    return {**arguments, "length": names[0] if names else number}


def plain_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an env as plain data; a task file as what it holds, a loaded task as its fields."""
    task = arguments.get("task")
    if isinstance(task, (str, os.PathLike)):
        arguments = {**arguments, "task": read_task_file(task)}
    return msgspec.to_builtins({name: value for name, value in arguments.items() if value is not None}, enc_hook=str)  # type: ignore[no-any-return]


def _run_of(
    evaluation: Evaluation, agent: Agent, ladder: Ladder | None, env_id: str, split: str, arguments: dict[str, Any]
) -> Run:
    inferred = None
    if ladder is not None and ladder.infer is not None:
        actions = ladder.infer(evaluation.observations)  # also where the agent has failed, of what it had seen
        inferred = score_actions(env_id, list(evaluation.seeds), actions, split, **arguments)
    return Run(
        agent=evaluation.agent,
        description=str(getattr(agent, "description", "")),
        scores=_plain(evaluation.scores),
        experiments=_plain(evaluation.experiments),
        refused=_plain(evaluation.refused),
        truncated=_plain(evaluation.truncated),
        inferred=None if inferred is None else _plain(inferred),
        claimed=None if evaluation.claimed is None else _plain(evaluation.claimed),
        observed=None if evaluation.claimed is None else _plain(_observed(evaluation, env_id, split, arguments)),
        errors={str(i): error for i, error in enumerate(evaluation.errors) if error},
        seconds=evaluation.seconds,
    )


def _observed(evaluation: Evaluation, env_id: str, split: str, arguments: dict[str, Any]) -> NDArray[np.float64]:
    """What the agent's probabilities are about: whether it was right, or the exact probability of the first option."""
    if arguments.get("reward") not in PROPER:
        return evaluation.scores
    certain = np.ones((len(evaluation.seeds), 1))
    # The Brier reward of being certain of the first option is its probability.
    return score_actions(env_id, list(evaluation.seeds), certain, split, **{**arguments, "reward": "brier"})


def _plain(values: NDArray[Any]) -> tuple[Any, ...]:
    return tuple(values.tolist())
