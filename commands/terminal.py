"""What commands share: errors as one sentence, progress, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextlib.contextmanager
def plain_errors(kept: Callable[[], str] = str) -> Iterator[None]:
    """A user's mistake gets one sentence and exit status 2, never a traceback.

    Args:
        kept: Called where the person interrupts; says what is kept of the work, if anything.
    """
    try:
        yield
    except BrokenPipeError:  # whoever read our output has read enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - or Python would complain of the pipe once more at its end
        raise typer.Exit(1) from None
    except (ValueError, OSError) as error:
        typer.echo(f"veilgym: {_sentence(error)}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("; ".join(filter(None, ["veilgym: interrupted", kept()])), err=True)
        raise typer.Exit(130) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{str(error.filename)!r}: {error.strerror}"
    return str(error)


def progress_bar(description: str, total: int | None) -> Progress:
    """A bar with one task, on standard error; where that is no terminal, a line instead."""
    console = Console(stderr=True)
    if not console.is_terminal:
        typer.echo(description, err=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    progress.add_task(description, total=total)
    return progress


def check_writable(path: Path) -> None:
    """Refuse before the work, not after it."""
    folder = path.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or (path.exists() and not path.is_file()):
        raise ValueError(f"cannot write {str(path)!r}; allowed is a file in an existing folder that may be written to")


def write_json(path: Path, document: object) -> None:
    """Write the whole file or nothing."""
    write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write the whole file or nothing, UTF-8 with plain newlines."""
    partial = path.with_name(path.name + ".part")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path.resolve())
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
