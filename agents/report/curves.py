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
        title: Id and length, "" if the file does not tell.
        steps: K ascending numbers of steps.
        scores: K mean scores.
        intervals: K intervals, or none at all.
        levels: Scores to compare with by name, the floor's and the ideal observer's.
    """

    name: str
    title: str
    steps: tuple[float, ...]
    scores: tuple[float, ...]
    intervals: tuple[Interval, ...]
    levels: tuple[tuple[str, float], ...]


def read_curves(folder: str | Path) -> list[LearningCurve]:
    """The learning curves in the JSON files of a folder and of those in it, in the order of their paths.

    Read is what `veilgym train` writes: an object with "points", each with "steps", "score" and "interval", and with
    "recipe", "seed" and "references". Curves of others may have lists instead: "steps", "score" (numbers, or lists of
    numbers whose means are taken) and "interval" (pairs), and of "name", "id", "algo", "seed", "length", "floor" and
    "ideal" what they know. Other files are passed over.

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
    document = _in_columns(document)
    steps, scores = _numbers(document.get("steps")), _numbers(document.get("score"))
    if not steps or len(steps) != len(scores) or sorted(set(steps)) != steps:
        return None
    about = [str(document[key]) for key in ("id", "length") if document.get(key) is not None]
    levels = [(name, document.get(name)) for name in ("floor", "ideal")]
    return LearningCurve(
        name=str(document.get("name") or _name_of(document, path, root)),
        title=" ".join(about),
        steps=tuple(steps),
        scores=tuple(scores),
        intervals=_intervals(document.get("interval"), len(steps)),
        levels=tuple((name, float(value)) for name, value in levels if isinstance(value, (int, float))),
    )


def _in_columns(document: dict[str, Any]) -> dict[str, Any]:
    """What `veilgym train` has written, with lists instead of points; anything else as it is."""
    points = document.get("points")
    if not isinstance(points, list) or not all(isinstance(point, dict) for point in points):
        return document
    recipe, references = (document.get(key) for key in ("recipe", "references"))
    recipe, references = (part if isinstance(part, dict) else {} for part in (recipe, references))
    arguments = recipe.get("arguments")
    return {
        **{key: [point.get(key) for point in points] for key in ("steps", "score", "interval")},
        **{key: references.get(key) for key in ("floor", "ideal")},
        "id": recipe.get("env_id"),
        "length": arguments.get("length") if isinstance(arguments, dict) else None,
        "algo": recipe.get("algo"),
        "seed": document.get("seed"),
    }


def _name_of(document: dict[str, Any], path: Path, root: Path) -> str:
    """The algorithm, the seed and the place in the folder, as far as there are any."""
    place = path.parent if path.stem == "curve" else path.with_suffix("")
    folder = (place.relative_to(root) if place != root else Path(place.resolve().name)).as_posix()
    algorithm, seed = document.get("algo"), document.get("seed")
    name = f"{algorithm} ({folder})" if algorithm else folder
    return name if seed is None else f"{name}, seed {seed}"


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
