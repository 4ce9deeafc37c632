"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(min=0, help="Names the set of instances.")]
Split = Annotated[str, typer.Option(help="Which draws to use: train or test.")]
Length = Annotated[
    str | None, typer.Option(help="Length of the instances, for ids that have one: short, medium, long or a number.")
]

EngineName = Annotated[
    str, typer.Option("--engine", help="Who does the work: local, or ray, which needs the extra veilgym\\[ray].")
]
Address = Annotated[
    str | None,
    typer.Option(help="Of an existing Ray cluster, auto or host:port; without it one is started on this machine."),
]


def read_length(length: str | None) -> str | int | None:
    """A number where it is one; what is allowed is for the task to say."""
    return int(length) if length is not None and length.isascii() and length.isdecimal() else length
