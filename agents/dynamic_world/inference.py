"""Exact inference on histories: the answers that follow from some of the events, and the lengths of shortest proofs.

An order follows from a chain of ABOVE, a membership from MEMBER and a chain of SUBSET, and the denial of a membership
from a membership in a set that an event states to be DISJOINT from the queried one, in this order.

Letters: B worlds, T rows of events, N symbols.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.dynamic_world.history import ABOVE, DISJOINT, MEMBER, SUBSET, History
from veilgym.envs.core.elementary import kernel
from veilgym.envs.dynamic_world.query import SPATIAL_ORDER

YES, NO, UNDECIDED = 0, 1, -1
"""Answers; those of the env are the first two."""


def decide(history: History, usable: NDArray[np.bool_] | None = None) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """What follows from the usable events.

    Args:
        history: B worlds.
        usable: (B, T) bool; None for all.

    Returns:
        (B,) int8 answers, `UNDECIDED` where neither follows; (B,) int32 how many events a shortest proof takes, or 0.
    """
    forms = history.forms if usable is None else np.where(usable, history.forms, np.int32(-1))
    batch = len(forms)
    answers, lengths = np.empty(batch, np.int8), np.empty(batch, np.int32)
    distances = np.empty(history.types.shape[1], np.int32)
    _decide(forms, history.arguments, history.family, history.pair, distances, answers, lengths)
    return answers, lengths


@kernel
def _decide(forms, arguments, family, pairs, distances, answers, lengths):  # type: ignore[no-untyped-def]
    for i in range(forms.shape[0]):
        left, right = pairs[i, 0], pairs[i, 1]
        answers[i], lengths[i] = UNDECIDED, 0
        if family[i] == SPATIAL_ORDER:
            for answer in (YES, NO):
                source, target = (left, right) if answer == YES else (right, left)
                _measure(forms[i], arguments[i], ABOVE, ABOVE, source, distances)
                if distances[target] > 0 and answers[i] == UNDECIDED:
                    answers[i], lengths[i] = answer, distances[target]
        else:
            _measure(forms[i], arguments[i], MEMBER, SUBSET, left, distances)
            if distances[right] > 0:
                answers[i], lengths[i] = YES, distances[right]
            else:
                length = _refutation(forms[i], arguments[i], right, distances)
                if length > 0:
                    answers[i], lengths[i] = NO, length


@kernel
def _measure(forms, arguments, first, rest, source, distances):  # type: ignore[no-untyped-def]
    """Write how many events lead from the source to each symbol, one of the first form and then of the other; or -1."""
    distances[:] = -1
    distances[source] = 0
    length, has_grown = 0, True
    while has_grown:
        has_grown = False
        form = first if length == 0 else rest
        for row in range(forms.size):
            if forms[row] == form:
                near, far = arguments[row, 0], arguments[row, 1]
                if distances[near] == length and distances[far] == -1:
                    distances[far] = length + 1
                    has_grown = True
        length += 1


@kernel
def _refutation(forms, arguments, queried, distances):  # type: ignore[no-untyped-def]
    """How many events refute a membership, 0 if none do; `distances` are those of the member's sets."""
    best = 0
    for row in range(forms.size):
        if forms[row] == DISJOINT and arguments[row, 1] == queried:
            length = distances[arguments[row, 0]]
            if length > 0 and (best == 0 or length + 1 < best):
                best = length + 1
    return best
