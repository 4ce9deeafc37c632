"""The shortcut ledger: its gates at a size that fits every run, its form, and its mistakes."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import veilgym
from veilgym.agents.hidden_system import ledger as hidden
from veilgym.agents.hidden_system.observer import Posterior
from veilgym.agents.ledger import Ledger, LedgerLine, line_of, load_ledger, require_scikit_learn
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.payload import decode
from veilgym.envs.hidden_system.task import PRESETS, load_task
from veilgym.registry import entry_of

ID = "HiddenSystem-v0"
TABLE = Path(veilgym.__file__).parent / "benchmarks" / "ledger" / f"{ID}.json"
RULES, TRAINING, TEST = 4000, 4000, 2000
GATES = {"short": 0.84, "medium": 0.72, "long": 0.72}


def slack(bound, count):
    """Three standard errors of a share: a strategy that just keeps its gate exceeds it by more once in 700 times."""
    return 3.0 * np.sqrt(bound * (1.0 - bound) / count)


@pytest.fixture(scope="module", params=PRESETS)
def drawn(request):
    task = load_task(length=request.param)
    return request.param, task, *hidden.draw_instances(task, "test", RULES, seed=3)


def test_gates__shallow_rules(drawn):
    length, task, observations, gold = drawn
    names = []
    for make in hidden.SHALLOW:
        agent = make(task)
        names.append(agent.name)
        right = (agent.act_batch(observations) == 0) == gold  # 0 is PRESENT where the options are not shuffled
        assert right.mean() <= 0.62 + slack(0.62, RULES), (length, agent.name)
        assert right.mean() >= 0.47, (length, agent.name)  # below one half, its opposite would be the shortcut
    assert set(names) == {
        "majority class", "nearest case", "noisy-or of singles", "last pair", "mean rate", "maximum pair rate"
    }  # fmt: skip
    assert hidden.SHALLOW_GATE == ("at most", 0.62)


def test_gates__summary_classifiers(drawn, monkeypatch):
    length, task, observations, gold = drawn
    # The classifier on everything has no gate, and takes longest.
    monkeypatch.setattr(hidden, "everything", lambda observations, _: observations["query_events"][:, :1])
    few = {key: array[:TEST] for key, array in observations.items()}
    lines = hidden.summary_lines(length, task, few, gold[:TEST], TRAINING, 3, lambda _: None)
    gated = [line for line in lines if line.gate is not None]
    assert [line.strategy for line in gated] == [
        "quadratic logistic regression on summaries",
        "gradient boosting on summaries",
    ]
    for line in gated:
        assert line.gate == ("at most", GATES[length])
        assert line.score <= GATES[length] + slack(GATES[length], TEST), (length, line.strategy)
        assert line.instances == TEST


def test_draw_instances__are_those_of_generate_skeletons():
    task = load_task(length="short")
    observations, gold = hidden.draw_instances(task, "test", 6, seed=2)
    skeletons = generate_skeletons(6, "short", 2, split="test", balance="drawn")
    layout = hidden.Observer(task).layout
    for i, skeleton in enumerate(skeletons):
        assert decode({key: array[i] for key, array in observations.items()}, layout) == renderer_payload(skeleton)
        assert gold[i] == (skeleton.gold_answer == "PRESENT")


def test_everything__does_not_depend_on_names(drawn):
    """Places in the query and agreement with it stay when events, attributes and levels are called otherwise."""
    length, task, observations, _ = drawn
    few = {key: array[:20] for key, array in observations.items()}
    layout, n = hidden.Observer(task).layout, task.complexity
    code = np.concatenate([[0], np.random.default_rng(0).permutation(n) + 1]).astype(np.int8)
    other = few | {key: code[few[key]] for key in ("events", "query_events")}
    np.testing.assert_array_equal(hidden.everything(few, layout), hidden.everything(other, layout))
    other["attributes"], other["query_attributes"] = few["attributes"] + 1, few["query_attributes"] + 1
    for features in (hidden.everything, hidden.summarise, hidden.summarise_briefly):
        table = features(few, layout)
        assert len(table) == 20, length
        assert np.isfinite(table).all()
        np.testing.assert_array_equal(table, features(other, layout))


def test_calibration_notes():
    posterior = Posterior(np.zeros(4), np.array([0.04, 0.06, 0.75, 1.0]))
    notes = hidden.calibration_notes("short", posterior, np.array([False, True, True, True]))
    assert notes["short, ideal observer, Brier score"] == round((0.04**2 + 0.94**2 + 0.25**2) / 4, 4)
    assert notes["short, ideal observer, mean Bayes accuracy claimed"] == round((0.96 + 0.94 + 0.75 + 1.0) / 4, 4)
    assert notes["short, ideal observer, share of answerable instances"] == 0.75
    curve = notes["short, ideal observer, reliability (claimed -> observed)"]
    assert curve == "0.050 -> 0.500 (n = 2); 0.750 -> 1.000 (n = 1); 1.000 -> 1.000 (n = 1)"


def example():
    lines = (
        LedgerLine("short", "coin", 0.5, (0.3, 0.7), 20, ("at most", 0.62)),
        LedgerLine("long", "coin", 0.5, (0.3, 0.7), 20, ("at most", 0.40)),
        LedgerLine("long", "sage", 1.0, None, 4, ("at least", 0.95)),
        LedgerLine("short", "reader", 0.25, (0.12345, 0.5), 20, None),
    )
    return Ledger("Some-v0", 3, 20, 1000, lines, {"Brier score": 0.01}, veilgym="9.9")


def test_line_of():
    scores = np.array([1.0, 0.0, 1.0, 1.0] * 25)
    line = line_of("short", "coin", scores, ("at most", 0.62))
    assert (line.setting, line.strategy, line.score, line.instances) == ("short", "coin", 0.75, 100)
    assert line.gate == ("at most", 0.62)
    assert line.interval == pytest.approx((0.75 - 0.085, 0.75 + 0.085), abs=0.015)  # 1.96 standard errors
    assert line_of("short", "coin", scores[:9]).interval is None


@pytest.mark.parametrize(
    ("score", "gate", "kept"),
    [
        (0.5, None, True),
        (0.62, ("at most", 0.62), True),
        (0.63, ("at most", 0.62), False),
        (0.95, ("at least", 0.95), True),
        (0.94, ("at least", 0.95), False),
    ],
)
def test_ledger_line__is_kept(score, gate, kept):
    assert LedgerLine("short", "rule", score, None, 100, gate).is_kept is kept


def test_ledger__markdown():
    assert example().to_markdown() == (
        "# Shortcut ledger of Some-v0\n"
        "\n"
        "Mean score with its 95 % interval: 20 test instances a setting, classifiers trained on 1,000, seed 3; "
        "veilgym 9.9.\n"
        "Regenerate it with `veilgym ledger Some-v0`.\n"
        "\n"
        "| strategy | short | long | gate |\n"
        "| --- | --- | --- | --- |\n"
        "| coin | 0.500 (0.300 to 0.700) | 0.500 (0.300 to 0.700) **fails** | at most 0.62, at most 0.4 |\n"
        "| sage |  | 1.000 | at least 0.95 |\n"
        "| reader | 0.250 (0.123 to 0.500) |  | reported |\n"
        "\n"
        "* Brier score: 0.01\n"
    )


def test_ledger__json():
    document = json.loads(json.dumps(example().to_json(), allow_nan=False))
    assert document.keys() == {"env_id", "seed", "episodes", "training", "lines", "notes", "veilgym"}
    assert (document["env_id"], document["veilgym"], document["notes"]) == ("Some-v0", "9.9", {"Brier score": 0.01})
    assert document["lines"][2] == {
        "setting": "long",
        "strategy": "sage",
        "score": 1.0,
        "interval": None,
        "instances": 4,
        "gate": ["at least", 0.95],
    }


def test_load_ledger():
    assert load_ledger(entry_of(ID)) is hidden.ledger
    with pytest.raises(ValueError, match=r"^CausalCircuits-v0 has no shortcut ledger"):
        load_ledger(entry_of("CausalCircuits-v0"))


def test_ledger__without_scikit_learn(monkeypatch):
    require_scikit_learn()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ValueError, match=r"^the ledger's classifiers need scikit-learn.*'veilgym\[ledger\]'$"):
        hidden.ledger(2, 100)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"episodes": 0}, "episodes"), ({"training": 99}, "training .* at least 100, got 99"), ({"seed": -1}, "seed")],
)
def test_ledger__mistakes(arguments, name):
    with pytest.raises(ValueError, match=name):
        hidden.ledger(**{"episodes": 2, "training": 100, **arguments})


@pytest.mark.skipif(not TABLE.exists(), reason="the table of this version has not been measured yet")
def test_versioned_table():
    document = json.loads(TABLE.read_text("utf-8"))
    assert (document["env_id"], document["veilgym"]) == (ID, veilgym.__version__)
    assert document["episodes"] >= 5000
    assert document["training"] >= 20_000
    lines = [
        LedgerLine(**{**line, "gate": line["gate"] and tuple(line["gate"])})  # JSON has no tuples
        for line in document["lines"]
    ]
    assert {line.setting for line in lines} == set(PRESETS)
    for line in lines:
        assert line.is_kept, line
    gates = {(line.setting, line.strategy): line.gate for line in lines}
    for length in PRESETS:
        for agent in hidden.SHALLOW:
            assert gates[length, agent.name] == ("at most", 0.62)
        for name in ("quadratic logistic regression on summaries", "gradient boosting on summaries"):
            assert gates[length, name] == ("at most", GATES[length])
        assert gates[length, "ideal observer"] == ("at least", 0.95)
    page = TABLE.with_suffix(".md").read_text("utf-8")
    assert page == Ledger(**{**document, "lines": tuple(lines)}).to_markdown()
