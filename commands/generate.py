"""`veilgym generate`: problems as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veilgym.commands.options import Address, EngineName, Length, Seed, Split, read_length
from veilgym.commands.terminal import plain_errors, progress_bar

FamilyName = Annotated[str, typer.Argument(metavar="FAMILY", help="causal-circuits, hidden-system or dynamic-world.")]
Count = Annotated[int, typer.Option(min=1, help="Problems to make.")]
Out = Annotated[Path, typer.Option(help="Folder for the files; made if it does not exist.")]
TaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task.")]
EntityCount = Annotated[int | None, typer.Option(help="Entities of a dynamic world.")]
Steps = Annotated[int | None, typer.Option(help="Candidate steps of a dynamic world.")]
Experiments = Annotated[
    str | None,
    typer.Option(help="Ids of a circuit's experiments that have been run, with commas; an id twice for two runs."),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; does not change a byte.")]
Format = Annotated[str, typer.Option("--format", help="jsonl, or parquet, which needs the extra veilgym\\[data].")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with what a stopped run has left.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the data set in a folder that is not empty.")]


def generate(
    family: FamilyName,
    count: Count,
    out: Out,
    length: Length = None,
    seed: Seed = 0,
    split: Split = "train",
    task: TaskFile = None,
    entity_count: EntityCount = None,
    simulation_steps: Steps = None,
    experiments: Experiments = None,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    storage: Format = "jsonl",
    resume: Resume = False,
    force: Force = False,
) -> None:
    """Make a data set: complete records with their answers, their public half, and a manifest."""
    with plain_errors(lambda: _kept(out)):
        from veilgym.envs.core.arguments import read_task_file
        from veilgym.envs.core.dataset.engines import engine_of
        from veilgym.envs.core.dataset.generation import RowsFailedError
        from veilgym.envs.core.dataset.generation import generate as run
        from veilgym.envs.core.dataset.plan import make_plan

        made_by = engine_of(engine, workers, address)
        plan = make_plan(
            family,
            count,
            read_length(length),
            seed,
            split,
            storage,  # type: ignore[arg-type]
            task=None if task is None else read_task_file(task),
            entity_count=entity_count,
            simulation_steps=simulation_steps,
            experiments=None if experiments is None else [name.strip() for name in experiments.split(",")],
        )
        with progress_bar(f"making {plan.family}", count) as progress:

            def advance(rows: int) -> None:
                progress.advance(progress.task_ids[0], rows)

            def note(text: str) -> None:
                typer.echo(f"note: {text}", err=True)

            try:
                made = run(plan, out, engine=made_by, resume=resume, force=force, progress=advance, note=note)
            except RowsFailedError as error:
                note(str(error))
                raise typer.Exit(1) from None
    typer.echo(f"{made.count} problems of {made.family}, {made.split} split, seed {made.seed}")
    for name, digest in made.files.items():
        secret = ", with the answers" if name == made.skeletons else ""
        typer.echo(f"  {out / name}  {digest.bytes / 1e3:,.0f} kB{secret}")


def _kept(out: Path) -> str:
    from veilgym.envs.core.dataset import parts

    return "what is done is kept, --resume goes on" if (out / parts.FOLDER).exists() else ""
