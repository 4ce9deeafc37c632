"""Running a hidden system: one trial by the book, and programs as arrays that compiled code can run exactly.

Letters: R rules, M attributes, F flags, S = 4 * 2**F states. A state is a number whose bits are: record present (1),
invalidated (2), and one bit for each flag.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.elementary import kernel
from veilgym.envs.hidden_system.grammar import (
    ABSENT,
    INVALIDATED,
    PRESENT,
    RECORD,
    AttributeVocabulary,
    Condition,
    HiddenRule,
    HiddenSystem,
)

PRESENT_BIT, INVALIDATED_BIT, FIRST_FLAG_BIT = 1, 2, 4
ADD_RECORD, INVALIDATE_RECORD, SET_FLAG = range(3)
ACTIONS = ("ADD_RECORD", "INVALIDATE_RECORD", "SET_FLAG")
MOST_FLAGS = 16

# Columns of a rule table.
EVENT, ACTION, TARGET, MASK, WANTED = range(5)
RULE_COLUMNS = 5
_NEVER = -1  # a wanted state that no state equals

LOWEST, HIGHEST = -(2**15), 2**15 - 1  # of a level


@dataclass
class State:
    """The state of one trial."""

    record: str = ABSENT
    invalidated: bool = False
    flags: set[str] = field(default_factory=set)


def run_trial(
    system: HiddenSystem, attributes: Mapping[str, int], events: Sequence[str], rng: np.random.Generator
) -> State:
    """One independent trial, rule by rule as specified: the reference semantics of the language."""
    state = State()
    for event in events:
        for rule in system.rules:
            matches = rule.on_event == event and all(holds(c, attributes, state) for c in rule.conditions)
            if matches and rng.random() < rule.probability:
                apply(rule, state)
    return state


def holds(condition: Condition, attributes: Mapping[str, int], state: State) -> bool:
    """Whether a condition is true for these attributes in this state."""
    if condition.source == "attribute":
        level = attributes[condition.key]
        match condition.operator:
            case "EQ":
                return level == condition.value
            case "LE":
                return level <= condition.value  # type: ignore[operator]
            case _:
                return level > condition.value  # type: ignore[operator]
    if condition.key == RECORD:
        return state.record == condition.value
    is_set = state.invalidated if condition.key == INVALIDATED else condition.key in state.flags
    return is_set == (condition.value if condition.operator == "EQ" else True)


def apply(rule: HiddenRule, state: State) -> None:
    """Apply the action of a triggered rule."""
    match rule.action:
        case "SET_FLAG":
            state.flags.add(rule.target)
        case "ADD_RECORD":
            if not state.invalidated:
                state.record = PRESENT
        case "INVALIDATE_RECORD":
            state.record, state.invalidated = ABSENT, True


@dataclass(frozen=True, repr=False)
class Program:
    """A hidden system as arrays.

    Attributes:
        rules: (R, 5) int64 with the columns event index, action, bits that the action sets, bits of the state that the
            conditions look at, and the value wanted of these bits.
        probability: (R,) float64.
        bounds: (R, M, 2) int64, the lowest and highest level of each attribute at which the rule is tried.
        flags: Names of the F flags.
    """

    rules: NDArray[np.int64]
    probability: NDArray[np.float64]
    bounds: NDArray[np.int64]
    flags: tuple[str, ...]

    @property
    def states(self) -> int:
        """S."""
        return FIRST_FLAG_BIT << len(self.flags)


def compile_system(system: HiddenSystem, events: Sequence[str], attributes: AttributeVocabulary) -> Program:
    """Turn a checked system into arrays.

    Raises:
        ValueError: the system has more than `MOST_FLAGS` flags.
    """
    flags = system.flags
    if len(flags) > MOST_FLAGS:
        raise ValueError(f"hidden_system.rules: got {len(flags)} different flags, allowed are at most {MOST_FLAGS}")
    rules = np.zeros((len(system.rules), RULE_COLUMNS), np.int64)
    bounds = np.tile(np.array([LOWEST, HIGHEST], np.int64), (len(system.rules), len(attributes), 1))
    for row, limits, rule in zip(rules, bounds, system.rules, strict=True):
        row[EVENT], row[ACTION] = list(events).index(rule.on_event), ACTIONS.index(rule.action)
        row[TARGET] = _flag_bit(flags, rule.target) if rule.action == "SET_FLAG" else PRESENT_BIT
        for condition in rule.conditions:
            if condition.source == "attribute":
                _narrow(limits[list(attributes).index(condition.key)], condition)
            else:
                _require(row, condition, flags)
    return Program(rules, np.array([rule.probability for rule in system.rules]), bounds, flags)


def _flag_bit(flags: Sequence[str], name: str) -> int:
    return FIRST_FLAG_BIT << flags.index(name)


def _narrow(limits: NDArray[np.int64], condition: Condition) -> None:
    """Intersect a range of levels with a condition; an empty range is one whose lower end is above the upper one."""
    value = float(condition.value)  # type: ignore[arg-type]
    low = {"EQ": math.ceil(value), "LE": LOWEST, "GT": math.floor(value) + 1}[condition.operator]
    high = {"EQ": math.floor(value), "LE": math.floor(value), "GT": HIGHEST}[condition.operator]
    limits[0], limits[1] = max(limits[0], min(low, HIGHEST + 1)), min(limits[1], max(high, LOWEST - 1))


def _require(row: NDArray[np.int64], condition: Condition, flags: Sequence[str]) -> None:
    """Add a condition on the state to a rule."""
    if condition.key == RECORD:
        bit, wants_set = PRESENT_BIT, condition.value == PRESENT
    else:
        bit = INVALIDATED_BIT if condition.key == INVALIDATED else _flag_bit(flags, condition.key)
        wants_set = condition.operator == "IS_SET" or condition.value is True
    wanted = bit if wants_set else 0
    if row[WANTED] == _NEVER or (row[MASK] & bit and (row[WANTED] & bit) != wanted):
        row[WANTED] = _NEVER
    else:
        row[WANTED] |= wanted
    row[MASK] |= bit


@kernel
def activate(bounds, attributes, active):  # type: ignore[no-untyped-def]
    """Say which rules the attributes allow.

    Args:
        bounds: (R, M, 2) integers.
        attributes: (M,) integers.
        active: (R,) bool, written.
    """
    for rule in range(bounds.shape[0]):
        active[rule] = True
        for m in range(bounds.shape[1]):
            active[rule] &= (bounds[rule, m, 0] <= attributes[m]) & (attributes[m] <= bounds[rule, m, 1])


@kernel
def start(mass):  # type: ignore[no-untyped-def]
    """Put all mass on the initial state of a trial."""
    mass[:] = 0.0
    mass[0] = 1.0


@kernel
def propagate(rules, probability, active, event, mass):  # type: ignore[no-untyped-def]
    """Carry the distribution over states through one event: each applicable rule splits a state's mass in two.

    Equal states share an entry, so they are merged at once. An action leaves the states it leads to as they are, so
    splitting in place is safe.

    Args:
        rules: (R, 5) integers, probability: (R,) float64, active: (R,) bool.
        event: index.
        mass: (S,) float64, changed in place.
    """
    for rule in range(probability.size):
        if rules[rule, EVENT] == event and active[rule]:
            p, mask, wanted = probability[rule], rules[rule, MASK], rules[rule, WANTED]
            action, bits = rules[rule, ACTION], rules[rule, TARGET]
            for state in range(mass.size):
                if state & mask == wanted and mass[state] > 0.0:
                    if action == SET_FLAG:
                        after = state | bits
                    elif action == INVALIDATE_RECORD:
                        after = (state & ~PRESENT_BIT) | INVALIDATED_BIT
                    else:
                        after = state if state & INVALIDATED_BIT else state | PRESENT_BIT
                    if after != state:
                        moved = p * mass[state]
                        mass[after] += moved
                        mass[state] -= moved


@kernel
def mass_where(mass, bit):  # type: ignore[no-untyped-def]
    """The probability that `bit` of the state is set."""
    total = 0.0
    for state in range(mass.size):
        if state & bit:
            total += mass[state]
    return total
