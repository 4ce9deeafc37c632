"""Many worlds at once, as arrays: the only implementation, from which records and observations are made.

Letters: B worlds, T candidate steps, N symbols, F flags, K the complexity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.elementary import kernel
from veilgym.envs.core.seeding import Split, check_seed, check_split, derive_key
from veilgym.envs.dynamic_world import query, simulation
from veilgym.envs.dynamic_world.grammar import FLAGS, PUBLIC_FAMILIES, HiddenProgram
from veilgym.envs.dynamic_world.program import make_program
from veilgym.envs.dynamic_world.query import ask, examine
from veilgym.envs.dynamic_world.simulation import LEVEL, QUERY, draw_words, replay, run, set_up
from veilgym.envs.dynamic_world.task import Task
from veilgym.envs.dynamic_world.transitions import compile_transitions

FAMILY = "DynamicWorld-v0"

_MOST_ATTEMPTS = 1000
_FEWEST_ATTEMPTS, _MOST_WORK = 200, 1_000_000  # the latter in steps and symbols
# More than half of the default worlds have a question of the strict kind, so that hardly any needs more attempts.
_STRICT_ATTEMPTS = 20
_TOP_BIT = np.uint64(31)


@dataclass(frozen=True)
class Worlds:
    """B worlds of one task. Symbols are numbered by type: entities, sets, regions, counters.

    Attributes:
        initial: (B, 2 + F, N) int32: location, value and flags at time 0; 0 where a symbol has none.
        events: (B, T, 7) int32: time, index of the form, arguments; 0 from `num_events` on.
        num_events: (B,) int32.
        queries: (B, 4) int32: index of the public family, both arguments, index of the matching.
        is_yes: (B,) bool, the answers; hidden.
        proofs: (B, K) int32, rows of the events of a shortest proof; hidden.
    """

    initial: NDArray[np.int32]
    events: NDArray[np.int32]
    num_events: NDArray[np.int32]
    queries: NDArray[np.int32]
    is_yes: NDArray[np.bool_]
    proofs: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"Worlds(batch={len(self.num_events)})"

    def only(self, i: int) -> Worlds:
        """World `i` as a batch of one, as views."""
        return Worlds(*(array[i : i + 1] for array in vars(self).values()))


class Simulator:
    """Makes the worlds of a task, by its own program or another one. Not to be shared between threads.

    Attributes:
        task: The task.
        program: Its hidden program, whose transition rules are what is executed.
        state: The hidden state of the world made last, see `simulation.working_space`.
    """

    def __init__(self, task: Task, program: HiddenProgram | None = None) -> None:
        self.task = task
        self.program = make_program(task) if program is None else program
        self._laws = simulation.pack(task, compile_transitions(self.program))
        self.state = simulation.working_space(task)
        self._graphs = query.working_space(task)

    def make(self, keys: NDArray[np.uint64], indices: NDArray[np.uint64]) -> Worlds:
        """Make a batch of worlds.

        Args:
            keys: (B,) uint64, the key of each world's sequence.
            indices: (B,) uint64, its place in the sequence.

        Raises:
            ValueError: the task's worlds have no question of the asked complexity.
        """
        worlds = room_for(self.task, len(keys))
        self.make_into(keys, indices, np.ones(len(keys), np.bool_), worlds)
        return worlds

    def make_into(
        self, keys: NDArray[np.uint64], indices: NDArray[np.uint64], which: NDArray[np.bool_], worlds: Worlds
    ) -> None:
        """`make`, into the rows of `worlds` where `which`; the rows of events after the last are 0."""
        arrays = worlds.initial, worlds.events, worlds.num_events, worlds.queries, worlds.is_yes, worlds.proofs
        most = _most_attempts(self.task)
        failed = _make(self._laws, self.state, self._graphs, most, keys, indices, which, *arrays)
        if failed >= 0:
            _give_up(self.task, PUBLIC_FAMILIES[worlds.queries[failed, 0]])

    def evolve(self, key: int, index: int, attempt: int, worlds: Worlds) -> None:
        """Let the first world of a batch happen, without a question; the state is that at its end."""
        arrays = worlds.initial[0], worlds.events[0]
        place = np.uint64(key), np.uint64(index), attempt
        worlds.num_events[0] = _evolve(self._laws, self.state, *place, *arrays)

    def replay(self, worlds: Worlds, levels: NDArray[np.int32]) -> None:
        """Bring the state to the end of the first world of a batch, whose symbols are on the given levels, (N,)."""
        self.state[0][LEVEL] = levels
        replay(self._laws[0], self.state, worlds.initial[0], worlds.events[0], worlds.num_events[0])

    def examine(self, worlds: Worlds, is_strict: bool) -> tuple[bool, NDArray[np.uint64]]:
        """Check the answer to the question about the first world of a batch, and write a shortest proof of it.

        Returns:
            Whether the question is as hard as asked; and (3, 2) numbers of facts around its arguments. See
            `query.examine`.
        """
        keys, (query, is_yes, proof) = (
            np.zeros((3, 2), np.uint64),
            (worlds.queries[0], worlds.is_yes[0], worlds.proofs[0]),
        )
        events, count = worlds.events[0], worlds.num_events[0]
        is_hard = examine(self._laws[0], events, count, self._graphs, query, is_yes, is_strict, keys, proof)
        return bool(is_hard), keys


def room_for(task: Task, batch: int) -> Worlds:
    """Zeroed arrays for B worlds."""
    return Worlds(
        initial=np.zeros((batch, 2 + len(FLAGS), task.allocation.total), np.int32),
        events=np.zeros((batch, task.simulation_steps, simulation.EVENT_COLUMNS), np.int32),
        num_events=np.zeros(batch, np.int32),
        queries=np.zeros((batch, 4), np.int32),
        is_yes=np.zeros(batch, np.bool_),
        proofs=np.zeros((batch, task.complexity), np.int32),
    )


def sequence_name(task: Task) -> str:
    """What the keys of a task's worlds are derived from: worlds of different lengths share nothing."""
    return f"{FAMILY} {task.complexity}"


def sequence_key(task: Task, split: Split, seed: int) -> int:
    """The key of the worlds that belong to a task's length, a split and a seed."""
    return derive_key(sequence_name(task), check_split(split), check_seed(seed))


def _most_attempts(task: Task) -> int:
    """How many worlds to try for one question: fewer where a world is large, so that failing takes a second or two."""
    return min(_MOST_ATTEMPTS, _FEWEST_ATTEMPTS + _MOST_WORK // (task.allocation.total + task.simulation_steps))


def _give_up(task: Task, family: str) -> NoReturn:
    raise ValueError(
        f"no question of the family {family} with a proof of {task.complexity} events in {_most_attempts(task)} "
        f"attempts at a world of {task.allocation.total} entities and {task.simulation_steps} steps: allowed is a "
        "smaller length, or more steps for each entity"
    )


@kernel
def _evolve(laws, state, key, index, attempt, initial, events):  # type: ignore[no-untyped-def]
    set_up(laws[0], state, key, index, attempt, initial)
    return run(laws, state, key, index, attempt, events)


@kernel
def _make(laws, state, graphs, most, keys, indices, which, initial, events, num_events, queries, is_yes, proofs):  # type: ignore[no-untyped-def]
    """Make worlds until one fails; return its place in the batch, or -1 if none does."""
    sizes, words = laws[0], state[4]
    for i in range(keys.size):
        if not which[i]:
            continue
        # Thrown once, whatever becomes of the attempts: so neither is tied to which worlds have a question.
        draw_words(words, 1, keys[i], indices[i], 0, QUERY, 0)
        family, yes = np.int64(words[0, 0] >> _TOP_BIT) & 1, (words[1, 0] >> _TOP_BIT) & np.uint64(1) == 1
        queries[i, 0], is_yes[i] = family, yes
        found, attempt = False, 0
        while not found and attempt < most:
            num_events[i] = _evolve(laws, state, keys[i], indices[i], attempt, initial[i], events[i])
            draw_words(words, 1, keys[i], indices[i], attempt, QUERY, 1)
            kind = family, yes, proofs.shape[1], attempt < _STRICT_ATTEMPTS
            found = ask(sizes, events[i], num_events[i], graphs, kind, words[0, 0], queries[i], proofs[i])
            attempt += 1
        if not found:
            return i
        for row in range(num_events[i], events.shape[1]):
            for column in range(events.shape[2]):
                events[i, row, column] = 0
    return -1


def make_worlds(task: Task, count: int, seed: int, split: Split = "train", first: int = 0) -> Worlds:
    """Worlds `first` to `first + count - 1` of a seed's sequence, as arrays."""
    keys = np.full(count, sequence_key(task, split, seed), np.uint64)
    return Simulator(task).make(keys, np.arange(first, first + count, dtype=np.uint64))
