"""A task is data: the packaged figures are the specified ones, a good file plays, a bad one says what is wrong."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.task import DEFAULT_TASK_FILE, load_task, read_document

SPECIFICATION = Path(__file__).resolve().parents[3] / "shared" / "spec" / "causal-circuits.json"
PROSE = {"title", "status", "instructions", "cost_semantics", "measurement_noise", "split_definition", "submission"}
NOTATION = {"model", "prior"}  # compared as parsed
specified = pytest.mark.skipif(not SPECIFICATION.exists(), reason="the specification is not beside this checkout")
slow = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@specified
def test_packaged_file__has_the_figures_of_the_specification():
    specification, packaged = json.loads(SPECIFICATION.read_text()), json.loads(DEFAULT_TASK_FILE.read_text())
    assert set(packaged) == set(specification)
    for field in set(specification) - PROSE - NOTATION - {"scoring"}:
        assert packaged[field] == specification[field], field
    for field in ("name", "scale", "range"):
        assert packaged["scoring"][field] == specification["scoring"][field], field


@specified
def test_specification__loads_and_differs_only_in_prose():
    prose = {"title": "", "instructions": ""}
    packaged = load_task()
    assert dataclasses.replace(load_task(SPECIFICATION), **prose) == dataclasses.replace(packaged, **prose)
    assert dataclasses.replace(load_task(str(SPECIFICATION)), **prose) == dataclasses.replace(packaged, **prose)


def test_default_task__has_the_published_figures():
    task = load_task()
    assert (task.budget, task.outputs, task.noise_std, task.scale) == (8, ("x", "y"), (0.035, 0.035), (0.035, 0.035))
    assert [(p.coefficient, p.low, p.high) for p in task.priors] == [
        ("bx", -0.2, 0.2), ("by", -0.2, 0.2), *((name, -0.9, 0.9) for name in ("wu", "wv", "wx", "yu", "yv"))
    ]  # fmt: skip
    assert [(e.id, dict(e.query), e.cost, e.max_replicates) for e in task.experiments] == [
        (f"clamp-{node}-{i}", {node: value}, 1, 2) for node in "uvx" for i, value in enumerate((-1.0, -0.4, 0.4, 1.0))
    ]
    assert [dict(query) for query in task.initial_queries] == [{"u": 0.0, "v": 0.0}]
    assert task.prediction_shape == (8, 2)
    assert dict(task.prediction_queries[6]) == {"u": -0.6, "x": 0.6}
    assert (task.submit, task.max_replicates, task.nodes) == (12, 2, ("u", "v", "x", "y"))


def test_load_task__takes_path_mapping_task_and_none(tmp_path):
    file = tmp_path / "task.json"
    file.write_text(json.dumps(read_document()), encoding="utf-8")
    task = load_task()
    assert task == load_task(file) == load_task(str(file)) == load_task(read_document())
    assert load_task(task) is task
    assert load_task({**read_document(), "budget": 3}).budget == 3


def test_load_task__leaves_the_callers_document_alone():
    document = read_document()
    before = copy.deepcopy(document)
    task = load_task(document)
    assert document == before
    document["experiments"][0]["query"]["u"] = 99.0
    document["outputs"].append("u")
    assert task == load_task()


def test_task__is_frozen_hashable_and_picklable():
    task = load_task()
    for value in (task, task.experiments[0], task.priors[0], task.equations[0]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, dataclasses.fields(value)[0].name, "other")
    assert len({task, load_task(), load_task({**read_document(), "budget": 7})}) == 2
    assert pickle.loads(pickle.dumps(task)) == copy.deepcopy(task) == task


def test_make__gives_the_task_to_env_and_vector_env():
    document = {**read_document(), "budget": 3}
    env, envs = (
        gym.make("CausalCircuits-v0", task=document),
        gym.make_vec("CausalCircuits-v0", num_envs=2, task=document),
    )
    assert env.unwrapped.task == envs.unwrapped.task == load_task(document)
    env.reset(seed=0)
    refusals = [env.step({"choice": i, "prediction": None})[4]["refusal"] for i in range(5)]
    assert refusals == [0, 0, 0, 3, 3]


def test_make__bad_task_raises_in_env_and_vector_env():
    for make in (
        lambda **kw: gym.make("CausalCircuits-v0", **kw),
        lambda **kw: gym.make_vec("CausalCircuits-v0", num_envs=2, **kw),
    ):
        with pytest.raises(ValueError, match=r"budget.*-1"):
            make(task={**read_document(), "budget": -1})


def edited(path: str, value: Any) -> dict[str, Any]:
    """The default document with one field changed, or removed if `value` is DELETE."""
    document: Any = read_document()
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    target = document
    for part in parents:
        target = target[part]
    if value is DELETE:
        del target[last]
    else:
        target[last] = value
    return document


DELETE = object()
NAN, INF = math.nan, math.inf
E0, P0 = "experiments.0", "prediction_queries.0"
BAD_FIELDS = [
    *(
        (field, DELETE, field, "")
        for field in ("task_id", "version", "budget", "model", "prior", "outputs", "noise_std")
    ),
    *((field, DELETE, field, "") for field in ("scoring", "prediction_queries", "experiments")),
    ("scoring.name", DELETE, "scoring.name", ""),
    ("scoring.scale", DELETE, "scoring.scale", ""),
    (f"{E0}.id", DELETE, "experiments[0].id", ""),
    (f"{E0}.query", DELETE, "experiments[0].query", ""),
    ("colour", "red", "colour", "red"),
    ("scoring.weight", 2, "scoring.weight", "2"),
    (f"{E0}.duration", 2, "experiments[0].duration", "2"),
    *(("task_id", value, "task_id", repr(value)) for value in ("", 3, None, ["a"])),
    *(("version", value, "version", repr(value)) for value in ("", 0.2, None)),
    *(("budget", value, "budget", repr(value)) for value in (-1, True, 1.5, "8", None, NAN, INF, 2**31, [8], 10**30)),
    *(("outputs", value, "outputs", repr(value)) for value in ([], ["z"], ["x", "x"], "xy", None, ["bx", "y"])),
    ("outputs", ["x", 2], "outputs[1]", "2"),
    *(
        ("noise_std", value, "noise_std", "")
        for value in (0.035, [0.1], [0.1] * 3, [], [-0.1, 0.1], [NAN, 0.1], [0.1, INF])
    ),
    *(("noise_std", value, "noise_std", "") for value in (["a", 0.1], [True, 0.1], None, [1e300, 0.1], [10**400, 0.1])),
    *(
        ("scoring.scale", value, "scoring.scale", "")
        for value in ([0.0, 0.1], [0.1], [-1.0, 1.0], [NAN, 1.0], [INF, 1.0], "1")
    ),
    *(("scoring.name", value, "scoring.name", repr(value)) for value in ("mse", "", 3, None)),
    *(("scoring.range", value, "scoring.range", "") for value in ([0, 2], [1, 0], [0], [0, 1, 2], "0-1", [NAN, 1])),
    *(("scoring", value, "scoring", repr(value)) for value in (None, [], "inverse_normalized_mse", 3)),
    ("model", "x=tanh(bx+wu*u+wv*y), y=tanh(by+wx*x+yu*u+yv*v)", "model", "cycle"),
    ("model", "x=tanh(bx)", "prior", "bx"),
    ("model", "x=tanh(bx+wu*u+wv*v), y=tanh(by+wx*x+yu*u+yv*v+q*u2)", "prior", "q"),
    ("model", "x=tanh(bx+wu*u+wv*v), y=tanh(x+wx*x+yu*u+yv*v)", "model", "not both (x)"),
    *(("model", value, "model", repr(value)) for value in (3, None, "", "x->y")),
    ("prior", "bx,by ~ Uniform(-0.2,0.2); wu,wv,wx,yu ~ Uniform(-0.9,0.9)", "prior", "yv"),
    ("prior", "bx,by ~ Uniform(-0.2,0.2); wu,wv,wx,yu,yv,extra ~ Uniform(-0.9,0.9)", "prior", "extra"),
    ("prior", "bx,by,bx ~ Uniform(-0.2,0.2); wu,wv,wx,yu,yv ~ Uniform(-0.9,0.9)", "prior", "bx,by,bx"),
    ("prior", "bx,by ~ Uniform(0.2,-0.2); wu,wv,wx,yu,yv ~ Uniform(-0.9,0.9)", "prior", "Uniform(0.2,-0.2)"),
    ("prior", "bx,by ~ Uniform(-1e400,0.2); wu,wv,wx,yu,yv ~ Uniform(-0.9,0.9)", "prior", "1e400"),
    ("prior", "bx,by ~ Uniform(-1e308,1e308); wu,wv,wx,yu,yv ~ Uniform(-0.9,0.9)", "prior", "1e308"),
    ("prior", "bx,by ~ Normal(0,1); wu,wv,wx,yu,yv ~ Uniform(-0.9,0.9)", "prior", "Normal"),
    ("prior", None, "prior", "None"),
    ("experiments", [], "experiments", "[]"),
    ("experiments", {}, "experiments", "{}"),
    (E0, None, "experiments[0]", "None"),
    ("experiments.1.id", "clamp-u-0", "experiments[1].id", "clamp-u-0"),
    *((f"{E0}.id", value, "experiments[0].id", repr(value)) for value in ("", 3, None)),
    *((f"{E0}.cost", value, "experiments[0].cost", repr(value)) for value in (0, -1, 128, True, 1.5, "1", None, NAN)),
    *(
        (f"{E0}.max_replicates", v, "experiments[0].max_replicates", repr(v))
        for v in (0, -1, 128, False, 2.5, "2", INF)
    ),
    *(
        (f"{E0}.query", value, "experiments[0].query", repr(value))
        for value in ({"z": 1.0}, {"bx": 1.0}, [], None, "u=1")
    ),
    *((f"{E0}.query", {"u": value}, "experiments[0].query.u", repr(value)) for value in (NAN, INF, -INF, 1e300)),
    *((f"{E0}.query", {"u": value}, "experiments[0].query", "u") for value in ("1", None, True, [1.0], 10**400)),
    (f"{E0}.query", {1: 1.0}, "experiments[0].query", "{1: 1.0}"),
    ("initial_queries", [{"w": 0.0}], "initial_queries[0]", "w"),
    ("initial_queries", [{"u": NAN}], "initial_queries[0].u", "nan"),
    ("initial_queries", {"u": 0.0}, "initial_queries", "{'u': 0.0}"),
    ("initial_queries", None, "initial_queries", "None"),
    ("prediction_queries", [], "prediction_queries", "[]"),
    (P0, {"z": 0.0}, "prediction_queries[0]", "z"),
    (P0, {"u": INF}, "prediction_queries[0].u", "inf"),
    (P0, {"u": "0"}, "prediction_queries[0]", "'0'"),
    *(
        ("prediction_shape", value, "prediction_shape", repr(value))
        for value in ([2, 8], [8], [8, 2, 1], [7, 2], [8, 3], [], "8x2")
    ),
    ("action_schema.properties.action_id.enum", ["clamp-u-0"], "action_schema", "clamp-u-0"),
    ("action_schema", {}, "action_schema", "{}"),
    ("action_schema", [], "action_schema", "[]"),
    *((field, 3, field, "3") for field in ("title", "status", "instructions", "submission", "cost_semantics")),
]


@pytest.mark.parametrize(("path", "value", "field", "shown"), BAD_FIELDS)
def test_load_task__bad_field_is_named_with_its_value_and_what_is_allowed(path, value, field, shown):
    with pytest.raises(ValueError, match=r"task field ") as error:
        load_task(edited(path, value))
    message = str(error.value)
    assert re.search(rf"task field {re.escape(field)}(?![\w])", message), message
    assert shown in message
    assert re.search("allowed (is|are)|is not|must be", message), message


def test_load_task__number_too_long_to_print_is_refused():
    with pytest.raises(ValueError, match="task field budget"):
        load_task(edited("budget", 10**5000))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"", "not JSON"),
        (b"task", "not JSON"),
        (b'{"budget": NaN}', "not JSON"),
        (b"{'budget': 8}", "not JSON"),
        (b'{"budget": 8', "not JSON"),
        (b'{"task_id": "\xff"}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"budget": 8, "budget": 3}', "the key 'budget' twice"),
        (b"[]", "list"),
        (b"8", "int"),
        (b"null", "NoneType"),
        (b'"text"', "str"),
        (b"{}", "task_id"),
    ],
)
def test_load_task__bad_file_is_named(tmp_path, content, names):
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(names)) as error:
        load_task(file)
    assert str(file) in str(error.value) or names == "task_id"


@pytest.mark.parametrize("path", ["/nonexistent/task.json", "/", "", "no\0name"])
def test_load_task__unreadable_path_is_named(path):
    with pytest.raises(ValueError, match="cannot be read") as error:
        load_task(path)
    assert repr(str(Path(path))) in str(error.value)


@pytest.mark.parametrize("source", [3, 2.5, True, [], (), [{}], b"task.json", {1, 2}, object])
def test_load_task__other_sources_are_refused(source):
    with pytest.raises(ValueError, match="task must be a path, a mapping, a Task or None") as error:
        load_task(source)
    assert repr(source) in str(error.value)


def test_load_task__empty_and_foreign_mappings_are_refused():
    for source in ({}, {1: 2}, {"a": 1}, {"budget": object()}):
        with pytest.raises(ValueError, match="task field"):
            load_task(source)


# Random circuits, written as text here and evaluated by the recursion of tests/conftest.py.

values = st.floats(-3, 3, allow_subnormal=False)
positive = st.floats(1e-3, 5)


@st.composite
def circuits(draw):
    """(document, circuit): a random acyclic circuit as a task file and as {node: (bias, {parent: weight})}."""
    names = draw(
        st.lists(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True), min_size=2, max_size=7, unique=True)
    )
    num_roots = draw(st.integers(0, len(names) - 1))
    circuit, coefficients, used = {}, [], set()
    for i, node in enumerate(names[num_roots:], num_roots):
        parents = draw(st.lists(st.sampled_from(names[:i]), unique=True, max_size=4)) if i else []
        used.update(parents)
        weights = {parent: f"w__{node}__{j}" for j, parent in enumerate(parents)}
        bias = f"b__{node}" if not parents or draw(st.booleans()) else None
        circuit[node] = (bias, weights)
        coefficients += [*([bias] if bias else []), *weights.values()]
    nodes = [name for name in names if name in circuit or name in used]
    equations = [
        f"{node} = tanh({' + '.join(draw(st.permutations(terms)))})"
        for node, (bias, weights) in circuit.items()
        for terms in [[*([bias] if bias else []), *(f"{weight}*{parent}" for parent, weight in weights.items())]]
    ]
    queries = st.dictionaries(st.sampled_from(nodes), values, max_size=3)
    outputs = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4, unique=True))
    bounds = [sorted(draw(st.tuples(values, values))) for _ in coefficients]
    experiments = draw(st.lists(queries, min_size=1, max_size=5))
    document = {
        "task_id": draw(st.text(min_size=1, max_size=5)),
        "version": "1",
        "budget": draw(st.integers(0, 9)),
        "model": ", ".join(draw(st.permutations(equations))),
        "prior": "; ".join(
            f"{c} ~ Uniform({low!r},{high!r})" for c, (low, high) in zip(coefficients, bounds, strict=True)
        ),
        "outputs": outputs,
        "noise_std": [draw(st.just(0.0) | positive) for _ in outputs],
        "scoring": {"name": "inverse_normalized_mse", "scale": [draw(positive) for _ in outputs]},
        "initial_queries": draw(st.lists(queries, max_size=2)),
        "experiments": [
            {
                "id": f"e{i}",
                "query": query,
                "cost": draw(st.integers(1, 4)),
                "max_replicates": draw(st.integers(1, 3)),
            }
            for i, query in enumerate(experiments)
        ],
        "prediction_queries": draw(st.lists(queries, min_size=1, max_size=4)),
    }
    return document, circuit


@settings(slow, max_examples=60)
@given(circuits(), st.integers(0, 2**64), st.randoms(use_true_random=False))
def test_load_task__random_circuits_play_and_score_one_for_the_independent_targets(
    reference, hidden_coefficients, drawn, seed, random
):
    document, circuit = drawn
    env = gym.make("CausalCircuits-v0", task=document).unwrapped
    observation, info = env.reset(seed=seed)
    coefficients = hidden_coefficients(env)
    left, counts = document["budget"], [0] * len(document["experiments"])
    blank = np.zeros((len(document["prediction_queries"]), len(document["outputs"])))
    for _ in range(6):
        choice = random.randrange(len(counts))
        experiment = document["experiments"][choice]
        accepted = counts[choice] < experiment["max_replicates"] and experiment["cost"] <= left
        assert info["action_mask"][choice] == accepted
        observation, reward, terminated, _, info = env.step({"choice": choice, "prediction": blank})
        assert (reward, terminated, info["refusal"] == 0) == (0.0, False, accepted)
        counts[choice] += accepted
        left -= experiment["cost"] * accepted
        assert observation["credits"] == [left]
        assert env.observation_space.contains(observation)
    shape = (len(env.task.measured_queries), env.task.max_replicates, len(document["outputs"]))
    measured = document["initial_queries"] + [experiment["query"] for experiment in document["experiments"]]
    for row, (query, count) in enumerate(zip(measured, observation["replicates"], strict=True)):
        node_values = reference(circuit, coefficients, query)
        for column, (node, std) in enumerate(zip(document["outputs"], document["noise_std"], strict=True)):
            read = observation["readouts"].reshape(shape)[row, :count, column]
            assert read == pytest.approx(float(np.squeeze(node_values.get(node, 0.0))), abs=2e-5 + 7 * std)
    exact = [
        [float(np.squeeze(reference(circuit, coefficients, query).get(node, 0.0))) for node in document["outputs"]]
        for query in document["prediction_queries"]
    ]
    assert env.step({"choice": len(counts), "prediction": exact})[1] == 1.0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["u", "x", 1, 0.5]),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=6,
)


def places(document, prefix=()):
    """Every path into nested data."""
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        yield (*prefix, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*prefix, key))


PLACES = list(places(read_document()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": -5}, "budget: got -5"),
        ({"budget": "8"}, "budget: got '8'"),
        ({"scale": (0, 0)}, r"scoring.scale: got \[0.0, 0.0\], allowed is one number > 0"),
        ({"noise_std": (-1.0, 0.1)}, "noise_std: got"),
        ({"outputs": ("x", "zz")}, "outputs: got"),
        ({"prediction_queries": ()}, "prediction_queries: got"),
        ({"experiments": None}, "task must be a Task whose fields are of the documented types"),
    ],
)
def test_load_task__checks_a_task_that_was_made_in_python(changes, message):
    task = dataclasses.replace(load_task(), **changes)
    with pytest.raises(ValueError, match=message):
        gym.make("CausalCircuits-v0", task=task)


def test_load_task__reads_a_file_that_begins_with_a_byte_order_mark(tmp_path):
    (tmp_path / "task.json").write_text(DEFAULT_TASK_FILE.read_text("utf-8"), "utf-8-sig")
    assert load_task(tmp_path / "task.json") == load_task()


def test_load_task__keeps_a_good_task_and_mends_its_types():
    task = load_task()
    assert load_task(task) is task
    assert load_task(dataclasses.replace(task, budget=3)).budget == 3
    assert load_task(dataclasses.replace(task, noise_std=[0.1, 0.2])).noise_std == (0.1, 0.2)


@settings(slow, max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(PLACES), st.just(DELETE) | json_values), min_size=1, max_size=3))
@example([(("budget",), 0)])
@example([(("experiments", 0, "query", "u"), 1e300), (("experiments", 1, "query", "u"), -1e300)])
@example([(("noise_std",), [1e308, 1e308])])
def test_load_task__corrupted_document_loads_and_plays_or_raises_value_error(changes):
    document = read_document()
    for path, value in changes:
        try:
            target: Any = document
            for part in path[:-1]:
                target = target[part]
            if value is DELETE:
                del target[path[-1]]
            else:
                target[path[-1]] = value
        except (KeyError, IndexError, TypeError):  # an earlier change removed the place
            continue
    try:
        task = load_task(document)
    except ValueError:
        return
    env = gym.make("CausalCircuits-v0", task=task).unwrapped
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    observation, *_ = env.step({"choice": 0, "prediction": None})
    assert env.observation_space.contains(observation)
    score = env.step({"choice": task.submit, "prediction": np.zeros(task.prediction_shape)})[1]
    assert 0.0 <= score <= 1.0
