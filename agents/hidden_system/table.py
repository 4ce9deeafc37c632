"""An observation as a table of support cases: what the shallow agents read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.hidden_system.generator import CONTROLS
from veilgym.envs.hidden_system.layout import Layout


@dataclass(frozen=True)
class CaseTable:
    """The support cases and queries of B instances.

    Attributes:
        events: (B, C, W) int64, event codes from 0; -1 for none.
        sizes: (B, C) how many events each case has; 0 where there is no case.
        rates: (B, C) float64, the share of trials after which the record was present.
        agrees: (B, C, M) bool, whether a case has the query's level of an attribute.
        query: (B, Q) event codes.
        controls: Places of the cases in which the carrier and another event are run at opposite levels.
    """

    events: NDArray[np.int64]
    sizes: NDArray[np.int64]
    rates: NDArray[np.float64]
    agrees: NDArray[np.bool_]
    query: NDArray[np.int64]
    controls: slice

    def mean(self, where: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(B,) mean rate of the cases in a (B, C) mask, 0 where there is none."""
        total: NDArray[np.float64] = (self.rates * where).sum(axis=1) / np.maximum(1, where.sum(axis=1))
        return total


def controls_of(layout: Layout) -> slice:
    """The places of the controls in the generator's table, after the single events and the ordered pairs."""
    n = len(layout.events)
    return slice(n * n, n * n + 2 * CONTROLS * (n - 1))


def read_table(observations: dict[str, NDArray[Any]], layout: Layout) -> CaseTable:
    """Read B observations."""
    batch = len(observations["events"])
    events = observations["events"].reshape(batch, layout.cases, layout.width).astype(np.int64) - 1
    attributes = observations["attributes"].reshape(batch, layout.cases, len(layout.attributes))
    trials = observations["trials"].astype(np.float64)
    return CaseTable(
        events=events,
        sizes=(events >= 0).sum(axis=2),
        rates=observations["present"] / np.maximum(1.0, trials),
        agrees=attributes == observations["query_attributes"][:, None],
        query=observations["query_events"].astype(np.int64) - 1,
        controls=controls_of(layout),
    )


def attribute_contrasts(table: CaseTable) -> NDArray[np.float64]:
    """(B, M) by how much the controls' mean rate is higher where they have the query's level of an attribute."""
    agrees, rates = table.agrees[:, table.controls], table.rates[:, table.controls, None]
    with_level = (rates * agrees).sum(axis=1) / np.maximum(1, agrees.sum(axis=1))
    without = (rates * ~agrees).sum(axis=1) / np.maximum(1, (~agrees).sum(axis=1))
    return np.asarray(with_level - without)
