"""`veilgym render`: the problems of a data set in natural language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veilgym.commands.terminal import plain_errors, progress_bar

Folder = Annotated[Path, typer.Argument(help="A data set that veilgym generate has made.")]
Skin = Annotated[str | None, typer.Option(help="The surface; mixed draws one for each problem.")]
Force = Annotated[bool, typer.Option("--force", help="Replace problems that are there.")]
Model = Annotated[
    str | None,
    typer.Option(help="Let a language model tell them instead, such as openai-api/local/NAME (veilgym\\[llm])."),
]
BaseUrl = Annotated[str | None, typer.Option(help="Address of the model's server, for --model.")]
Connections = Annotated[int, typer.Option(min=1, help="Problems that the model tells at once.")]
Tries = Annotated[int, typer.Option(min=1, help="Requests a part before a problem is rejected.")]
PartSize = Annotated[int, typer.Option(min=1, help="Lines that the model is asked for at once.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Limit of a reply of the model.")]
Again = Annotated[bool, typer.Option("--again", help="Ask the model again for problems that were rejected before.")]


def render(
    folder: Folder,
    skin: Skin = None,
    force: Force = False,
    model: Model = None,
    base_url: BaseUrl = None,
    connections: Connections = 10,
    tries: Tries = 3,
    part_size: PartSize = 40,
    max_tokens: MaxTokens = None,
    again: Again = False,
) -> None:
    """Tell every payload of a data set as a problem in natural language, without its answer."""
    with plain_errors():
        if (skin is None) == (model is None):
            raise ValueError("render needs either --skin or --model")
        if model is not None:
            from veilgym.commands.model_rendering import render_by_model
            from veilgym.wrappers.model_run import Settings

            settings = Settings(tries=tries, part_size=part_size, connections=connections, max_tokens=max_tokens)
            render_by_model(folder, model, base_url, settings, force, again)
        elif skin is not None:
            _render_in_skin(folder, skin, force)


def _render_in_skin(folder: Path, skin: str, force: bool) -> None:
    from veilgym.envs.core.dataset.manifest import read_manifest
    from veilgym.envs.core.dataset.rendering import render as run

    with progress_bar("telling problems", read_manifest(folder).count) as progress:

        def advance(rows: int) -> None:
            progress.advance(progress.task_ids[0], rows)

        manifest = run(folder, skin, force=force, progress=advance, note=note)
    typer.echo(f"{manifest.count} problems, skin {skin}: {folder / manifest.problems}")


def note(text: str) -> None:
    """Print what is no error, on standard error."""
    typer.echo(f"note: {text}", err=True)
