"""`veilgym train`: a model that learns an id."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from veilgym.agents.picture import has_matplotlib
from veilgym.commands.options import Length, Seed, read_length
from veilgym.commands.terminal import plain_errors, progress_bar
from veilgym.registry import entry_of

Id = Annotated[str, typer.Argument(help="The id to train on.")]
Algo = Annotated[str, typer.Option(help="ppo, dqn, maskable-ppo, recurrent-ppo or sac.")]
Steps = Annotated[int, typer.Option(min=1, help="Environment steps in all, rounded up to whole rollouts.")]
Out = Annotated[Path, typer.Option(help="Folder of the run: model, checkpoints, learning curve, TensorBoard log.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")]
Learn = Annotated[
    str | None,
    typer.Option(help="For circuits: experiments (an estimator submits; the default but for sac) or everything."),
]
Policy = Annotated[str, typer.Option(help="encoder: a network made for the id; mlp: a plain one on flat observations.")]
Estimator = Annotated[str, typer.Option(help="Who submits where experiments are learned: mode, mean or best.")]
NumEnvs = Annotated[int | None, typer.Option(min=1, help="Episodes side by side; the recipe's number if not given.")]
Rate = Annotated[float | None, typer.Option(min=0.0, help="Learning rate; the recipe's if not given.")]
Evaluations = Annotated[int, typer.Option(min=1, help="How often the model is evaluated and kept on the way.")]
Episodes = Annotated[int, typer.Option(min=1, help="Instances of the test split in an evaluation.")]
WithLadder = Annotated[bool, typer.Option(help="Measure the floor and the ideal observer on the same instances.")]
TaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task.")]


def train(
    env_id: Id,
    algo: Algo = "ppo",
    steps: Steps = 1_000_000,
    seed: Seed = 0,
    out: Out = Path("run"),
    resume: Resume = False,
    learn: Learn = None,
    policy: Policy = "encoder",
    estimator: Estimator = "mode",
    num_envs: NumEnvs = None,
    learning_rate: Rate = None,
    evaluations: Evaluations = 20,
    episodes: Episodes = 500,
    ladder: WithLadder = True,
    length: Length = None,
    task: TaskFile = None,
) -> None:
    """Train a model with stable-baselines3; it can join the ladder with `veilgym bench --agents`."""
    is_ours = False  # a run that another command has left in the folder does not go on with this one

    def kept() -> str:
        return f"the run in {str(out)!r} goes on with --resume" if is_ours and _has_run(out) else ""

    with plain_errors(kept):
        arguments = _arguments(env_id, length, task)
        _require("stable_baselines3", "sb3_contrib")
        is_ours = resume or not _has_run(out)
        from veilgym.agents.training.recipe import Recipe

        recipe = Recipe(env_id, algo, learn, policy, estimator, arguments)
        given = {"num_envs": num_envs, "learning_rate": learning_rate}
        settings = {name: value for name, value in given.items() if value is not None}
        _report(_run(recipe, steps, seed, evaluations, episodes, settings, ladder, out, resume), out)


def _has_run(out: Path) -> bool:
    from veilgym.agents.training.trained import SETTINGS

    return (out / SETTINGS).exists()


def _arguments(env_id: str, length: str | None, task: Path | None) -> dict[str, Any]:
    """What the env is given."""
    if length is not None and not entry_of(env_id).has_length:
        raise ValueError(f"--length needs an id that has one, got {env_id}")
    from veilgym.envs.core.arguments import read_task_file

    given = {"task": None if task is None else read_task_file(task), "length": read_length(length)}
    return {name: value for name, value in given.items() if value is not None}


def _require(*modules: str) -> None:
    from importlib.util import find_spec

    for module in modules:
        if find_spec(module) is None:
            raise ValueError(
                f"training needs {module}, which the extra veilgym[train] installs: pip install 'veilgym[train]'"
            )


def _run(
    recipe: Any,
    steps: int,
    seed: int,
    evaluations: int,
    episodes: int,
    settings: dict[str, Any],
    with_ladder: bool,
    out: Path,
    resume: bool,
) -> Any:
    with progress_bar(f"training {recipe.algo}", steps) as progress:
        from veilgym.agents.training.training import Plan
        from veilgym.agents.training.training import train as run

        def report(made: int) -> None:
            progress.update(progress.task_ids[0], advance=made)

        plan = Plan(steps, seed, evaluations, episodes, settings, with_ladder)
        return run(recipe, plan, out, resume, report)


def _report(curve: Any, out: Path) -> None:
    from veilgym.agents.training.curve import CURVE, PICTURE, draw_curves, title_of
    from veilgym.agents.training.trained import MODEL

    last = curve.points[-1]
    low, high = last.interval or (last.score, last.score)
    typer.echo(
        f"{curve.recipe['env_id']}: mean score {last.score:.4f} ({low:.3f} to {high:.3f}) on {curve.episodes} test "
        f"instances after {last.steps:,} steps, {last.seconds:.0f} s ({last.process_seconds:.0f} s of CPU time)"
    )
    typer.echo(f"model: {out / MODEL}\nlearning curve: {out / CURVE}")
    if has_matplotlib():
        draw_curves({curve.recipe["algo"]: curve}, out / PICTURE, title_of(curve))
        typer.echo(f"picture: {out / PICTURE}")
