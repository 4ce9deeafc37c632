"""Evaluation of agents: the same instances for all of them, whatever the width of the vector env."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent, Batch, select
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.seeding import spread_seed
from veilgym.registry import Entry, entry_of

PROPER = ("brier", "log")  # rewards for which the answer is a probability
MOST_REFUSALS = 64  # in a row, after which an episode counts as truncated


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
        seconds: Time that acting and stepping took, without compilation.
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
    seconds: float


def instance_seeds(seed: int, episodes: int) -> list[int]:
    """The seeds of the instances of an evaluation; a longer evaluation begins with those of a shorter one.

    Raises:
        ValueError: `episodes` is not a positive integer, or `seed` not a non-negative one.
    """
    return spread_seed(seed, check_count("episodes", episodes))


def instance_ids(observations: Batch) -> list[str]:
    """An opaque id for each of B instances: 32 hexadecimal digits of BLAKE2b over its first observation.

    The first observation is all that is public when an episode begins, for a query the complete payload; so instances
    with equal ids look alike, and what the payload does not tell, such as a seed or an index, the id cannot tell.
    Circuits of a task that shows no initial readout look alike at first, and share one id.
    """
    if not isinstance(observations, dict):
        observations = {"": observations}
    columns = [(key, _little_endian(observations[key])) for key in sorted(observations)]
    heads = [f"{key}/{array.dtype.str}/{array.shape[1:]}/".encode() for key, array in columns]
    return [
        hashlib.blake2b(
            b"".join(head + array[i].tobytes() for head, (_, array) in zip(heads, columns, strict=True)), digest_size=16
        ).hexdigest()
        for i in range(len(columns[0][1]))
    ]


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(array)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def evaluate(
    agent: Agent,
    env_id: str,
    episodes: int = 1000,
    num_envs: int = 256,
    seed: int = 0,
    split: str = "test",
    progress: Callable[[int], None] | None = None,
    **kwargs: Any,
) -> Evaluation:
    """Play exactly `episodes` instances, `num_envs` at a time.

    The instances, and so an agent's scores, depend on `seed`, `split` and **kwargs but not on `num_envs`: every
    instance has its own seed and is played once. An episode that is truncated scores what it earned, 0 without a
    submission. The step limit is that of the id, or twice the longest episode that the task allows if that is more.

    Args:
        agent: Acts on batches of observations.
        env_id: A registered id.
        episodes: n, at least 1.
        num_envs: How many episodes are played side by side, at least 1.
        seed: Names the set of instances.
        split: "train" or "test".
        progress: Called with the number of episodes that have just ended.
        **kwargs: Passed to `gymnasium.make_vec`, `task` for instance.

    Raises:
        ValueError: an argument is wrong, or the agent's batch of actions has the wrong length.

    Warns:
        RuntimeWarning: an episode ran into the step limit; the warning says why requests were refused.
    """
    entry = entry_of(env_id)
    seeds = instance_seeds(seed, episodes)
    num_envs = check_count("num_envs", num_envs)
    kwargs = _with_step_limit(entry, kwargs)
    _check_agent(agent)
    _play(agent, entry.id, seeds[:1], split, kwargs)  # compiles what has to be compiled
    parts = []
    start = time.perf_counter()
    for chunk in _chunks(seeds, num_envs):
        parts.append(_play(agent, entry.id, chunk, split, kwargs))
        if progress is not None:
            progress(len(chunk))
    seconds = time.perf_counter() - start
    *fields, instances, observations, reasons = (list(part) for part in zip(*parts, strict=True))
    scores, experiments, refused, truncated, claimed = (np.concatenate(field) for field in fields)
    if truncated.any():
        why = next((f"; the first refusal: {reason}" for reason in reasons if reason), "")
        message = f"agent {agent.name!r} ran into the step limit in {truncated.sum()} of {episodes} episodes{why}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return Evaluation(
        agent=agent.name,
        seeds=tuple(seeds),
        instances=tuple(name for part in instances for name in part),
        scores=scores,
        experiments=experiments,
        refused=refused,
        truncated=truncated,
        observations=_concatenate(observations),
        claimed=None if np.isnan(claimed).any() else claimed,
        seconds=seconds,
    )


def score_actions(env_id: str, seeds: list[int], actions: Batch, split: str, **kwargs: Any) -> NDArray[np.float64]:
    """The rewards (n,) of answering the instances of `seeds` at once with `actions`, batched over n."""
    envs = gym.make_vec(entry_of(env_id).id, num_envs=len(seeds), split=split, autoreset_mode="Disabled", **kwargs)
    envs.reset(seed=list(seeds))  # type: ignore[arg-type]
    reward = envs.step(actions)[1]
    envs.close()
    return np.asarray(reward)


def _chunks(seeds: list[int], width: int) -> Iterator[list[int]]:
    for start in range(0, len(seeds), width):
        yield seeds[start : start + width]


def _check_agent(agent: Any) -> None:
    if isinstance(agent, type) or not callable(getattr(agent, "act_batch", None)) or not hasattr(agent, "name"):
        raise ValueError(f"agent must be an object with a name and a method act_batch, got {agent!r}")


def _with_step_limit(entry: Entry, kwargs: dict[str, Any]) -> dict[str, Any]:
    if entry.max_episode_steps is None or "max_episode_steps" in kwargs:
        return kwargs
    longest: int = gym.make(entry.id, **kwargs).unwrapped.task.longest_episode  # type: ignore[attr-defined]
    return {**kwargs, "max_episode_steps": max(entry.max_episode_steps, 2 * longest)}


def _play(agent: Agent, env_id: str, seeds: list[int], split: str, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """One episode per seed; agents act only where an episode still runs.

    Returns:
        Scores, experiments, refused, truncated, claimed (NaN for none), instances and observations as in
        `Evaluation`; the first reason for a refusal.
    """
    envs = gym.make_vec(env_id, num_envs=len(seeds), split=split, autoreset_mode="Disabled", **kwargs)
    observations, _ = envs.reset(seed=seeds)  # type: ignore[arg-type]
    instances, claimed = instance_ids(observations), np.full(len(seeds), np.nan)
    scores, cut = np.zeros(len(seeds)), np.zeros(len(seeds), np.bool_)
    experiments, refused = np.zeros(len(seeds), np.int64), np.zeros(len(seeds), np.int64)
    running, first_reason = np.ones(len(seeds), np.bool_), ""
    refusals_in_a_row = np.zeros(len(seeds), np.int64)
    while running.any():
        chosen, stated = _decide(agent, select(observations, running), kwargs)
        actions, claimed[running] = _spread(chosen, running), stated
        observations, reward, terminated, truncated, infos = envs.step(actions)
        scores[running] += reward[running]
        accepted = infos["refusal"] == 0 if "refusal" in infos else np.ones(len(seeds), np.bool_)
        experiments += running & accepted & ~terminated
        refused += running & ~accepted
        refusals_in_a_row = np.where(accepted, 0, refusals_in_a_row + 1)
        if not first_reason and (running & ~accepted).any():
            first_reason = infos["reason"][running & ~accepted][0]
        cut |= running & truncated & ~terminated
        running &= ~(terminated | truncated)
        # An id without a step limit would let an agent be refused for ever.
        cut |= running & (refusals_in_a_row >= MOST_REFUSALS)
        running &= ~cut
    envs.close()
    return scores, experiments, refused, cut, claimed, instances, observations, first_reason


def _decide(agent: Agent, observations: Batch, kwargs: dict[str, Any]) -> tuple[Batch, Any]:
    """The actions for a batch, and the probability that the agent states with each; NaN where it states none."""
    if hasattr(agent, "judge_batch"):
        actions, stated = agent.judge_batch(observations)
        return actions, stated
    actions = agent.act_batch(observations)
    if kwargs.get("reward") not in PROPER:
        return actions, np.nan
    answers = np.asarray(actions)
    is_forecast = answers.dtype.kind in "iuf" and answers.shape[1:] == (1,)
    return actions, answers[:, 0] if is_forecast else np.nan


def _spread(actions: Batch, rows: NDArray[np.bool_]) -> Batch:
    """Place actions for some rows into a batch for all; the others get zeros."""
    if isinstance(actions, dict):
        return {key: _spread(value, rows) for key, value in actions.items()}
    actions = np.asarray(actions)
    if actions.shape[:1] != (rows.sum(),):
        raise ValueError(f"act_batch must return one action for each of {rows.sum()} observations, got {actions.shape}")
    batch = np.zeros((len(rows), *actions.shape[1:]), actions.dtype)
    batch[rows] = actions
    return batch


def _concatenate(batches: list[Batch]) -> Batch:
    if isinstance(batches[0], dict):
        return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
    return np.concatenate(batches)
