"""No shortcuts, at a size for every run: classifiers on counts, times and names are at chance.

Given what is two steps away as well they are close to it.

Letters: B worlds, N symbols, P features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veilgym.envs.dynamic_world.task import make_task
from veilgym.envs.dynamic_world.worlds import Worlds, make_worlds

Array = np.ndarray[Any, Any]

TRAIN, TEST = 3000, 1500
# Four standard errors of 1,500 coins are 0.052.
CHANCE, NEAR_CHANCE = 0.55, 0.65


def matrices(batch: Worlds) -> Array:
    """(5, B, N, N) float32: the direct facts of each relation."""
    count, size = len(batch.num_events), batch.initial.shape[2]
    result = np.zeros((5, count, size, size), np.float32)
    for world, (rows, n) in enumerate(zip(batch.events, batch.num_events, strict=True)):
        related = rows[:n][(rows[:n, 1] >= 1) & (rows[:n, 1] <= 5)]
        result[related[:, 1] - 1, world, related[:, 2], related[:, 3]] = 1
    return result


def mentions(batch: Worlds, symbols: Array) -> Array:
    """(B, 3): how many events have a symbol as one of their first two participants, and when first and last."""
    result = []
    for rows, n, symbol in zip(batch.events, batch.num_events, symbols, strict=True):
        has_two = (rows[:n, 1] >= 1) & (rows[:n, 1] <= 5)
        times = rows[:n, 0][((rows[:n, 2] == symbol) & (rows[:n, 1] != 6)) | (has_two & (rows[:n, 3] == symbol))]
        result.append([len(times), *(times[[0, -1]] if len(times) else (0, 0))])
    return np.array(result)


def features(batch: Worlds, facts: Array, pairs: Array) -> tuple[Array, Array]:
    """(B, P) features of the two arguments and of the world, without and with what is two steps away."""
    worlds = np.arange(len(pairs))
    near = [np.c_[batch.num_events, batch.queries[:, 0]]]
    far = []
    for side in (0, 1):
        symbols = pairs[:, side]
        degrees = [facts[relation].sum(axis)[worlds, symbols] for relation in range(5) for axis in (1, 2)]
        near.append(np.column_stack([symbols, batch.initial[worlds, 0, symbols], mentions(batch, symbols), *degrees]))
        edges = [matrix for relation in facts for matrix in (relation, relation.transpose(0, 2, 1))]
        for first in edges:
            row = first[worlds, symbols][:, None, :]
            far += [(row @ second).sum((1, 2)) for second in edges]
    one = np.concatenate([*near, near[1] - near[2]], axis=1)
    two = np.stack(far, axis=1)
    return one, np.concatenate([one, two, two[:, : two.shape[1] // 2] - two[:, two.shape[1] // 2 :]], axis=1)


def best_score(inputs: Array, answers: Array) -> float:
    """The share of right answers on worlds not trained on, of the better one of two classifiers."""
    models = (
        HistGradientBoostingClassifier(max_iter=60, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    )
    split = len(answers) * TRAIN // (TRAIN + TEST)
    return max(
        float(model.fit(inputs[:split], answers[:split]).score(inputs[split:], answers[split:])) for model in models
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_counts_times_and_names_do_not_tell_the_answer(length: int) -> None:
    parts = [make_worlds(make_task(length), 500, seed=8, first=first) for first in range(0, TRAIN + TEST, 500)]
    inputs = [features(part, matrices(part), part.queries[:, 1:3]) for part in parts]
    answers = np.concatenate([part.is_yes for part in parts])
    assert best_score(np.concatenate([one for one, _ in inputs]), answers) <= CHANCE
    assert best_score(np.concatenate([two for _, two in inputs]), answers) <= NEAR_CHANCE


def test_the_classifiers_find_a_shortcut_where_there_is_one() -> None:
    """Pairs in the order, four events apart, that nobody matched."""
    rng = np.random.default_rng(0)
    one_step, answers = [], []
    for first in range(0, 1500, 500):
        batch = make_worlds(make_task(4), 500, seed=8, first=first)
        facts = matrices(batch)
        above = facts[0][:, :56, :56]
        apart = above @ above @ above @ above
        pairs = np.array([rng.choice(np.argwhere(reached)) for reached in apart])
        yes = rng.random(500) < 0.5
        one_step.append(features(batch, facts, np.where(yes[:, None], pairs, pairs[:, ::-1]))[0])
        answers.append(yes)
    assert best_score(np.concatenate(one_step), np.concatenate(answers)) > 0.7
