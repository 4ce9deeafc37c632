"""A second implementation of the language, on plain documents, and hand-written systems drawn by Hypothesis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

Document = Mapping[str, Any]
MOST_BRANCHINGS = 10


class Path:
    """One outcome of all Bernoulli triggers of a trial.

    `states` holds (present, invalidated, flags) after each event, `triggers` which of the tried rules fired.
    """

    def __init__(self, probability: float, states: list[Any], triggers: list[bool]) -> None:
        self.probability, self.states, self.triggers = probability, states, triggers


def every_path(system: Document, attributes: Mapping[str, int], events: Sequence[str]) -> Iterator[Path]:
    """Every outcome with a positive probability, one by one, without merging equal states."""
    steps: list[Any] = []
    for event in events:
        steps += [rule for rule in system["rules"] if rule["on_event"] == event]
        steps.append(None)  # the end of an event

    def walk(i: int, state: Any, path: Path) -> Iterator[Path]:
        if i == len(steps):
            yield path
        elif steps[i] is None:
            yield from walk(i + 1, state, Path(path.probability, [*path.states, state], path.triggers))
        elif not all(is_met(condition, attributes, state) for condition in steps[i]["conditions"]):
            yield from walk(i + 1, state, path)
        else:
            p = steps[i]["probability"]
            for fires, chance in ((True, p), (False, 1 - p)):
                if chance > 0:
                    after = outcome(steps[i], state) if fires else state
                    longer = Path(path.probability * chance, path.states, [*path.triggers, fires])
                    yield from walk(i + 1, after, longer)

    return walk(0, (False, False, frozenset()), Path(1.0, [], []))


def is_met(condition: Document, attributes: Mapping[str, int], state: Any) -> bool:
    present, invalidated, flags = state
    key, value = condition["key"], condition["value"]
    if condition["source"] == "attribute":
        difference = attributes[key] - value
        return bool({"EQ": difference == 0, "LE": difference <= 0, "GT": difference > 0}[condition["operator"]])
    if key == "record":
        return present if value == "PRESENT" else not present
    is_set = invalidated if key == "invalidated" else key in flags
    return is_set if condition["operator"] == "IS_SET" or value is True else not is_set


def outcome(rule: Document, state: Any) -> Any:
    present, invalidated, flags = state
    if rule["action"] == "SET_FLAG":
        return present, invalidated, flags | {rule["target"]}
    return (False, True, flags) if rule["action"] == "INVALIDATE_RECORD" else (not invalidated, invalidated, flags)


def brute_force(system: Document, attributes: Mapping[str, int], events: Sequence[str]) -> list[dict[str, Any]]:
    """The exact probabilities after each event, as the specification's latent trace would have them."""
    paths = list(every_path(system, attributes, events))
    names = {rule["target"] for rule in system["rules"] if rule["action"] == "SET_FLAG"}
    names |= {c["key"] for rule in system["rules"] for c in rule["conditions"] if c["source"] == "state"}

    def share(i: int, holds: Callable[[Any], bool]) -> float:
        return math.fsum(path.probability for path in paths if holds(path.states[i]))

    return [
        {
            "event": event,
            "present_probability": share(i, lambda state: state[0]),
            "invalidated_probability": share(i, lambda state: state[1]),
            "flag_probabilities": {
                name: share(i, lambda state, name=name: name in state[2]) for name in names - {"record", "invalidated"}
            },
        }
        for i, event in enumerate(events)
    ]


def fits(system: Document, events: Sequence[str]) -> bool:
    """Whether there are few enough paths to walk them all."""
    times = Counter(events)
    return sum(times[rule["on_event"]] for rule in system["rules"]) <= MOST_BRANCHINGS


EVENTS, FLAGS = ("heat", "salt", "shake"), ("armed", "wet", "lit")
LEVELS = st.lists(st.integers(-4, 9), min_size=1, max_size=3, unique=True).map(sorted)
THRESHOLDS = st.integers(-5, 10) | st.integers(-9, 19).map(lambda k: k / 2)
PROBABILITIES = st.sampled_from([0.0, 1.0, 0.5, 0.05]) | st.floats(0, 1)


def conditions(attributes: Sequence[str]) -> st.SearchStrategy[Document]:
    def on_state(key: str, operator: str, value: Any) -> Document:
        return {"source": "state", "key": key, "operator": operator, "value": value}

    def on_attribute(key: str, operator: str, value: float) -> Document:
        return {"source": "attribute", "key": key, "operator": operator, "value": value}

    switches = st.sampled_from([*FLAGS, "invalidated"])
    kinds = [
        st.builds(on_state, st.just("record"), st.just("EQ"), st.sampled_from(["PRESENT", "ABSENT"])),
        st.builds(on_state, switches, st.just("EQ"), st.booleans()),
        st.builds(on_state, switches, st.just("IS_SET"), st.none()),
    ]
    if attributes:
        kinds += [st.builds(on_attribute, st.sampled_from(attributes), st.sampled_from(["EQ", "LE", "GT"]), THRESHOLDS)]
    return st.one_of(kinds)


@st.composite
def system_documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents of system files with 1 to 7 rules on 3 events, up to 3 flags and up to 2 attributes."""
    vocabulary = draw(st.dictionaries(st.sampled_from(["dose", "age"]), LEVELS, max_size=2))
    rules = []
    for i in range(draw(st.integers(1, 7))):
        action = draw(st.sampled_from(["ADD_RECORD", "INVALIDATE_RECORD", "SET_FLAG", "SET_FLAG"]))
        rule = {
            "id": f"rule {i}",
            "on_event": draw(st.sampled_from(EVENTS)),
            "conditions": draw(st.lists(conditions(tuple(vocabulary)), max_size=3)),
            "probability": draw(PROBABILITIES),
            "action": action,
            "target": draw(st.sampled_from(FLAGS)) if action == "SET_FLAG" else "record",
        }
        rules.append(rule)
    system = {"initial_record": "ABSENT", "conflict_policy": "PERSISTENT_INVALIDATION_VETO", "rules": rules}

    def experiment() -> dict[str, Any]:
        events = draw(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=5).filter(lambda e: fits(system, e)))
        names = draw(st.permutations(list(vocabulary)))
        return {"attributes": {name: draw(st.sampled_from(vocabulary[name])) for name in names}, "events": events}

    return {
        "id": "written",
        "event_vocabulary": list(EVENTS),
        "attribute_vocabulary": vocabulary,
        "hidden_system": system,
        "support_cases": [experiment() for _ in range(draw(st.integers(1, 4)))],
        "query_case": experiment(),
        "trials": draw(st.integers(1, 100)),
    }


@pytest.fixture(scope="session", name="system_documents")
def system_documents_fixture() -> st.SearchStrategy[dict[str, Any]]:
    return system_documents()


@pytest.fixture(scope="session", name="every_path")
def every_path_fixture() -> Callable[..., Iterator[Path]]:
    return every_path


@pytest.fixture(scope="session", name="brute_force")
def brute_force_fixture() -> Callable[..., list[dict[str, Any]]]:
    return brute_force


@pytest.fixture(scope="session")
def written() -> Callable[..., dict[str, Any]]:
    """Make the document of a system from rules (event, action, probability, *conditions).

    An action is ADD, VETO or the name of the flag that is set; a condition is (key, operator, value).
    """

    def make(*rules: Sequence[Any], **vocabulary: Sequence[int]) -> dict[str, Any]:
        actions = {"ADD": ("ADD_RECORD", "record"), "VETO": ("INVALIDATE_RECORD", "record")}
        documents = []
        for i, (event, does, probability, *tests) in enumerate(rules):
            action, target = actions.get(does, ("SET_FLAG", does))
            documents.append(
                {
                    "id": f"R{i + 1}",
                    "on_event": event,
                    "conditions": [
                        {
                            "source": "attribute" if key in vocabulary else "state",
                            "key": key,
                            "operator": operator,
                            "value": value,
                        }
                        for key, operator, value in tests
                    ],
                    "probability": probability,
                    "action": action,
                    "target": target,
                }
            )
        return {
            "initial_record": "ABSENT",
            "conflict_policy": "PERSISTENT_INVALIDATION_VETO",
            "rules": documents,
        }

    return make
