"""`veilgym bound`: how much choosing experiments could still gain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from veilgym.commands.ladder_table import interval_text
from veilgym.commands.options import Seed
from veilgym.commands.terminal import plain_errors, progress_bar

Circuits = Annotated[int, typer.Option(min=2, max=100_000, help="Circuits drawn from the prior.")]
TaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task.")]
Episodes = Annotated[int, typer.Option(min=1, help="Instances on which the best fixed design is measured.")]


def bound(task: TaskFile = None, circuits: Circuits = 256, episodes: Episodes = 1000, seed: Seed = 0) -> None:
    """Recompute the best fixed design for circuits, and how much any agent could add to it by choosing experiments."""
    with plain_errors():
        from veilgym.agents.causal_circuits.bound import design_bound
        from veilgym.agents.causal_circuits.ladder import FixedDesign
        from veilgym.agents.causal_circuits.prediction import Predictor
        from veilgym.agents.evaluation import evaluate
        from veilgym.agents.statistics import mean_interval
        from veilgym.envs.causal_circuits.task import load_task

        loaded = load_task(task)
        with progress_bar("drawing circuits", circuits) as progress:
            found = design_bound(loaded, circuits, lambda done: progress.advance(progress.task_ids[0], done))
        agent = FixedDesign(loaded, Predictor(loaded), np.array(found.best_fixed))
        with progress_bar(f"playing {agent.name}", episodes) as progress:

            def advance(ended: int) -> None:
                progress.advance(progress.task_ids[0], ended)

            scores = evaluate(agent, "CausalCircuits-v0", episodes, seed=seed, task=loaded, progress=advance).scores
    experiments = zip(loaded.experiments, found.best_fixed, strict=True)
    design = ", ".join(f"{experiment.id} x{runs}" for experiment, runs in experiments if runs)
    typer.echo(f"designs compared        {found.designs}")
    typer.echo(f"best fixed design       {design or 'no experiment'}")
    typer.echo(f"  its expected score    {found.fixed_score:.4f} by the formula")
    typer.echo(
        f"  its measured score    {scores.mean():.4f} (95 %: {interval_text(mean_interval(scores))}), posterior mean"
    )
    typer.echo(
        f"knowing the circuit     adds {found.gain:.4f} (standard error {found.standard_error:.4f}), by the formula"
    )
    typer.echo(f"bound, to first order   {scores.mean() + found.gain:.4f}")
