"""`veilgym bench`: the ladder of agents as a table."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import veilgym
from veilgym.agents.picture import check_picture, draw_ladders, has_matplotlib
from veilgym.commands.ladder_table import print_bench
from veilgym.commands.options import Address, EngineName, Length, Seed, Split, read_length
from veilgym.commands.terminal import check_writable, plain_errors, progress_bar, write_text
from veilgym.registry import ENTRIES, entry_of

if TYPE_CHECKING:
    from veilgym.agents.engines import Engine
    from veilgym.agents.results import Bench

Ids = Annotated[list[str] | None, typer.Argument(help="Ids to evaluate; all registered ids if none is given.")]
Episodes = Annotated[int, typer.Option(min=1, help="Instances per id; every agent plays the same ones.")]
Width = Annotated[int, typer.Option(min=1, help="Episodes played side by side; does not change a score.")]
TaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task; for one id.")]
Out = Annotated[
    Path, typer.Option(help="Where the results go, as JSON; an existing file is replaced by whole results.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes of a Ray that is started on this machine.")]
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
    engine: EngineName = "local",
    workers: Workers = None,
    address: Address = None,
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
        from veilgym.agents.engines import engine_of
        from veilgym.envs.core.cluster import connect

        trained = _load_trained(agents or [], names, arguments)
        played_by = engine_of(engine, workers, address)
        settings = (episodes, num_envs, seed, split, played_by, arguments)
        results: list[Bench] = []
        with _compiling_ahead(names[1:]) if engine == "local" else connect(workers, address):
            try:
                for name in names:
                    results.append(_run_bench(name, *settings, trained[name]))
            except KeyboardInterrupt:
                if not results:
                    raise
        from veilgym.agents.results import Results

        if len(results) < len(names):
            out, picture = _beside(out), None if picture is None else _beside(picture)
        write_text(out, Results(tuple(results)).to_json())
        if picture is not None:
            draw_ladders(results, picture)
        for result in results:
            print_bench(result)
        typer.echo(f"results: {out}")
        if picture is not None:
            typer.echo(f"picture: {picture}")
        if len(results) < len(names):
            typer.echo(f"veilgym: interrupted; not in the results: {', '.join(names[len(results) :])}", err=True)
            raise typer.Exit(130)


def _beside(path: Path) -> Path:
    """Where a part of the results goes: an earlier file, which may be whole, stays."""
    return path.with_stem(f"{path.stem}-partial") if path.exists() else path


def _load_trained(folders: list[Path], names: list[str], arguments: dict[str, Any]) -> dict[str, list[Any]]:
    """The trained agents of each id."""
    if not folders:
        return {name: [] for name in names}
    from veilgym.agents.training.trained import load_agents

    return load_agents(folders, names, arguments)


@contextlib.contextmanager
def _compiling_ahead(names: list[str]) -> Iterator[None]:
    """On a second core, play an instance of the ids that come later, so that their kernels are compiled by then.

    It is for the first run; later ones find the kernels compiled, and the other process ends after some seconds.
    """
    if not names or (os.cpu_count() or 1) < 2:
        yield
        return
    code = "import sys\nfrom veilgym.agents.bench import bench\nfor name in sys.argv[1:]: bench(name, episodes=1)"
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", code, *names], **silent) as process:  # type: ignore[call-overload]
        try:
            yield
        finally:
            process.kill()


def _is_compiled(name: str) -> bool:
    """Whether numba has kernels of the family beside their sources; it may have them elsewhere."""
    family = entry_of(name).family.replace("-", "_")
    return any(Path(veilgym.__file__).parent.glob(f"*/{family}/__pycache__/*.nbi"))


def _run_bench(
    name: str,
    episodes: int,
    num_envs: int,
    seed: int,
    split: str,
    engine: Engine,
    arguments: dict[str, Any],
    trained: list[Any],
) -> Bench:
    first = "" if _is_compiled(name) else " (the first use compiles for about half a minute)"
    with progress_bar(f"playing {name}{first}", None) as progress:
        from veilgym.agents.bench import bench as run

        def report(total: int, agent: str, ended: int) -> None:
            progress.update(progress.task_ids[0], total=total, description=agent, advance=ended)

        from veilgym.agents.ladder import load_ladder

        agents = (*load_ladder(name, **arguments).agents, *trained) if trained else None
        return run(name, episodes, num_envs, seed, split, report, agents, engine=engine, **arguments)


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
