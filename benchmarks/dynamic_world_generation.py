"""How fast `DynamicWorld-v0` makes worlds, next to reasoning-gym where that is installed, and how the cost grows.

Run it from the root of the repository:

    python benchmarks/dynamic_world_generation.py

Measured is wall time in one process and one thread:

* worlds: `gym.make_vec("DynamicWorld-v0", num_envs=N)` in its default SAME_STEP mode, in which every step answers N
  questions and makes N new worlds. Observations, final observations and infos are made as for any agent.
* records: `generate_worlds`, each written as JSON. Twins: `generate_twins`, worlds of both sides.
* reasoning-gym: items of two of its generators of long texts, one by one, as its API gives them.
* curves: the same worlds with 32 to 1,024 entities, and with 250 to 8,000 steps. The last column says how much more
  a step costs than in the row before; where it is above 1, the cost grows faster than the steps.
* memory: the resident set before and after many resets of one env.

Kernels are compiled beforehand. A repeat times a block of each contender in turn, so that a busy machine slows all of
them alike; a figure is the median over the repeats.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import gymnasium as gym
import numpy as np
from contenders import Contender, measure, parser_of, peer_version, peers, spread, stepping
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import veilgym  # noqa: F401 (registers the id)
from veilgym.envs.core.records import to_json
from veilgym.envs.dynamic_world import generate_twins, generate_worlds

WORLDS_TARGET, RECORDS_TARGET = 2500.0, 400.0
LENGTHS = ("short", "medium", "long")
ENTITIES = (32, 64, 128, 256, 512, 1024)
STEPS = (250, 500, 1000, 2000, 4000, 8000)
STEPS_PER_ENTITY = 8
PEERS = ("needle_haystack", "zebra_puzzles")
MIN_REPEATS = 5
BLOCK_SECONDS = 0.1
PEER_ITEMS = 50
WIDTH = 110


def worlds(
    name: str,
    num_envs: int,
    entity_count: int = 128,
    steps: int = 1000,
    target: float | None = None,
    length: str = "short",
) -> Contender:
    envs = gym.make_vec(
        "DynamicWorld-v0", num_envs=num_envs, length=length, entity_count=entity_count, simulation_steps=steps
    )
    envs.reset(seed=0)
    actions = np.zeros(num_envs, np.int64)
    return replace(stepping(name, lambda: envs.step(actions), num_envs, BLOCK_SECONDS), size=steps, target=target)


def records() -> list[Contender]:
    size, places = 40, count(0, 40)

    def make_worlds() -> None:
        for world in generate_worlds(size, "short", 0, first=next(places)):
            to_json(world)

    def make_twins() -> None:
        for pair in generate_twins(size // 2, "short", 0, first=next(places)):
            list(map(to_json, pair))

    return [
        Contender("records as JSON", make_worlds, size, 1000, RECORDS_TARGET),
        Contender("twins as JSON", make_twins, size, 1000),
    ]


def table_of(title: str, contenders: Sequence[Contender], times: NDArray[np.float64], is_curve: bool) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left")
    table.add_column("", no_wrap=True)
    headings = ("per s", "spread", "µs", "ns / step", "growth") if is_curve else ("per s", "spread", "µs", "target", "")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    seconds = np.median(times, axis=1)
    for i, contender in enumerate(contenders):
        cells = [f"{1 / seconds[i]:,.0f}", spread(times[i]), f"{seconds[i] * 1e6:,.0f}"]
        if is_curve:
            per_step = seconds[i] / contender.size
            before = seconds[i - 1] / contenders[i - 1].size if i else per_step
            cells += [f"{per_step * 1e9:,.0f}", f"{per_step / before:.2f}" if i else ""]
        else:
            cells += contender.verdict(seconds[i])
        table.add_row(contender.name, *cells)
    return table


def resident_mib() -> float:
    """The resident set of this process. Linux only."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096 / 2**20


def measure_memory(console: Console, resets: int) -> None:
    """Print the resident set at ten times during the resets of one env."""
    env = gym.make("DynamicWorld-v0")
    env.reset(seed=0)
    for _ in range(1000):
        env.reset()
    sizes = [resident_mib()]
    for _ in range(10):
        for _ in range(resets // 10):
            env.reset()
        sizes.append(resident_mib())
    console.print(f"resident set, MiB, after each tenth of {resets:,} resets: {', '.join(f'{s:.1f}' for s in sizes)}")


def parse_arguments() -> argparse.Namespace:
    parser = parser_of(__doc__, repeats=7, least=MIN_REPEATS)
    parser.add_argument("--num-envs", type=int, default=256, help="width of the vector env (default: %(default)s)")
    parser.add_argument("--resets", type=int, default=100_000, help="for the memory; 0 for none (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.num_envs < 1:
        parser.error(f"--num-envs must be at least 1, got {arguments.num_envs}")
    if arguments.resets < 0:
        parser.error(f"--resets must not be negative, got {arguments.resets}")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    console, num_envs = Console(width=WIDTH), arguments.num_envs
    console.print(f"DynamicWorld-v0, one thread, medians of {arguments.repeats} interleaved repeats; {peer_version()}")
    by_length = [worlds(f"worlds, {length}", num_envs, target=WORLDS_TARGET, length=length) for length in LENGTHS]
    by_entities = [
        worlds(f"{size:,} entities, {size * STEPS_PER_ENTITY:,} steps", 8, size, size * STEPS_PER_ENTITY)
        for size in ENTITIES
    ]
    by_steps = [worlds(f"{steps:,} steps", 8, steps=steps) for steps in STEPS]
    plans = [
        (f"A second, vector env of {num_envs}, SAME_STEP", by_length + records() + peers(PEERS, PEER_ITEMS), False),
        (f"By size of world, {STEPS_PER_ENTITY} steps for each entity, vector env of 8", by_entities, True),
        ("By steps, 128 entities, vector env of 8", by_steps, True),
    ]
    for title, contenders, is_curve in plans:
        console.print(table_of(title, contenders, measure(contenders, arguments.repeats), is_curve))
    if arguments.resets:
        measure_memory(console, arguments.resets)


if __name__ == "__main__":
    main()
