"""What the benchmarks share: contenders that are timed in turn, and reasoning-gym as one of them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray


@dataclass
class Contender:
    """Makes things.

    Attributes:
        name: What the table calls it.
        make: Makes `count` of them.
        count: How many a block makes.
        size: Of each, in the unit that the table divides by; 0 for a peer.
        target: How many a second are asked for, None if none are.
        clock: Seconds: wall time, or `time.process_time`.
    """

    name: str
    make: Callable[[], object]
    count: int
    size: int = 0
    target: float | None = None
    clock: Callable[[], float] = time.perf_counter

    def time_block(self) -> float:
        """Seconds for each over one block."""
        start = self.clock()
        self.make()
        return (self.clock() - start) / self.count

    def verdict(self, seconds: float) -> tuple[str, str]:
        """The target and whether it is met, as cells of a table; empty where there is none."""
        if self.target is None:
            return "", ""
        return f"{self.target:,.0f}", "[green]met[/]" if 1 / seconds >= self.target else "[red]not met[/]"


def stepping(name: str, step: Callable[[], object], width: int, block_seconds: float) -> Contender:
    """A contender that makes `width` things a step, with as many steps in a block as `block_seconds` take."""
    step()
    start = time.perf_counter()
    step()
    steps = max(1, round(block_seconds / (time.perf_counter() - start)))

    def make() -> None:
        for _ in range(steps):
            step()

    return Contender(name, make, steps * width)


def peers(names: Sequence[str], items: int) -> list[Contender]:
    """Generators of reasoning-gym, which make their items one by one; none where it is not installed."""
    try:
        import reasoning_gym
    except ImportError:
        return []
    contenders = []
    for name in names:
        data = reasoning_gym.create_dataset(name, size=items, seed=0)
        make = lambda data=data: [data[i] for i in range(items)]  # noqa: E731
        contenders.append(Contender(f"reasoning-gym {name}", make, items))
    return contenders


def peer_version() -> str:
    """What the caption says of the peer."""
    try:
        return f"reasoning-gym {version('reasoning-gym')} in the same run"
    except PackageNotFoundError:
        return "reasoning-gym is not installed"


def measure(contenders: Sequence[Contender], repeats: int) -> NDArray[np.float64]:
    """Time a block of each in turn: (contenders, repeats) seconds for each thing."""
    for contender in contenders:
        contender.time_block()
    return np.array([[contender.time_block() for contender in contenders] for _ in range(repeats)]).T


def spread(times: NDArray[np.float64]) -> str:
    """The slowest and the fastest repeat, in things per second."""
    return f"{1 / times.max():,.0f} to {1 / times.min():,.0f}"


def parser_of(description: str | None, repeats: int, least: int) -> argparse.ArgumentParser:
    """A parser with --repeats."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text!r}")
        return int(text)

    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    allowed = f"timed blocks of each contender, at least {least} (default: %(default)s)"
    parser.add_argument("--repeats", type=number, default=repeats, help=allowed)
    return parser
