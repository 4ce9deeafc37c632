"""The two notations of a task file: what they mean, and what they refuse."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veilgym.envs.causal_circuits.equations import Equation, UniformPrior, parse_model, parse_prior

X = Equation("x", "bx", (("wu", "u"), ("wv", "v")))
Y = Equation("y", "by", (("wx", "x"), ("yu", "u"), ("yv", "v")))
SPEC_MODEL = (
    "x=tanh(bx+wu*u+wv*v), y=tanh(by+wx*x+yu*u+yv*v). "
    "Interventions replace the equation of the clamped node. Unclamped roots u=v=0."
)


@pytest.mark.parametrize(
    "text",
    [
        SPEC_MODEL,
        SPEC_MODEL.split(". ")[0],
        SPEC_MODEL.split(". ")[0] + ".",
        "y = tanh( by + wx * x + yu*u + yv*v ),\n x = tanh(bx + wu*u + wv*v)",
        "x=tanh(bx+wu*u+wv*v), y=tanh(by+wx*x+yu*u+yv*v). Unclamped roots v=u=0.",
    ],
)
def test_parse_model__reads_the_circuit_of_the_specification_parents_first(text):
    assert parse_model(text) == (X, Y)


def test_parse_model__reads_equations_without_bias_and_without_parents():
    assert parse_model("b=tanh(w*a), a=tanh(c)") == (Equation("a", "c", ()), Equation("b", None, (("w", "a"),)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "''"),
        ("x", "'x'"),
        ("x=bx+wu*u", "'x=bx+wu*u'"),
        ("x=sin(bx)", "sin"),
        ("x=tanh()", "x=tanh()"),
        ("x=tanh(bx", "tanh(bx"),
        ("x=tanh(bx))", "tanh(bx))"),
        ("x=tanh(bx-wu*u)", "bx-wu*u"),
        ("x=tanh(2*u)", "2*u"),
        ("x=tanh(bx+)", "''"),
        ("x=tanh(w*u*v)", "w*u*v"),
        ("1x=tanh(b)", "1x=tanh(b)"),
        ("x=tanh(bx); y=tanh(by)", "y=tanh(by)"),
        ("x=tanh(a+b)", "two terms"),
        ("x=tanh(a*u+b*u)", "two terms"),
        ("x=tanh(a), x=tanh(b)", "'x' has two equations"),
        ("x=tanh(w*x)", "cycle"),
        ("x=tanh(a*y), y=tanh(b*x)", "x, y form or follow a cycle"),
        ("x=tanh(a*y), y=tanh(b*z), z=tanh(c*x), r=tanh(d)", "x, y, z"),
        ("x=tanh(bx). Clamps add to the equation.", "Clamps add to the equation"),
        ("x=tanh(bx). Unclamped roots x=0.", "Unclamped roots x=0"),
        ("x=tanh(bx). Unclamped roots u=1.", "Unclamped roots u=1"),
        ("x=tanh(__import__('os'))", "__import__"),
    ],
)
def test_parse_model__refuses_anything_else_and_says_what(text, names):
    with pytest.raises(ValueError, match=re.escape(names)):
        parse_model(text)


def test_parse_prior__reads_both_notations_and_keeps_the_order():
    expected = tuple(
        UniformPrior(name, low, high) for name, low, high in [("b", -0.2, 0.2), ("a", -0.2, 0.2), ("c", 1.0, 1e3)]
    )
    assert parse_prior("b,a ~ Uniform(-0.2,0.2); c ~ Uniform(1, 1e3)") == expected
    assert parse_prior("b,a independently Uniform(-.2,+.2);\nc independently Uniform(1.,1E+3).") == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "''"),
        ("a", "'a'"),
        ("a ~ Normal(0,1)", "Normal"),
        ("a ~ Uniform(0)", "Uniform(0)"),
        ("a ~ Uniform(0,1,2)", "Uniform(0,1,2)"),
        ("a ~ Uniform(1,0)", "Uniform(1,0)"),
        ("a ~ Uniform(nan,1)", "nan"),
        ("a ~ Uniform(0,inf)", "inf"),
        ("a ~ Uniform(0,x)", "Uniform(0,x)"),
        ("~ Uniform(0,1)", "~Uniform(0,1)"),
        ("a b ~~ Uniform(0,1)", "~~"),
        ("a,,b ~ Uniform(0,1)", "a,,b"),
        ("a ~ Uniform(0,1);; b ~ Uniform(0,1)", "''"),
        ("a ~ Uniform(0,1), b ~ Uniform(0,1)", "b~Uniform"),
    ],
)
def test_parse_prior__refuses_anything_else_and_says_what(text, names):
    with pytest.raises(ValueError, match=re.escape(names)):
        parse_prior(text)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.text(max_size=60) | st.text(alphabet="xyuvbw=tanh()+*, .~;Uniform01-e", max_size=80))
def test_parsers__raise_nothing_but_value_error(text):
    for parse in (parse_model, parse_prior):
        with contextlib.suppress(ValueError):
            assert parse(text)
