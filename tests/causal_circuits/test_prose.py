"""The prose of circuits: it tells every field of the task and every reading, and reads back exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veilgym.envs.causal_circuits.equations import Equation, UniformPrior
from veilgym.envs.causal_circuits.prose import SKINS, parse, render
from veilgym.envs.causal_circuits.records import CircuitPayload, Measurement, generate_skeletons, renderer_payload
from veilgym.envs.causal_circuits.task import Experiment, Task, load_task, task_file
from veilgym.envs.core.records import to_json


def payload_of_task(task: Task, value: float = 0.25) -> CircuitPayload:
    """A payload in which every initial query reads `value` everywhere, and the first experiment has been run once."""
    values = (float(np.float32(value)),) * len(task.outputs)
    first = task.experiments[0]
    bought = (Measurement(first.id, values),) if first.cost <= task.budget else ()
    left = task.budget - len(bought) * first.cost
    return CircuitPayload("causal_circuits", task_file(task), (values,) * len(task.initial_queries), left, bought)


def round_trip(payload: CircuitPayload, is_interactive: bool = False) -> str:
    told = render(payload, "plain", is_interactive)
    assert parse(told.text, "plain", told.names) == payload
    return told.text


@pytest.mark.parametrize("is_interactive", [False, True])
def test_thousands_of_episodes_read_back(is_interactive: bool, chain: Task) -> None:
    rng = np.random.default_rng(0)
    for task in (load_task(), chain):
        for skeleton in generate_skeletons(1000, task=task):
            runs = [e.id for e in task.experiments for _ in range(e.max_replicates)]
            order = rng.permutation(runs)[: rng.integers(0, 7)].tolist()
            round_trip(renderer_payload(skeleton, order), is_interactive)


def other_experiment(**change: Any) -> Any:
    def changed(task: Task) -> tuple[Experiment, ...]:
        return (task.experiments[0], replace(task.experiments[1], **change), *task.experiments[2:])

    return changed


CHANGES: list[tuple[str, Any]] = [
    ("task_id", "another"),
    ("version", "0.2.1"),
    ("title", "Another title: with (marks) - and 1. numbers"),
    ("title", "Two\n\nlines"),
    ("title", "Measurements"),
    ("title", "Task: other"),
    ("instructions", ""),
    ("instructions", "Find it: out.\n\nThe circuit\nx = tanh(b)"),
    ("instructions", '"quoted"'),
    ("instructions", "caf\u00e9"),
    ("instructions", " spaces "),
    ("budget", 7),
    ("budget", 1),
    ("budget", 0),
    ("equations", lambda task: (task.equations[0], replace(task.equations[1], bias=None))),
    ("equations", lambda task: (replace(task.equations[0], weights=(("wv", "u"), ("wu", "v"))), task.equations[1])),
    (
        "equations",
        lambda task: (
            replace(task.equations[0], node="z"),
            Equation("y", "by", (("wx", "z"), ("yu", "u"), ("yv", "v"))),
        ),
    ),
    ("priors", lambda task: (replace(task.priors[0], low=-0.3), *task.priors[1:])),
    ("priors", lambda task: (*task.priors[:-1], replace(task.priors[-1], high=0.1 + 0.2))),
    ("priors", lambda task: task.priors[::-1]),
    ("outputs", ("y", "x")),
    ("outputs", ("y", "u")),
    ("noise_std", (0.035, 0.036)),
    ("noise_std", (0.0, 5e-324)),
    ("scale", (0.035, 0.07)),
    ("scale", (1e-5, 1e5)),
    ("initial_queries", ()),
    ("initial_queries", ((),)),
    ("initial_queries", ((("u", 0.0), ("v", 0.1)),)),
    ("initial_queries", ((), (("x", -0.0),))),
    ("experiments", lambda task: task.experiments[::-1]),
    ("experiments", lambda task: task.experiments[:3]),
    ("experiments", other_experiment(id="other")),
    ("experiments", other_experiment(id="two words, (so): 1; costs 3 credits")),
    ("experiments", other_experiment(id='"')),
    ("experiments", other_experiment(label='Other (label): "x"; costs 2 credits')),
    ("experiments", other_experiment(label="clamp-u-1")),
    ("experiments", other_experiment(label="\n\nWhat to predict\n")),
    ("experiments", other_experiment(query=(("u", 0.3),))),
    ("experiments", other_experiment(query=(("u", -0.4), ("x", 1e-9)))),
    ("experiments", other_experiment(query=())),
    ("experiments", other_experiment(cost=2)),
    ("experiments", other_experiment(max_replicates=1)),
    ("prediction_queries", lambda task: task.prediction_queries[::-1]),
    ("prediction_queries", lambda task: task.prediction_queries[:1]),
    ("prediction_queries", lambda task: (*task.prediction_queries, ())),
    ("prediction_queries", lambda task: ((("u", -0.8000000000000002), ("v", -0.8)), *task.prediction_queries[1:])),
]


@pytest.mark.parametrize(("field", "value"), CHANGES, ids=[f"{field}-{i}" for i, (field, _) in enumerate(CHANGES)])
@pytest.mark.parametrize("is_interactive", [False, True])
def test_a_changed_parameter_changes_the_text_and_reads_back(field: str, value: Any, is_interactive: bool) -> None:
    task = load_task()
    changed = replace(task, **{field: value(task) if callable(value) else value})
    if field == "equations":  # coefficients without a use
        used = {name for e in changed.equations for name in (e.bias, *(weight for weight, _ in e.weights))}
        changed = replace(changed, priors=tuple(prior for prior in task.priors if prior.coefficient in used))
        nodes = {equation.node for equation in changed.equations}
        if "x" not in nodes:
            queries = tuple(q for q in changed.prediction_queries if "x" not in dict(q))
            experiments = tuple(e for e in changed.experiments if "x" not in dict(e.query))
            changed = replace(changed, outputs=("z", "y"), prediction_queries=queries, experiments=experiments)
    assert round_trip(payload_of_task(changed), is_interactive) != round_trip(payload_of_task(task), is_interactive)


def test_clamps_have_no_order(chain: Task) -> None:
    """Equal payloads have equal texts, also after a way through JSON."""
    turned = replace(chain, prediction_queries=tuple(query[::-1] for query in chain.prediction_queries))
    assert turned != chain
    assert payload_of_task(turned) == payload_of_task(chain)
    for payload in (payload_of_task(turned), payload_of_task(chain)):
        for stored in (payload, msgspec.json.decode(to_json(payload), type=CircuitPayload)):
            assert render(stored, "plain").text == render(payload_of_task(chain), "plain").text


def test_the_changes_touch_every_field() -> None:
    assert {field for field, _ in CHANGES} == set(Task.__dataclass_fields__)


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
numbers = st.floats(-1e6, 1e6)
texts = st.text(max_size=30)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """Any task: names, numbers and free text of any kind."""
    nodes = draw(st.lists(names, min_size=2, max_size=5, unique=True))
    taken = set(nodes)
    equations: list[Equation] = []
    priors: list[UniformPrior] = []

    def coefficient() -> str:
        name = draw(names.filter(lambda name: name not in taken))
        taken.add(name)
        low, high = sorted((draw(numbers), draw(numbers)))
        priors.append(UniformPrior(name, low, high))
        return name

    roots = draw(st.integers(1, len(nodes) - 1))
    for i in range(roots, len(nodes)):
        parents = draw(st.lists(st.sampled_from(nodes[:i]), min_size=1, unique=True))
        bias = coefficient() if draw(st.booleans()) else None
        equations.append(Equation(nodes[i], bias, tuple((coefficient(), parent) for parent in parents)))
    known = {node for e in equations for node in (e.node, *(parent for _, parent in e.weights))}
    queries = st.dictionaries(st.sampled_from(sorted(known)), numbers).map(lambda query: tuple(query.items()))
    outputs = tuple(draw(st.lists(st.sampled_from(sorted(known)), min_size=1, unique=True)))
    ids = draw(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4, unique=True))
    task = Task(
        task_id=draw(texts.filter(bool)),
        version=draw(texts.filter(bool)),
        title=draw(texts.filter(bool)),
        instructions=draw(texts),
        budget=draw(st.integers(0, 99)),
        equations=tuple(equations),
        priors=tuple(priors),
        outputs=outputs,
        noise_std=tuple(draw(st.floats(0, 1e6)) for _ in outputs),
        scale=tuple(draw(st.floats(0, 1e6, exclude_min=True)) for _ in outputs),
        initial_queries=tuple(draw(st.lists(queries, max_size=2))),
        experiments=tuple(
            Experiment(name, draw(texts) or name, draw(queries), draw(st.integers(1, 127)), draw(st.integers(1, 127)))
            for name in ids
        ),
        prediction_queries=tuple(draw(st.lists(queries, min_size=1, max_size=3))),
    )
    return load_task({**document_of(task)})


def document_of(task: Task) -> dict[str, Any]:
    """Through a document, so that the equations have the order that the package gives them."""
    document: dict[str, Any] = msgspec.to_builtins(task_file(task))
    return document


@given(task=tasks(), is_interactive=st.booleans(), value=st.floats(-1e6, 1e6, width=32))
# Drawing a whole task takes a while.
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_task_and_any_reading_reads_back(task: Task, is_interactive: bool, value: float) -> None:
    round_trip(payload_of_task(task, value), is_interactive)


def test_the_text_states_what_the_file_says() -> None:
    text = round_trip(payload_of_task(load_task()))
    for part in (
        "x = tanh(bx + wu*u + wv*v)",
        "y = tanh(by + wx*x + yu*u + yv*v)",
        "bx, by: uniform between -0.2 and 0.2",
        "The budget is 8 credits.",
        "- clamp-x-2 (Clamp x to 0.4): x = 0.4; costs 1 credit; at most 2 runs",
        "Credits left: 7 of 8.",
        "8. v = 0.6, x = -0.6",
        "8 rows of 2 numbers",
        "- y: 0.035",
    ):
        assert part in text
    assert text.isascii()
    assert "np." not in text
    assert '{"action_id": "clamp-u-0"}' in round_trip(payload_of_task(load_task()), is_interactive=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x = 0.25", "x = 0.250", "0.250"),
        ("Credits left: 7", "Credits left: 6", "credits: got 6, allowed is 7"),
        ("Scale:\n- x: 0.035", "Scale:\n- x: 0.035\n- x: 0.035", "scoring.scale"),
        ("uniform between -0.2", "uniform between -0.1", ""),
        ("8. v = 0.6, x = -0.6", "9. v = 0.6, x = -0.6", "9. v = 0.6"),
        ("at most 2 runs\n- clamp-u-1", "at most two runs\n- clamp-u-1", "at most two runs"),
        ("\n\nScoring", "\nScoring", "6 different parts"),
        ("The circuit", "A circuit", "The circuit"),
        ("readings are not clipped", "readings are clipped", "clipped"),
        ("Readings so far", "\n\nReadings so far", "parts"),
    ],
)
def test_a_text_that_says_something_else_is_not_read_as_if_it_did_not(old: str, new: str, message: str) -> None:
    payload = payload_of_task(load_task())
    told = render(payload, "plain")
    text = told.text.replace(old, new, 1)
    assert text != told.text
    if not message:
        assert parse(text, "plain", told.names) != payload
        return
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        parse(text, "plain", told.names)


def test_a_spoilt_text_is_an_error_or_says_what_is_read(chain: Task) -> None:
    rng = np.random.default_rng(0)
    for task in (load_task(), chain):
        told = render(payload_of_task(task), "plain", is_interactive=True)
        for _ in range(1000):
            letters = list(told.text)
            for _ in range(rng.integers(1, 4)):
                start = int(rng.integers(len(letters)))
                end = start + int(rng.choice([0, 1, 2, 40]))
                letters[start:end] = rng.choice(list('0.9- ",:=\n({xyz'), int(rng.integers(3))).tolist()
            text = "".join(letters)
            try:
                payload = parse(text, "plain", told.names)
            except ValueError:
                continue
            assert render(payload, "plain", is_interactive=True).text == text


def test_skins_and_names_are_checked() -> None:
    payload = payload_of_task(load_task())
    told = render(payload, "plain")
    assert SKINS == ("plain",)
    assert told.names == {node: node for node in "uvxy"}
    with pytest.raises(ValueError, match="skin must be one of 'plain', got 'fancy'"):
        render(payload, "fancy")
    with pytest.raises(ValueError, match="skin"):
        parse(told.text, "fancy", told.names)
    with pytest.raises(ValueError, match="names must be"):
        parse(told.text, "plain", {})
