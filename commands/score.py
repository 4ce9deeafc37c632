"""`veilgym score`: what answers to a data set are worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from veilgym.commands.terminal import check_writable, plain_errors, progress_bar

if TYPE_CHECKING:
    from veilgym.envs.core.dataset.scoring import Scores

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A data set that veilgym generate has made, with its skeletons.")
]
Answers = Annotated[
    Path, typer.Argument(metavar="ANSWERS", help='JSON lines: {"id": ..., "answer": ...}, the answer a reply or JSON.')
]
Out = Annotated[
    Path | None,
    typer.Option(help="Where the verdicts go, as JSON; beside the answers if not given. An existing file is replaced."),
]


def score(folder: Folder, answers: Answers, out: Out = None) -> None:
    """Score a file of answers: each one, and all of them on the scale from no evidence (0) to the ideal (1)."""
    with plain_errors():
        out = answers.with_suffix(".scores.json") if out is None else out
        from veilgym.envs.core.dataset.manifest import NAME, read_manifest

        taken = [answers, *(folder / name for name in (NAME, *read_manifest(folder).files))]
        if out.resolve() in [path.resolve() for path in taken]:
            raise ValueError(f"verdicts cannot go to {str(out)!r}; allowed is another file than those that are read")
        check_writable(out)
        import msgspec

        from veilgym.envs.core.dataset.files import write
        from veilgym.envs.core.dataset.scoring import score_answers

        with progress_bar("scoring answers", None) as progress:

            def advance(lines: int) -> None:
                progress.advance(progress.task_ids[0], lines)

            scores = score_answers(folder, answers, advance)
        write(out, msgspec.json.format(msgspec.json.encode(scores), indent=1) + b"\n")
        typer.echo(f"{scores.family}: {scores.count:,} problems of the {scores.split} split")
        Console().print(_table(scores))
        typer.echo(f"verdicts: {out}")


def _table(scores: Scores) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "answers", "share", "95 % interval"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for status, rows in scores.statuses.items():
        table.add_row(status, f"{rows:,}", f"{rows / scores.count:.4f}", "")
    table.add_section()
    name = "mean score" if "scored" in scores.statuses else "accuracy"
    table.add_row(name, f"{scores.count:,}", f"{scores.score:.4f}", _interval(scores.interval))
    if scores.normalised is not None:
        scale = f"normalised: {scores.floor:g} is 0, {scores.ideal:g} is 1"
        table.add_row(scale, "", f"{scores.normalised:.4f}", _interval(scores.normalised_interval))
    return table


def _interval(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"
