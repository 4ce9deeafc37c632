"""Playing instances with an agent: the unit of work of an evaluation, here or on another machine."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from veilgym.agents.agent import Agent, Batch, select

PROPER = ("brier", "log")  # rewards for which the answer is a probability
MOST_REFUSALS = 64  # in a row, after which an episode counts as truncated


@dataclass(frozen=True)
class Job:
    """Who plays what.

    Attributes:
        agent: Acts on batches of observations.
        env_id: A registered id.
        split: "train" or "test".
        arguments: For the env.
    """

    agent: Agent
    env_id: str
    split: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Played:
    """What happened on n instances; the fields that `veilgym.agents.evaluation.Evaluation` has too are as there.

    Attributes:
        claimed: (n,) float64, NaN where the agent has stated no probability.
        refusal: The first reason for which a request was refused, "" if none was.
        errors: n texts, what the agent raised; "" where it did not.
        seconds: Time that it took.
    """

    instances: list[str]
    scores: NDArray[np.float64]
    experiments: NDArray[np.int64]
    refused: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    claimed: NDArray[np.float64]
    observations: Batch
    refusal: str
    errors: list[str]
    seconds: float


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


def play(job: Job, seeds: Sequence[int]) -> Played:
    """Play one episode per seed, side by side; the agent acts only where an episode still runs."""
    start = time.perf_counter()
    agent, kwargs = job.agent, job.arguments
    envs = _make(job, len(seeds))
    observations, _ = envs.reset(seed=list(seeds))  # type: ignore[arg-type]
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
    seconds = time.perf_counter() - start
    return Played(
        instances, scores, experiments, refused, cut, claimed, observations, first_reason, [""] * len(seeds), seconds
    )


def play_each(job: Job, seeds: Sequence[int]) -> Played:
    """`play`, but where that raises, each instance by itself, so that only those that raise have failed."""
    try:
        return play(job, seeds)
    except Exception as error:  # of an agent that somebody else has written
        if len(seeds) == 1:
            return failure(job, seeds[0], _printable(f"{type(error).__name__}: {error}"))
        return join([play_each(job, [seed]) for seed in seeds])


def failure(job: Job, seed: int, error: str) -> Played:
    """An instance that could not be played: it scores 0."""
    envs = _make(job, 1)
    observations, _ = envs.reset(seed=[seed])  # type: ignore[arg-type]
    envs.close()
    none, nothing = np.zeros(1, np.int64), np.zeros(1)
    missing, whole = np.full(1, np.nan), np.zeros(1, np.bool_)
    return Played(instance_ids(observations), nothing, none, none, whole, missing, observations, "", [error], 0.0)


def join(parts: Sequence[Played]) -> Played:
    """The instances of all parts, in their order."""
    columns = {name: [getattr(part, name) for part in parts] for name in Played.__dataclass_fields__}
    return Played(
        instances=[name for part in columns["instances"] for name in part],
        observations=_concatenate(columns["observations"]),
        refusal=next(filter(None, columns["refusal"]), ""),
        errors=[error for part in columns["errors"] for error in part],
        seconds=sum(columns["seconds"]),
        **{
            name: np.concatenate(columns[name]) for name in ("scores", "experiments", "refused", "truncated", "claimed")
        },
    )


def _printable(text: str) -> str:
    """On one line, without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:500]


def _make(job: Job, width: int) -> VectorEnv[Any, Any, Any]:
    return gym.make_vec(job.env_id, num_envs=width, split=job.split, autoreset_mode="Disabled", **job.arguments)


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
