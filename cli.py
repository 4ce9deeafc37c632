"""The `veilgym` command: a thin shell; each command is a module of `veilgym.commands`."""

from __future__ import annotations

from typing import Annotated

import typer

from veilgym import __version__
from veilgym.commands.bench import bench
from veilgym.commands.bound import bound
from veilgym.commands.generate import generate
from veilgym.commands.ledger import ledger
from veilgym.commands.play import play
from veilgym.commands.render import render
from veilgym.commands.report import report
from veilgym.commands.score import score
from veilgym.commands.train import train

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Environments whose mechanism is hidden and whose score is exact.",
)

for command in (bench, bound, ledger, report, generate, render, score, play, train):
    app.command()(command)


def main() -> None:
    """Run the command line; the entry point of the package."""
    app()


def _version(show: bool) -> None:
    if show:
        typer.echo(f"veilgym {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


if __name__ == "__main__":
    main()
