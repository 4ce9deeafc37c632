"""How fast problems are told in natural language, and how fast the texts are read back.

Run it from the root of the repository:

    python benchmarks/prose_rendering.py

Measured is the time that the process spends on one core: payloads are made beforehand, and texts for the parser too. A
repeat times a block of each contender in turn, so that a busy machine slows all of them alike; a figure is the median
over the repeats. "µs / line" divides by the lines that carry data: support cases, or initial facts and events.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from contenders import Contender, measure, parser_of, spread
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


def hidden_systems() -> list[Contender]:
    """Rendering and parsing of hidden systems: every skin at every preset, and the longest."""
    contenders = []
    for length, target in ((4, 2_000.0), (6, None), (8, None), (10, None)):
        skeletons = hidden_system.generate_skeletons(8, length)
        payloads = [hidden_system.renderer_payload(skeleton) for skeleton in skeletons]
        lines = len(payloads[0].support_cases)
        for skin in system_prose.SKINS:
            contenders += both_ways(f"{length} events", payloads, lines, skin, system_prose, target)
    return contenders


def dynamic_worlds() -> list[Contender]:
    """Rendering and parsing of dynamic worlds: every skin at the shortest and the longest preset."""
    contenders = []
    for length in ("short", "long"):
        payloads = [dynamic_world.renderer_payload(world) for world in dynamic_world.generate_worlds(8, length)]
        told = sum(len(payload.initial_observations) + len(payload.events) for payload in payloads)
        for skin in world_prose.SKINS:
            contenders += both_ways(length, payloads, told // len(payloads), skin, world_prose, 150.0)
    return contenders


def both_ways(
    size: str, payloads: Sequence[Any], lines: int, skin: str, family: Any, target: float | None
) -> list[Contender]:
    """What a family's `render` does, and what its `parse` does with that."""
    texts = [family.render(payload, skin) for payload in payloads]
    rounds = max(1, BLOCK_LINES // (lines * len(payloads)))

    def rendering() -> None:
        for payload in payloads * rounds:
            family.render(payload, skin)

    def parsing() -> None:
        for told in texts * rounds:
            family.parse(told.text, skin, told.names)

    count = len(payloads) * rounds
    return [
        Contender(f"{size}, {skin}: {what}", make, count, lines, target, time.process_time)
        for what, make in (("render", rendering), ("parse", parsing))
    ]


FAMILIES = {"hidden-system": hidden_systems, "dynamic-world": dynamic_worlds}


def add_row(table: Table, contender: Contender, times: NDArray[np.float64]) -> None:
    seconds = float(np.median(times))
    table.add_row(
        contender.name,
        f"{contender.size}",
        f"{1 / seconds:,.0f}",
        spread(times),
        f"{seconds * 1e6:,.0f}",
        f"{seconds * 1e6 / contender.size:.2f}",
        *contender.verdict(seconds),
    )


def parse_arguments() -> argparse.Namespace:
    parser = parser_of(__doc__, repeats=9, least=MIN_REPEATS)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)} (default: all)")
    arguments = parser.parse_args()
    unknown = [family for family in arguments.families if family not in FAMILIES]
    if unknown:
        parser.error(f"FAMILY must be one of {', '.join(FAMILIES)}, got {unknown[0]!r}")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    for family in arguments.families or FAMILIES:
        contenders = FAMILIES[family]()
        times = measure(contenders, arguments.repeats)
        table = Table(
            title=f"Texts per second of {family}",
            caption=f"one core, medians of {arguments.repeats} interleaved repeats",
            box=SIMPLE_HEAD,
        )
        table.add_column("", no_wrap=True)
        for heading in ("lines", "per s", "spread", "µs", "µs / line", "target"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for contender, row in zip(contenders, times, strict=True):
            add_row(table, contender, row)
        Console(width=WIDTH).print(table)


if __name__ == "__main__":
    main()
