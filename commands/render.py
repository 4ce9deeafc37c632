"""`veilgym render`: the problems of a data set in natural language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veilgym.commands.terminal import plain_errors, progress_bar

Folder = Annotated[Path, typer.Argument(help="A data set that veilgym generate has made.")]
Skin = Annotated[str, typer.Option(help="The surface; mixed draws one for each problem.")]
Force = Annotated[bool, typer.Option("--force", help="Replace problems that are there.")]


def render(folder: Folder, skin: Skin, force: Force = False) -> None:
    """Tell every payload of a data set as a problem in natural language, without its answer."""
    with plain_errors():
        from veilgym.envs.core.dataset.manifest import read_manifest
        from veilgym.envs.core.dataset.rendering import render as run

        with progress_bar("problems", read_manifest(folder).count) as progress:

            def advance(rows: int) -> None:
                progress.advance(progress.task_ids[0], rows)

            def note(text: str) -> None:
                typer.echo(f"note: {text}", err=True)

            manifest = run(folder, skin, force=force, progress=advance, note=note)
    typer.echo(f"{manifest.count} problems, skin {skin}: {folder / manifest.problems}")
