"""Features that ignore which event and which attribute is which: what a shallow classifier may look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.hidden_system.table import attribute_contrasts, controls_of, read_table
from veilgym.envs.hidden_system.layout import Layout

DECILES = np.linspace(0.0, 1.0, 11)


def summarise(observations: dict[str, NDArray[Any]], layout: Layout) -> NDArray[np.float64]:
    """(B, F) sorted rates of single events, pairs, controls and triples, their means, and sorted control contrasts."""
    groups = _groups(observations, layout)
    contrasts = _contrasts(groups[2])
    means = np.stack([group.mean(axis=1) for group in groups], axis=1)
    return np.concatenate([*(np.sort(group, axis=1) for group in groups), means, np.sort(contrasts, axis=1)], axis=1)


def summarise_briefly(observations: dict[str, NDArray[Any]], layout: Layout) -> NDArray[np.float64]:
    """(B, 59) deciles in place of sorted rates, few enough for a model with all products of two."""
    groups = _groups(observations, layout)
    groups = [*groups, _contrasts(groups[2])]
    deciles = [np.quantile(group, DECILES, axis=1).T for group in groups]
    means = np.stack([group.mean(axis=1) for group in groups[:4]], axis=1)
    return np.concatenate([*deciles, means], axis=1)


def contrast(observations: dict[str, NDArray[Any]], layout: Layout) -> NDArray[np.float64]:
    """(B, F) `summarise`, and the sorted `attribute_contrasts` of the controls."""
    differences = np.sort(attribute_contrasts(read_table(observations, layout)), axis=1)
    return np.concatenate([summarise(observations, layout), differences], axis=1)


def _groups(observations: dict[str, NDArray[Any]], layout: Layout) -> list[NDArray[np.float64]]:
    """Rates of single events, ordered pairs, controls and triples, by their places in the generator's table."""
    rates, controls = read_table(observations, layout).rates, controls_of(layout)
    return np.split(rates, [len(layout.events), controls.start, controls.stop], axis=1)


def _contrasts(controls: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much each control's rate changes when every attribute takes its other level."""
    return np.abs(controls[:, 0::2] - controls[:, 1::2])
