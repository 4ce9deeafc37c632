"""The ladder of agents as a picture."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veilgym.agents.results import Bench

_SCORE, _INFERENCE, _EXPERIMENTS, _INK, _FAINT = "#31688e", "#e5a50a", "#d0d3d8", "#22262b", "#8a9099"


FORMATS = (".png", ".pdf", ".svg")


def has_matplotlib() -> bool:
    """Whether the extra veilgym[plot] is installed."""
    try:
        return find_spec("matplotlib") is not None
    except ValueError:  # something else in its place
        return False


def check_picture(path: Path) -> None:
    """Raise a `ValueError` if `draw_ladders` could not write to `path`: another suffix, or no matplotlib."""
    if path.suffix not in FORMATS:
        raise ValueError(f"a picture's name must end in one of {', '.join(FORMATS)}, got {str(path)!r}")
    if not has_matplotlib():
        raise ValueError(
            "the picture needs matplotlib, which the extra veilgym[plot] installs: pip install 'veilgym[plot]'"
        )


def draw_ladders(results: list[Bench], path: Path) -> None:
    """Draw a panel per id: each agent's score and interval, and what it lost by inference and by choice of experiments.

    Args:
        results: At least one.
        path: File to write; the suffix names the format (png, svg, pdf).

    Raises:
        ValueError: see `check_picture`.
    """
    check_picture(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [len(result.standings) for result in results]
    figure = Figure(figsize=(9.0, sum(0.52 * n + 1.5 for n in rows)), dpi=150, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(results), 1, squeeze=False, height_ratios=rows)[:, 0]
    for panel, result in zip(panels, results, strict=True):
        _draw_ladder(panel, result)
    figure.savefig(path)


def _draw_ladder(panel: Any, result: Bench) -> None:
    for y, line in enumerate(result.standings):
        inference, experiments = line.regret.inference or 0.0, line.regret.experiments or 0.0
        panel.barh(y, line.score, height=0.62, color=_SCORE, label="score" if y == 0 else None)
        left = line.score
        for width, colour, label in (
            (inference, _INFERENCE, "lost by inference"),
            (experiments, _EXPERIMENTS, "lost by choice of experiments"),
        ):
            panel.barh(y, max(width, 0.0), left=left, height=0.62, color=colour, label=label if y == 0 else None)
            left += max(width, 0.0)
        if line.interval is not None:
            error = [[line.score - line.interval[0]], [line.interval[1] - line.score]]
            panel.errorbar(line.score, y, xerr=error, color=_INK, capsize=3, linewidth=1.2)
        right = left if line.interval is None else max(left, line.interval[1])
        panel.annotate(f"{line.score:.3f}", (right, y), (8, 0), textcoords="offset points", va="center", color=_INK)
    _dress(panel, result)


def _dress(panel: Any, result: Bench) -> None:
    panel.set_yticks(range(len(result.standings)), [line.agent for line in result.standings], color=_INK)
    panel.set_ylim(-0.6, len(result.standings) - 0.4)
    panel.set_xlim(0.0, 1.0)
    panel.tick_params(length=0, colors=_INK)
    panel.grid(axis="x", color="#eceef0")
    panel.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        panel.spines[side].set_visible(False)
    panel.set_title(result.title, loc="left", color=_INK, fontsize=13, fontweight="bold")
    caption = f"mean score over {result.episodes} instances of the {result.split} split; whiskers: 95 % interval"
    panel.set_xlabel(caption, color=_FAINT, fontsize=9)
    if any(line.regret.experiments is not None for line in result.standings):
        panel.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=3,
            frameon=False,
            fontsize=9,
            labelcolor=_INK,
            borderaxespad=0.0,
        )
