"""The two small notations of a task file: the circuit's equations and the prior of its coefficients."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

_NAME = r"[A-Za-z_]\w*"
_EQUATION = re.compile(rf"({_NAME})=tanh\(([^()]*)\)")
_TERM = re.compile(rf"({_NAME})(?:\*({_NAME}))?")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PRIOR = re.compile(rf"({_NAME}(?:,{_NAME})*)(?:~|independently)Uniform\(({_NUMBER}),({_NUMBER})\)")
# What the notation means in any case; a file may say it again.
_INTERVENTION_REMARK = re.compile(r"Interventions replace the equation of the clamped node")
_ROOT_REMARK = re.compile(rf"Unclamped roots ({_NAME}(?:={_NAME})*)=0")


@dataclass(frozen=True)
class Equation:
    """node = tanh(bias + sum of coefficient * parent).

    Attributes:
        node: The node that the equation determines.
        bias: The coefficient that stands alone, or None.
        weights: Pairs (coefficient, parent node).
    """

    node: str
    bias: str | None
    weights: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class UniformPrior:
    """A coefficient drawn uniformly from [low, high]."""

    coefficient: str
    low: float
    high: float


def parse_model(text: str) -> tuple[Equation, ...]:
    """Read "x=tanh(bx+wu*u), y=tanh(wx*x)" and return the equations, parents before children.

    Nodes without an equation are roots: 0 unless clamped. White space does not count. The sentences "Interventions
    replace the equation of the clamped node." and "Unclamped roots u=v=0." may follow.

    Raises:
        ValueError: the text is not of this form, a node has two equations, or the circuit has a cycle.
    """
    sentences = [part.strip() for part in text.split(". ")]
    sentences[-1] = sentences[-1].removesuffix(".")
    equations = _parse_equations(sentences[0])
    for remark in sentences[1:]:
        _check_remark(remark, equations)
    return _topological(equations)


def parse_prior(text: str) -> tuple[UniformPrior, ...]:
    """Read "a,b ~ Uniform(-1,1); c ~ Uniform(0,2)"; the word "independently" may stand for "~".

    Raises:
        ValueError: the text is not of this form, or low exceeds high.
    """
    priors: list[UniformPrior] = []
    for group in re.sub(r"\s", "", text).rstrip(".").split(";"):
        match = _PRIOR.fullmatch(group)
        if match is None:
            raise ValueError(f"{group!r} is not of the form 'a,b ~ Uniform(low,high)'")
        low, high = float(match[2]), float(match[3])
        if low > high:
            raise ValueError(f"the bounds of {match[1]} must be in order, got Uniform({match[2]},{match[3]})")
        priors += [UniformPrior(name, low, high) for name in match[1].split(",")]
    return tuple(priors)


def model_text(equations: Iterable[Equation]) -> str:
    """The inverse of `parse_model`."""
    return ", ".join(f"{equation.node}=tanh({'+'.join(terms(equation))})" for equation in equations)


def terms(equation: Equation) -> list[str]:
    """The summands in the argument of tanh."""
    bias = [] if equation.bias is None else [equation.bias]
    return bias + [f"{coefficient}*{parent}" for coefficient, parent in equation.weights]


def prior_text(priors: Iterable[UniformPrior]) -> str:
    """The inverse of `parse_prior`."""
    groups = groupby(priors, key=lambda prior: (prior.low, prior.high))
    return "; ".join(
        f"{','.join(prior.coefficient for prior in group)} ~ Uniform({low!r},{high!r})" for (low, high), group in groups
    )


def _parse_equations(text: str) -> list[Equation]:
    compact = re.sub(r"\s", "", text)
    equations = [_parse_equation(part) for part in re.split(r"(?<=\)),", compact)]
    names = [equation.node for equation in equations]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"node {name!r} has two equations, allowed is one")
    return equations


def _parse_equation(text: str) -> Equation:
    match = _EQUATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not of the form 'node=tanh(bias+coefficient*parent+...)'")
    biases: list[str] = []
    weights: list[tuple[str, str]] = []
    for part in match[2].split("+"):
        term = _TERM.fullmatch(part)
        if term is None:
            raise ValueError(f"{part!r} in {text!r} is neither a coefficient nor coefficient*parent")
        if term[2] is None:
            biases.append(term[1])
        else:
            weights.append((term[1], term[2]))
    parents = [parent for _, parent in weights]
    if len(biases) > 1 or len(set(parents)) < len(parents):
        raise ValueError(f"{text!r} has two terms of one kind, allowed are one bias and one term for each parent")
    return Equation(match[1], biases[0] if biases else None, tuple(weights))


def _check_remark(remark: str, equations: list[Equation]) -> None:
    stated = _ROOT_REMARK.fullmatch(remark)
    roots = {parent for e in equations for _, parent in e.weights} - {e.node for e in equations}
    if stated is not None and set(stated[1].split("=")) <= roots:
        return
    if _INTERVENTION_REMARK.fullmatch(remark) is None:
        raise ValueError(f"{remark!r} is not understood; allowed after the equations is that unclamped roots are 0")


def _topological(equations: list[Equation]) -> tuple[Equation, ...]:
    ordered: list[Equation] = []
    waiting = list(equations)
    while waiting:
        blocked = {equation.node for equation in waiting}
        ready = [e for e in waiting if not blocked & {parent for _, parent in e.weights}]
        if not ready:
            raise ValueError(f"the circuit must be acyclic, but {', '.join(sorted(blocked))} form or follow a cycle")
        ordered += ready
        waiting = [e for e in waiting if e not in ready]
    return tuple(ordered)
