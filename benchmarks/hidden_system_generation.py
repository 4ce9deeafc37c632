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
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import gymnasium as gym
import numpy as np
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
WIDTH = 100


@dataclass
class Contender:
    """Makes instances.

    Attributes:
        name: What the table calls it.
        make: Makes `count` instances.
        count: Instances of a block.
        cases: Support cases of an instance, 0 for a peer.
        target: Instances per second that are asked for, None if none are.
    """

    name: str
    make: Callable[[], object]
    count: int
    cases: int = 0
    target: float | None = None

    def time_block(self) -> float:
        """Seconds per instance over one block."""
        start = time.perf_counter()
        self.make()
        return (time.perf_counter() - start) / self.count


def systems(length: int, num_envs: int) -> Contender:
    envs = gym.make_vec("HiddenSystem-v0", num_envs=num_envs, length=length)
    envs.reset(seed=0)
    actions = np.zeros(num_envs, np.int64)
    envs.step(actions)
    start = time.perf_counter()
    envs.step(actions)
    steps = max(1, round(BLOCK_SECONDS / (time.perf_counter() - start)))

    def make() -> None:
        for _ in range(steps):
            envs.step(actions)

    cases = envs.layout.cases  # type: ignore[attr-defined]
    return Contender(f"{length} events", make, steps * num_envs, cases, TARGETS.get(length))


def peers() -> list[Contender]:
    try:
        import reasoning_gym
    except ImportError:
        return []
    contenders = []
    for name in PEERS:
        data = reasoning_gym.create_dataset(name, size=PEER_ITEMS, seed=0)
        contenders.append(Contender(name, lambda data=data: [data[i] for i in range(PEER_ITEMS)], PEER_ITEMS))  # type: ignore[misc]
    return contenders


def measure(contenders: Sequence[Contender], repeats: int) -> NDArray[np.float64]:
    """Return the seconds per instance of each contender in each repeat: (contenders, repeats)."""
    for contender in contenders:
        contender.time_block()
    return np.array([[contender.time_block() for contender in contenders] for _ in range(repeats)]).T


def add_row(table: Table, contender: Contender, times: NDArray[np.float64]) -> None:
    seconds = float(np.median(times))
    verdict = ""
    if contender.target is not None:
        verdict = "[green]met[/]" if 1 / seconds >= contender.target else "[red]not met[/]"
    table.add_row(
        contender.name,
        f"{contender.cases or '-'}",
        f"{1 / seconds:,.0f}",
        f"{1 / times.max():,.0f} to {1 / times.min():,.0f}",
        f"{seconds * 1e6:,.1f}",
        f"{seconds * 1e6 / contender.cases:.3f}" if contender.cases else "-",
        "" if contender.target is None else f"{contender.target:,.0f}",
        verdict,
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    allowed = f"timed blocks of each contender, at least {MIN_REPEATS} (default: %(default)s)"
    parser.add_argument("--repeats", type=int, default=9, help=allowed)
    parser.add_argument("--num-envs", type=int, default=256, help="width of the vector env (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.repeats < MIN_REPEATS:
        parser.error(f"--repeats must be at least {MIN_REPEATS}, got {arguments.repeats}")
    if arguments.num_envs < 1:
        parser.error(f"--num-envs must be at least 1, got {arguments.num_envs}")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    contenders = [systems(length, arguments.num_envs) for length in LENGTHS] + peers()
    times = measure(contenders, arguments.repeats)
    try:
        peer = f"reasoning-gym {version('reasoning-gym')} in the same run"
    except PackageNotFoundError:
        peer = "reasoning-gym is not installed"
    table = Table(
        title=f"Instances per second of HiddenSystem-v0, native vector env of {arguments.num_envs}, SAME_STEP",
        caption=f"one thread, medians of {arguments.repeats} interleaved repeats; {peer}",
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
