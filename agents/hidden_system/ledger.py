"""The shortcut ledger of HiddenSystem-v0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.hidden_system import ladder as rungs
from veilgym.agents.hidden_system.observer import ANSWERABLE, Observer, Posterior
from veilgym.agents.hidden_system.summaries import contrast, summarise, summarise_briefly
from veilgym.agents.hidden_system.table import read_table
from veilgym.agents.ledger import Ledger, LedgerLine, Progress, check_arguments, line_of
from veilgym.envs.hidden_system.generator import generated_layout
from veilgym.envs.hidden_system.grammar import PRESENT
from veilgym.envs.hidden_system.layout import Layout
from veilgym.envs.hidden_system.questions import GeneratedQuestions
from veilgym.envs.hidden_system.skeletons import generate_skeletons
from veilgym.envs.hidden_system.task import PRESETS, Task, load_task

ENV_ID = "HiddenSystem-v0"
SHALLOW = (
    rungs.MajorityClass,
    rungs.NearestCase,
    rungs.NoisyOr,
    rungs.LastPair,
    rungs.MeanRate,
    rungs.MaximumPairRate,
)
NEXT_RUNGS = (rungs.StrongestAttribute, rungs.GreedyComposer)  # reported, not gated
SHALLOW_GATE = ("at most", 0.62)
SUMMARY_GATES = {"short": ("at most", 0.84), "medium": ("at most", 0.72), "long": ("at most", 0.72)}
IDEAL_GATE = ("at least", 0.95)
TOLD_INSTANCES = 2000
BINS = 10

Observations = dict[str, NDArray[Any]]
Features = Callable[[Observations, Layout], NDArray[np.float64]]


def ledger(episodes: int = 5000, training: int = 20_000, seed: int = 0, progress: Progress = lambda _: None) -> Ledger:
    """Measure every strategy at short, medium and long.

    Args:
        episodes: Test instances a length.
        training: Training instances of the classifiers a length.
        seed: Names both sets of instances.
        progress: Called with what is being measured.

    Raises:
        ValueError: an argument is wrong, or scikit-learn is missing.
    """
    check_arguments(episodes, training, seed)
    lines: list[LedgerLine] = []
    notes: dict[str, Any] = {}
    for length in PRESETS:
        task = load_task(length=length)
        test, gold = draw_instances(task, "test", episodes, seed)
        progress(f"{length}: rules")
        lines += [
            line_of(length, agent.name, _accuracy(agent(task).act_batch(test), test, gold), SHALLOW_GATE)
            for agent in SHALLOW
        ]
        lines += summary_lines(length, task, test, gold, training, seed, progress)
        lines += [
            line_of(length, agent.name, _accuracy(agent(task).act_batch(test), test, gold)) for agent in NEXT_RUNGS
        ]
        progress(f"{length}: ideal observer")
        posterior = Observer(task).infer(test)
        scores = ((posterior.favoured > 0.5) == gold).astype(np.float64)
        lines.append(line_of(length, "ideal observer", scores, IDEAL_GATE))
        notes |= calibration_notes(length, posterior, gold)
        progress(f"{length}: observer that is told the structure")
        lines.append(told_line(length, task, scores[:TOLD_INSTANCES], seed, notes))
    return Ledger(ENV_ID, seed, episodes, training, tuple(lines), notes)


def draw_instances(task: Task, split: str, count: int, seed: int) -> tuple[Observations, NDArray[np.bool_]]:
    """The first `count` questions of a seed's sequence as observations, and whether PRESENT is right."""
    questions = GeneratedQuestions(task, count, split, shuffle_options=False)
    questions.seed([seed] * count)
    questions.indices[...] = np.arange(count, dtype=np.uint64) - np.uint64(1)
    questions.begin(np.ones(count, np.bool_))
    return questions.observe(), questions.probability > 0.5


def summary_lines(
    length: str, task: Task, test: Observations, gold: NDArray[np.bool_], training: int, seed: int, progress: Progress
) -> list[LedgerLine]:
    """Logistic regression and gradient boosting on summaries; on everything, reported and not gated."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    train, train_gold = draw_instances(task, "train", training, seed)
    layout = generated_layout(task)
    quadratic = make_pipeline(
        StandardScaler(), PolynomialFeatures(2), StandardScaler(), LogisticRegression(C=0.003, max_iter=200)
    )
    boosting = HistGradientBoostingClassifier(random_state=0)
    models: list[tuple[str, Any, Features, tuple[str, float] | None]] = [
        ("quadratic logistic regression on summaries", quadratic, summarise_briefly, SUMMARY_GATES[length]),
        ("gradient boosting on summaries", boosting, summarise, SUMMARY_GATES[length]),
        ("gradient boosting on summaries and attribute contrasts", boosting, contrast, None),
        ("gradient boosting on everything", boosting, everything, None),
    ]
    lines = []
    for name, model, features, gate in models:
        progress(f"{length}: {name}")
        model.fit(features(train, layout), train_gold)
        scores = (model.predict(features(test, layout)) == gold).astype(np.float64)
        lines.append(line_of(length, name, scores, gate))
    return lines


def everything(observations: Observations, layout: Layout) -> NDArray[np.float64]:
    """(B, F) the complete observation: places in the query instead of codes, agreement instead of levels."""
    table = read_table(observations, layout)
    position = np.argsort(table.query, axis=1)
    batch = len(position)
    places = np.take_along_axis(position, table.events.reshape(batch, -1).clip(0), axis=1)
    places = np.where(table.events.reshape(batch, -1) >= 0, places, -1)
    return np.concatenate([table.rates, places, table.agrees.reshape(batch, -1)], axis=1)


def calibration_notes(length: str, posterior: Posterior, gold: NDArray[np.bool_]) -> dict[str, Any]:
    """How well the ideal observer's probabilities agree with what is right."""
    claimed = posterior.favoured
    edges = np.minimum((claimed * BINS).astype(int), BINS - 1)
    curve = [
        f"{claimed[edges == b].mean():.3f} -> {gold[edges == b].mean():.3f} (n = {(edges == b).sum()})"
        for b in range(BINS)
        if (edges == b).any()
    ]
    answerable = posterior.bayes_accuracy >= ANSWERABLE
    return {
        f"{length}, ideal observer, Brier score": round(float(((claimed - gold) ** 2).mean()), 4),
        f"{length}, ideal observer, mean Bayes accuracy claimed": round(float(posterior.bayes_accuracy.mean()), 4),
        f"{length}, ideal observer, share of answerable instances": round(float(answerable.mean()), 4),
        f"{length}, ideal observer, reliability (claimed -> observed)": "; ".join(curve),
    }


def told_line(length: str, task: Task, ideal: NDArray[np.float64], seed: int, notes: dict[str, Any]) -> LedgerLine:
    """The observer that is told the structure, and how far the ideal one, with the given scores, is below it."""
    skeletons = generate_skeletons(len(ideal), length, seed, split="test", balance="drawn")
    gold = np.array([skeleton.gold_answer == PRESENT for skeleton in skeletons])
    told = ((Observer(task).infer_told(skeletons).favoured > 0.5) == gold).astype(np.float64)
    behind = line_of(length, "", told - ideal)
    low, high = behind.interval or (behind.score, behind.score)
    name = f"{length}, ideal observer behind the one that is told (paired, {len(ideal):,} instances)"
    notes[name] = f"{behind.score:.4f} ({low:.4f} to {high:.4f})"
    return line_of(length, "observer told the structure", told)


def _accuracy(actions: NDArray[np.int64], test: Observations, gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    is_right: NDArray[np.bool_] = actions == rungs.answer(gold, test)
    return is_right.astype(np.float64)
