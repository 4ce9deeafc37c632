"""The parameters of dynamic worlds: what anyone may know of how worlds are made.

Three axes are independent: the length of proofs, the number of entities, and the number of candidate steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

from veilgym.envs.core.arguments import check_count

LENGTHS = {"short": 4, "medium": 6, "long": 8}
"""The named complexities."""

_SHORTEST, _LONGEST = 2, 99
_MOST_ENTITIES, _MOST_STEPS, _FEWEST_STEPS = 4096, 100_000, 1

# How many levels beyond the proof's own: with them, arguments have neighbours on both sides, as other entities do.
# Down to half of these levels, so that some symbols share one.
_SPARE_ENTITY_LEVELS, _SPARE_SET_LEVELS, _FEWEST_ON_A_LEVEL = 6, 2, 3


@dataclass(frozen=True)
class Allocation:
    """How many entities of each type a world has."""

    entities: int = 56
    sets: int = 48
    regions: int = 8
    counters: int = 16

    @property
    def total(self) -> int:
        """The number of all entities."""
        return self.entities + self.sets + self.regions + self.counters


@dataclass(frozen=True)
class Transition:
    """How often a step selects a transition, relative to the others, and how probably it then happens."""

    weight: float
    probability: float


DEFAULT_TRANSITIONS: dict[str, Transition] = {
    "move": Transition(80, 0.8),
    "above": Transition(230, 0.9),
    "member": Transition(90, 0.7),
    "subset": Transition(240, 1.0),
    "disjoint": Transition(110, 1.0),
    "connected": Transition(40, 0.8),
    "update_number": Transition(110, 0.5),
    "set_state": Transition(100, 0.5),
}

PROVING_TRANSITIONS = ("above", "member", "subset", "disjoint")
"""The transitions without which some family of questions would have no proofs."""


def allocate(entity_count: int) -> Allocation:
    """Divide a number of entities as the default of 128 is divided: 7/16, 3/8, 1/16 and the rest."""
    sets, regions = entity_count * 3 // 8, max(2, entity_count // 16)
    entities = min(entity_count * 7 // 16, entity_count - sets - regions - 1)
    return Allocation(entities, sets, regions, entity_count - entities - sets - regions)


@dataclass(frozen=True)
class Task:
    """A validated choice of parameters.

    Attributes:
        complexity: the number of events in a shortest proof, exactly; 2 to 99.
        simulation_steps: candidate steps, 1 to 100,000.
        allocation: entities by type; at most 4,096 in all.
        transitions: weight and probability by the id of each transition rule.
        entity_levels, set_levels: hidden levels; 0 for the default, 6 and 2 more than the complexity,
            or as few as 3 and 1 more where that would leave fewer than three symbols on each.

    Raises:
        ValueError: a parameter is out of range, or no world could have a proof of that length.
    """

    complexity: int = LENGTHS["short"]
    simulation_steps: int = 1000
    allocation: Allocation = Allocation()
    transitions: Mapping[str, Transition] = field(default_factory=lambda: DEFAULT_TRANSITIONS)
    entity_levels: int = 0
    set_levels: int = 0

    def __post_init__(self) -> None:
        _check_range("complexity", self.complexity, _SHORTEST, _LONGEST)
        _check_range("simulation_steps", self.simulation_steps, _FEWEST_STEPS, _MOST_STEPS)
        self._check_allocation()
        self._check_transitions()
        self._check_levels()

    def _check_allocation(self) -> None:
        for part in fields(self.allocation):
            low = 2 if part.name == "regions" else 1
            _check_range(f"allocation.{part.name}", getattr(self.allocation, part.name), low, _MOST_ENTITIES)
        _check_range("entity_count", self.allocation.total, 1, _MOST_ENTITIES)

    def _check_transitions(self) -> None:
        if set(self.transitions) != set(DEFAULT_TRANSITIONS):
            _fail("transitions", sorted(self.transitions), f"the ids {', '.join(DEFAULT_TRANSITIONS)}")
        for name, transition in self.transitions.items():
            if not 0 <= transition.weight <= 1e6:
                _fail(f"transitions.{name}.weight", transition.weight, "a number from 0 to 1e6")
            if not 0 <= transition.probability <= 1:
                _fail(f"transitions.{name}.probability", transition.probability, "a number from 0 to 1")
        for name in PROVING_TRANSITIONS:
            for part, value in vars(self.transitions[name]).items():
                if not value:
                    _fail(f"transitions.{name}.{part}", value, "a positive number: proofs consist of these events")

    def _check_levels(self) -> None:
        if self.simulation_steps < self.complexity:
            _fail("length", self.complexity, f"at most the number of steps, {self.simulation_steps}")
        counts = self.allocation.entities, self.allocation.sets
        for name, levels, count in zip(("entity_levels", "set_levels"), self.levels, counts, strict=True):
            _check_range(name, levels, self.complexity + 1, _MOST_ENTITIES)
            if levels > count:
                kind = name.removesuffix("_levels")
                need = f"a proof of that length needs {levels} of type {kind}, and a world has {count}"
                _fail("length", self.complexity, f"a shorter one, or more entities: {need}")

    @property
    def levels(self) -> tuple[int, int]:
        """The number of hidden levels of entities, and of sets."""
        allocation = self.allocation
        entity_levels = _default_levels(self.complexity, _SPARE_ENTITY_LEVELS, allocation.entities)
        set_levels = _default_levels(self.complexity, _SPARE_SET_LEVELS, allocation.sets)
        return self.entity_levels or entity_levels, self.set_levels or set_levels


def _default_levels(complexity: int, spare: int, count: int) -> int:
    return max(complexity + (spare + 1) // 2, min(complexity + spare, count // _FEWEST_ON_A_LEVEL))


def complexity_of(length: Any) -> int:
    """The complexity that a name ("short", "medium", "long") or a number stands for.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(length, str):
        if length not in LENGTHS:
            _fail("length", length, f"an integer or one of {', '.join(map(repr, LENGTHS))}")
        return LENGTHS[length]
    _check_range("length", length, _SHORTEST, _LONGEST)
    return int(length)


def make_task(length: Any = "short", entity_count: Any = 128, simulation_steps: Any = 1000) -> Task:
    """The task with the given axes and defaults for the rest."""
    _check_range("entity_count", entity_count, 8, _MOST_ENTITIES)
    return Task(complexity_of(length), check_count("simulation_steps", simulation_steps), allocate(int(entity_count)))


def _check_range(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        _fail(name, value, f"an integer from {low} to {high}")


def _fail(name: str, value: Any, allowed: str) -> NoReturn:
    raise ValueError(f"{name}: got {value!r}, allowed is {allowed}")
