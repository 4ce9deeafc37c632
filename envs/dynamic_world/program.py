"""The hidden program of a task: its vocabulary, its rules of inference and its transitions, as data.

The language of transition rules has these expressions beyond the vocabulary of the specification. For drawing the value
of a variable: ANY(), any symbol of its type; CHOICE(a, b, ...); RANGE(low, high); NEXT_LEVEL(v) and NEAR_LEVEL(v), a
symbol on the hidden level after that of v, or at most one away from it; LOW_LEVEL(n), one on the first n levels;
VALUE(counter), STATE(entity, flag) and LOCATED_IN(entity), what holds now; COMPOSE(operator, a, b), the result of an
operation; NOT(v). For preconditions: COUNT(R(x, "*")), how many y have R(x, y) in the events so far. A relation under a
quantifier is meant with everything that the rules of inference, and the transitivity of SUBSET, add to it.
"""

from __future__ import annotations

from typing import get_args

from veilgym.envs.dynamic_world.grammar import (
    FLAGS,
    Expression,
    HiddenProgram,
    OperatorName,
    PredicateName,
    QuantifierName,
    StructureName,
    TransitionRule,
    Trigger,
    TypeName,
    Variable,
)
from veilgym.envs.dynamic_world.task import Task

Term = Expression | str | bool | int | float

_LARGEST_NUMBER, _LARGEST_AMOUNT = 999, 9
# Few edges at each symbol, most of them taken: then many symbols have the same number of them, one and two steps away,
# and a query can be chosen so that counting says nothing about its answer.
_MOST_ABOVE = _MOST_BELOW = 2
_MOST_PARENTS, _MOST_CHILDREN, _MOST_DISJOINT, _MOST_MEMBERSHIPS = 2, 1, 2, 2
# Members enter at the bottom, so most memberships are inherited.
ENTRY_LEVELS = 3


def expression(head: str, *arguments: Term) -> Expression:
    """An expression with the given head and arguments."""
    return Expression(head, arguments)


def _implies(premise: Expression, conclusion: Expression) -> Expression:
    return expression("IMPLIES", premise, conclusion)


def _both(left: Expression, right: Expression) -> Expression:
    return expression("AND", left, right)


INFERENCE_RULES = (
    _implies(
        _both(expression("ABOVE", "x", "y"), expression("ABOVE", "y", "z")),
        expression("ABOVE", "x", "z"),
    ),
    _implies(expression("ABOVE", "x", "y"), expression("BELOW", "y", "x")),
    _implies(
        _both(expression("MEMBER", "x", "A"), expression("SUBSET", "A", "B")),
        expression("MEMBER", "x", "B"),
    ),
    _implies(
        _both(expression("MEMBER", "x", "A"), expression("DISJOINT", "A", "B")),
        expression("NOT", expression("MEMBER", "x", "B")),
    ),
    _implies(expression("CONNECTED", "x", "y"), expression("CONNECTED", "y", "x")),
    # In the order of time: the last one holds.
    expression(
        "SEQUENCE",
        expression("UPDATE_NUMBER", "counter", "operator", "amount", "before", "after"),
        expression("SET", expression("VALUE", "counter"), "after"),
    ),
    expression(
        "SEQUENCE",
        expression("SET_STATE", "entity", "flag", "before", "after"),
        expression("SET", expression("STATE", "entity", "flag"), "after"),
    ),
    expression(
        "SEQUENCE",
        expression("MOVE", "entity", "origin", "destination"),
        expression("SET", expression("LOCATED_IN", "entity"), "destination"),
    ),
)

# A membership must not be known to be wrong, neither of the set itself nor of one above it.
MEMBER_IS_CONSISTENT = expression(
    "NOT",
    expression(
        "EXISTS",
        "p",
        _both(expression("SUBSET", "set", "p"), expression("NOT", expression("MEMBER", "entity", "p"))),
    ),
)
SUBSET_IS_CONSISTENT = expression(
    "NOT",
    expression(
        "EXISTS",
        "z",
        expression(
            "EXISTS",
            "p",
            expression(
                "AND",
                expression("MEMBER", "z", "child_set"),
                expression("SUBSET", "parent_set", "p"),
                expression("NOT", expression("MEMBER", "z", "p")),
            ),
        ),
    ),
)
DISJOINT_IS_CONSISTENT = expression(
    "NOT",
    expression("EXISTS", "z", _both(expression("MEMBER", "z", "left_set"), expression("MEMBER", "z", "right_set"))),
)


def _fewer(relation: str, left: str, right: str, limit: int) -> Expression:
    return expression("COMPARE", "<", expression("COUNT", expression(relation, left, right)), limit)


def _absent(relation: str, left: str, right: str) -> Expression:
    return expression("NOT", expression(relation, left, right))


_PRECONDITIONS: dict[str, tuple[Expression, ...]] = {
    "move": (expression("NOT_EQUAL", "origin", "destination"),),
    "above": (
        _absent("ABOVE", "higher", "lower"),
        _fewer("ABOVE", "higher", "*", _MOST_BELOW),
        _fewer("ABOVE", "*", "lower", _MOST_ABOVE),
    ),
    "member": (
        _absent("MEMBER", "entity", "set"),
        _fewer("MEMBER", "entity", "*", _MOST_MEMBERSHIPS),
        MEMBER_IS_CONSISTENT,
    ),
    "subset": (
        _absent("SUBSET", "child_set", "parent_set"),
        _fewer("SUBSET", "child_set", "*", _MOST_PARENTS),
        _fewer("SUBSET", "*", "parent_set", _MOST_CHILDREN),
        SUBSET_IS_CONSISTENT,
    ),
    "disjoint": (
        expression("NOT_EQUAL", "left_set", "right_set"),
        _absent("DISJOINT", "left_set", "right_set"),
        _fewer("DISJOINT", "left_set", "*", _MOST_DISJOINT),
        _fewer("DISJOINT", "right_set", "*", _MOST_DISJOINT),
        DISJOINT_IS_CONSISTENT,
    ),
    "connected": (
        expression("NOT_EQUAL", "left_entity", "right_entity"),
        _absent("CONNECTED", "left_entity", "right_entity"),
    ),
    "update_number": (
        expression("COMPARE", ">=", "after", 0),
        expression("COMPARE", "<=", "after", _LARGEST_NUMBER),
    ),
    "set_state": (),
}

_ANY = expression("ANY")
_VARIABLES: dict[str, tuple[Variable, ...]] = {
    "move": (
        Variable("entity", "Entity", _ANY),
        Variable("origin", "Region", expression("LOCATED_IN", "entity")),
        Variable("destination", "Region", _ANY),
    ),
    "above": (
        Variable("higher", "Entity", _ANY),
        Variable("lower", "Entity", expression("NEXT_LEVEL", "higher")),
        Variable("region", "Region", expression("LOCATED_IN", "higher")),
    ),
    "member": (Variable("entity", "Entity", _ANY), Variable("set", "Set", expression("LOW_LEVEL", ENTRY_LEVELS))),
    "subset": (
        Variable("child_set", "Set", _ANY),
        Variable("parent_set", "Set", expression("NEXT_LEVEL", "child_set")),
    ),
    "disjoint": (
        Variable("left_set", "Set", _ANY),
        Variable("right_set", "Set", expression("NEAR_LEVEL", "left_set")),
    ),
    "connected": (Variable("left_entity", "Entity", _ANY), Variable("right_entity", "Entity", _ANY)),
    "update_number": (
        Variable("counter", "Number", _ANY),
        Variable("operator", "Operator", expression("CHOICE", "ADD", "SUBTRACT")),
        Variable("amount", "int", expression("RANGE", 1, _LARGEST_AMOUNT)),
        Variable("before", "int", expression("VALUE", "counter")),
        Variable("after", "int", expression("COMPOSE", "operator", "before", "amount")),
    ),
    "set_state": (
        Variable("entity", "Entity", _ANY),
        Variable("flag", "Flag", expression("CHOICE", *FLAGS)),
        Variable("before", "bool", expression("STATE", "entity", "flag")),
        Variable("after", "bool", expression("NOT", "before")),
    ),
}

_EFFECTS: dict[str, Expression] = {
    "move": expression("MOVE", "entity", "origin", "destination"),
    "above": expression("RELATE", "ABOVE", "higher", "lower", "region"),
    "member": expression("RELATE", "MEMBER", "entity", "set"),
    "subset": expression("RELATE", "SUBSET", "child_set", "parent_set"),
    "disjoint": expression("RELATE", "DISJOINT", "left_set", "right_set"),
    "connected": expression("RELATE", "CONNECTED", "left_entity", "right_entity"),
    "update_number": expression("UPDATE_NUMBER", "counter", "operator", "amount", "before", "after"),
    "set_state": expression("SET_STATE", "entity", "flag", "before", "after"),
}


def make_program(task: Task) -> HiddenProgram:
    """The program of a task's worlds: everything is fixed but the transitions' weights and probabilities."""
    return HiddenProgram(
        types=get_args(TypeName),
        relations=get_args(PredicateName),
        operators=get_args(OperatorName),
        quantifiers=get_args(QuantifierName),
        structures=get_args(StructureName),
        inference_rules=INFERENCE_RULES,
        transition_rules=tuple(
            TransitionRule(
                id=name,
                trigger=Trigger(float(transition.weight), _VARIABLES[name]),
                preconditions=_PRECONDITIONS[name],
                probability=float(transition.probability),
                effects=(_EFFECTS[name],),
            )
            for name, transition in task.transitions.items()
        ),
    )
