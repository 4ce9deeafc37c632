"""Generated systems: the specified structure, the right answer, lawful counts, and no trace of the answer elsewhere."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from scipy import stats

from veilgym.envs.core.records import to_json
from veilgym.envs.core.seeding import derive_key
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.generator import DRAWN, Generator
from veilgym.envs.hidden_system.task import load_task

LENGTHS = range(4, 11)
EVERY_LENGTH = pytest.mark.parametrize("length", LENGTHS)
PROBABILITIES = {
    "add": (0.5, 0.95), "flag": (0.2, 0.95), "effect": (0.2, 0.95), "gated add": (0.2, 0.95), "gated veto": (0.1, 0.95),
}  # fmt: skip
# Columns of a rule table and bits of a state, as in the docstring of `Program`.
EVENT, ACTION, TARGET, MASK, WANTED = range(5)
ADD, VETO, SET_FLAG = range(3)
MANY = 20_000
# Every test of significance below is made at most this often wrongly, and with fixed seeds, so never by chance.
RARE = 1e-7


@pytest.fixture(scope="module")
def documents():
    """Plain documents of 60 skeletons a length."""
    return {n: [json.loads(to_json(s)) for s in generate_skeletons(60, n, seed=n)] for n in LENGTHS}


def draw(count, seed=0, *, split="train", first=0, sides=DRAWN, width=512, **task):
    """Public and hidden arrays of the instances `first` to `first + count`, drawn in batches of `width`."""
    generator = Generator(load_task(**task))
    key = derive_key("HiddenSystem-v0", split, seed)
    parts = []
    for start in range(first, first + count, width):
        batch = min(width, first + count - start)
        public, hidden = generator.layout.public(batch), generator.hidden(batch)
        keys, indices = np.full(batch, key, np.uint64), np.arange(start, start + batch, dtype=np.uint64)
        generator.draw(keys, indices, np.ones(batch, np.bool_), public, hidden, np.full(batch, sides, np.int64))
        parts.append({**public, **{f"hidden {name}": array for name, array in vars(hidden).items()}})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def part_of(rule):
    """What a rule does, from the record alone; anything that the specification does not list is an error."""
    sources = [condition["source"] for condition in rule["conditions"]]
    if sources == ["state"]:
        condition = rule["conditions"][0]
        assert (condition["key"], condition["operator"], condition["value"]) == ("flag", "IS_SET", None)
        assert rule["action"] in ("ADD_RECORD", "INVALIDATE_RECORD")
        return "effect"
    if rule["action"] == "SET_FLAG":
        assert (rule["target"], sources) == ("flag", [])
        return "flag"
    if sources == []:
        assert rule["action"] == "ADD_RECORD"
        return "add"
    assert sources == ["attribute"]
    return "gated add" if rule["action"] == "ADD_RECORD" else "gated veto"


def parts_of(document):
    """The part of each event."""
    return {rule["on_event"]: part_of(rule) for rule in document["hidden_system"]["rules"]}


def is_open(condition, level):
    value = condition["value"]
    return {"EQ": level == value, "LE": level <= value, "GT": level > value}[condition["operator"]]


@EVERY_LENGTH
def test_system__has_the_specified_rules(documents, length):
    for document in documents[length]:
        rules, query = document["hidden_system"]["rules"], document["query_case"]["events"]
        names = [f"E{i + 1}" for i in range(length)]
        assert document["event_vocabulary"] == names
        assert sorted(query) == sorted(names)
        assert sorted(rule["on_event"] for rule in rules) == sorted(names)  # one rule for each event
        assert document["complexity"] == length == len(rules)
        parts = parts_of(document)
        counts = Counter(parts.values())
        assert (counts["add"], counts["flag"], counts["effect"]) == (1, 1, 1)
        assert counts["gated veto"] >= 1
        assert counts["gated veto"] + counts["gated add"] == length - 3
        order = {parts[event]: position for position, event in enumerate(query)}
        assert order["flag"] < order["effect"]


@EVERY_LENGTH
def test_system__every_gate_opens_at_one_of_two_levels(documents, length):
    operators = Counter()
    for document in documents[length]:
        vocabulary = document["attribute_vocabulary"]
        assert list(vocabulary) == ["X1", "X2", "X3", "X4"]
        for low, high in vocabulary.values():
            assert 1 <= low <= 4 < 6 <= high <= 9
        for rule in document["hidden_system"]["rules"]:
            for condition in rule["conditions"]:
                if condition["source"] == "attribute":
                    low, high = vocabulary[condition["key"]]
                    assert is_open(condition, low) != is_open(condition, high)
                    operators[condition["operator"]] += 1
    assert set(operators) == {"EQ", "LE", "GT"}


@EVERY_LENGTH
def test_system__probabilities_are_multiples_of_a_twentieth_within_their_ranges(documents, length):
    for document in documents[length]:
        for rule in document["hidden_system"]["rules"]:
            low, high = PROBABILITIES[part_of(rule)]
            assert low <= rule["probability"] <= high
            assert rule["probability"] == round(rule["probability"] * 20) / 20


def test_system__probabilities_are_uniform_over_the_whole_of_their_ranges():
    """Where the flag has no effect and twins differ in a level, nothing selects the probability of the flag."""
    probabilities = {"flag": [0.1, 0.5], "effect": [0.0, 0.0], "add": [0.7, 0.7]}
    arrays = draw(4000, margin=0.0, pivotal_share=1.0, probabilities=probabilities)
    rules, probability = arrays["hidden rules"], arrays["hidden probability"]
    flags = probability[rules[..., ACTION] == SET_FLAG]
    assert sorted(set(flags.tolist())) == [k / 20 for k in range(2, 11)]
    assert stats.chisquare(np.unique(flags, return_counts=True)[1]).pvalue > RARE
    is_carrier = (rules[..., MASK] == 0) & (rules[..., ACTION] == ADD) & ~is_gated(arrays)
    assert set(probability[is_carrier].tolist()) == {0.7}


@pytest.mark.parametrize(("side", "steps"), [(0, range(11, 20)), (1, range(2, 8))])
def test_system__a_redrawn_probability_is_uniform_over_those_that_give_the_asked_answer(side, steps):
    """Only the veto can turn the answer; it leaves 0.9 (1 - v), which is clear of one half below 0.36 and from 0.54."""
    probabilities = {"add": [0.9, 0.9], "flag": [1.0, 1.0], "effect": [0.0, 0.0], "gated_veto": [0.1, 0.95]}
    arrays = draw(4000, pivotal_share=0.0, probabilities=probabilities, sides=side)
    vetoes = arrays["hidden probability"][is_gated(arrays)]
    values, counts = np.unique(vetoes, return_counts=True)
    assert values.tolist() == [step / 20 for step in steps]
    assert stats.chisquare(counts).pvalue > RARE


@EVERY_LENGTH
def test_support__has_the_specified_cases(documents, length):
    for document in documents[length]:
        parts, query = parts_of(document), document["query_case"]["events"]
        carrier = next(event for event, part in parts.items() if part == "add")
        others = [event for event in query if event != carrier]
        names = document["event_vocabulary"]
        expected = Counter([(event,) for event in names])
        expected += Counter(itertools.permutations(names, 2))
        for other in others:  # the controls, in the query's order
            expected[tuple(sorted((carrier, other), key=query.index))] += 6
        for pair in itertools.combinations(others, 2):
            expected[tuple(sorted((carrier, *pair), key=query.index))] += 2
        assert Counter(tuple(case["events"]) for case in document["support_cases"]) == expected
        assert [case["id"] for case in document["support_cases"]] == [f"C{i + 1}" for i in range(expected.total())]
        assert expected.total() == {4: 40, 5: 61, 6: 86, 7: 115, 8: 148, 9: 185, 10: 226}[length]
        setter, effect = (next(e for e, part in parts.items() if part == kind) for kind in ("flag", "effect"))
        assert expected[(setter, effect)] >= 1
        assert expected[(effect, setter)] >= 1


@EVERY_LENGTH
def test_support__controls_are_pairs_that_differ_in_every_attribute(documents, length):
    for document in documents[length]:
        parts, vocabulary = parts_of(document), document["attribute_vocabulary"]
        carrier = next(event for event, part in parts.items() if part == "add")
        by_events = defaultdict(list)
        for case in document["support_cases"]:
            by_events[tuple(case["events"])].append(case["attributes"])
        controls = [cases[1:] for events, cases in by_events.items() if carrier in events and len(cases) == 7]
        assert len(controls) == length - 1
        for cases in controls:
            for low, high in zip(cases[::2], cases[1::2], strict=True):
                assert all({low[name], high[name]} == set(levels) for name, levels in vocabulary.items())
            # With four attributes these are all that agree with the query in half.
            assert len({tuple(case.values()) for case in cases}) == 6
        triples = [cases for events, cases in by_events.items() if len(events) == 3]
        assert len(triples) == (length - 1) * (length - 2) // 2
        for one, other in triples:
            assert all({one[name], other[name]} == set(levels) for name, levels in vocabulary.items())


@pytest.mark.parametrize("attributes", [4, 5, 6, 7, 8])
def test_support__controls_are_opposite_and_distinct_for_any_number_of_attributes(attributes):
    n, count = 5, 100
    arrays = draw(count, length=n, attributes=attributes)
    first = n + n * (n - 1)
    cases = arrays["attributes"].reshape(count, -1, attributes)[:, first : first + 6 * (n - 1)]
    cases = cases.reshape(count, n - 1, 3, 2, attributes)
    levels = arrays["levels"].reshape(count, 1, 1, attributes, 2)
    assert (cases.sum(axis=3) == levels.sum(axis=4)).all()
    for control in cases.reshape(-1, 6, attributes):
        assert len({tuple(row) for row in control.tolist()}) == 6
    triples = arrays["attributes"].reshape(count, -1, attributes)[:, first + 6 * (n - 1) :]
    triples = triples.reshape(count, (n - 1) * (n - 2) // 2, 2, attributes)
    assert (triples.sum(axis=2) == levels[:, :, 0].sum(axis=3)).all()


@EVERY_LENGTH
def test_support__every_case_agrees_with_the_query_in_half_of_the_attributes(documents, length):
    for document in documents[length]:
        query = document["query_case"]["attributes"]
        for case in document["support_cases"]:
            assert sum(case["attributes"][name] == query[name] for name in query) == 2


@pytest.mark.parametrize("attributes", [5, 7, 8])
def test_support__of_an_odd_number_of_attributes_agrees_in_the_one_or_the_other_half(attributes):
    arrays = draw(200, length=5, attributes=attributes)
    cases = arrays["attributes"].reshape(200, -1, attributes)
    agreeing = (cases == arrays["query_attributes"][:, None]).sum(axis=2)
    halves = {attributes // 2, (attributes + 1) // 2}
    counts = Counter(agreeing.ravel().tolist())
    assert set(counts) == halves
    if len(halves) == 2:
        assert 0.45 < counts[attributes // 2] / counts.total() < 0.55


@EVERY_LENGTH
def test_query__is_held_out_and_clear_of_one_half(documents, length):
    for document in documents[length]:
        query = document["query_case"]
        assert len(query["events"]) == length > max(len(case["events"]) for case in document["support_cases"])
        assert query["trials"] == 0
        assert query["observed_present"] is query["observed_absent"] is None
        assert abs(document["gold_present_probability"] - 0.5) >= 0.08 - 1e-9
        trials = 48 if length <= 4 else 64
        for case in document["support_cases"]:
            assert case["trials"] == case["observed_present"] + case["observed_absent"] == trials


@pytest.mark.parametrize("margin", [0.0, 0.02, 0.3])
def test_query__keeps_the_margin_of_the_task_and_comes_close_to_it(margin):
    distance = np.abs(draw(3000, length=6, margin=margin)["hidden present"] - 0.5)
    assert (distance > 0).all()
    assert margin - 1e-9 <= distance.min() < margin + 0.005


@EVERY_LENGTH
def test_answer__is_exact_in_every_field(documents, length, brute_force):
    for document in documents[length]:
        query = document["query_case"]
        trace = brute_force(document["hidden_system"], query["attributes"], query["events"])
        exact = trace[-1]["present_probability"]
        assert document["gold_present_probability"] == pytest.approx(exact, rel=0, abs=1e-12)
        assert document["gold_answer"] == ("PRESENT" if exact > 0.5 else "ABSENT")
        assert len(trace) == len(document["latent_trace"]) == length
        for step, wanted in zip(document["latent_trace"], trace, strict=True):
            assert step.keys() == wanted.keys()
            assert step["event"] == wanted["event"]
            for field in ("present_probability", "invalidated_probability", "flag_probabilities"):
                assert step[field] == pytest.approx(wanted[field], rel=0, abs=1e-12)


@EVERY_LENGTH
def test_answer__alternates_with_the_index(documents, length):
    answers = [document["gold_answer"] for document in documents[length]]
    assert answers == ["ABSENT", "PRESENT"] * 30


@pytest.mark.parametrize("length", [4, 6, 8])
def test_answer__is_balanced_when_drawn_and_independent_of_its_neighbours(length):
    present = draw(MANY, seed=1, length=length)["hidden present"] > 0.5
    assert abs(present.mean() - 0.5) < 0.015
    assert abs(np.corrcoef(present[:-1], present[1:])[0, 1]) < 5 / MANY**0.5
    assert abs(present[::2].mean() - present[1::2].mean()) < 0.03  # no alternation by parity


@pytest.mark.parametrize("side", [0, 1])
def test_answer__is_on_the_side_that_is_asked_for(side):
    assert ((draw(1000, length=6, sides=side)["hidden present"] > 0.5) == side).all()


def case_probabilities(document, brute_force):
    return [
        brute_force(document["hidden_system"], case["attributes"], case["events"])[-1]["present_probability"]
        for case in document["support_cases"]
    ]


def law_of(count, trials, probability, rng):
    """A number that is uniform on (0, 1) if `count` is binomial (the randomised probability integral transform)."""
    law = stats.binom(trials, probability)
    below = law.cdf(count - 1)
    return below + rng.random(np.shape(count)) * (law.cdf(count) - below)


def check_uniform(numbers):
    assert stats.kstest(numbers, "uniform").pvalue > RARE
    assert stats.chisquare(np.histogram(numbers, 20, (0, 1))[0]).pvalue > RARE
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 5.5 / len(numbers) ** 0.5


def test_counts__follow_the_binomial_law_of_the_exact_probability(documents, brute_force):
    counts, trials, exact = [], [], []
    for length in (4, 5, 7):
        for document in documents[length]:
            exact += case_probabilities(document, brute_force)
            counts += [case["observed_present"] for case in document["support_cases"]]
            trials += [case["trials"] for case in document["support_cases"]]
    counts, trials, exact = np.array(counts), np.array(trials), np.array(exact)
    certain = exact == 0.0
    assert (counts[certain] == 0).all()
    assert certain.sum() > 1000
    random = ~certain
    numbers = law_of(counts[random], trials[random], exact[random], np.random.default_rng(0))
    assert len(numbers) > 4000
    check_uniform(numbers)
    for low, high in ((0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1)):
        check_uniform(numbers[(low < exact[random]) & (exact[random] <= high)])


@pytest.mark.parametrize("trials", [1, 2, 48, 1000])
def test_counts__of_single_additions_follow_the_binomial_law(trials):
    """The carrier alone is present with the probability of its rule."""
    arrays = draw(4000, seed=3, length=4, trials=trials)
    rules = arrays["hidden rules"]
    is_carrier = (rules[..., MASK] == 0) & (rules[..., ACTION] == ADD) & ~is_gated(arrays)
    assert (is_carrier.sum(axis=1) == 1).all()
    row = np.arange(4000), is_carrier.argmax(axis=1)
    counts = arrays["present"][row[0], rules[row][:, EVENT]]  # the first cases are the events alone
    assert (arrays["trials"] == trials).all()
    assert counts.min() >= 0
    assert counts.max() <= trials
    check_uniform(law_of(counts, trials, arrays["hidden probability"][row], np.random.default_rng(1)))


@pytest.mark.parametrize("trials", [1, 1000])
def test_counts__of_certain_outcomes_are_certain(trials):
    ones = {part: [1.0, 1.0] for part in ("add", "flag", "effect", "gated_add", "gated_veto")}
    arrays = draw(300, length=6, trials=trials, pivotal_share=1.0, probabilities=ones)
    assert set(np.unique(arrays["hidden present"]).tolist()) == {0.0, 1.0}
    assert set(np.unique(arrays["present"]).tolist()) == {0, trials}


def is_gated(arrays):
    """(B, R) bool: whether a rule has a condition on an attribute."""
    return (arrays["hidden bounds"] != np.array([-(2**15), 2**15 - 1])).any(axis=(2, 3))


@pytest.mark.parametrize("length", [4, 7, 10])
def test_draw__is_the_same_in_batches_of_any_width_and_from_any_start(length):
    whole = draw(300, seed=5, length=length, width=256)
    for width in (1, 7, 300):
        again = draw(300, seed=5, length=length, width=width)
        assert {name: array.tobytes() for name, array in again.items()} == {
            name: array.tobytes() for name, array in whole.items()
        }
    later = draw(100, seed=5, length=length, first=200)
    assert all((later[name] == whole[name][200:]).all() for name in whole)


def test_draw__leaves_other_rows_alone():
    generator = Generator(load_task(length=5))
    public, hidden = generator.layout.public(6), generator.hidden(6)
    for array in (*public.values(), *vars(hidden).values()):
        array[:] = 7
    which = np.array([True, False, False, True, False, True])
    keys, indices = np.full(6, 3, np.uint64), np.arange(6, dtype=np.uint64)
    generator.draw(keys, indices, which, public, hidden, np.full(6, DRAWN, np.int64))
    for array in (*public.values(), *vars(hidden).values()):
        assert (array[~which] == 7).all()
    alone, alone_hidden = generator.layout.public(1), generator.hidden(1)
    generator.draw(keys[3:4], indices[3:4], which[3:4], alone, alone_hidden, np.full(1, DRAWN, np.int64))
    assert all((alone[key][0] == public[key][3]).all() for key in public)
    assert alone_hidden.present[0] == hidden.present[3]


def test_draw__structure_does_not_depend_on_the_number_of_trials():
    few, many = draw(50, length=6, trials=1), draw(50, length=6, trials=500)
    for name in few:
        if name not in ("present", "trials"):
            same = (few[name] == many[name]).reshape(50, -1).all(axis=1)
            assert same.all(), name


@EVERY_LENGTH
def test_skeletons__same_arguments_same_bytes(documents, length):
    again = [json.loads(to_json(skeleton)) for skeleton in generate_skeletons(60, length, seed=length)]
    assert again == documents[length]
    assert [json.loads(to_json(s)) for s in generate_skeletons(9, length, seed=length)] == documents[length][:9]


@pytest.mark.parametrize("balance", ["index", "drawn"])
def test_skeletons__longer_list_begins_with_a_shorter_one(balance):
    arguments = {"length": 4, "seed": 6, "balance": balance}
    longest = generate_skeletons(520, **arguments)
    for count in (1, 7, 255, 256, 257):
        assert generate_skeletons(count, **arguments) == longest[:count]


def test_skeletons__seeds_splits_and_indices_share_nothing():
    lists = [
        generate_skeletons(40, 5, seed, split=split)
        for seed in (0, 1, 2, 2**32, 2**64 + 1)
        for split in ("train", "test")
    ]
    skeletons = [skeleton for some in lists for skeleton in some]
    assert len({skeleton.id for skeleton in skeletons}) == 400
    counts = {tuple(case.observed_present for case in skeleton.support_cases) for skeleton in skeletons}
    assert len(counts) == 400
    assert len({to_json(renderer_payload(skeleton)) for skeleton in skeletons}) == 400
    # Not even the order of the query and the probabilities together, of which there are millions.
    assert len({(s.query_case.events, tuple(r.probability for r in s.hidden_system.rules)) for s in skeletons}) == 400


@pytest.mark.parametrize(
    "task",
    [
        {"margin": 0.499},
        {"probabilities": {"add": [0.0, 0.0], "gated_add": [0.0, 0.0], "effect": [0.0, 0.0]}},
        {"pivotal_share": 1.0, "probabilities": {"gated_add": [0.0, 0.0], "gated_veto": [0.0, 0.0]}},
        {"probabilities": {"gated_veto": [1.0, 1.0], "add": [0.5, 0.5], "effect": [0.0, 0.0]}, "margin": 0.4},
        # Rules of one probability each can have no twin of another.
        {"probabilities": {part.replace(" ", "_"): [1.0, 1.0] for part in PROBABILITIES}},
    ],
)
def test_draw__of_a_task_that_cannot_be_satisfied_fails_quickly_and_names_the_fields(task):
    draw(1)  # compiled
    started = time.perf_counter()
    with pytest.raises(ValueError, match=r"^task fields margin, pivotal_share and probabilities: got") as error:
        generate_skeletons(20, task=task)
    assert time.perf_counter() - started < 2
    got = f"got {task.get('margin', 0.08)}, {task.get('pivotal_share', 0.4)} and {load_task(task).probabilities}"
    assert f"{got} at length 4, allowed are values for which" in str(error.value)


@pytest.mark.parametrize("shuffled", [False, True])
def test_options__are_in_the_specified_order_or_drawn(shuffled):
    generator = Generator(load_task(), shuffle_options=shuffled)
    public, hidden = generator.layout.public(4000), generator.hidden(4000)
    indices = np.arange(4000, dtype=np.uint64)
    every, sides = np.ones(4000, np.bool_), np.full(4000, DRAWN, np.int64)
    generator.draw(np.zeros(4000, np.uint64), indices, every, public, hidden, sides)
    options = public["options"][:, 0]
    if not shuffled:
        assert (options == 0).all()
    else:
        assert stats.binomtest(int(options.sum()), 4000).pvalue > RARE
        assert abs(np.corrcoef(options, hidden.present > 0.5)[0, 1]) < 5 / 4000**0.5


@pytest.fixture(scope="module", params=[4, 8])
def many(request):
    return draw(MANY, seed=11, length=request.param)


def parts_by_position(arrays):
    """(B, n) of "add", "flag", "effect", "gated": what the query's events do, by place in the query."""
    rules = arrays["hidden rules"]
    parts = np.full(rules.shape[:2], "add   ")
    parts[is_gated(arrays)] = "gated "
    parts[rules[..., MASK] != 0] = "effect"
    parts[rules[..., ACTION] == SET_FLAG] = "flag  "
    return np.char.strip(parts)


def check_independent(a, b):
    """Two labels of the instances are independent, by a chi-square test over the values that are not too rare."""
    table = np.array([[np.sum((a == x) & (b == y)) for y in np.unique(b)] for x in np.unique(a)])
    assert stats.chi2_contingency(table[table.sum(axis=1) > 40]).pvalue > RARE


def structure_labels(arrays):
    """What is to be seen of a structure without knowing the query's levels: one label of the instances each."""
    rules, parts = arrays["hidden rules"], parts_by_position(arrays)
    return {
        "action of the flag's effect": rules[parts == "effect"][:, ACTION],
        "number of events that add": (rules[..., ACTION] == ADD).sum(axis=1),
        "part of the first event": parts[:, 0],
        "part of the last event": parts[:, -1],
        "place of the carrier": np.argmax(parts == "add", axis=1),
        "action of the last event": rules[:, -1, ACTION],
    }


def test_symmetry__codes_play_every_part_equally_often(many):
    codes, parts = many["hidden rules"][..., EVENT], parts_by_position(many)
    n = codes.shape[1]
    assert (np.sort(codes, axis=1) == np.arange(n)).all()
    for part in ("add", "flag", "effect"):
        assert stats.chisquare(np.bincount(codes[parts == part], minlength=n)).pvalue > RARE
    for position in (0, n - 1):
        assert stats.chisquare(np.bincount(codes[:, position], minlength=n)).pvalue > RARE
    orders = codes[:, 0] * n + codes[:, 1]
    assert stats.chisquare(np.bincount(orders)[np.unique(orders)]).pvalue > RARE


def test_symmetry__attributes_gate_equally_often_and_open_at_either_level(many):
    closed = many["hidden bounds"] != np.array([-(2**15), 2**15 - 1])
    gates = closed.any(axis=3)
    assert stats.chisquare(gates.sum(axis=(0, 1))).pvalue > RARE
    levels = many["levels"].reshape(MANY, 1, -1, 2)
    opens_high = (many["hidden bounds"][..., 0] <= levels[..., 1]) & (levels[..., 1] <= many["hidden bounds"][..., 1])
    share = opens_high[gates].mean()
    assert abs(share - 0.5) < 5.5 * 0.5 / gates.sum() ** 0.5


def test_symmetry__levels_are_uniform(many):
    levels = many["levels"].reshape(MANY, -1, 2)
    for m in range(levels.shape[1]):
        for column, allowed in ((0, [1, 2, 3, 4]), (1, [6, 7, 8, 9])):
            values, counts = np.unique(levels[:, m, column], return_counts=True)
            assert values.tolist() == allowed
            assert stats.chisquare(counts).pvalue > RARE
    high = many["query_attributes"] == levels[..., 1]
    assert np.abs(high.mean(axis=0) - 0.5).max() < 5.5 * 0.5 / MANY**0.5


def test_symmetry__the_answer_does_not_depend_on_codes_attributes_or_order(many):
    present = many["hidden present"] > 0.5
    codes, parts = many["hidden rules"][..., EVENT], parts_by_position(many)
    levels = many["levels"].reshape(MANY, -1, 2)
    check_independent(many["query_events"][:, 0], present)
    check_independent(many["query_events"][:, -1], present)
    for part in ("add", "flag", "effect"):
        check_independent(codes[parts == part], present)
    for m in range(levels.shape[1]):
        check_independent(many["query_attributes"][:, m] == levels[:, m, 1], present)
        check_independent(levels[:, m, 1] - levels[:, m, 0], present)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("length", [4, 6, 8, 10])
def test_symmetry__the_answer_is_even_whatever_the_structure(length, share):
    """Within five standard deviations, for every value of every label."""
    arrays = draw(MANY, seed=2, length=length, pivotal_share=share)
    present = arrays["hidden present"] > 0.5
    for name, label in structure_labels(arrays).items():
        for value in np.unique(label):
            chosen = present[label == value]
            assert abs(chosen.sum() - chosen.size / 2) <= 5 * (chosen.size / 4) ** 0.5 + 1, (name, value)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("length", [4, 6, 8, 10])
def test_symmetry__twins_differ_in_one_level_or_one_probability_and_nothing_else(length, share):
    """The favoured side only picks one of two twins, so the two sides of a key are twins: nothing else can tell."""
    one, other = (draw(1000, length=length, pivotal_share=share, sides=side) for side in (0, 1))
    for name in ("hidden rules", "hidden bounds", "levels", "query_events", "options"):
        assert (one[name] == other[name]).all(), name
    levels = (one["query_attributes"] != other["query_attributes"]).sum(axis=1)
    probabilities = (one["hidden probability"] != other["hidden probability"]).sum(axis=1)
    assert (levels + probabilities == 1).all()
    assert stats.binomtest(int(levels.sum()), 1000, share).pvalue > RARE


def draw_by_hand(rng, n):
    """A system, a query's attributes and the part of each event, drawn from the described law by other code."""
    low, high = rng.integers(1, 5, 4), rng.integers(6, 10, 4)
    free = rng.permutation(n)
    parts = {event: ("gated add", "gated veto")[rng.integers(2)] for event in range(n)}
    parts[free[0]], parts[min(free[1], free[2])], parts[max(free[1], free[2])] = "add", "flag", "effect"
    parts[free[3]] = "gated veto"
    rules = []
    for event in range(n):
        kind, conditions = parts[event], []
        action = {"flag": "SET_FLAG", "gated veto": "INVALIDATE_RECORD"}.get(kind, "ADD_RECORD")
        if kind == "effect":
            action = ("ADD_RECORD", "INVALIDATE_RECORD")[rng.integers(2)]
            conditions = [{"source": "state", "key": "flag", "operator": "IS_SET", "value": None}]
        elif kind.startswith("gated"):
            gate = int(rng.integers(4))
            opening = int((low, high)[rng.integers(2)][gate])
            conditions = [{"source": "attribute", "key": gate, "operator": "EQ", "value": opening}]
        least, most = (round(20 * bound) for bound in PROBABILITIES[kind])
        probability = rng.integers(least, most + 1) / 20
        rule = {"on_event": event, "conditions": conditions, "probability": probability, "action": action}
        rules.append({**rule, "target": "flag" if kind == "flag" else "record"})
    levels = {m: (int(low[m]), int(high[m])) for m in range(4)}
    attributes = {m: pair[rng.integers(2)] for m, pair in levels.items()}
    return {"rules": rules}, attributes, levels, parts


def acts(rule, attributes):
    """Whether a rule has no gate, or its gate is open."""
    gates = [condition for condition in rule["conditions"] if condition["source"] == "attribute"]
    return all(is_open(gate, attributes[gate["key"]]) for gate in gates)


def with_probability(system, i, probability):
    """The system with another probability of its rule `i`."""
    rules = list(system["rules"])
    rules[i] = {**rules[i], "probability": probability}
    return {**system, "rules": rules}


def are_opposite(one, other, margin):
    """Whether two exact probabilities are clear of one half on different sides."""
    return min(abs(one - 0.5), abs(other - 0.5)) >= margin - 1e-12 and (one > 0.5) != (other > 0.5)


@pytest.mark.parametrize(("length", "margin"), [(4, 0.08), (4, 0.25), (6, 0.08)])
def test_acceptance__agrees_with_draws_by_other_code(length, margin, brute_force):
    def exact(system, attributes):
        return brute_force(system, attributes, range(length))[-1]["present_probability"]

    rng, count = np.random.default_rng(length), 1500
    by_level = by_probability = 0
    for _ in range(count):
        system, attributes, levels, parts = draw_by_hand(rng, length)
        gates = [c["key"] for rule in system["rules"] for c in rule["conditions"] if c["source"] == "attribute"]
        turned = gates[rng.integers(len(gates))]
        twin = {**attributes, turned: sum(levels[turned]) - attributes[turned]}
        by_level += are_opposite(exact(system, attributes), exact(system, twin), margin)
        acting = [
            event for event in range(length) if parts[event] != "add" and acts(system["rules"][event], attributes)
        ]
        changed = acting[rng.integers(len(acting))]
        low, high = (exact(with_probability(system, changed, p), attributes) for p in PROBABILITIES[parts[changed]])
        by_probability += are_opposite(low, high, margin)
    rates = Generator(load_task(length=length, margin=margin)).acceptance()
    for rate, mine in zip(rates, (by_level / count, by_probability / count), strict=True):
        assert 0 < mine < 1
        assert abs(rate - mine) < 5.5 * (mine * (1 - mine) * (1 / count + 1 / 20_000)) ** 0.5
    assert Generator(load_task(length=length, margin=margin)).acceptance() == rates


@pytest.mark.parametrize("length", [4, 6, 9])
def test_twin__one_changed_level_turns_the_answer_of_every_pivotal_instance(length, brute_force):
    task = {"pivotal_share": 1.0}
    turned = Counter()
    for skeleton in generate_skeletons(60, length, seed=4, task=task):
        document: Any = json.loads(to_json(skeleton))
        query = document["query_case"]
        turning = []
        for name, levels in document["attribute_vocabulary"].items():
            twin = {**query["attributes"], name: sum(levels) - query["attributes"][name]}
            exact = brute_force(document["hidden_system"], twin, query["events"])[-1]["present_probability"]
            if abs(exact - 0.5) >= 0.08 and (exact > 0.5) != (document["gold_answer"] == "PRESENT"):
                turning.append(name)
        assert turning
        turned.update(turning)
    assert set(turned) == {"X1", "X2", "X3", "X4"}


@pytest.mark.parametrize("length", [4, 6, 9])
def test_twin__one_changed_probability_turns_the_answer_of_every_other_instance(length, brute_force):
    """The exact probability is linear in each probability, so the ends of a range show whether any turns the answer."""
    turned = Counter()
    for skeleton in generate_skeletons(60, length, seed=4, task={"pivotal_share": 0.0}):
        document: Any = json.loads(to_json(skeleton))
        query, system = document["query_case"], document["hidden_system"]
        turning = []
        for i, rule in enumerate(system["rules"]):
            part = part_of(rule)
            if part != "add" and acts(rule, query["attributes"]):
                twins = [with_probability(system, i, probability) for probability in PROBABILITIES[part]]
                ends = [
                    brute_force(twin, query["attributes"], query["events"])[-1]["present_probability"] for twin in twins
                ]
                if are_opposite(*ends, 0.08):
                    turning.append(part)
        assert turning
        turned.update(turning)
    # Between an addition of 0.2 and one of 0.95 there is hardly ever room for both answers, beside a carrier of 0.5.
    assert set(turned) - {"gated add"} == {"flag", "effect", "gated veto"}


def test_twin__may_turn_on_any_rule_that_acts_but_the_carrier():
    one, other = (draw(2000, length=8, pivotal_share=0.0, sides=side) for side in (0, 1))
    turned = (one["hidden probability"] != other["hidden probability"]).argmax(axis=1)
    rows = np.arange(2000)
    bounds, attributes = one["hidden bounds"][rows, turned], one["query_attributes"]
    assert ((bounds[..., 0] <= attributes) & (attributes <= bounds[..., 1])).all()
    counts = Counter(parts_by_position(one)[rows, turned].tolist())
    assert set(counts) == {"flag", "effect", "gated"}
    assert min(counts.values()) > 100
    assert min(np.bincount(turned, minlength=8)) > 100


def test_twin__may_turn_on_any_gate():
    one, other = (draw(2000, length=8, pivotal_share=1.0, sides=side) for side in (0, 1))
    turned = (one["query_attributes"] != other["query_attributes"]).argmax(axis=1)
    gates = (one["hidden bounds"] != np.array([-(2**15), 2**15 - 1])).any(axis=3)
    rows = np.arange(2000)
    assert gates[rows, :, turned].any(axis=1).all()
    for places in (gates, gates[:, ::-1]):
        outermost = places[rows, places.any(axis=2).argmax(axis=1)].argmax(axis=1)
        assert 0.2 < (outermost == turned).mean() < 0.65


def test_twin__is_rarer_where_no_instance_is_drawn_with_one(brute_force):
    """The share is a parameter that does something: without it fewer answers hang on one level."""
    shares = []
    for share in (0.0, 1.0):
        skeletons = generate_skeletons(100, 4, seed=4, task={"pivotal_share": share})
        pivotal = 0
        for skeleton in skeletons:
            document: Any = json.loads(to_json(skeleton))
            query = document["query_case"]
            pivotal += any(
                (
                    brute_force(
                        document["hidden_system"],
                        {**query["attributes"], name: sum(levels) - query["attributes"][name]},
                        query["events"],
                    )[-1]["present_probability"]
                    > 0.5
                )
                != (document["gold_answer"] == "PRESENT")
                for name, levels in document["attribute_vocabulary"].items()
            )
        shares.append(pivotal / len(skeletons))
    assert shares[0] < 0.9
    assert shares[1] == 1.0
