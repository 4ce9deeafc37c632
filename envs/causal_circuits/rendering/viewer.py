"""What a person sees of an episode: a table, or a picture.

Both are made from a `View`, which holds hidden values only once a submission has been accepted.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.episodes import RUNNING, TERMINATED, Episodes
from veilgym.envs.causal_circuits.equations import Equation
from veilgym.envs.causal_circuits.evaluator import score
from veilgym.envs.causal_circuits.payload import Payload, decode, observe
from veilgym.envs.causal_circuits.task import Query, Task
from veilgym.envs.core.rendering import printable, require_matplotlib

_COLUMNS = 80
_INDENT = "  "


def render_episode(episodes: Episodes, episode: int, render_mode: str) -> str | NDArray[np.uint8]:
    """Show one episode of a batch.

    Returns:
        "ansi": ASCII text without colour codes, 80 columns where the names allow it. "rgb_array": (720, 1280, 3) uint8.

    Raises:
        DependencyNotInstalled: a picture is asked for and matplotlib is missing.
    """
    view = view_episode(episodes, episode)
    if render_mode == "ansi":
        return write_table(view)
    require_matplotlib()
    from veilgym.envs.causal_circuits.rendering.drawing import draw_picture

    return draw_picture(view)


@dataclass(frozen=True)
class Outcome:
    """What may be shown after an accepted submission.

    Attributes:
        prediction, target: (Q, O) float64.
        score: In [0, 1].
    """

    prediction: NDArray[np.float64]
    target: NDArray[np.float64]
    score: float


@dataclass(frozen=True)
class View:
    """All that a rendering may show.

    Attributes:
        task: The public task.
        payload: The public record.
        is_running: Whether a submission is still possible.
        last: The row measured last, `NO_ROW` if unknown.
        outcome: None unless a submission was accepted.
    """

    task: Task
    payload: Payload
    is_running: bool
    last: int
    outcome: Outcome | None = field(repr=False)

    @property
    def status(self) -> str:
        """One word for the state of the episode."""
        if self.is_running:
            return "running"
        return "truncated" if self.outcome is None else "submitted"


def view_episode(episodes: Episodes, episode: int) -> View:
    """Take out of the engine what may be shown; the only place where the hidden half is touched."""
    observation = {key: batch[episode] for key, batch in observe(episodes.record).items()}
    phase = int(episodes.phase[episode])
    return View(
        task=episodes.task,
        payload=decode(observation, episodes.task),
        is_running=phase == RUNNING,
        last=int(episodes.last[episode]),
        outcome=_outcome(episodes, episode) if phase == TERMINATED else None,
    )


def _outcome(episodes: Episodes, episode: int) -> Outcome:
    prediction, target = episodes.submissions[episode].copy(), episodes.targets(episode)
    return Outcome(prediction, target, score(prediction, target, np.array(episodes.task.scale)))


def equation_text(equation: Equation) -> str:
    """The equation as a reader writes it, "x = tanh(bx + wu*u)"."""
    terms = [equation.bias] if equation.bias is not None else []
    terms += [f"{coefficient}*{parent}" for coefficient, parent in equation.weights]
    return f"{equation.node} = tanh({' + '.join(terms)})"


def query_text(query: Query) -> str:
    """The clamps of a query, nodes of equal value together: "u=v=-0.8, x=1"; "nothing" if there are none."""
    groups = [(value, [node for node, _ in group]) for value, group in groupby(query, key=lambda clamp: clamp[1])]
    return ", ".join(f"{'='.join(nodes)}={value:.15g}" for value, nodes in groups) or "nothing"


def score_text(score: float) -> str:
    """Four decimals, in which a positive score never looks like 0."""
    return "<0.0001" if 0 < score < 5e-5 else f"{score:.4f}"


def write_table(view: View) -> str:
    """The record as text; everything in it but the outcome of an accepted submission is public."""
    parts = [_title(view.task), _model(view.task), _state(view), _readouts(view)]
    if view.outcome is not None:
        parts.append(_comparison(view.task, view.outcome))
    return "\n\n".join(parts)


def _title(task: Task) -> str:
    return "\n".join(textwrap.wrap(printable(f"{task.title} ({task.task_id} {task.version})"), _COLUMNS))


def _model(task: Task) -> str:
    determined = {equation.node for equation in task.equations}
    roots = [node for node in task.nodes if node not in determined]
    lines = [equation_text(equation) for equation in task.equations]
    if roots:
        lines.append(f"{', '.join(roots)} = 0 unless clamped")
    lines.append("clamping a node replaces its equation")
    unknown = [
        f"{', '.join(prior.coefficient for prior in group)} ~ Uniform({low:.15g}, {high:.15g})"
        for (low, high), group in groupby(task.priors, key=lambda prior: (prior.low, prior.high))
    ]
    return "\n".join(["Circuit", *_wrapped(lines), "Unknown coefficients", *_wrapped(unknown)])


def _state(view: View) -> str:
    state = f"Credits: {view.payload.credits} of {view.task.budget} left"
    if view.is_running:
        return state
    if view.outcome is None:
        return f"{state}\nThe episode was truncated: it ended without a submission."
    return f"{state}\nScore: {score_text(view.outcome.score)}"


def _readouts(view: View) -> str:
    task = view.task
    limits = {experiment.id: experiment.max_replicates for experiment in task.experiments}
    header = ["experiment", "clamped", "run", *task.outputs]
    noise = ["", "", "", *(f"sd {std:.3g}" for std in task.noise_std)]
    rows = [header, noise]
    for readout in view.payload.readouts:
        limit = 1 if readout.experiment is None else limits[readout.experiment]
        run = f"{readout.replicate + 1}/{limit}"
        values = [_number(value, _decimals(task)) for value in readout.values]
        rows.append([readout.experiment or "(initial)", query_text(readout.query), run, *values])
    return "\n".join(["Readouts (sd: standard deviation of the noise)", *_aligned(rows, labels=3)])


def _comparison(task: Task, outcome: Outcome) -> str:
    decimals = _decimals(task)
    rows = [["clamped", "output", "predicted", "target", "error", "error/scale"]]
    for i, query in enumerate(task.prediction_queries):
        for j, output in enumerate(task.outputs):
            predicted, target = float(outcome.prediction[i, j]), float(outcome.target[i, j])
            error = predicted - target
            numbers = [_number(value, decimals) for value in (predicted, target, error)]
            rows.append(["" if j else query_text(query), output, *numbers, _number(error / task.scale[j], 2)])
    return "\n".join(["Prediction against noiseless target", *_aligned(rows, labels=2)])


def _decimals(task: Task) -> int:
    """Two significant digits of the smallest noise, between 3 and 6."""
    smallest = min((std for std in task.noise_std if std > 0), default=0.0)
    return 6 if smallest == 0 else min(6, max(3, 1 - math.floor(math.log10(smallest))))


def _number(value: float, decimals: int) -> str:
    return f"{value:+.{decimals}f}" if abs(value) < 1e6 else f"{value:+.{decimals}e}"


def _aligned(rows: Sequence[Sequence[str]], labels: int) -> list[str]:
    """Lines of a table in blocks that fit the terminal: `labels` columns flush left, the others flush right."""
    columns = [[printable(cell) for cell in column] for column in zip(*rows, strict=True)]
    cells = [_padded(column, flush_left=i < labels) for i, column in enumerate(columns)]
    margin = sum(len(column[0]) + 2 for column in cells[:labels])
    lines: list[str] = []
    for block in _blocks(cells[labels:], _COLUMNS - margin):
        lines += ["" for _ in range(bool(lines))]
        lines += [(_INDENT + _INDENT.join(line)).rstrip() for line in zip(*cells[:labels], *block, strict=True)]
    return lines


def _padded(column: Sequence[str], flush_left: bool) -> list[str]:
    width = max(map(len, column))
    return [cell.ljust(width) if flush_left else cell.rjust(width) for cell in column]


def _blocks(columns: Sequence[list[str]], room: int) -> list[list[list[str]]]:
    """Split columns into runs at most `room` characters wide, each of at least one column."""
    blocks: list[list[list[str]]] = [[]]
    used = 0
    for column in columns:
        width = len(column[0]) + 2
        if blocks[-1] and used + width > room:
            blocks.append([])
            used = 0
        blocks[-1].append(column)
        used += width
    return blocks


def _wrapped(lines: Sequence[str]) -> list[str]:
    hanging = _INDENT * 3
    return [
        part
        for line in lines
        for part in textwrap.wrap(printable(line), _COLUMNS, initial_indent=_INDENT, subsequent_indent=hanging)
    ]
