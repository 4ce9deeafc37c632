"""Results as a file: nothing is lost, nothing else is read, and only what belongs together is merged."""

import hashlib
import json
import struct

import msgspec
import numpy as np
import pytest

from veilgym import __version__
from veilgym.agents.agent import Agent
from veilgym.agents.bench import bench, plain_arguments
from veilgym.agents.evaluation import evaluate
from veilgym.agents.hidden_system.ladder import Forecaster
from veilgym.agents.ladder import load_ladder
from veilgym.agents.playing import instance_ids
from veilgym.agents.results import FORMAT, Results, load_results, merge_results
from veilgym.agents.statistics import mean_interval
from veilgym.envs.hidden_system.task import load_task
from veilgym.registry import ENTRIES

IDS = [entry.id for entry in ENTRIES]
CIRCUITS, SYSTEMS = "CausalCircuits-v0", "HiddenSystem-v0"


class First(Agent):
    name = "first"
    description = "always the first option"

    def act_batch(self, observations):
        return np.zeros(len(observations["options"]), np.int64)


@pytest.fixture(scope="module")
def circuits():
    return bench(CIRCUITS, episodes=12)


@pytest.fixture
def written(make_bench, tmp_path):
    """A file, and a function that writes it with a change in its document."""

    def write(change=lambda document: None):
        document = json.loads(Results((make_bench({"a": [0, 1], "b": [1, 1]}),)).to_json())
        change(document)
        (tmp_path / "r.json").write_text(json.dumps(document), "utf-8")
        return tmp_path / "r.json"

    return write


def test_load_results__inverts_to_json(circuits, tmp_path):
    results = Results((circuits,))
    (tmp_path / "r.json").write_text(results.to_json(), "utf-8")
    found = load_results(tmp_path / "r.json")
    assert found == results
    assert (found.format, found.veilgym) == (FORMAT, __version__)
    assert found.to_json() == results.to_json()
    assert found.benches[0].standings == circuits.standings


def test_standings__can_be_computed_from_the_file_alone(circuits):
    document = json.loads(Results((circuits,)).to_json())
    runs = {run["agent"]: run for run in document["benches"][0]["runs"]}
    ideal, floor = np.array(runs["ideal observer"]["scores"]), np.array(runs["prior mean"]["scores"])
    for line in circuits.standings:
        run = runs[line.agent]
        scores, inferred = np.array(run["scores"]), np.array(run["inferred"])
        assert line.score == scores.mean()
        assert line.interval == mean_interval(scores)
        assert line.normalised == pytest.approx((scores.mean() - floor.mean()) / (ideal.mean() - floor.mean()))
        assert line.regret.total == pytest.approx((ideal - scores).mean())
        assert line.regret.experiments == pytest.approx((ideal - inferred).mean())
        assert line.regret.inference == pytest.approx((inferred - scores).mean())
        assert line.experiments == np.mean(run["experiments"])
    assert runs["ideal observer"]["inferred"] == runs["ideal observer"]["scores"]


@pytest.mark.parametrize("env_id", IDS)
def test_instances__are_named_by_what_they_show(env_id):
    agent = load_ladder(env_id).agents[0]
    one, other = (evaluate(agent, env_id, 6, num_envs=width).instances for width in (6, 4))
    assert one == other
    assert len(set(one)) == 6
    assert not set(one) & set(evaluate(agent, env_id, 6, split="train").instances)
    assert not set(one) & set(evaluate(agent, env_id, 6, seed=1).instances)
    assert evaluate(agent, env_id, 3).instances == one[:3]


def test_instance_ids__are_frozen():
    # A change here makes earlier files of results useless.
    observations = {"rows": np.arange(6, dtype=np.int16).reshape(2, 3), "a": np.array([[0.5], [2.0]], ">f4")}
    plain = b"a/<f4/(1,)/" + struct.pack("<f", 2.0) + b"rows/<i2/(3,)/" + struct.pack("<3h", 3, 4, 5)
    assert instance_ids(observations)[1] == hashlib.blake2b(plain, digest_size=16).hexdigest()
    (alone,) = instance_ids(observations["rows"][:1])
    assert alone == hashlib.blake2b(b"/<i2/(3,)/" + struct.pack("<3h", 0, 1, 2), digest_size=16).hexdigest()


def test_load_results__refuses_what_it_does_not_know(written):
    def bench_of(document):
        return document["benches"][0]

    def run_of(document):
        return bench_of(document)["runs"][0]

    changes = {
        "got the format 2, allowed is 1": lambda d: d.update(format=2),
        "got the format True, allowed is 1": lambda d: d.update(format=True),
        "got the format None, allowed is 1": lambda d: d.pop("format"),
        r"benches\[0\].more: got 1, allowed is no other field than env_id": lambda d: bench_of(d).update(more=1),
        r"benches\[0\].seed: missing": lambda d: bench_of(d).pop("seed"),
        r"benches\[0\].instances\[1\]": lambda d: bench_of(d).update(instances=["0" * 32, "x"]),
        r"runs\[0\].scores\[0\]": lambda d: run_of(d).update(scores=["1", 0]),
        r"runs\[0\].refused: got 1 values, allowed are 2": lambda d: run_of(d).update(refused=[0]),
        "claimed": lambda d: run_of(d).update(claimed=[0.5, 0.5]),
        "different names": lambda d: run_of(d).update(agent="b"),
        "one for each instance": lambda d: bench_of(d).update(instances=["0" * 32]),
        "benches": lambda d: d.update(benches=[]),
    }
    for message, change in changes.items():
        with pytest.raises(ValueError, match=message) as caught:
            load_results(written(change))
        assert "\n" not in str(caught.value)
        assert "r.json" in str(caught.value)


def test_load_results__what_is_no_file_of_results(tmp_path):
    for text, message in (("{", "not JSON"), ("[]", "format None"), ("[" * 100_000, "not JSON"), ("1", "format None")):
        (tmp_path / "r.json").write_text(text, "utf-8")
        with pytest.raises(ValueError, match=message):
            load_results(tmp_path / "r.json")
    with pytest.raises(ValueError, match="cannot be read"):
        load_results(tmp_path / "none.json")


def test_merge_results__agents_on_the_same_instances():
    ladder = bench(SYSTEMS, episodes=6, length=4, agents=load_ladder(SYSTEMS, length=4).agents[:3])
    mine = bench(SYSTEMS, episodes=6, num_envs=2, length=4, agents=[First()])
    (merged,) = merge_results([Results((ladder,)), Results((mine,))]).benches
    assert [run.agent for run in merged.runs] == ["random", "majority class", "last pair", "first"]
    assert merged.run_of("first") == mine.runs[0]
    assert (mine.floor, mine.ideal) == ("random", "ideal observer")
    assert mine.standings[0].normalised is None


def test_merge_results__settings_stand_side_by_side(make_bench):
    scores = {"a": [0, 1], "b": [1, 1]}
    short, long = (make_bench(scores, arguments={"length": length}) for length in ("short", "long"))
    merged = merge_results([Results((short,)), Results((long, make_bench(scores)))])
    assert merged.benches == (short, long, make_bench(scores))


def test_merge_results__the_same_twice(make_bench):
    one = Results((make_bench({"a": [0, 1], "b": [1, 1]}),))
    assert merge_results([one, one]) == one


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 1}, "more than one seed cannot be merged, got 0 and 1"),
        ({"split": "train"}, "more than one split cannot be merged, got 'test' and 'train'"),
        ({"env_id": "HiddenSystem-v1"}, "version of HiddenSystem cannot be merged, got 'HiddenSystem-v0'"),
        ({"instances": ("0" * 32, "1" * 32)}, "different instances of HiddenSystem-v0 cannot be merged"),
        ({"ideal": "a"}, "more than one scale"),
    ],
)
def test_merge_results__refuses(make_bench, changes, message):
    one = make_bench({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(ValueError, match=message) as caught:
        merge_results([Results((one,)), Results((msgspec.structs.replace(one, **changes),))])
    assert "\n" not in str(caught.value)


def test_merge_results__refuses_other_versions_numbers_and_namesakes(make_bench):
    one = make_bench({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(ValueError, match="version of veilgym cannot be merged"):
        merge_results([Results((one,)), Results((one,), veilgym="0.0.9")])
    with pytest.raises(ValueError, match="got 2 and 3 of them"):
        merge_results([Results((one,)), Results((make_bench({"a": [0, 1, 1], "b": [1, 1, 1]}),))])
    with pytest.raises(ValueError, match="two agents of one name"):
        merge_results([Results((one,)), Results((make_bench({"a": [1, 1], "b": [1, 1]}),))])


def test_claims__of_the_ideal_observer():
    ladder = load_ladder(SYSTEMS, length=4)
    run = bench(SYSTEMS, episodes=8, length=4, agents=[ladder[ladder.ideal], First()]).runs
    assert run[1].claimed is None
    assert all(0.5 <= claim <= 1.0 for claim in run[0].claimed)
    assert run[0].observed == run[0].scores
    alone = bench(SYSTEMS, episodes=8, num_envs=3, length=4, agents=[ladder[ladder.ideal]]).runs[0]
    assert (alone.claimed, alone.scores) == (run[0].claimed, run[0].scores)


def test_claims__of_a_forecaster_beside_the_exact_probability():
    agent = Forecaster(load_task(length=4))
    found = bench(SYSTEMS, episodes=8, length=4, reward="brier", agents=[agent])
    (run,) = found.runs
    p, exact = np.array(run.claimed), np.array(run.observed)
    np.testing.assert_allclose(run.scores, 1.0 - exact * (1 - p) ** 2 - (1 - exact) * p**2, atol=1e-12)
    assert (found.floor, found.ideal, found.standings[0].normalised) == (None, None, None)
    assert set(exact) - {0.0, 1.0}
    log = bench(SYSTEMS, episodes=8, length=4, reward="log", agents=[agent]).runs[0]
    assert (log.claimed, log.observed) == (run.claimed, run.observed)


def test_bench__needs_an_agent():
    with pytest.raises(ValueError, match="agents must be at least one"):
        bench(SYSTEMS, episodes=1, agents=[])


def test_plain_arguments__are_json(tmp_path, make_bench):
    from veilgym.envs.causal_circuits.task import load_task as load_circuits
    from veilgym.envs.causal_circuits.task import read_document

    (tmp_path / "task.json").write_text(json.dumps(read_document()), "utf-8")
    assert plain_arguments({"task": str(tmp_path / "task.json"), "length": None}) == {"task": read_document()}
    for given in ({"task": load_circuits()}, {"task": load_task(length=5), "length": 5}):
        plain = plain_arguments(given)
        assert json.loads(json.dumps(plain, allow_nan=False))["task"]
        assert Results((make_bench({"a": [0], "b": [1]}, arguments=plain),)).to_json()
