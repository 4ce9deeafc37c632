"""Learning curves: how an agent's score has grown in training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from veilgym.agents.statistics import Interval


@dataclass(frozen=True)
class LearningCurve:
    """The scores of one training run.

    Attributes:
        name: What the legend calls it.
        env_id: Id, "" if the file does not tell.
        steps: K ascending numbers of steps.
        scores: K mean scores.
        intervals: K intervals, or none at all.
        levels: Scores to compare with by name, the floor's and the ideal observer's.
    """

    name: str
    env_id: str
    steps: tuple[float, ...]
    scores: tuple[float, ...]
    intervals: tuple[Interval, ...]
    levels: tuple[tuple[str, float], ...]


def read_curves(folder: str | Path) -> list[LearningCurve]:
    """The learning curves in the JSON files of a folder and of those in it, in the order of their paths.

    A curve is an object with a list "steps" and a list "score" (or "scores", "mean") of the same length, numbers or
    lists of numbers, whose means are then taken. It may have "interval" (pairs), "name", "id" (or "env_id"), "seed",
    "algo", "floor" and "ideal". Other files are passed over.

    Raises:
        ValueError: there is no such folder, or no curve in it.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"training {str(folder)!r} is no folder; allowed is one that `veilgym train` has written")
    found = [_read_curve(path, root) for path in sorted(root.rglob("*.json"))]
    curves = [curve for curve in found if curve is not None]
    if not curves:
        raise ValueError(f"training {str(folder)!r} has no learning curve; allowed are JSON files with steps and score")
    return curves


def _read_curve(path: Path, root: Path) -> LearningCurve | None:
    try:
        document = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, RecursionError, OSError):
        return None
    if not isinstance(document, dict):
        return None
    steps, scores = _numbers(document.get("steps")), _numbers(_first(document, "score", "scores", "mean"))
    if not steps or len(steps) != len(scores) or sorted(set(steps)) != steps:
        return None
    parts = [str(document[key]) for key in ("algo", "algorithm") if key in document]
    parts += [f"seed {document['seed']}"] if "seed" in document else []
    levels = [(name, document.get(name)) for name in ("floor", "ideal")]
    return LearningCurve(
        name=str(document.get("name") or ", ".join(parts) or path.relative_to(root).with_suffix("").as_posix()),
        env_id=str(_first(document, "id", "env_id") or ""),
        steps=tuple(steps),
        scores=tuple(scores),
        intervals=_intervals(_first(document, "interval", "intervals"), len(steps)),
        levels=tuple((name, float(value)) for name, value in levels if isinstance(value, (int, float))),
    )


def _first(document: dict[str, Any], *keys: str) -> Any:
    return next((document[key] for key in keys if key in document), None)


def _numbers(values: Any) -> list[float]:
    """The numbers in a list, and the means of the lists in it; nothing if anything else is in it."""
    if not isinstance(values, list):
        return []
    try:
        means = [float(np.mean(np.asarray(value, np.float64))) for value in values if value != []]
    except (TypeError, ValueError):
        return []
    return means if len(means) == len(values) and all(map(np.isfinite, means)) else []


def _intervals(values: Any, count: int) -> tuple[Interval, ...]:
    try:
        pairs = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        return ()
    if pairs.shape != (count, 2) or not np.isfinite(pairs).all():
        return ()
    return tuple((float(low), float(high)) for low, high in pairs)
