"""How fast problems are told in natural language, and how fast the texts are read back.

Run it from the root of the repository:

    python benchmarks/prose_rendering.py

Measured is the time that the process spends on one core: payloads are made beforehand, and texts for the parser too. A
repeat times a block of each workload in turn, so that a busy machine slows all of them alike; a figure is the median
over the repeats. "µs / line" divides by the lines that carry data: support cases, or initial facts and events.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from veilgym.envs import dynamic_world, hidden_system
from veilgym.envs.dynamic_world import prose as world_prose
from veilgym.envs.hidden_system import prose as system_prose

MIN_REPEATS = 7
BLOCK_LINES = 4_000
WIDTH = 110


@dataclass
class Workload:
    """Texts of one family, size and skin.

    Attributes:
        name: What the table calls it.
        lines: Lines of data in a text.
        calls: What is timed: one call a text.
        target: Texts per second that are asked for, None if none are.
    """

    name: str
    lines: int
    calls: Sequence[Callable[[], object]]
    target: float | None = None

    def time_block(self) -> float:
        """Seconds per text over one block."""
        start = time.process_time()
        for call in self.calls:
            call()
        return (time.process_time() - start) / len(self.calls)


def hidden_systems() -> list[Workload]:
    """Rendering and parsing of hidden systems: every skin at every preset, and the longest."""
    workloads = []
    for length, target in ((4, 2_000.0), (6, None), (8, None), (10, None)):
        skeletons = hidden_system.generate_skeletons(8, length)
        payloads = [hidden_system.renderer_payload(skeleton) for skeleton in skeletons]
        lines = len(payloads[0].support_cases)
        for skin in system_prose.SKINS:
            workloads += both_ways(f"{length} events", payloads, lines, skin, system_prose, target)
    return workloads


def dynamic_worlds() -> list[Workload]:
    """Rendering and parsing of dynamic worlds: every skin at the shortest and the longest preset."""
    workloads = []
    for length in ("short", "long"):
        payloads = [dynamic_world.renderer_payload(world) for world in dynamic_world.generate_worlds(8, length)]
        told = sum(len(payload.initial_observations) + len(payload.events) for payload in payloads)
        for skin in world_prose.SKINS:
            workloads += both_ways(length, payloads, told // len(payloads), skin, world_prose, 150.0)
    return workloads


def both_ways(
    size: str, payloads: Sequence[Any], lines: int, skin: str, family: Any, target: float | None
) -> list[Workload]:
    """What a family's `render` does, and what its `parse` does with that."""
    texts = [family.render(payload, skin) for payload in payloads]
    rounds = max(1, BLOCK_LINES // (lines * len(payloads)))
    rendering = [lambda payload=payload: family.render(payload, skin) for payload in payloads] * rounds
    parsing = [lambda told=told: family.parse(told.text, skin, told.names) for told in texts] * rounds
    return [
        Workload(f"{size}, {skin}: render", lines, rendering, target),
        Workload(f"{size}, {skin}: parse", lines, parsing, target),
    ]


FAMILIES = {"hidden-system": hidden_systems, "dynamic-world": dynamic_worlds}


def measure(workloads: Sequence[Workload], repeats: int) -> NDArray[np.float64]:
    """Return the seconds per text of each workload in each repeat: (workloads, repeats)."""
    for workload in workloads:
        workload.time_block()
    return np.array([[workload.time_block() for workload in workloads] for _ in range(repeats)]).T


def add_row(table: Table, workload: Workload, times: NDArray[np.float64]) -> None:
    seconds = float(np.median(times))
    verdict = ""
    if workload.target is not None:
        verdict = "[green]met[/]" if 1 / seconds >= workload.target else "[red]not met[/]"
    table.add_row(
        workload.name,
        f"{workload.lines}",
        f"{1 / seconds:,.0f}",
        f"{1 / times.max():,.0f} to {1 / times.min():,.0f}",
        f"{seconds * 1e6:,.0f}",
        f"{seconds * 1e6 / workload.lines:.2f}",
        "" if workload.target is None else f"{workload.target:,.0f}",
        verdict,
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)} (default: all)")
    allowed = f"timed blocks of each workload, at least {MIN_REPEATS} (default: %(default)s)"
    parser.add_argument("--repeats", type=int, default=9, help=allowed)
    arguments = parser.parse_args()
    if arguments.repeats < MIN_REPEATS:
        parser.error(f"--repeats must be at least {MIN_REPEATS}, got {arguments.repeats}")
    unknown = [family for family in arguments.families if family not in FAMILIES]
    if unknown:
        parser.error(f"FAMILY must be one of {', '.join(FAMILIES)}, got {unknown[0]!r}")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    for family in arguments.families or FAMILIES:
        workloads = FAMILIES[family]()
        times = measure(workloads, arguments.repeats)
        table = Table(
            title=f"Texts per second of {family}",
            caption=f"one core, medians of {arguments.repeats} interleaved repeats",
            box=SIMPLE_HEAD,
        )
        table.add_column("", no_wrap=True)
        for heading in ("lines", "per s", "spread", "µs", "µs / line", "target"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for workload, row in zip(workloads, times, strict=True):
            add_row(table, workload, row)
        Console(width=WIDTH).print(table)


if __name__ == "__main__":
    main()
