"""What a shallow classifier may look at: the two arguments, their direct facts, and counts of facts two steps away.

Letters: B worlds, T rows of events, N symbols, P features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.dynamic_world.history import History
from veilgym.envs.dynamic_world.grammar import EVENT_FORMS, FLAGS, FORM_INDEX

Table = NDArray[np.float32]

_MOVE, _SET_STATE = FORM_INDEX["MOVE", None], FORM_INDEX["SET_STATE", None]
_DISJOINT = FORM_INDEX["RELATE", "DISJOINT"]
_ENDS = [(form, side) for form, named in enumerate(EVENT_FORMS) if named.relation for side in (0, 1)]
"""The sides of the relations: where a fact may have a symbol."""


def one_hop(history: History) -> Table:
    """(B, P) what is known of the world, of each argument and its direct facts, and how the arguments differ."""
    left, right = (_describe(history, symbols) for symbols in history.pair.T)
    return np.concatenate([_world(history), left, right, left - right], axis=1)


def two_hop(history: History) -> Table:
    """(B, P) for each argument, how many pairs of facts lead from it by each two sides; and the differences."""
    degrees = _degrees(history)
    left, right = (_walks(history, degrees, symbols) for symbols in history.pair.T)
    return np.concatenate([left, right, left - right], axis=1)


def _world(history: History) -> Table:
    """(B, P) the family, how many events there are, of each form too, and whether the arguments share a region."""
    counts = [(history.forms == form).sum(axis=1) for form in range(len(EVENT_FORMS))]
    places = np.stack([_places(history, symbols) for symbols in history.pair.T])
    shares = (places[0] == places[1]).T
    return np.column_stack([history.family, np.sum(counts, axis=0), *counts, *shares]).astype(np.float32)


def _describe(history: History, symbols: NDArray[Any]) -> Table:
    """(B, P) a symbol's number, regions, flags, mentions, and its direct facts by side: how many, first and last."""
    facts = [history.states(form, side, symbols) for form, side in _ENDS]
    is_apart = np.any([mask.any(axis=1) for mask, (form, _) in zip(facts, _ENDS, strict=True) if form == _DISJOINT], 0)
    columns = [
        symbols[:, None],
        _places(history, symbols),
        _flags(history, symbols),
        _mentions(history, symbols),
        np.stack([mask.sum(axis=1) for mask in facts], axis=1),
        np.concatenate([_span(mask, history.times) for mask in facts], axis=1),
        is_apart[:, None],
    ]
    return np.concatenate([column.astype(np.float32) for column in columns], axis=1)


def _mentions(history: History, symbols: NDArray[Any]) -> NDArray[Any]:
    """(B, 7) how many events mention a symbol; time, row and form of the first and of the last of them."""
    is_mentioned = history.mentions(symbols)
    rows = np.broadcast_to(np.arange(is_mentioned.shape[1]), is_mentioned.shape)
    spans = [_span(is_mentioned, values) for values in (history.times, rows, history.forms)]
    return np.concatenate([is_mentioned.sum(axis=1, keepdims=True), *spans], axis=1)


def _span(mask: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[Any]:
    """(B, 2) the values (B, T) in the first and the last row of a mask (B, T); 0 where it is empty."""
    worlds, last = np.arange(len(mask)), mask.shape[1] - 1
    ends = [values[worlds, mask.argmax(axis=1)], values[worlds, last - mask[:, ::-1].argmax(axis=1)]]
    span: NDArray[Any] = np.where(mask.any(axis=1, keepdims=True), np.stack(ends, axis=1), 0)
    return span


def _places(history: History, symbols: NDArray[Any]) -> NDArray[np.int32]:
    """(B, 2) the region of an entity, at first and at last; 0 for another symbol."""
    num_entities = history.locations.shape[1]
    worlds, is_entity = np.arange(len(symbols)), symbols < num_entities
    first = history.locations[worlds, np.minimum(symbols, num_entities - 1)] * is_entity
    has_moved = (history.forms == _MOVE) & (history.arguments[:, :, 0] == symbols[:, None])
    last = np.where(has_moved.any(axis=1), _span(has_moved, history.arguments[:, :, 2])[:, 1], first)
    return np.stack([first, last], axis=1)


def _flags(history: History, symbols: NDArray[Any]) -> NDArray[np.int32]:
    """(B, F) for each flag, 1 if it was last set, -1 if it was last unset, 0 if no event says."""
    is_of_symbol = (history.forms == _SET_STATE) & (history.arguments[:, :, 0] == symbols[:, None])
    signs = 2 * history.arguments[:, :, 3] - 1
    masks = [is_of_symbol & (history.arguments[:, :, 1] == flag) for flag in range(len(FLAGS))]
    return np.stack([_span(mask, signs)[:, 1] for mask in masks], axis=1)


def _degrees(history: History) -> NDArray[np.int64]:
    """(B, N, S) how many facts have each symbol on each of the S sides of the relations."""
    batch, count = history.types.shape
    degrees = np.zeros((batch, count, len(_ENDS)), np.int64)
    for end, (form, side) in enumerate(_ENDS):
        world, row = np.nonzero(history.forms == form)
        cells = world * count + history.arguments[world, row, side]
        degrees[:, :, end] = np.bincount(cells, minlength=batch * count).reshape(batch, count)
    return degrees


def _walks(history: History, degrees: NDArray[np.int64], symbols: NDArray[Any]) -> Table:
    """(B, S * S) how many facts the symbols next to a symbol are in, by the side that it has and that they have."""
    walks = np.zeros((len(symbols), len(_ENDS), len(_ENDS)), np.float32)
    for end, (form, side) in enumerate(_ENDS):
        world, row = np.nonzero(history.states(form, side, symbols))
        np.add.at(walks[:, end], world, degrees[world, history.arguments[world, row, 1 - side]])
    return walks.reshape(len(symbols), -1)
