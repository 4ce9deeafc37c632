"""Transition rules compiled into tables of integers, which the simulation executes.

A rule's variables take the slots 0, 1, ... in order. What the language of rules cannot express is refused here, so a
program that compiles means what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.dynamic_world.grammar import (
    ENTITY_TYPES,
    EVENT_FORMS,
    FLAGS,
    FORM_INDEX,
    OPERATORS,
    RELATIONS,
    Expression,
    HiddenProgram,
    TransitionRule,
    Variable,
)
from veilgym.envs.dynamic_world.program import (
    DISJOINT_IS_CONSISTENT,
    MEMBER_IS_CONSISTENT,
    SUBSET_IS_CONSISTENT,
)

MAX_VARIABLES = 6
_MAX_CHECKS = 8


class Draw(IntEnum):
    """How a variable gets its value; the operands that follow are in columns 1 to 4."""

    ANY = 0  # type
    NEXT_LEVEL = 1  # type, slot
    NEAR_LEVEL = 2  # type, slot
    LOW_LEVEL = 3  # type, levels
    LOCATED_IN = 4  # slot
    CHOICE = 5  # how many of the constants 0, 1, ...
    RANGE = 6  # low, high
    VALUE = 7  # slot
    STATE = 8  # slot of the entity, slot of the flag
    NOT = 9  # slot
    COMPOSE = 10  # slots of operator, left, right


class Check(IntEnum):
    """What a precondition demands; the operands that follow are in columns 1 to 4."""

    NOT_EQUAL = 0  # slot, slot
    ABSENT = 1  # relation, slot, slot
    COUNT_OUT = 2  # relation, slot, limit: fewer than limit
    COUNT_IN = 3  # relation, slot, limit: fewer than limit
    AT_LEAST = 4  # slot, number
    AT_MOST = 5  # slot, number
    MEMBER_IS_CONSISTENT = 6  # slots of entity, set
    SUBSET_IS_CONSISTENT = 7  # slots of child, parent
    DISJOINT_IS_CONSISTENT = 8  # slots of left, right


_CONSISTENCY = (
    (MEMBER_IS_CONSISTENT, Check.MEMBER_IS_CONSISTENT, ("entity", "set")),
    (SUBSET_IS_CONSISTENT, Check.SUBSET_IS_CONSISTENT, ("child_set", "parent_set")),
    (DISJOINT_IS_CONSISTENT, Check.DISJOINT_IS_CONSISTENT, ("left_set", "right_set")),
)
_LARGEST = 10**6
_A_PRECONDITION = "a precondition of the module `program` on the rule's variables"

_Slots = Mapping[str, tuple[int, str]]
"""The slot and the type of each variable."""


@dataclass(frozen=True)
class Transitions:
    """R transition rules as arrays.

    Attributes:
        chances: (2, R) float64: the cumulative shares of the rules in [0, 1], and their probabilities.
        draws: (R, 6, 5) int64, rows of `Draw` and operands, ended by -1.
        checks: (R, 8, 5) int64, rows of `Check` and operands, ended by -1.
        effects: (R, 6) int64, the form's index and the slots of its arguments, ended by -1.
    """

    chances: NDArray[np.float64]
    draws: NDArray[np.int64]
    checks: NDArray[np.int64]
    effects: NDArray[np.int64]


def compile_transitions(program: HiddenProgram) -> Transitions:
    """Compile a program's transition rules.

    Raises:
        ValueError: a rule says what cannot be compiled; the message names the rule and the expression.
    """
    rules = program.transition_rules
    weights = np.array([rule.trigger.weight for rule in rules], np.float64)
    if not weights.sum() > 0:
        raise ValueError(f"transition rules: the weights are {weights.tolist()}, allowed is a positive sum")
    draws = np.full((len(rules), MAX_VARIABLES + 1, 5), -1)
    checks = np.full((len(rules), _MAX_CHECKS + 1, 5), -1)
    effects = np.full((len(rules), 6), -1)
    for row, rule in enumerate(rules):
        slots = {variable.name: (slot, variable.type) for slot, variable in enumerate(rule.trigger.variables)}
        if len(slots) > MAX_VARIABLES or len(slots) < len(rule.trigger.variables):
            _fail(rule, "its variables", f"at most {MAX_VARIABLES}, with different names")
        if len(rule.preconditions) > _MAX_CHECKS:
            _fail(rule, "its preconditions", f"at most {_MAX_CHECKS}")
        for slot, variable in enumerate(rule.trigger.variables):
            known = {name: place for name, place in slots.items() if place[0] < slot}
            _write(draws[row, slot], _draw(rule, variable, known))
        for i, precondition in enumerate(rule.preconditions):
            _write(checks[row, i], _check(rule, precondition, slots))
        _write(effects[row], _effect(rule, slots))
    shares = np.cumsum(weights) / weights.sum()
    return Transitions(np.stack([shares, [rule.probability for rule in rules]]), draws, checks, effects)


def _write(row: NDArray[np.int64], values: tuple[int, ...]) -> None:
    row[: len(values)] = values


def _fail(rule: TransitionRule, what: object, allowed: str) -> NoReturn:
    shown = f"{what.head}{what.arguments}" if isinstance(what, Expression) else what
    raise ValueError(f"transition rule {rule.id!r}: cannot compile {shown}, allowed is {allowed}")


_LEVELLED = ("Entity", "Set")
# What the operands of a drawing expression must be, and what it yields.
_OPERANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "LOCATED_IN": (("Entity",), "Region"),
    "VALUE": (("Number",), "int"),
    "STATE": (("Entity", "Flag"), "bool"),
    "NOT": (("bool",), "bool"),
    "COMPOSE": (("Operator", "int", "int"), "int"),
}
_CHOICES: dict[str, tuple[str, ...]] = {"Operator": OPERATORS, "Flag": FLAGS}
_SIDES: dict[str, tuple[str, ...]] = {
    form.relation: tuple(kind for _, kind in form.fields[:2]) for form in EVENT_FORMS if form.relation
}


def _draw(rule: TransitionRule, variable: Variable, known: _Slots) -> tuple[int, ...]:
    head, arguments, kind = variable.draw.head, variable.draw.arguments, variable.type
    if head in _OPERANDS:
        types, result = _OPERANDS[head]
        if kind == result and _types(arguments, known) == types:
            return Draw[head], *_places(arguments, known)
    elif head == "ANY" and not arguments and kind in ENTITY_TYPES:
        return Draw.ANY, ENTITY_TYPES.index(kind)
    elif head == "CHOICE" and arguments == _CHOICES.get(kind):
        return Draw.CHOICE, len(arguments)
    elif head == "RANGE" and kind == "int":
        numbers = [argument for argument in arguments if type(argument) is int]
        if len(numbers) == len(arguments) == 2 and -_LARGEST <= numbers[0] <= numbers[1] <= _LARGEST:
            return Draw.RANGE, *numbers
    elif kind in _LEVELLED:
        row = ENTITY_TYPES.index(kind)
        if head == "LOW_LEVEL" and len(arguments) == 1 and type(arguments[0]) is int and 0 < arguments[0] <= _LARGEST:
            return Draw.LOW_LEVEL, row, arguments[0]
        if head in ("NEXT_LEVEL", "NEAR_LEVEL") and _types(arguments, known) == (kind,):
            return Draw[head], row, *_places(arguments, known)
    _fail(rule, variable.draw, f"an expression of the module `program` that draws what is of type {kind}")


def _types(names: tuple[Any, ...], slots: _Slots) -> tuple[str, ...]:
    """The types of variables; empty strings for what is none."""
    return tuple(slots[name][1] if isinstance(name, str) and name in slots else "" for name in names)


def _places(names: tuple[Any, ...], slots: _Slots) -> tuple[int, ...]:
    return tuple(slots[name][0] for name in names)


def _check(rule: TransitionRule, condition: Expression, slots: _Slots) -> tuple[int, ...]:
    for pattern, check, names in _CONSISTENCY:
        if condition == pattern and _types(names, slots) == _SIDES[check.name.removesuffix("_IS_CONSISTENT")]:
            return check, *_places(names, slots)
    head, arguments = condition.head, condition.arguments
    types = _types(arguments, slots)
    if head == "NOT_EQUAL" and len(types) == 2 and types[0] == types[1] != "":
        return Check.NOT_EQUAL, *_places(arguments, slots)
    if head == "NOT" and len(arguments) == 1 and isinstance(arguments[0], Expression):
        fact = arguments[0]
        if fact.head in RELATIONS and _types(fact.arguments, slots) == _SIDES[fact.head]:
            return Check.ABSENT, RELATIONS.index(fact.head), *_places(fact.arguments, slots)
    if head == "COMPARE" and len(arguments) == 3:
        return _compare(rule, condition, slots)
    _fail(rule, condition, _A_PRECONDITION)


def _compare(rule: TransitionRule, condition: Expression, slots: _Slots) -> tuple[int, ...]:
    comparison, left, limit = condition.arguments
    if isinstance(limit, int) and not isinstance(limit, bool) and abs(limit) <= _LARGEST:
        if comparison == "<" and isinstance(left, Expression):
            return *_count(rule, left, slots), limit
        if comparison in (">=", "<=") and _types((left,), slots) == ("int",):
            return Check.AT_LEAST if comparison == ">=" else Check.AT_MOST, *_places((left,), slots), limit
    _fail(rule, condition, _A_PRECONDITION)


def _count(rule: TransitionRule, counted: Expression, slots: _Slots) -> tuple[int, ...]:
    fact = counted.arguments[0] if counted.head == "COUNT" and len(counted.arguments) == 1 else None
    if isinstance(fact, Expression) and fact.head in RELATIONS and len(fact.arguments) == 2:
        relation, (left, right), (left_type, right_type) = RELATIONS.index(fact.head), fact.arguments, _SIDES[fact.head]
        if right == "*" and _types((left,), slots) == (left_type,):
            return Check.COUNT_OUT, relation, *_places((left,), slots)
        if left == "*" and _types((right,), slots) == (right_type,):
            return Check.COUNT_IN, relation, *_places((right,), slots)
    _fail(rule, counted, 'COUNT(R(x, "*")) or COUNT(R("*", x)) of a relation R and a variable x of its type')


def _effect(rule: TransitionRule, slots: _Slots) -> tuple[int, ...]:
    effect = rule.effects[0]
    relation = effect.arguments[0] if effect.head == "RELATE" and effect.arguments else None
    index = next((i for key, i in FORM_INDEX.items() if key == (effect.head, relation)), None)
    if len(rule.effects) > 1 or index is None:
        _fail(rule, effect, "one effect, an event form of the module `grammar`")
    names = effect.arguments[1:] if relation is not None else effect.arguments
    wanted = tuple(kind for _, kind in EVENT_FORMS[index].fields)
    if _types(names, slots) != wanted:
        _fail(rule, effect, f"variables of the types {', '.join(wanted)}")
    return index, *_places(names, slots)
