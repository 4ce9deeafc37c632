"""How worlds of arrays are written as records, and records as arrays: names of symbols, rows of events.

Symbols are numbered by type in the order of `ENTITY_TYPES`; a name is the type's letter and a number within the type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.dynamic_world.grammar import (
    ENTITY_TYPES,
    EVENT_FORMS,
    FLAGS,
    OPERATORS,
    Entity,
    WorldEvent,
    WorldState,
    form_of,
)
from veilgym.envs.dynamic_world.simulation import EVENT_COLUMNS, FLAG, LEVEL, LOCATION, VALUE
from veilgym.envs.dynamic_world.task import Task

_LETTERS = dict(zip(ENTITY_TYPES, "ESRC", strict=True))


class Notation:
    """The names of a task's symbols, and the readings of its arrays. N symbols, E entities proper, F flags.

    Attributes:
        names: the N names.
        entities: the N typed symbols.
    """

    def __init__(self, task: Task) -> None:
        allocation = task.allocation
        counts = (allocation.entities, allocation.sets, allocation.regions, allocation.counters)
        digits = len(str(max(counts)))
        self.entities = [
            Entity(f"{_LETTERS[kind]}{number:0{digits}d}", kind)  # type: ignore[arg-type]
            for kind, count in zip(ENTITY_TYPES, counts, strict=True)
            for number in range(1, count + 1)
        ]
        self.names = [entity.id for entity in self.entities]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._num_entities = allocation.entities
        self._levelled = self.names[: allocation.entities + allocation.sets]
        self._first_counter = allocation.total - allocation.counters
        read_symbol = self.names.__getitem__
        readers: dict[str, Callable[[int], Any]] = dict.fromkeys(ENTITY_TYPES, read_symbol)
        readers |= {"Operator": OPERATORS.__getitem__, "Flag": FLAGS.__getitem__, "int": int, "bool": bool}
        self._forms = [
            (
                form.kind,
                form.relation,
                [readers[kind] for _, kind in form.fields],
                [name for name, _ in form.fields],
                # Entities come first among the arguments of every form.
                sum(kind in ENTITY_TYPES for _, kind in form.fields),
            )
            for form in EVENT_FORMS
        ]

    def events(self, rows: NDArray[np.int32], first: int = 1) -> list[WorldEvent]:
        """The events of some rows, (E, 7) int32, of which the first has the given number."""
        return [self._event(number, row) for number, row in enumerate(rows.tolist(), first)]

    def _event(self, number: int, row: Sequence[int]) -> WorldEvent:
        time, index, *arguments = row
        kind, relation, readers, fields, num_participants = self._forms[index]
        values = [read(argument) for read, argument in zip(readers, arguments)]  # noqa: B905, rows are padded
        if relation is None:
            named: dict[str, Any] = dict(zip(fields, values))  # noqa: B905
        else:
            named = {"relation": relation}
            named.update(zip(fields, values))  # noqa: B905
        return WorldEvent(f"V{number:05d}", time, kind, values[:num_participants], named)

    def rows(self, events: Sequence[WorldEvent]) -> NDArray[np.int32]:
        """The inverse of `events`."""
        rows = np.zeros((len(events), EVENT_COLUMNS), np.int32)
        codes: dict[Any, int] = {**self.numbers, **{name: i for i, name in enumerate(OPERATORS)}}
        codes |= {name: i for i, name in enumerate(FLAGS)}
        for row, event in zip(rows, events, strict=True):
            form = form_of(event)
            values = [event.arguments[name] for name, _ in form.fields]
            written = [codes[value] if isinstance(value, str) else int(value) for value in values]
            row[: 2 + len(written)] = event.time, EVENT_FORMS.index(form), *written
        return rows

    def state(
        self, changing: NDArray[np.int32], facts: NDArray[np.uint64] | None, levels: NDArray[np.int32]
    ) -> WorldState:
        """A state of the world.

        Args:
            changing: (2 + F, N) int32: location, value, flags.
            facts: the direct facts, see `simulation.working_space`, or None for no facts.
            levels: (N,) int32.
        """
        entities, counters = self.names[: self._num_entities], self.names[self._first_counter :]
        pairs = [[]] * 5 if facts is None else self._pairs(facts)
        places, values, *flags = (row.tolist() for row in changing)
        levelled = dict(zip(self._levelled, levels.tolist(), strict=False))
        return WorldState(
            locations={name: self.names[place] for name, place in zip(entities, places, strict=False)},
            directed_order_relations=pairs[0],
            memberships=pairs[1],
            subset_relations=pairs[2],
            disjoint_relations=pairs[3],
            connections=pairs[4],
            numeric_values=dict(zip(counters, values[self._first_counter :], strict=True)),
            boolean_flags={
                name: dict(zip(FLAGS, map(bool, of_name), strict=True))
                for name, *of_name in zip(entities, *flags, strict=False)
            },
            hidden_generation_attributes={"levels": levelled},
        )

    def _pairs(self, facts: NDArray[np.uint64]) -> list[list[tuple[str, str]]]:
        count = len(self.names)
        bits = np.unpackbits(facts.astype("<u8").view(np.uint8), axis=-1, bitorder="little", count=count)
        # Both sides of a symmetric relation are facts; the pair whose first symbol comes first stands for them.
        bits[3:] = np.triu(bits[3:])
        pairs: list[list[tuple[str, str]]] = [[] for _ in bits]
        for place in np.flatnonzero(bits.view(np.bool_)).tolist():
            relation, pair = divmod(place, count * count)
            left, right = divmod(pair, count)
            pairs[relation].append((self.names[left], self.names[right]))
        return pairs


def changing(symbols: NDArray[np.int32]) -> NDArray[np.int32]:
    """The rows of a state's symbols that change in time, in the order of `Worlds.initial`."""
    return symbols[[LOCATION, VALUE, *range(FLAG, len(symbols))]]


def levels(symbols: NDArray[np.int32]) -> NDArray[np.int32]:
    """The hidden levels of a state's symbols."""
    return np.asarray(symbols[LEVEL])
