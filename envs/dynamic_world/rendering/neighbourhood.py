"""The public facts around the two arguments of a query, as two fans of symbols in rows.

A fan has its argument in row 0, what the facts lead to from it in rows 1, 2, ... and what leads to it in rows -1, -2,
... A symbol stands in the row of its distance. The fans are laid out apart from each other, so that a symbol that is in
both is drawn twice: how far the arguments are from each other, and in which direction, a reader must find out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from veilgym.envs.dynamic_world.grammar import WorldPayload
from veilgym.envs.dynamic_world.inference import events_until, stated_fact

_FEWEST_ROWS, _MOST_ROWS = 3, 4  # on one side of an argument
_ROWS_AFTER_A_SET = 1
_RELATIONS = {"ABOVE": ("ABOVE",), "BELOW": ("ABOVE",), "MEMBER": ("MEMBER", "SUBSET", "DISJOINT")}


class Edge(NamedTuple):
    """A stated fact that a proof may use."""

    relation: str
    left: str
    right: str
    event_id: str


@dataclass(frozen=True)
class Fan:
    """What is near one argument.

    Attributes:
        rows: The symbols of each row, from left to right; the argument is in row 0.
        left_out: How many further symbols a row would have, for rows that are full.
        edges: The stated facts that lead from one row to the next, as a proof may use them.
    """

    rows: Mapping[int, Sequence[str]]
    left_out: Mapping[int, int]
    edges: Sequence[Edge]

    @property
    def widest(self) -> int:
        """Symbols in the longest row, a mark of those left out included."""
        return max(len(symbols) + (row in self.left_out) for row, symbols in self.rows.items())


def edges_of(payload: WorldPayload) -> list[Edge]:
    """The facts that bear on the query, in the order of their events."""
    relations = _RELATIONS[payload.query.predicate]
    edges = []
    for event in events_until(payload.events, payload.query.time):
        fact = stated_fact(event)
        if fact is not None and fact[0] in relations:
            edges.append(Edge(*fact, event.id))
    return edges


def fans_of(payload: WorldPayload, most: int) -> tuple[Fan, Fan]:
    """The fans of both arguments, with at most `most` symbols in a row."""
    edges = edges_of(payload)
    depth = min(max(_FEWEST_ROWS, math.ceil(payload.complexity / 2)), _MOST_ROWS)
    left, right = payload.query.arguments
    if payload.query.predicate != "MEMBER":
        return _fan(edges, left, depth, depth, most), _fan(edges, right, depth, depth, most)
    # Of the members of sets, only the one that is asked about matters.
    sets = [edge for edge in edges if edge.relation != "MEMBER"]
    return _fan(edges, left, 0, depth, most), _fan(sets, right, depth, _ROWS_AFTER_A_SET, most)


def _fan(edges: Sequence[Edge], symbol: str, before: int, after: int, most: int) -> Fan:
    """The fan of `symbol` with so many rows before and after it."""
    rows: dict[int, list[str]] = {0: [symbol]}
    left_out: dict[int, int] = {}
    followed: list[Edge] = []
    placed = {symbol}
    for direction, depth in ((1, after), (-1, before)):
        last = {symbol}
        for distance in range(1, depth + 1):
            steps = _steps(edges, last, direction, distance, placed)
            found = list(dict.fromkeys(far for far, _ in steps))
            if not found:
                break
            kept = found if len(found) <= most else found[: most - 1]
            rows[direction * distance] = kept
            if len(kept) < len(found):
                left_out[direction * distance] = len(found) - len(kept)
            steps = [(far, edge) for far, edge in steps if far in kept]
            followed += [edge for _, edge in steps]
            placed.update(found)
            # Nothing follows from not being in a set.
            last = {far for far, edge in steps if edge.relation != "DISJOINT" or direction < 0}
    return Fan(_untangled(rows, followed), left_out, followed)


def _steps(
    edges: Sequence[Edge], last: set[str], direction: int, distance: int, placed: set[str]
) -> list[tuple[str, Edge]]:
    """The facts that lead from a row to symbols not placed yet, with these symbols."""
    steps = []
    for edge in edges:
        near, far = (edge.left, edge.right) if direction > 0 else (edge.right, edge.left)
        is_usable = edge.relation != "DISJOINT" or direction > 0 or distance == 1
        if near in last and far not in placed and is_usable:
            steps.append((far, edge))
    return steps


def _untangled(rows: Mapping[int, list[str]], edges: Sequence[Edge]) -> dict[int, list[str]]:
    """Order each row by where its symbols' neighbours in the row nearer to the argument stand."""
    neighbours = defaultdict(list)
    for edge in edges:
        neighbours[edge.left].append(edge.right)
        neighbours[edge.right].append(edge.left)
    ordered = {0: rows[0]}
    for row in sorted(rows, key=abs)[1:]:
        nearer = ordered[row - 1 if row > 0 else row + 1]
        places = {name: _mean_place(neighbours[name], nearer) for name in rows[row]}
        ordered[row] = sorted(rows[row], key=places.__getitem__)
    return ordered


def _mean_place(names: Sequence[str], row: Sequence[str]) -> float:
    """Where in a row those of some symbols that are in it stand on average; one of them is."""
    places = [row.index(name) for name in names if name in row]
    return sum(places) / len(places)
