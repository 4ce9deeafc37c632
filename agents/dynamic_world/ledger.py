"""The shortcut ledger of DynamicWorld-v0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent
from veilgym.agents.dynamic_world import ladder as rungs
from veilgym.agents.dynamic_world.features import one_hop, two_hop
from veilgym.agents.dynamic_world.history import Observations, read_history
from veilgym.agents.dynamic_world.inference import YES, decide
from veilgym.agents.ledger import Ledger, LedgerLine, Progress, check_arguments, line_of
from veilgym.envs.core.seeding import Split
from veilgym.envs.dynamic_world.grammar import PUBLIC_FAMILIES
from veilgym.envs.dynamic_world.observation import observe, types_of
from veilgym.envs.dynamic_world.task import LENGTHS, Task, make_task
from veilgym.envs.dynamic_world.worlds import make_worlds

ENV_ID = "DynamicWorld-v0"
SHALLOW_GATE = ("at most", 0.55)
TWO_HOP_GATE = ("at most", 0.65)
SOLVER_GATE = ("at least", 1.0)
CHUNK = 500
"""Worlds that are held in memory at once."""

Gate = tuple[str, float]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Features:
    """What the classifiers see of B worlds, and what they are to say.

    Attributes:
        near: (B, P) float32, see `features.one_hop`.
        far: (B, Q) float32, see `features.two_hop`.
        family: (B,) index of the public family.
        is_yes: (B,) bool.
    """

    near: NDArray[np.float32]
    far: NDArray[np.float32]
    family: NDArray[np.int32]
    is_yes: NDArray[np.bool_]


def ledger(episodes: int = 5000, training: int = 20_000, seed: int = 0, progress: Progress = lambda _: None) -> Ledger:
    """Measure every strategy at short, medium and long.

    Args:
        episodes: Test worlds a length.
        training: Training worlds of the classifiers a length.
        seed: Names both sets of worlds.
        progress: Called with what is being measured.

    Raises:
        ValueError: an argument is wrong, or scikit-learn is missing.
    """
    check_arguments(episodes, training, seed)
    lines: list[LedgerLine] = []
    notes: dict[str, Any] = {}
    for length in LENGTHS:
        task = make_task(length)
        progress(f"{length}: rules")
        shallow = [(agent(task), SHALLOW_GATE) for agent in rungs.SHALLOW]
        lines += agent_lines(length, [(rungs.RandomAgent(), None), *shallow], task, episodes, seed)
        progress(f"{length}: features")
        train = read_features(task, "train", training, seed)
        test = read_features(task, "test", episodes, seed)
        lines += classifier_lines(length, train, test, progress)
        progress(f"{length}: readers")
        readers = [(rungs.HalfHistory(task), None), (rungs.CompleteSolver(task), SOLVER_GATE)]
        lines += agent_lines(length, readers, task, episodes, seed)
        notes |= world_notes(length, task, episodes, seed)
        notes |= balance_notes(length, task, 2 * training, seed)
    return Ledger(ENV_ID, seed, episodes, training, tuple(lines), notes)


def draw_worlds(task: Task, split: Split, count: int, seed: int) -> Iterator[tuple[Observations, NDArray[np.bool_]]]:
    """The first `count` worlds of a seed's sequence, some at a time, as observations, and whether YES is right."""
    types = types_of(task)
    for first in range(0, count, CHUNK):
        worlds = make_worlds(task, min(CHUNK, count - first), seed, split, first)
        yield observe(worlds, task, types), worlds.is_yes


def agent_lines(
    length: str, agents: Sequence[tuple[Agent, Gate | None]], task: Task, count: int, seed: int
) -> list[LedgerLine]:
    """The lines of agents with their gates, on the first `count` test worlds of a seed's sequence."""
    scores: list[list[Scores]] = [[] for _ in agents]
    for observations, is_yes in draw_worlds(task, "test", count, seed):
        for (agent, _), parts in zip(agents, scores, strict=True):
            parts.append(((agent.act_batch(observations) == YES) == is_yes).astype(np.float64))
    return [
        line_of(length, agent.name, np.concatenate(parts), gate)
        for (agent, gate), parts in zip(agents, scores, strict=True)
    ]


def read_features(task: Task, split: Split, count: int, seed: int) -> Features:
    """The features of the first `count` worlds of a seed's sequence."""
    parts = []
    for observations, is_yes in draw_worlds(task, split, count, seed):
        history = read_history(observations)
        parts.append((one_hop(history), two_hop(history), history.family, is_yes))
    return Features(*map(np.concatenate, zip(*parts, strict=True)))


def classifier_lines(length: str, train: Features, test: Features, progress: Progress) -> list[LedgerLine]:
    """Logistic regression and gradient boosting on one-hop features, then with two-hop counts as well."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000)),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    lines = []
    for reach, gate in (("one hop", SHALLOW_GATE), ("two hops", TWO_HOP_GATE)):
        for name, make in models.items():
            strategy = f"{name} on {reach}"
            progress(f"{length}: {strategy}")
            lines.append(line_of(length, strategy, _score(make, train, test, reach == "two hops"), gate))
    return lines


def _score(make: Callable[[], Any], train: Features, test: Features, is_far: bool) -> Scores:
    """(B,) the scores of a classifier of each family: the features mean something else in each."""
    scores = np.zeros(len(test.is_yes))
    inputs = [np.concatenate([part.near, part.far], axis=1) if is_far else part.near for part in (train, test)]
    for family in range(len(PUBLIC_FAMILIES)):
        of_train, of_test = train.family == family, test.family == family
        if of_test.any():
            model = make().fit(inputs[0][of_train], train.is_yes[of_train])
            scores[of_test] = model.predict(inputs[1][of_test]) == test.is_yes[of_test]
    return scores


def world_notes(length: str, task: Task, count: int, seed: int) -> dict[str, Any]:
    """How many events the worlds have, and how long the shortest proofs are."""
    events: list[NDArray[np.int32]] = []
    lengths: Counter[int] = Counter()
    for observations, _ in draw_worlds(task, "test", count, seed):
        events.append(observations["event_count"][:, 0])
        lengths.update(decide(read_history(observations))[1].tolist())
    histogram = "; ".join(f"{proof}: {worlds}" for proof, worlds in sorted(lengths.items()))
    return {
        f"{length}, mean number of events": round(float(np.concatenate(events).mean()), 2),
        f"{length}, events in a shortest proof (worlds)": histogram,
    }


def balance_notes(length: str, task: Task, count: int, seed: int) -> dict[str, Any]:
    """How often YES is right in each family, in the first `count` training worlds of a seed's sequence."""
    firsts = range(0, count, CHUNK)
    batches = (make_worlds(task, min(CHUNK, count - first), seed, "train", first) for first in firsts)
    families, answers = zip(*((batch.queries[:, 0], batch.is_yes) for batch in batches), strict=True)
    family, is_yes = np.concatenate(families), np.concatenate(answers)
    return {
        f"{length}, share of YES, {name}": f"{is_yes[family == i].mean():.4f} (n = {(family == i).sum()})"
        for i, name in enumerate(PUBLIC_FAMILIES)
        if (family == i).any()
    }
