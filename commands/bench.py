"""`veilgym bench`: the ladder of agents as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from veilgym import __version__
from veilgym.agents.picture import check_picture, draw_ladders, has_matplotlib
from veilgym.commands.options import Length, Seed, Split, read_length
from veilgym.commands.terminal import check_writable, plain_errors, progress_bar, write_json
from veilgym.registry import ENTRIES, entry_of

if TYPE_CHECKING:
    from veilgym.agents.bench import Bench, Interval

Ids = Annotated[list[str] | None, typer.Argument(help="Ids to evaluate; all registered ids if none is given.")]
Episodes = Annotated[int, typer.Option(min=1, help="Instances per id; every agent plays the same ones.")]
Width = Annotated[int, typer.Option(min=1, help="Episodes played side by side; does not change a score.")]
TaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task; for one id.")]
Out = Annotated[Path, typer.Option(help="Where the results go, as JSON; an existing file is replaced.")]
Picture = Annotated[
    Path | None,
    typer.Option(help="Where the ladder is drawn; beside the results if the extra veilgym\\[plot] is installed."),
]
Agents = Annotated[
    list[Path] | None,
    typer.Option(help="Folder of `veilgym train --out`, whose agent joins the ladder; may be given more than once."),
]


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
    agents: Agents = None,
) -> None:
    """Evaluate the ladder of agents, from chance to the ideal observer, and print it as a table."""
    with plain_errors():
        names = list(dict.fromkeys(entry_of(name).id for name in ids or [entry.id for entry in ENTRIES]))
        if length is not None and not all(entry_of(name).has_length for name in names):
            allowed = ", ".join(entry.id for entry in ENTRIES if entry.has_length)
            raise ValueError(f"--length needs ids that have one ({allowed}), got {', '.join(names)}")
        if task is not None and len(names) != 1:
            raise ValueError(f"--task needs exactly one id, got {len(names)}")
        check_writable(out)
        picture = _picture_path(picture, out)
        from veilgym.envs.core.arguments import read_task_file

        given = {"task": None if task is None else read_task_file(task), "length": read_length(length)}
        arguments = {name: value for name, value in given.items() if value is not None}
        extra = _load_extra(agents or [], names, arguments)
        results = [_run_bench(name, episodes, num_envs, seed, split, arguments, extra[name]) for name in names]
        write_json(out, {"veilgym": __version__, "benches": [result.to_json() for result in results]})
        for result in results:
            Console().print(_table(result))
            _report_truncation(result)
        typer.echo(f"results: {out}")
        if picture is not None:
            draw_ladders(results, picture)
            typer.echo(f"picture: {picture}")


def _load_extra(folders: list[Path], names: list[str], arguments: dict[str, Any]) -> dict[str, list[Any]]:
    """The trained agents of each id."""
    if not folders:
        return {name: [] for name in names}
    from veilgym.agents.training.trained import load_agents

    return load_agents(folders, names, arguments)


def _run_bench(
    name: str, episodes: int, num_envs: int, seed: int, split: str, arguments: dict[str, Any], extra: list[Any]
) -> Bench:
    with progress_bar("preparing", None) as progress:
        from veilgym.agents.bench import bench as run

        def report(total: int, agent: str, ended: int) -> None:
            progress.update(progress.task_ids[0], total=total, description=agent, advance=ended)

        return run(name, episodes, num_envs, seed, split, report, extra, **arguments)


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
            interval_text(line.interval),
            _number(line.normalised),
            *(lost if has_experiments else (_number(line.regret.total),)),
            f"{line.episodes_per_second:,.0f}",
        )
    return table


def _report_truncation(result: Bench) -> None:
    for line in result.standings:
        if line.truncated:
            typer.echo(f"note: {line.agent} ran into the step limit in {line.truncated} of {result.episodes} episodes")


def interval_text(interval: Interval) -> str:
    """An interval in three digits; "-" for none."""
    return "-" if interval is None else f"{interval[0]:.3f}-{interval[1]:.3f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".replace("-0.000", "0.000")


def _picture_path(picture: Path | None, out: Path) -> Path | None:
    """Where the picture goes: as asked, beside the results where nothing was asked, nowhere without matplotlib."""
    if picture is None:
        if not has_matplotlib():
            return None
        picture = out.with_suffix(".png")
    check_picture(picture)
    check_writable(picture)
    if picture == out:
        raise ValueError(f"results and picture cannot both go to {str(out)!r}; allowed are two different files")
    return picture
