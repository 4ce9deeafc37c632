"""Complete records: hand-written systems are executed lawfully, and recorded answers are checked."""

from __future__ import annotations

import json
import re

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from veilgym.envs.core.records import convert, to_json
from veilgym.envs.core.seeding import derive_key
from veilgym.envs.hidden_system import generate_skeletons
from veilgym.envs.hidden_system.generator import DRAWN, Generator, generated_layout
from veilgym.envs.hidden_system.grammar import BehaviorSkeleton
from veilgym.envs.hidden_system.payload import encode
from veilgym.envs.hidden_system.skeletons import (
    SystemFile,
    check_skeletons,
    iterate_skeletons,
    read_skeletons,
    read_system_file,
    run_system,
)
from veilgym.envs.hidden_system.task import load_task


@pytest.fixture(scope="module")
def document(written):
    return {
        "id": "by hand",
        "event_vocabulary": ["a", "v", "s"],
        "attribute_vocabulary": {"dose": [1, 3, 5]},
        "hidden_system": written(
            ("a", "ADD", 0.9), ("v", "VETO", 0.6, ("dose", "GT", 2)), ("s", "x", 0.5), dose=[1, 3, 5]
        ),
        "support_cases": [
            {"attributes": {"dose": 1}, "events": ["a"]},
            {"attributes": {"dose": 1}, "events": ["a", "v"]},
            {"attributes": {"dose": 5}, "events": ["a", "v"]},
            {"attributes": {"dose": 5}, "events": ["s", "s"]},
        ],
        "query_case": {"attributes": {"dose": 3}, "events": ["s", "a", "v"]},
        "trials": 200,
    }


def run(document, seed=0, **changes):
    return run_system(convert({**document, **changes}, SystemFile, "system field"), seed)


def test_run_system__from_a_json_file(document, tmp_path):
    path = tmp_path / "system.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    skeleton = run_system(read_system_file(path))
    assert skeleton == run(document) == run_system(read_system_file(str(path)))
    assert (skeleton.id, skeleton.family, skeleton.complexity) == ("by hand", "hidden_system", 3)
    assert skeleton.gold_present_probability == pytest.approx(0.36, abs=1e-15)
    assert skeleton.gold_answer == "ABSENT"
    assert skeleton.answer_options == ("PRESENT", "ABSENT")
    assert [step.present_probability for step in skeleton.latent_trace] == pytest.approx([0, 0.9, 0.36], abs=1e-15)
    assert [(list(case.events), dict(case.attributes)) for case in skeleton.support_cases] == [
        (case["events"], case["attributes"]) for case in document["support_cases"]
    ]
    assert all(case.trials == 200 for case in skeleton.support_cases)
    query = skeleton.query_case
    assert (query.observed_present, query.observed_absent, list(query.events)) == (None, None, ["s", "a", "v"])


def test_run_system__counts_follow_the_binomial_law(document):
    exact = [0.9, 0.9, 0.36, 0.0]
    counts = [[case.observed_present for case in run(document, seed).support_cases] for seed in range(400)]
    for probability, column in zip(exact, zip(*counts, strict=True), strict=True):
        if probability == 0.0:
            assert set(column) == {0}
            continue
        law = stats.binom(200, probability)
        score = sum((count - law.mean()) ** 2 for count in column) / law.var()
        assert 1e-7 < stats.chi2.cdf(score, 400) < 1 - 1e-7
        assert stats.binomtest(sum(column), 200 * 400, probability).pvalue > 1e-7


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), seed=st.integers(0, 2**40))
def test_run_system__is_deterministic_and_lawful(data, seed, system_documents, brute_force):
    document = data.draw(system_documents)
    system, query = document["hidden_system"], document["query_case"]
    exact = brute_force(system, query["attributes"], query["events"])[-1]["present_probability"]
    assume(query not in document["support_cases"])
    assume(exact == 0.5 or abs(exact - 0.5) > 1e-12)  # rounding may put it on either side
    skeleton = run(document, seed)
    assert to_json(run(json.loads(json.dumps(document)), seed)) == to_json(skeleton)
    assert skeleton.gold_present_probability == pytest.approx(exact, abs=1e-12)
    assert skeleton.gold_answer == ("PRESENT" if exact > 0.5 else "ABSENT")
    for case in skeleton.support_cases:
        exact = brute_force(system, case.attributes, case.events)[-1]["present_probability"]
        assert case.observed_present + case.observed_absent == case.trials == document["trials"]
        law = stats.binom(case.trials, min(exact, 1.0))
        assert min(law.cdf(case.observed_present), law.sf(case.observed_present - 1)) > 1e-7
    assert check_skeletons([skeleton]) == [skeleton]


def test_run_system__another_seed_or_name_gives_other_counts(document):
    def counts(skeleton):
        return [case.observed_present for case in skeleton.support_cases]

    assert counts(run(document, 1)) != counts(run(document, 2))
    assert counts(run(document, 1)) != counts(run(document, 1, id="other"))
    assert counts(run(document, 1)) == counts(run(document, 1))
    several = [counts(run(document, seed)) for seed in range(200)]
    first, third = zip(*((row[0], row[2]) for row in several), strict=True)
    assert abs(stats.pearsonr(first, third)[0]) < 5 / 200**0.5  # cases of one system are drawn independently


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"query_case": {"attributes": {"dose": 5}, "events": ["a", "v"]}}, "support_cases[2].events: got ['a', 'v']"),
        ({"query_case": {"attributes": {"dose": 3}, "events": ["z"]}}, "query_case.events[0]: got 'z'"),
        ({"query_case": {"attributes": {"dose": 2}, "events": ["a"]}}, "query_case.attributes.dose: got 2"),
        ({"query_case": {"attributes": {}, "events": ["a"]}}, "query_case.attributes: got {}"),
        ({"query_case": {"attributes": {"dose": 1}, "events": []}}, "system field query_case.events: got []"),
        ({"support_cases": []}, "system field support_cases: got []"),
        ({"support_cases": [{"attributes": {"dose": 1}, "events": ["z"]}]}, "support_cases[0].events[0]: got 'z'"),
        ({"support_cases": [{"attributes": {"dose": 1}}]}, "system field support_cases[0].events: missing"),
        ({"event_vocabulary": ["a", "v"]}, "hidden_system.rules[2].on_event: got 's'"),
        ({"event_vocabulary": ["a", "v", "s", "s"]}, "event_vocabulary[3]: got 's'"),
        ({"attribute_vocabulary": {"age": [1]}}, "hidden_system.rules[1].conditions[0].key: got 'dose'"),
        ({"attribute_vocabulary": {"dose": [5, 3, 1]}}, "attribute_vocabulary.dose: got [5, 3, 1]"),
        ({"trials": 0}, "system field trials: got 0"),
        ({"trials": 2**15}, "system field trials: got 32768"),
        ({"colour": "red"}, "system field colour: got 'red'"),
    ],
)
def test_run_system__says_what_is_wrong(document, changes, says):
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        run(document, **changes)
    assert re.search(r"allowed (is|are)", str(error.value))


def test_run_system__answer_to_an_exact_probability_of_one_half_is_absent(document, written):
    system = written(("a", "ADD", 0.5))
    skeleton = run(document, hidden_system=system, query_case={"attributes": {"dose": 3}, "events": ["a"]})
    assert (skeleton.gold_present_probability, skeleton.gold_answer) == (0.5, "ABSENT")
    assert check_skeletons([skeleton]) == [skeleton]


def with_rule(system, **changes):
    """A system with changes to its first rule, made in Python."""
    first, *others = system.rules
    return replace(system, rules=(replace(first, **changes), *others))


def test_run_system__checks_a_record_that_was_made_in_python(document):
    good = convert(document, SystemFile, "system field")
    for changes, says in (
        ({"hidden_system": with_rule(good.hidden_system, probability=1.5)}, "rules[0].probability: got 1.5"),
        ({"hidden_system": with_rule(good.hidden_system, action="ADD")}, "rules[0].action: got 'ADD'"),
        ({"trials": 0}, "trials: got 0"),
        ({"support_cases": ()}, "support_cases: got ()"),
    ):
        with pytest.raises(ValueError, match=re.escape(says)) as error:
            run_system(replace(good, **changes))
        assert str(error.value).startswith("system field ")


def test_check_skeletons__checks_a_record_that_was_made_in_python(document):
    good = run(document)
    bad = replace(good, hidden_system=with_rule(good.hidden_system, probability=1.5))
    with pytest.raises(ValueError, match=re.escape("skeletons[1] hidden_system.rules[0].probability: got 1.5")):
        check_skeletons([good, bad])


def test_check_skeletons__returns_copies_that_share_nothing_with_the_callers(document):
    skeleton = run(document)
    before = to_json(skeleton)
    (copy,) = check_skeletons([skeleton])
    assert copy is not skeleton
    skeleton.query_case.attributes["dose"] = 5
    skeleton.support_cases[0].attributes["dose"] = 5
    skeleton.attribute_vocabulary.clear()
    assert to_json(copy) == before


def test_run_system__same_events_under_other_attributes_may_be_asked(document):
    assert run(document, query_case={"attributes": {"dose": 3}, "events": ["a", "v"]}).gold_answer == "ABSENT"
    assert run(document, query_case={"attributes": {"dose": 5}, "events": ["v", "a"]}).gold_answer == "ABSENT"


@pytest.mark.parametrize("seed", [-1, 1.0, None, True, "0"])
def test_run_system__refuses_what_is_no_seed(document, seed):
    with pytest.raises(ValueError, match="seed must be a non-negative integer"):
        run(document, seed)


@pytest.mark.parametrize("read", [read_system_file, read_skeletons])
def test_readers__unreadable_files_are_named(read, tmp_path):
    for path in (tmp_path / "missing.json", tmp_path, "\0"):
        with pytest.raises(ValueError, match="cannot be read") as error:
            read(path)
        assert repr(str(path)) in str(error.value)
    (tmp_path / "file.json").write_text("{nothing", encoding="utf-8")
    with pytest.raises(ValueError, match="is not JSON"):
        read(tmp_path / "file.json")


def write(path, skeletons):
    path.write_bytes(b"".join(to_json(skeleton) + b"\n" for skeleton in skeletons))
    return path


def test_read_skeletons__returns_what_was_written(tmp_path, document):
    skeletons = [*generate_skeletons(3, 4), *generate_skeletons(2, 6), run(document)]
    assert read_skeletons(write(tmp_path / "file.jsonl", skeletons)) == skeletons


def replace(skeleton, **changes):
    return msgspec.structs.replace(skeleton, **changes)


def flipped(skeleton):
    return "ABSENT" if skeleton.gold_answer == "PRESENT" else "PRESENT"


def stronger(skeleton):
    """The system with another probability in the rule of the first event, which the query's answer rests on."""
    rules = [msgspec.structs.replace(rule, probability=rule.probability / 2) for rule in skeleton.hidden_system.rules]
    return msgspec.structs.replace(skeleton.hidden_system, rules=tuple(rules))


TAMPERINGS = {
    "answer": (lambda s: replace(s, gold_answer=flipped(s)), "gold_answer"),
    "probability": (lambda s: replace(s, gold_present_probability=s.gold_present_probability - 1e-9), "probability"),
    "system": (lambda s: replace(s, hidden_system=stronger(s)), "probability"),
    "trace": (lambda s: replace(s, latent_trace=s.latent_trace[::-1]), "latent_trace"),
    "no trace": (lambda s: replace(s, latent_trace=()), "latent_trace"),
    "query": (
        lambda s: replace(s, query_case=replace(s.query_case, events=s.query_case.events[::-1])),
        "probability",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_check_skeletons__catches_tampering(name, tmp_path):
    tamper, place = TAMPERINGS[name]
    good = generate_skeletons(3, 5, seed=1)
    for bad in range(3):
        mixed = [tamper(s) if i == bad else s for i, s in enumerate(good)]
        for check in (check_skeletons, lambda s: read_skeletons(write(tmp_path / "file.jsonl", s))):
            with pytest.raises(ValueError, match=rf"{place}.*: got .*allowed") as error:
                check(mixed)
            assert good[bad].id in str(error.value) or f"line {bad + 1}" in str(error.value)


def test_check_skeletons__query_among_the_support_cases_is_refused(document):
    skeleton = run(document)
    answered = replace(skeleton.support_cases[0], events=("s", "a", "v"), attributes={"dose": 3})
    with pytest.raises(ValueError, match=r"support_cases\[3\].*query"):
        replace(skeleton, support_cases=(*skeleton.support_cases[1:], answered))


def test_read_skeletons__names_the_bad_line(tmp_path):
    lines = [to_json(skeleton) for skeleton in generate_skeletons(3, 4)]
    lines[1] = lines[1].replace(b'"family":"hidden_system"', b'"family":"circuits"')
    path = tmp_path / "file.jsonl"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ValueError, match=r"^line 2 family: got 'circuits'"):
        read_skeletons(path)


def test_check_skeletons__tolerates_rounding():
    skeleton = generate_skeletons(1, 8)[0]
    close = replace(skeleton, gold_present_probability=skeleton.gold_present_probability + 1e-13)
    assert check_skeletons([close, skeleton]) == [close, skeleton]
    assert check_skeletons(()) == []


def test_iterate_skeletons__starts_anywhere_and_equals_the_list():
    whole = generate_skeletons(300, 4, seed=9)
    assert list(iterate_skeletons(40, 4, 9, first=260)) == whole[260:]
    assert list(iterate_skeletons(10, 4, 9, first=251)) == whole[251:261]
    assert [skeleton.id for skeleton in whole[:2]] == ["HiddenSystem-v0 4/train/9/0", "HiddenSystem-v0 4/train/9/1"]
    assert len({skeleton.id for skeleton in whole}) == 300


def test_generate_skeletons__takes_presets_tasks_and_trials():
    assert generate_skeletons(2, "short") == generate_skeletons(2, 4) == generate_skeletons(2) != []
    assert generate_skeletons(2, "medium") == generate_skeletons(2, task={"length": 6})
    assert generate_skeletons(2, "long", task={"length": 6}) == generate_skeletons(2, 8)
    few = generate_skeletons(1, task={"trials": 5, "attributes": 5})[0]
    assert {case.trials for case in few.support_cases} == {5}
    assert list(few.attribute_vocabulary) == ["X1", "X2", "X3", "X4", "X5"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"count": 0}, "count must be an integer of at least 1, got 0"),
        ({"count": 1.0}, "count must be an integer"),
        ({"count": True}, "count must be an integer"),
        ({"length": 3}, "task field length: got 3"),
        ({"length": 11}, "task field length: got 11"),
        ({"length": "huge"}, "task field length: got 'huge'"),
        ({"seed": -1}, "seed must be a non-negative integer, got -1"),
        ({"seed": None}, "seed must be a non-negative integer"),
        ({"split": "validation"}, "split must be one of 'train', 'test'"),
        ({"balance": "odd"}, "balance must be 'index' or 'drawn', got 'odd'"),
        ({"task": {"margin": 0.7}}, "task field margin: got 0.7"),
    ],
)
def test_generate_skeletons__says_what_is_wrong(arguments, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        generate_skeletons(**{"count": 1, **arguments})


def test_generated_record__is_the_arrays_of_the_generator():
    """Skeletons against the raw draw: the record invents nothing."""
    task = load_task(length=6)
    generator, layout = Generator(task), generated_layout(task)
    public, hidden = layout.public(5), generator.hidden(5)
    keys = np.full(5, derive_key("HiddenSystem-v0 6", "test", 3), np.uint64)
    every, sides = np.ones(5, np.bool_), np.full(5, DRAWN, np.int64)
    generator.draw(keys, np.arange(5, dtype=np.uint64), every, public, hidden, sides)
    for i, skeleton in enumerate(generate_skeletons(5, 6, 3, split="test", balance="drawn")):
        assert isinstance(skeleton, BehaviorSkeleton)
        assert {k: a.tolist() for k, a in encode(skeleton, layout).items()} == {
            k: a[i].tolist() for k, a in public.items()
        }
        assert skeleton.gold_present_probability == hidden.present[i]
        assert [rule.probability for rule in skeleton.hidden_system.rules] == hidden.probability[i].tolist()
