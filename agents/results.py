"""Results as a file: every score of every agent on every instance, from which each table can be computed again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from veilgym import __version__
from veilgym.agents.standings import Standing, standings_of
from veilgym.envs.core.records import convert, to_json

FORMAT = 1
"""Rises when the fields of `Results` or their meaning change."""

_Count = Annotated[int, Meta(ge=0)]
_Name = Annotated[str, Meta(min_length=1)]
_Id = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
_Place = Annotated[str, Meta(pattern="^(0|[1-9][0-9]*)$")]
_Seconds = Annotated[float, Meta(gt=0.0)]


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one agent did on n instances.

    Attributes:
        agent, description: Text.
        scores: n scores.
        experiments: n numbers of accepted requests that did not end the episode.
        refused: n numbers of refused requests.
        truncated: n flags, whether an episode ran into the step limit.
        inferred: n scores of the ideal observer's final action on the data that this agent has gathered; None for ids
            without experiments.
        claimed: n probabilities that the agent has stated; None if it states none.
        observed: What `claimed` is compared with, n numbers: whether the answer was right, or for an answer that is
            itself a probability the exact one. None likewise.
        seconds: Time that acting and stepping took.
        errors: What the agent raised, by the place of the instance ("0" for the first); it scored 0 there.
    """

    agent: _Name
    description: str
    scores: tuple[float, ...]
    experiments: tuple[_Count, ...]
    refused: tuple[_Count, ...]
    truncated: tuple[bool, ...]
    inferred: tuple[float, ...] | None
    claimed: tuple[float, ...] | None
    observed: tuple[float, ...] | None
    seconds: _Seconds
    errors: dict[_Place, str] = {}

    def __post_init__(self) -> None:
        for name in ("scores", "experiments", "refused", "truncated", "inferred", "claimed", "observed"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.scores):
                raise ValueError(
                    f"{name}: got {len(values)} values, allowed are {len(self.scores)}, one for each score"
                )
            if values is not None and not all(map(math.isfinite, values)):
                raise ValueError(f"{name}: got a value that is not finite, allowed are finite numbers")
        for place in self.errors:
            if int(place) >= len(self.scores):
                raise ValueError(f"errors: got the place {place}, allowed are 0 to {len(self.scores) - 1}")
        if (self.claimed is None) != (self.observed is None):
            raise ValueError("observed: missing or to spare, allowed is one value for each of claimed")


class Bench(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The agents of an id on one set of instances.

    Attributes:
        env_id, split, seed: What was evaluated.
        arguments: Those given to the env, plain data.
        instances: n opaque ids, see `veilgym.agents.playing.instance_ids`.
        floor, ideal: Names of the agents at the ends of the normalised scale, whether they were evaluated or not; None
            where there is no such scale.
        floor_score: The floor's expected score where it is known exactly; None where it is measured.
        runs: One for each agent, those of the ladder weakest first.
    """

    env_id: _Name
    split: _Name
    seed: _Count
    arguments: dict[str, Any]
    instances: Annotated[tuple[_Id, ...], Meta(min_length=1)]
    floor: str | None
    ideal: str | None
    runs: Annotated[tuple[Run, ...], Meta(min_length=1)]
    floor_score: float | None = None

    def __repr__(self) -> str:
        return f"<Bench of {len(self.runs)} agents on {self.episodes} instances of {self.title}>"

    def __post_init__(self) -> None:
        for run in self.runs:
            if len(run.scores) != len(self.instances):
                message = f"got {len(run.scores)}, allowed are {len(self.instances)}, one for each instance"
                raise ValueError(f"runs: the scores of {run.agent!r}: {message}")
        names = [run.agent for run in self.runs]
        if len(set(names)) < len(names):
            raise ValueError(f"runs: got the agents {names!r}, allowed are different names")

    @property
    def episodes(self) -> int:
        """How many instances."""
        return len(self.instances)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """A line of the table for each run."""
        return standings_of(self)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The scores that are 0 and 1 on the normalised scale; None where they are not known."""
        low, high = (self._mean_of(name) for name in (self.floor, self.ideal))
        return (low if self.floor_score is None else self.floor_score), high

    def _mean_of(self, agent: str | None) -> float | None:
        means = [fmean(run.scores) for run in self.runs if run.agent == agent]
        return means[0] if means else None

    @property
    def title(self) -> str:
        """The id and what is special about its instances: "HiddenSystem-v0 long"."""
        task, length = self.arguments.get("task"), self.arguments.get("length")
        others = {name: value for name, value in self.arguments.items() if name not in ("task", "length")}
        about = [] if length is None else [str(length)]
        if task is not None:
            about.append(
                f"with task {task.get('task_id', 'from a file')!r}" if isinstance(task, Mapping) else str(task)
            )
        return " ".join([self.env_id, *about, *(f"{name}={value!r}" for name, value in others.items())])

    def run_of(self, agent: str) -> Run:
        """The run of an agent; a `ValueError` lists those there are."""
        for run in self.runs:
            if run.agent == agent:
                return run
        names = ", ".join(repr(run.agent) for run in self.runs)
        raise ValueError(f"agent must be one of {names} in the results of {self.title}, got {agent!r}")


class Results(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of results.

    Attributes:
        benches: One for each id and its arguments.
        veilgym: Version of the package that has measured them.
        format: `FORMAT`.
    """

    benches: Annotated[tuple[Bench, ...], Meta(min_length=1)]
    veilgym: _Name = __version__
    format: int = FORMAT

    def to_json(self) -> str:
        """The file's text: one line of canonical JSON; equal results, equal text but for the seconds."""
        return to_json(self).decode() + "\n"


def load_results(path: str | Path) -> Results:
    """Read a file of results.

    Raises:
        ValueError: it cannot be read, has another format, or is not as `Results` says; the message names the place.
    """
    try:
        document = msgspec.json.decode(Path(path).read_bytes())
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"results {str(path)!r} are not JSON: {error}") from None
    except OSError as error:
        raise ValueError(f"results {str(path)!r} cannot be read: {error.strerror}") from None
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT or isinstance(found, bool):
        allowed = f"allowed is {FORMAT}, which veilgym {__version__} reads"
        raise ValueError(f"results {str(path)!r}: got the format {found!r}, {allowed}")
    return convert(document, Results, f"results {str(path)!r}:")


def merge_results(parts: Sequence[Results]) -> Results:
    """One set of results from several: agents on the same instances come together, other settings stand side by side.

    An agent that is in two of them counts once; it must have the same scores in both.

    Raises:
        ValueError: they are of different versions of the package or of an id, of different seeds or splits, or have for
            one setting different instances or different scores of one agent.
    """
    benches = [bench for part in parts for bench in part.benches]
    _check_equal("version of veilgym", [part.veilgym for part in parts])
    _check_equal("seed", [bench.seed for bench in benches])
    _check_equal("split", [bench.split for bench in benches])
    versions: dict[str, str] = {}
    for bench in benches:
        family = bench.env_id.rpartition("-v")[0]
        _check_equal(f"version of {family}", [versions.setdefault(family, bench.env_id), bench.env_id])
    merged: dict[bytes, Bench] = {}
    for bench in benches:
        key = msgspec.json.encode([bench.env_id, bench.arguments], order="deterministic")
        merged[key] = _merge(merged[key], bench) if key in merged else bench
    return Results(tuple(merged.values()), parts[0].veilgym)


def _check_equal(what: str, values: Sequence[Any]) -> None:
    different = list(dict.fromkeys(values))
    if len(different) > 1:
        found = " and ".join(map(repr, different))
        raise ValueError(f"results with more than one {what} cannot be merged, got {found}")


def _merge(one: Bench, other: Bench) -> Bench:
    if one.instances != other.instances:
        counts = f"{one.episodes} and {other.episodes}"
        raise ValueError(f"results of different instances of {one.title} cannot be merged, got {counts} of them")
    _check_equal("scale", [(one.floor, one.floor_score, one.ideal), (other.floor, other.floor_score, other.ideal)])
    known = {run.agent: run for run in one.runs}
    for run in other.runs:
        if run.scores != known.setdefault(run.agent, run).scores:
            message = "its scores differ on the same instances, so it is two agents of one name"
            raise ValueError(f"results of {run.agent!r} on {one.title} cannot be merged: {message}")
    return msgspec.structs.replace(one, runs=tuple(known.values()))
