"""The `veilgym` command: a thin shell over `veilgym.agents`."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from veilgym import __version__
from veilgym.agents.picture import check_picture, draw_ladders, has_matplotlib
from veilgym.registry import ENTRIES, entry_of

if TYPE_CHECKING:
    from veilgym.agents.bench import Bench, Interval

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Environments whose mechanism is hidden and whose score is exact.",
)

Ids = Annotated[list[str] | None, typer.Argument(help="Ids to evaluate; all registered ids if none is given.")]
Episodes = Annotated[int, typer.Option(min=1, help="Instances per id; every agent plays the same ones.")]
Width = Annotated[int, typer.Option(min=1, help="Episodes played side by side; does not change a score.")]
Seed = Annotated[int, typer.Option(min=0, help="Names the set of instances.")]
Split = Annotated[str, typer.Option(help="Which draws to use: train or test.")]
Length = Annotated[
    str | None, typer.Option(help="Length of the instances, for ids that have one: short, medium, long or a number.")
]
TaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task; for one id.")]
Out = Annotated[Path, typer.Option(help="Where the results go, as JSON; an existing file is replaced.")]
Picture = Annotated[
    Path | None,
    typer.Option(help="Where the ladder is drawn; beside the results if the extra veilgym\\[plot] is installed."),
]
LedgerEpisodes = Annotated[int, typer.Option(min=1, help="Test instances a setting.")]
Training = Annotated[int, typer.Option(min=1, help="Instances a setting on which the classifiers are trained.")]
LedgerFolder = Annotated[Path, typer.Option(help="Folder for ID.json and ID.md; existing files are replaced.")]
Circuits = Annotated[int, typer.Option(min=2, max=100_000, help="Circuits drawn from the prior.")]
BoundTaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task.")]
BoundEpisodes = Annotated[int, typer.Option(min=1, help="Instances on which the best fixed design is measured.")]


def main() -> None:
    """Run the command line; the entry point of the package."""
    app()


@app.command()
def bench(
    ids: Ids = None,
    episodes: Episodes = 1000,
    num_envs: Width = 256,
    seed: Seed = 0,
    split: Split = "test",
    length: Length = None,
    task: TaskFile = None,
    out: Out = Path("results.json"),
    picture: Picture = None,
) -> None:
    """Evaluate the ladder of agents, from chance to the ideal observer, and print it as a table."""
    with _plain_errors():
        names = list(dict.fromkeys(entry_of(name).id for name in ids or [entry.id for entry in ENTRIES]))
        if length is not None and not all(entry_of(name).has_length for name in names):
            allowed = ", ".join(entry.id for entry in ENTRIES if entry.has_length)
            raise ValueError(f"--length needs ids that have one ({allowed}), got {', '.join(names)}")
        if task is not None and len(names) != 1:
            raise ValueError(f"--task needs exactly one id, got {len(names)}")
        _check_writable(out)
        picture = _picture_path(picture, out)
        from veilgym.envs.core.arguments import read_task_file

        given = {"task": None if task is None else read_task_file(task), "length": _read_length(length)}
        arguments = {name: value for name, value in given.items() if value is not None}
        results = [_run_bench(name, episodes, num_envs, seed, split, arguments) for name in names]
        _write_json(out, {"veilgym": __version__, "benches": [result.to_json() for result in results]})
        for result in results:
            Console().print(_table(result))
            _report_truncation(result)
        typer.echo(f"results: {out}")
        if picture is not None:
            draw_ladders(results, picture)
            typer.echo(f"picture: {picture}")


@app.command()
def bound(task: BoundTaskFile = None, circuits: Circuits = 256, episodes: BoundEpisodes = 1000, seed: Seed = 0) -> None:
    """Recompute the best fixed design for circuits, and how much any agent could add to it by choosing experiments."""
    with _plain_errors():
        from veilgym.agents.causal_circuits.bound import design_bound
        from veilgym.agents.causal_circuits.ladder import FixedDesign
        from veilgym.agents.causal_circuits.prediction import Predictor
        from veilgym.agents.evaluation import evaluate
        from veilgym.agents.statistics import mean_interval
        from veilgym.envs.causal_circuits.task import load_task

        loaded = load_task(task)
        with _progress("circuits", circuits) as progress:
            found = design_bound(loaded, circuits, lambda done: progress.advance(progress.task_ids[0], done))
        agent = FixedDesign(loaded, Predictor(loaded), np.array(found.best_fixed))
        with _progress(agent.name, episodes) as progress:

            def advance(ended: int) -> None:
                progress.advance(progress.task_ids[0], ended)

            scores = evaluate(agent, "CausalCircuits-v0", episodes, seed=seed, task=loaded, progress=advance).scores
    experiments = zip(loaded.experiments, found.best_fixed, strict=True)
    design = ", ".join(f"{experiment.id} x{runs}" for experiment, runs in experiments if runs)
    typer.echo(f"designs compared        {found.designs}")
    typer.echo(f"best fixed design       {design or 'no experiment'}")
    typer.echo(f"  its expected score    {found.fixed_score:.4f} by the formula")
    typer.echo(
        f"  its measured score    {scores.mean():.4f} (95 %: {_interval(mean_interval(scores))}), posterior mean"
    )
    typer.echo(
        f"knowing the circuit     adds {found.gain:.4f} (standard error {found.standard_error:.4f}), by the formula"
    )
    typer.echo(f"bound, to first order   {scores.mean() + found.gain:.4f}")


@app.command()
def ledger(
    ids: Ids = None,
    episodes: LedgerEpisodes = 5000,
    training: Training = 20_000,
    seed: Seed = 0,
    out: LedgerFolder = Path(),
) -> None:
    """Measure what shallow strategies score beside the ideal observer, and write it as a table (takes minutes)."""
    with _plain_errors():
        from veilgym.agents.ledger import load_ledger

        entries = [entry_of(name) for name in ids] if ids else [entry for entry in ENTRIES if entry.ledger]
        measures = [(entry.id, load_ledger(entry)) for entry in dict.fromkeys(entries)]
        for name, _ in measures:
            _check_writable(out / f"{name}.json")
            _check_writable(out / f"{name}.md")
        for name, measure in measures:
            with _progress(name, None) as progress:

                def report(what: str, progress: Progress = progress) -> None:
                    progress.update(progress.task_ids[0], description=what)

                found = measure(episodes, training, seed, report)
            _write_json(out / f"{name}.json", found.to_json())
            _write_text(out / f"{name}.md", found.to_markdown())
            typer.echo(f"ledger: {out / f'{name}.md'}")
            for line in found.lines:
                if not line.is_kept and line.gate is not None:
                    gate = f"{line.gate[0]} {line.gate[1]:g}"
                    typer.echo(f"gate: {line.strategy} ({line.setting}) scores {line.score:.3f}, allowed is {gate}")


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


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """A user's mistake gets one sentence and exit status 2, never a traceback."""
    try:
        yield
    except (ValueError, OSError) as error:
        typer.echo(f"veilgym: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("veilgym: interrupted", err=True)
        raise typer.Exit(130) from None


def _progress(description: str, total: int | None) -> Progress:
    console = Console(stderr=True)
    if not console.is_terminal:
        typer.echo(f"{description} (the first use compiles for about half a minute)", err=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    progress.add_task(description, total=total)
    return progress


def _read_length(length: str | None) -> str | int | None:
    """A number where it is one; what is allowed is for the task to say."""
    return int(length) if length is not None and length.isdecimal() else length


def _run_bench(name: str, episodes: int, num_envs: int, seed: int, split: str, arguments: dict[str, Any]) -> Bench:
    with _progress("preparing", None) as progress:
        from veilgym.agents.bench import bench as run

        def report(total: int, agent: str, ended: int) -> None:
            progress.update(progress.task_ids[0], total=total, description=agent, advance=ended)

        return run(name, episodes, num_envs, seed, split, report, **arguments)


def _table(result: Bench) -> Table:
    task, length = result.arguments.get("task"), result.arguments.get("length")
    what = (
        result.env_id
        + (f" {length}" if length else "")
        + (f" with task {task.get('task_id', 'from a file')!r}" if task else "")
    )
    title = f"{what}: {result.episodes} instances of the {result.split} split, seed {result.seed}"
    table = Table(title=title, title_style="bold", box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    table.add_column("\nagent", no_wrap=True)
    # Ids without experiments have nothing to lose by choosing them.
    has_experiments = any(line.regret.experiments is not None for line in result.standings)
    losses = ("exper-\niments", "lost by\nchoice", "lost by\ninfer.") if has_experiments else ("below\nideal",)
    for heading in ("\nscore", "95 %\ninterval", "\nnorm.", *losses, "episodes\n/ s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in result.standings:
        lost = (f"{line.experiments:.1f}", _number(line.regret.experiments), _number(line.regret.inference))
        table.add_row(
            line.agent,
            f"{line.score:.4f}",
            _interval(line.interval),
            _number(line.normalised),
            *(lost if has_experiments else (_number(line.regret.total),)),
            f"{line.episodes_per_second:,.0f}",
        )
    return table


def _report_truncation(result: Bench) -> None:
    for line in result.standings:
        if line.truncated:
            typer.echo(f"note: {line.agent} ran into the step limit in {line.truncated} of {result.episodes} episodes")


def _interval(interval: Interval) -> str:
    return "-" if interval is None else f"{interval[0]:.3f}-{interval[1]:.3f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".replace("-0.000", "0.000")


def _check_writable(path: Path) -> None:
    """Refuse before the work, not after it."""
    folder = path.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or (path.exists() and not path.is_file()):
        raise ValueError(f"cannot write {str(path)!r}; allowed is a file in an existing folder that may be written to")


def _write_json(path: Path, document: object) -> None:
    """Write the whole file or nothing."""
    _write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def _write_text(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(path.resolve())


def _picture_path(picture: Path | None, out: Path) -> Path | None:
    """Where the picture goes: as asked, beside the results where nothing was asked, nowhere without matplotlib."""
    if picture is None:
        if not has_matplotlib():
            return None
        picture = out.with_suffix(".png")
    check_picture(picture)
    _check_writable(picture)
    if picture == out:
        raise ValueError(f"results and picture cannot both go to {str(out)!r}; allowed are two different files")
    return picture


if __name__ == "__main__":
    main()
