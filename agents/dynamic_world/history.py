"""An observation as a history of events: what the agents for dynamic worlds read.

Letters: B worlds, T rows of events, N symbols, E entities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES, EVENT_FORMS, FORM_INDEX
from veilgym.envs.dynamic_world.query import SPATIAL_ORDER
from veilgym.envs.dynamic_world.simulation import EVENT_COLUMNS

Observations = dict[str, NDArray[Any]]

ABOVE, MEMBER, SUBSET, DISJOINT = (FORM_INDEX["RELATE", name] for name in ("ABOVE", "MEMBER", "SUBSET", "DISJOINT"))
"""Indices of the forms of events from which answers follow."""
NO_EVENT = -1

# Entities come first among the arguments of every form; -1 has the last place, and none.
_NUM_PARTICIPANTS = np.array([*(sum(kind in ENTITY_TYPES for _, kind in form.fields) for form in EVENT_FORMS), 0])


@dataclass(frozen=True)
class History:
    """The events of B worlds up to the time of the query, and the query.

    Attributes:
        types: (B, N) int8, the type of each symbol, an index of `grammar.ENTITY_TYPES`.
        locations: (B, E) int32, the region in which each entity is at first.
        times: (B, T) int32.
        forms: (B, T) int32, an index of `grammar.EVENT_FORMS`; `NO_EVENT` where there is no event.
        arguments: (B, T, 5) int32.
        family: (B,) int32, an index of `grammar.PUBLIC_FAMILIES`.
        pair: (B, 2) int32, the arguments of the query.
    """

    types: NDArray[np.int8]
    locations: NDArray[np.int32]
    times: NDArray[np.int32]
    forms: NDArray[np.int32]
    arguments: NDArray[np.int32]
    family: NDArray[np.int32]
    pair: NDArray[np.int32]

    @property
    def is_order(self) -> NDArray[np.bool_]:
        """(B,) whether ABOVE is asked; elsewhere it is MEMBER."""
        is_order: NDArray[np.bool_] = self.family == SPATIAL_ORDER
        return is_order

    def mentions(self, symbols: NDArray[Any]) -> NDArray[np.bool_]:
        """(B, T) whether the symbol (B,) of its world is a participant of an event."""
        participants = self.arguments[:, :, :3] == symbols[:, None, None]
        counted = np.arange(3) < _NUM_PARTICIPANTS[self.forms][:, :, None]
        is_mentioned: NDArray[np.bool_] = (participants & counted).any(axis=2)
        return is_mentioned

    def states(self, form: int, side: int, symbols: NDArray[Any]) -> NDArray[np.bool_]:
        """(B, T) whether an event states the relation of `form` with the symbol (B,) on the side 0 (left) or 1."""
        is_stated: NDArray[np.bool_] = (self.forms == form) & (self.arguments[:, :, side] == symbols[:, None])
        return is_stated

    def directions(self) -> NDArray[np.int8]:
        """(B, T) int8, what an event by itself suggests: 1 for the proposition, -1 against it, 0 nothing.

        For ABOVE(x, y), an entity below x or above y counts for it, one above x or below y against it. For
        MEMBER(x, A), what x is a member of, and what is a member or a subset of A, counts for it, and a disjointness
        of A against it.
        """
        left, right = self.pair.T
        upper = self.states(ABOVE, 0, left) | self.states(ABOVE, 1, right)
        lower = self.states(ABOVE, 0, right) | self.states(ABOVE, 1, left)
        inside = self.states(MEMBER, 0, left) | self.states(MEMBER, 1, right) | self.states(SUBSET, 1, right)
        outside = self.states(DISJOINT, 0, right) | self.states(DISJOINT, 1, right)
        is_order = self.is_order[:, None]
        return np.where(is_order, upper, inside).astype(np.int8) - np.where(is_order, lower, outside).astype(np.int8)


def read_history(observations: Observations) -> History:
    """Read B observations."""
    batch = len(observations["events"])
    rows = observations["events"].reshape(batch, -1, EVENT_COLUMNS)
    query = observations["query"]
    is_event = np.arange(rows.shape[1]) < observations["event_count"]
    is_event &= rows[:, :, 0] <= query[:, 3:]
    return History(
        types=observations["entity_types"],
        locations=observations["locations"],
        times=rows[:, :, 0],
        forms=np.where(is_event, rows[:, :, 1], np.int32(NO_EVENT)),
        arguments=rows[:, :, 2:],
        family=query[:, 0],
        pair=query[:, 1:3],
    )
