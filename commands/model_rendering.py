"""`veilgym render --model`: problems told by a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from veilgym.commands.terminal import progress_bar

if TYPE_CHECKING:
    from veilgym.wrappers.model_run import Progress, Report, Settings


def render_by_model(
    folder: Path, model: str, base_url: str | None, settings: Settings, force: bool, again: bool
) -> None:
    """Let a model tell the payloads of a data set, and say what came of it and what it cost.

    Raises:
        ValueError: as for `render_dataset`.
        typer.Exit: with status 1, if some rows are not finished.
    """
    from veilgym.envs.core.dataset.manifest import read_manifest
    from veilgym.wrappers.model_dataset import render_dataset

    arguments: dict[str, Any] = {} if base_url is None else {"base_url": base_url}
    with progress_bar(model, read_manifest(folder).count) as bar:

        def show(progress: Progress) -> None:
            done = progress.rendered + progress.rejected
            bar.update(bar.task_ids[0], completed=done, description=f"{model} {_spent(progress)}")

        def note(text: str) -> None:
            typer.echo(f"note: {text}", err=True)

        report = render_dataset(
            folder, model, settings, force=force, again=again, progress=show, note=note, **arguments
        )
    _tell(folder, model, report)


def _tell(folder: Path, model: str, report: Report) -> None:
    progress = report.progress
    typer.echo(f"{model}: {progress.rendered} faithful, {progress.rejected} rejected; {_spent(progress)}")
    for code, rows in report.codes.items():
        typer.echo(f"  {rows:>6} {code}")
    if not report.is_finished:
        error = next(iter(report.errors.values()), "")
        left = progress.total - progress.rendered - progress.rejected
        typer.echo(f"veilgym: {left} problems are not finished ({error}); the same command goes on with them", err=True)
        raise typer.Exit(1)


def _spent(progress: Progress) -> str:
    spent = progress.spent
    cost = f", {spent.cost:.2f} dollars" if spent.cost else ""
    return f"{spent.tokens_read:,} + {spent.tokens_written:,} tokens{cost}"
