"""Evaluation of agents: the same instances for all of them, whatever the width of the vector env."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent, Batch
from veilgym.agents.engines import Engine, in_this_process
from veilgym.agents.playing import Job, join
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.seeding import spread_seed
from veilgym.registry import Entry, entry_of


@dataclass(frozen=True)
class Evaluation:
    """What one agent did on n instances.

    Attributes:
        agent: Name.
        seeds: n seeds; instance i is the first episode after `reset(seed=seeds[i])`.
        instances: n opaque ids; equal for equal instances, in any process and at any width. See `instance_ids`.
        scores: (n,) float64 returns.
        experiments: (n,) int64, accepted requests that did not end the episode.
        refused: (n,) int64, refused requests.
        truncated: (n,) bool, whether the episode ran into the step limit, or `MOST_REFUSALS` refusals in a row.
        observations: The last observation of each episode, batched over the n instances: all data that the agent
            gathered.
        claimed: (n,) float64, the probability that the agent has stated with its answer: that the answer is right
            (see `veilgym.agents.agent.Judge`), or with a proper score the answer itself. None where it states none.
        errors: n texts, what the agent raised; "" where it did not.
        seconds: Time that acting and stepping took, without compilation; on several workers the sum of theirs.
    """

    agent: str
    seeds: tuple[int, ...]
    instances: tuple[str, ...]
    scores: NDArray[np.float64]
    experiments: NDArray[np.int64]
    refused: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    observations: Batch
    claimed: NDArray[np.float64] | None
    errors: tuple[str, ...]
    seconds: float

    def __repr__(self) -> str:
        return f"<Evaluation of {self.agent!r} on {len(self.scores)} instances: mean score {self.scores.mean():.4f}>"


def instance_seeds(seed: int, episodes: int) -> list[int]:
    """The seeds of the instances of an evaluation; a longer evaluation begins with those of a shorter one.

    Raises:
        ValueError: `episodes` is not a positive integer, or `seed` not a non-negative one.
    """
    return spread_seed(seed, check_count("episodes", episodes))


def evaluate(
    agent: Agent,
    env_id: str,
    episodes: int = 1000,
    num_envs: int = 256,
    seed: int = 0,
    split: str = "test",
    progress: Callable[[int], None] | None = None,
    engine: Engine = in_this_process,
    keep_going: bool = False,
    **kwargs: Any,
) -> Evaluation:
    """Play exactly `episodes` instances, `num_envs` at a time.

    The instances, and so an agent's scores, depend on `seed`, `split` and **kwargs but not on `num_envs`: every
    instance has its own seed and counts once (the first may be played before, to compile what has to be compiled). An
    episode that is truncated scores what it earned, 0 without a submission. The step limit is that of the id, or twice
    the longest episode that the task allows if that is more.

    Args:
        agent: Acts on batches of observations.
        env_id: A registered id.
        episodes: n, at least 1.
        num_envs: How many episodes are played side by side, at least 1.
        seed: Names the set of instances.
        split: "train" or "test".
        progress: Called with the number of episodes that have just ended.
        engine: Who plays, see `veilgym.agents.engines`; changes no score.
        keep_going: Whether an instance on which the agent raises an error scores 0 and is reported in `errors`;
            otherwise the error is raised.
        **kwargs: Passed to `gymnasium.make_vec`, `task` for instance.

    Raises:
        ValueError: an argument is wrong, the agent's batch of actions has the wrong length, or the agent fails on every
            instance.

    Warns:
        RuntimeWarning: an episode ran into the step limit; the warning says why requests were refused.
    """
    entry = entry_of(env_id)
    seeds = instance_seeds(seed, episodes)
    num_envs = check_count("num_envs", num_envs)
    kwargs = _with_step_limit(entry, kwargs)
    _check_agent(agent)
    job = Job(agent, entry.id, split, kwargs)
    gym.make_vec(entry.id, num_envs=1, split=split, **kwargs).close()  # wrong arguments are no failures of the agent
    parts = []
    for part in engine(job, [seeds[i : i + num_envs] for i in range(0, episodes, num_envs)], keep_going):
        parts.append(part)
        if progress is not None:
            progress(len(part.scores))
    played = join(parts)
    if all(played.errors):
        raise ValueError(f"agent {agent.name!r} fails on every instance: {played.errors[0]}")
    if played.truncated.any():
        why = f"; the first refusal: {played.refusal}" if played.refusal else ""
        cut = played.truncated.sum()
        message = f"agent {agent.name!r} ran into the step limit in {cut} of {episodes} episodes{why}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return Evaluation(
        agent=agent.name,
        seeds=tuple(seeds),
        instances=tuple(played.instances),
        scores=played.scores,
        experiments=played.experiments,
        refused=played.refused,
        truncated=played.truncated,
        observations=played.observations,
        claimed=None if np.isnan(played.claimed).any() else played.claimed,
        errors=tuple(played.errors),
        seconds=played.seconds,
    )


def score_actions(env_id: str, seeds: list[int], actions: Batch, split: str, **kwargs: Any) -> NDArray[np.float64]:
    """The rewards (n,) of answering the instances of `seeds` at once with `actions`, batched over n."""
    envs = gym.make_vec(entry_of(env_id).id, num_envs=len(seeds), split=split, autoreset_mode="Disabled", **kwargs)
    envs.reset(seed=list(seeds))  # type: ignore[arg-type]
    reward = envs.step(actions)[1]
    envs.close()
    return np.asarray(reward)


def _check_agent(agent: Any) -> None:
    if isinstance(agent, type) or not callable(getattr(agent, "act_batch", None)) or not hasattr(agent, "name"):
        raise ValueError(f"agent must be an object with a name and a method act_batch, got {agent!r}")


def _with_step_limit(entry: Entry, kwargs: dict[str, Any]) -> dict[str, Any]:
    if entry.max_episode_steps is None or "max_episode_steps" in kwargs:
        return kwargs
    longest: int = gym.make(entry.id, **kwargs).unwrapped.task.longest_episode  # type: ignore[attr-defined]
    return {**kwargs, "max_episode_steps": max(entry.max_episode_steps, 2 * longest)}
