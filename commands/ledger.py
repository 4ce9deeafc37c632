"""`veilgym ledger`: what shortcuts score."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veilgym.commands.options import Seed
from veilgym.commands.terminal import check_writable, plain_errors, progress_bar, write_json, write_text
from veilgym.registry import ENTRIES, entry_of

if TYPE_CHECKING:
    from rich.progress import Progress

Ids = Annotated[list[str] | None, typer.Argument(help="Ids to measure; all that have a ledger if none is given.")]
Episodes = Annotated[int, typer.Option(min=1, help="Test instances a setting.")]
Training = Annotated[int, typer.Option(min=1, help="Instances a setting on which the classifiers are trained.")]
Folder = Annotated[
    Path, typer.Option(help="Folder for ID.json and ID.md; made if needed, existing files are replaced.")
]


def ledger(
    ids: Ids = None,
    episodes: Episodes = 5000,
    training: Training = 20_000,
    seed: Seed = 0,
    out: Folder = Path(),
) -> None:
    """Measure what shallow strategies score beside the ideal observer, and write it as a table (takes minutes)."""
    with plain_errors():
        from veilgym.agents.ledger import check_arguments, load_ledger

        entries = [entry_of(name) for name in ids] if ids else [entry for entry in ENTRIES if entry.ledger]
        measures = [(entry.id, load_ledger(entry)) for entry in dict.fromkeys(entries)]
        check_arguments(episodes, training, seed)
        with contextlib.suppress(FileExistsError, NotADirectoryError):
            out.mkdir(parents=True, exist_ok=True)
        for name, _ in measures:
            check_writable(out / f"{name}.json")
            check_writable(out / f"{name}.md")
        for name, measure in measures:
            with progress_bar(f"measuring {name}", None) as progress:

                def report(what: str, progress: Progress = progress) -> None:
                    progress.update(progress.task_ids[0], description=what)

                found = measure(episodes, training, seed, report)
            write_json(out / f"{name}.json", found.to_json())
            write_text(out / f"{name}.md", found.to_markdown())
            typer.echo(f"ledger: {out / f'{name}.md'}")
            for line in found.lines:
                if not line.is_kept and line.gate is not None:
                    scores = f"scores {line.score:.3f} on {line.instances} instances"
                    gate = f"{line.gate[0]} {line.gate[1]:g}"
                    typer.echo(f"gate: {line.strategy} ({line.setting}) {scores}, allowed is {gate}")
