"""The shape of the arrays that hold instances, and the arrays themselves: a public and a hidden half.

Letters: B instances, C support cases of up to W events, a query of up to Q events, M attributes of up to L levels, R
rules. A case that has fewer events, or an instance that has fewer cases, is padded with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.hidden_system.execution import RULE_COLUMNS
from veilgym.envs.hidden_system.grammar import BehaviorPayload, BehaviorSkeleton

PublicArrays = dict[str, NDArray[np.integer]]


@dataclass(frozen=True)
class Layout:
    """What instances that share arrays have in common.

    Attributes:
        events: Names of the events; arrays hold 1 + index, and 0 where there is none.
        attributes: Names of the M attributes.
        cases: C.
        width: W.
        query_width: Q.
        levels: L.
        bounds: The lowest and highest level of any attribute.
        most_trials: The most trials of any case.
    """

    events: tuple[str, ...]
    attributes: tuple[str, ...]
    cases: int
    width: int
    query_width: int
    levels: int
    bounds: tuple[int, int]
    most_trials: int

    def public(self, batch: int) -> PublicArrays:
        """Zeroed arrays for the public half of B instances.

        Returns:
            events (B, C W) int8, attributes (B, C M) int16, trials (B, C) int16, present (B, C) int16, query_events
            (B, Q) int8, query_attributes (B, M) int16, levels (B, M L) int16 and options (B, 1) int8, which is 0 where
            PRESENT is the first answer option and 1 where ABSENT is.
        """
        m = len(self.attributes)
        return {
            "events": np.zeros((batch, self.cases * self.width), np.int8),
            "attributes": np.zeros((batch, self.cases * m), np.int16),
            "trials": np.zeros((batch, self.cases), np.int16),
            "present": np.zeros((batch, self.cases), np.int16),
            "query_events": np.zeros((batch, self.query_width), np.int8),
            "query_attributes": np.zeros((batch, m), np.int16),
            "levels": np.zeros((batch, m * self.levels), np.int16),
            "options": np.zeros((batch, 1), np.int8),
        }


@dataclass(frozen=True, repr=False)
class HiddenArrays:
    """The hidden half of B generated instances.

    Attributes:
        rules, probability, bounds: (B, R, ...), programs as in `veilgym.envs.hidden_system.execution.Program`.
        present: (B,) float64, the exact probability that the query's record is present.
    """

    rules: NDArray[np.int64]
    probability: NDArray[np.float64]
    bounds: NDArray[np.int64]
    present: NDArray[np.float64]

    @classmethod
    def zeros(cls, batch: int, rules: int, attributes: int) -> HiddenArrays:
        """Arrays for `batch` instances."""
        return cls(
            np.zeros((batch, rules, RULE_COLUMNS), np.int64),
            np.zeros((batch, rules)),
            np.zeros((batch, rules, attributes, 2), np.int64),
            np.zeros(batch),
        )


def layout_of(behaviors: Sequence[BehaviorPayload | BehaviorSkeleton]) -> Layout:
    """The smallest layout that holds all of `behaviors`.

    Raises:
        ValueError: there are none, or they do not share the names of events and attributes.
    """
    if not behaviors:
        raise ValueError("skeletons must hold at least one record, got none")
    # Attributes by name: a mapping has no order of its own.
    events, attributes = behaviors[0].event_vocabulary, tuple(sorted(behaviors[0].attribute_vocabulary))
    for i, behavior in enumerate(behaviors):
        names = behavior.event_vocabulary, tuple(sorted(behavior.attribute_vocabulary))
        if names != (events, attributes):
            raise ValueError(f"skeletons[{i}]: got the names {names!r}, allowed are those of the first: {events!r}")
    levels = [values for behavior in behaviors for values in behavior.attribute_vocabulary.values()]
    cases = [case for behavior in behaviors for case in behavior.support_cases]
    every = [value for values in levels for value in values]
    return Layout(
        events=events,
        attributes=attributes,
        cases=max(len(behavior.support_cases) for behavior in behaviors),
        width=max(len(case.events) for case in cases),
        query_width=max(len(behavior.query_case.events) for behavior in behaviors),
        levels=max(map(len, levels), default=0),
        bounds=(min(every, default=0), max(every, default=0)),
        most_trials=max(case.trials for case in cases),
    )
