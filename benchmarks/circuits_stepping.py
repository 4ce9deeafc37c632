"""How fast the native vector env of `CausalCircuits-v0` steps, next to Gymnasium's own native `CartPole-v1`.

Run it from the root of the repository:

    python benchmarks/circuits_stepping.py

Measured is the wall time of `envs.step(actions)` alone, in microseconds per vector step, in one process and one thread:

* ours: `gym.make_vec("CausalCircuits-v0", num_envs=N)` in its default NEXT_STEP mode. Each env runs eight experiments,
  submits, and is reset, so that a tenth of the envs submits and another tenth begins an episode in each step.
* CartPole: `gym.make_vec("CartPole-v1", num_envs=N, vectorization_mode="vector_entry_point")`, random actions.
* SyncVectorEnv, at 64 envs: `CausalCircuits-v0` in Gymnasium's `SyncVectorEnv`, with the same actions as ours.

All return fresh arrays. Actions are prepared and kernels compiled beforehand. A repeat times a block of steps of each
env in turn, so that a busy machine slows all of them alike; a figure is the median over the repeats, and a ratio is the
median of the ratios within a repeat. "spread" is the range of those ratios; smaller differences mean nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import veilgym  # noqa: F401 (registers the id)

CARTPOLE_TARGETS = {64: 8.0, 1024: 2.5, 8192: 1.2}
SYNC_TARGETS = {64: 10.0}
EXPERIMENTS = (0, 3, 3, 4, 7, 8, 11, 1)
MIN_REPEATS = 7
BLOCK_SECONDS = 0.02
WIDTH = 92


@dataclass
class Contender:
    """A vector env with the actions that it cycles through, and how many steps a block has."""

    envs: VectorEnv[Any, Any, Any]
    actions: Sequence[Any]
    steps: int = 1

    def time_block(self) -> float:
        """Seconds per step over one block, which starts where the cycle of actions does."""
        block = list(islice(cycle(self.actions), self.steps))
        step = self.envs.step
        start = time.perf_counter()
        for action in block:
            step(action)
        return (time.perf_counter() - start) / self.steps

    def calibrate(self) -> None:
        """Warm up, and choose a block of about `BLOCK_SECONDS` that holds whole cycles."""
        self.envs.reset(seed=0)
        self.steps = len(self.actions)
        cycles = max(1, round(BLOCK_SECONDS / (min(self.time_block() for _ in range(3)) * self.steps)))
        self.steps *= cycles


def circuits(num_envs: int, mode: str) -> Contender:
    envs = gym.make_vec("CausalCircuits-v0", num_envs=num_envs, vectorization_mode=mode)
    submit = envs.single_action_space["choice"].n - 1
    # The last action meets an episode that is over: it is ignored, and the next episode begins.
    plan = np.array([*EXPERIMENTS, submit, submit])
    prediction = np.random.default_rng(0).uniform(-1, 1, envs.action_space["prediction"].shape)
    stages = np.arange(num_envs)
    choices = [plan[(stages + k) % plan.size] for k in range(plan.size)]
    return Contender(envs, [{"choice": choice, "prediction": prediction} for choice in choices])


def cartpole(num_envs: int) -> Contender:
    envs = gym.make_vec("CartPole-v1", num_envs=num_envs, vectorization_mode="vector_entry_point")
    rng = np.random.default_rng(0)
    return Contender(envs, [rng.integers(0, 2, num_envs) for _ in range(10)])


def measure(contenders: Sequence[Contender], repeats: int) -> NDArray[np.float64]:
    """Return the seconds per step of each contender in each repeat: (contenders, repeats)."""
    for contender in contenders:
        contender.calibrate()
    times = np.array([[contender.time_block() for contender in contenders] for _ in range(repeats)])
    for contender in contenders:
        contender.envs.close()
    return times.T


def add_row(table: Table, num_envs: int, peer: str, times: NDArray[np.float64], target: float) -> None:
    ours, theirs = times
    ratios = theirs / ours
    ratio = np.median(ratios)
    table.add_row(
        f"{num_envs:,}",
        peer,
        f"{np.median(ours) * 1e6:,.1f}",
        f"{np.median(theirs) * 1e6:,.1f}",
        f"{ratio:.2f}x",
        f"{ratios.min():.2f} to {ratios.max():.2f}",
        f"{target:g}x",
        "[green]met[/]" if ratio >= target else "[red]not met[/]",
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    allowed = f"timed blocks of each env, at least {MIN_REPEATS} (default: %(default)s)"
    parser.add_argument("--repeats", type=int, default=9, help=allowed)
    arguments = parser.parse_args()
    if arguments.repeats < MIN_REPEATS:
        parser.error(f"--repeats must be at least {MIN_REPEATS}, got {arguments.repeats}")
    return arguments


def main() -> None:
    repeats = parse_arguments().repeats
    table = Table(
        title="Microseconds per step of CausalCircuits-v0, native vector env, and of a peer",
        caption=f"one thread, medians of {repeats} interleaved repeats; ratio: the peer's time over ours",
        box=SIMPLE_HEAD,
    )
    table.add_column("envs", justify="right")
    table.add_column("peer", no_wrap=True)
    for heading in ("ours", "peer's", "ratio", "spread", "target"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for num_envs, target in CARTPOLE_TARGETS.items():
        times = measure([circuits(num_envs, "vector_entry_point"), cartpole(num_envs)], repeats)
        add_row(table, num_envs, "CartPole-v1", times, target)
    for num_envs, target in SYNC_TARGETS.items():
        times = measure([circuits(num_envs, "vector_entry_point"), circuits(num_envs, "sync")], repeats)
        add_row(table, num_envs, "SyncVectorEnv", times, target)
    Console(width=WIDTH).print(table)


if __name__ == "__main__":
    main()
