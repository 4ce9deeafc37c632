"""The learning curve of a run: as JSON and as a picture."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from veilgym import __version__
from veilgym.agents.picture import check_picture

CURVE, PICTURE = "curve.json", "curve.png"
_COLOURS = ("#31688e", "#b5472f", "#35865a", "#7a4d9a", "#e5a50a", "#444a52")
_INK, _FAINT = "#22262b", "#8a9099"


@dataclass(frozen=True)
class Point:
    """An evaluation on the way.

    Attributes:
        steps: Environment steps so far.
        score: Mean over the test instances.
        interval: Its 95 % bootstrap interval; None for few instances.
        seconds, process_seconds: Time that training has taken, evaluations left out: wall clock, and CPU time.
    """

    steps: int
    score: float
    interval: tuple[float, float] | None
    seconds: float
    process_seconds: float


@dataclass(frozen=True)
class Curve:
    """A learning curve.

    Attributes:
        recipe: What was trained, see `veilgym.agents.training.recipe.Recipe`.
        seed: The run's.
        episodes: Test instances of each point, always the same.
        references: Mean scores on the same instances: "floor" and "ideal", the ends of the ladder, or nothing.
        points: In the order of their steps.
    """

    recipe: dict[str, Any]
    seed: int
    episodes: int
    references: dict[str, float]
    points: tuple[Point, ...]

    def plus(self, point: Point) -> Curve:
        """The curve with one more point."""
        return replace(self, points=(*self.points, point))

    def until(self, steps: int) -> Curve:
        """The curve without the points after `steps`."""
        return replace(self, points=tuple(point for point in self.points if point.steps <= steps))

    def save(self, path: Path) -> None:
        """Write the curve as JSON, the whole file or nothing."""
        partial = path.with_suffix(".part")
        partial.write_text(json.dumps({"veilgym": __version__, **asdict(self)}, indent=1) + "\n", "utf-8")
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> Curve:
        """Read what `save` has written."""
        document = json.loads(path.read_text("utf-8"))
        del document["veilgym"]
        return cls.from_json(document)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Curve:
        """A curve from a dictionary of its fields as plain Python values."""
        points = [
            Point(**{**point, "interval": None if point["interval"] is None else tuple(point["interval"])})
            for point in document["points"]
        ]
        return cls(**{**document, "points": tuple(points)})


def title_of(curve: Curve) -> str:
    """The id, and its length where it has one."""
    length = curve.recipe["arguments"].get("length")
    return f"{curve.recipe['env_id']}{f', {length}' if length else ''}"


def draw_curves(curves: dict[str, Curve], path: Path, title: str, targets: dict[str, float] | None = None) -> None:
    """Draw curves of one id in one panel, with the floor and the ideal observer of the first as lines.

    Args:
        curves: By their label; at least one.
        path: File to write; the suffix names the format (png, svg, pdf).
        title: Above the panel.
        targets: Further lines, by their label.

    Raises:
        ValueError: see `veilgym.agents.picture.check_picture`.
    """
    check_picture(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), dpi=150, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    draw_panel(panel, curves, title, targets)
    figure.savefig(path)


def draw_panel(panel: Any, curves: dict[str, Curve], title: str, targets: dict[str, float] | None = None) -> None:
    """As `draw_curves`, into a panel of matplotlib."""
    for (label, curve), colour in zip(curves.items(), _COLOURS, strict=False):
        steps, scores = [point.steps for point in curve.points], [point.score for point in curve.points]
        panel.plot(steps, scores, color=colour, linewidth=1.8, marker="o", markersize=3, label=label)
        known = [(point.steps, *point.interval) for point in curve.points if point.interval is not None]
        if known:
            at, low, high = zip(*known, strict=True)
            panel.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
    references = next(iter(curves.values())).references
    for label, value in {**references, **(targets or {})}.items():
        panel.axhline(value, color=_FAINT, linewidth=1.0, linestyle="--")
        offset = (-2, 3 if label in references else -10)
        panel.annotate(
            f"{label} {value:.3f}", (1.0, value), offset, xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", color=_FAINT, fontsize=8,
        )  # fmt: skip
    _dress(panel, next(iter(curves.values())), title)


def _dress(panel: Any, curve: Curve, title: str) -> None:
    panel.set_ylim(-0.02, 1.05)
    panel.set_xlim(left=0)
    panel.xaxis.set_major_formatter(_short_number)
    panel.grid(axis="y", color="#eceef0")
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors=_INK)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.set_title(title, loc="left", color=_INK, fontsize=11, fontweight="bold")
    panel.set_xlabel("environment steps", color=_FAINT, fontsize=9)
    caption = f"mean score, {curve.episodes} test instances"
    panel.set_ylabel(caption, color=_FAINT, fontsize=9)
    panel.legend(frameon=False, fontsize=8, labelcolor=_INK, loc="lower right", bbox_to_anchor=(1.0, 0.1))


def _short_number(value: float, _: Any) -> str:
    """1500000 as "1.5M"."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
