"""How fast the native vector env of `HiddenSystem-v0` makes instances, next to reasoning-gym where that is installed.

Run it from the root of the repository:

    python benchmarks/hidden_system_generation.py

Measured is wall time in one process and one thread:

* ours: `gym.make_vec("HiddenSystem-v0", num_envs=N, length=L)` in its default SAME_STEP mode, in which every step
  answers N questions and asks N new ones. Observations, final observations and infos are made as for any agent.
* reasoning-gym: items of its logic and induction generators, one by one, as its API gives them.

Kernels are compiled beforehand. A repeat times a block of each contender in turn, so that a busy machine slows all of
them alike; a figure is the median over the repeats. "per case" divides by the support cases: it shows whether the cost
grows faster than the support table.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import gymnasium as gym
import numpy as np
from contenders import Contender, measure, parser_of, peer_version, peers, spread, stepping
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import veilgym  # noqa: F401 (registers the id)

LENGTHS = tuple(range(4, 11))
TARGETS = {4: 40_000.0, 8: 10_000.0}
PEERS = ("propositional_logic", "knights_knaves", "syllogism", "circuit_logic", "self_reference", "list_functions")
MIN_REPEATS = 7
BLOCK_SECONDS = 0.05
PEER_ITEMS = 100
WIDTH = 120


def systems(length: int, num_envs: int) -> Contender:
    envs = gym.make_vec("HiddenSystem-v0", num_envs=num_envs, length=length)
    envs.reset(seed=0)
    actions = np.zeros(num_envs, np.int64)
    made = stepping(f"{length} events", lambda: envs.step(actions), num_envs, BLOCK_SECONDS)
    return replace(made, size=envs.layout.cases, target=TARGETS.get(length))  # type: ignore[attr-defined]


def add_row(table: Table, contender: Contender, times: NDArray[np.float64]) -> None:
    seconds = float(np.median(times))
    table.add_row(
        contender.name,
        f"{contender.size or '-'}",
        f"{1 / seconds:,.0f}",
        spread(times),
        f"{seconds * 1e6:,.1f}",
        f"{seconds * 1e6 / contender.size:.3f}" if contender.size else "-",
        *contender.verdict(seconds),
    )


def parse_arguments() -> argparse.Namespace:
    parser = parser_of(__doc__, repeats=9, least=MIN_REPEATS)
    parser.add_argument("--num-envs", type=int, default=256, help="width of the vector env (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.num_envs < 1:
        parser.error(f"--num-envs must be at least 1, got {arguments.num_envs}")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    contenders = [systems(length, arguments.num_envs) for length in LENGTHS] + peers(PEERS, PEER_ITEMS)
    times = measure(contenders, arguments.repeats)
    table = Table(
        title=f"Instances per second of HiddenSystem-v0, native vector env of {arguments.num_envs}, SAME_STEP",
        caption=f"one thread, medians of {arguments.repeats} interleaved repeats; {peer_version()}",
        box=SIMPLE_HEAD,
    )
    table.add_column("", no_wrap=True)
    for heading in ("cases", "per s", "spread", "µs", "µs / case", "target"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for contender, row in zip(contenders, times, strict=True):
        add_row(table, contender, row)
    Console(width=WIDTH).print(table)


if __name__ == "__main__":
    main()
