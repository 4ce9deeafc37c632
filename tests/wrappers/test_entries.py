"""Problems for other frameworks: no answer inside, and the score that the family gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from veilgym.envs.causal_circuits import generate_skeletons, renderer_payload
from veilgym.envs.causal_circuits import score as score_circuit
from veilgym.envs.core.family import load_family
from veilgym.envs.core.records import content_id
from veilgym.registry import ENTRIES
from veilgym.wrappers.entries import entry, read, score

SMALL: dict[str, dict[str, Any]] = {"dynamic-world": {"entity_count": 64, "simulation_steps": 300}}
FAMILIES = [one.family for one in ENTRIES]


def small(family: str, index: int, **arguments: Any) -> dict[str, Any]:
    return entry(family, index, **{**SMALL.get(family, {}), **arguments})


@pytest.mark.parametrize("family", FAMILIES)
def test_an_entry_is_the_familys_problem_and_survives_json(family: str) -> None:
    found = load_family(family)
    for index in (0, 3):
        for skin in found.skins:
            made = small(family, index, split="test", seed=7, skin=skin)
            (skeleton,) = found.generate(index, 1, seed=7, split="test", **SMALL.get(family, {}))
            payload = found.payload(skeleton)
            assert set(made) == {"id", "prompt", "metadata"}
            assert made["id"] == content_id(payload)
            assert made["prompt"] == found.render(payload, skin).text
            assert json.loads(json.dumps(made)) == made == small(family, index, split="test", seed=7, skin=skin)


@pytest.mark.parametrize("family", ["hidden-system", "dynamic-world"])
def test_queries_score_the_gold(family: str) -> None:
    found, gold = load_family(family), []
    for index in range(6):
        made = small(family, index)
        (skeleton,) = found.generate(index, 1, **SMALL.get(family, {}))
        options = found.payload(skeleton).answer_options
        for option in options:
            assert score(f"Answer: {option}", made) == float(option == skeleton.gold_answer)
        assert read(" or ".join(options), made)[0] == 0.0
        assert read(" or ".join(options), made)[1].startswith("options echoed: the reply ")
        gold.append(skeleton.gold_answer)
    assert len(set(gold)) == 2


def test_circuits_with_and_without_evidence() -> None:
    bought = ["clamp-u-0", "clamp-u-3", "clamp-u-0"]
    (skeleton,) = generate_skeletons(1, 0, "train", first=2)
    for experiments in ([], bought):
        made = entry("causal-circuits", 2, experiments=experiments)
        assert made["id"] == content_id(renderer_payload(skeleton, experiments))
        assert made["prompt"].count(", run ") == len(experiments)
        assert "Experiments cannot be run in this exchange" in made["prompt"]
        assert score(json.dumps(skeleton.targets), made) == 1.0
        assert score([[0.0, 0.0]] * 8, made) == score_circuit(skeleton, [[0.0, 0.0]] * 8)
        assert read("no idea", made)[1].startswith("no answer: ")
    with pytest.raises(ValueError, match="at most 8 credits"):
        entry("causal-circuits", 2, experiments=[f"clamp-{n}-{i}" for n in "uvx" for i in range(3)])


def test_lengths_and_parameters_reach_the_problem() -> None:
    assert entry("hidden-system", 0, length="long")["prompt"] != entry("hidden-system", 0)["prompt"]
    wide = entry("hidden-system", 0, task={"attributes": 6})
    assert score("PRESENT", json.loads(json.dumps(wide))) + score("ABSENT", wide) == 1.0
    assert wide["metadata"]["parameters"] == {"task": {"attributes": 6}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"family": "CartPole-v1"}, "family must be one of"),
        ({"family": "hidden-system", "index": -1}, "first must be"),
        ({"family": "hidden-system", "split": "dev"}, "split"),
        ({"family": "hidden-system", "skin": "attic"}, "skin must be one of"),
        ({"family": "hidden-system", "length": "huge"}, "length"),
        ({"family": "hidden-system", "experiments": ["clamp-u-0"]}, "experiments: got .* takes only length, task"),
        ({"family": "causal-circuits", "experiments": "clamp-u-0"}, "must be a list of ids"),
        ({"family": "causal-circuits", "experiments": ["clamp"]}, "clamp"),
        ({"family": "causal-circuits", "colour": "red"}, "colour"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        entry(**{"index": 0, **arguments})


@pytest.mark.parametrize("wrong", [None, {}, {"metadata": 1}, {"metadata": {"family": "hidden-system"}}])
def test_what_is_no_entry_is_named(wrong) -> None:
    with pytest.raises(ValueError, match="entry must have metadata with family, seed"):
        score("YES", wrong)
