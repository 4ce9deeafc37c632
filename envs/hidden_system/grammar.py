"""The language of hidden systems and of what is seen of them, as typed records.

Field names are those of the specification. Every record checks itself when it is made from JSON
(`veilgym.envs.core.records`); a hidden one says nothing of a rule or an answer in its `repr`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

RECORD = "record"
INVALIDATED = "invalidated"
MOST_TRIALS = 2**15 - 1  # of a case
_LARGEST = 2**62  # of a number that an attribute is compared with

PRESENT: Final = "PRESENT"
ABSENT: Final = "ABSENT"

Name = Annotated[str, Meta(min_length=1)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Level = Annotated[int, Meta(ge=-(2**15), le=2**15 - 1)]
Events = Annotated[tuple[Name, ...], Meta(min_length=1, max_length=127)]
Outcome = Literal["PRESENT", "ABSENT"]
Options = tuple[Outcome, Outcome]
AttributeVocabulary = dict[Name, Annotated[tuple[Level, ...], Meta(min_length=1)]]


class HiddenRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record that must not print what it holds."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []


class Condition(HiddenRecord, frozen=True, forbid_unknown_fields=True):
    """What must hold for a rule to be tried.

    * source "attribute": EQ, LE or GT compare the case's value of the attribute `key` with the number `value`.
    * source "state": `key` is "record" (EQ "PRESENT" or "ABSENT"), "invalidated" or the name of a flag (EQ true or
      false, or IS_SET, whose `value` is null).
    """

    source: Literal["attribute", "state"]
    key: Name
    operator: Literal["EQ", "LE", "GT", "IS_SET"]
    value: int | float | str | bool | None = None

    def __post_init__(self) -> None:
        if self.source == "attribute":
            if self.operator == "IS_SET":
                _fail("operator", self.operator, "'EQ', 'LE' or 'GT' for an attribute")
            is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
            if not is_number or not abs(self.value) <= _LARGEST:  # type: ignore[arg-type]
                _fail("value", self.value, "a number within +-2**62 for an attribute")
            if isinstance(self.value, float) and self.value.is_integer():
                msgspec.structs.force_setattr(self, "value", int(self.value))  # equal conditions, equal bytes
        elif self.operator not in ("EQ", "IS_SET"):
            _fail("operator", self.operator, "'EQ' or 'IS_SET' for a state")
        elif self.operator == "IS_SET":
            if self.key == RECORD:
                _fail("operator", self.operator, "'EQ' for the record")
            if self.value is not None and self.value is not True:
                _fail("value", self.value, "null for IS_SET")
        elif self.key == RECORD and self.value not in (PRESENT, ABSENT):
            _fail("value", self.value, "'PRESENT' or 'ABSENT' for the record")
        elif self.key != RECORD and not isinstance(self.value, bool):
            _fail("value", self.value, "true or false for a flag")


class HiddenRule(HiddenRecord, frozen=True, forbid_unknown_fields=True):
    """On an event, if all conditions hold, the action happens with the given probability.

    `target` is "record" for ADD_RECORD and INVALIDATE_RECORD, and the flag's name for SET_FLAG.
    """

    id: Name
    on_event: Name
    conditions: tuple[Condition, ...]
    probability: Probability
    action: Literal["ADD_RECORD", "INVALIDATE_RECORD", "SET_FLAG"]
    target: Name

    def __post_init__(self) -> None:
        if self.action != "SET_FLAG" and self.target != RECORD:
            _fail("target", self.target, f"'record' for {self.action}")
        if self.action == "SET_FLAG" and self.target in (RECORD, INVALIDATED):
            _fail("target", self.target, "a name for a flag other than 'record' and 'invalidated'")


class HiddenSystem(HiddenRecord, frozen=True, forbid_unknown_fields=True):
    """The program: rules in the order in which those of one event are tried."""

    initial_record: Literal["ABSENT"]
    conflict_policy: Literal["PERSISTENT_INVALIDATION_VETO"]
    rules: Annotated[tuple[HiddenRule, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        _check_distinct("rules", [rule.id for rule in self.rules])

    @property
    def flags(self) -> tuple[str, ...]:
        """Every flag that a rule sets or tests, in order of appearance."""
        names = []
        for rule in self.rules:
            names += [c.key for c in rule.conditions if c.source == "state" and c.key not in (RECORD, INVALIDATED)]
            names += [rule.target] if rule.action == "SET_FLAG" else []
        return tuple(dict.fromkeys(names))


class BehaviorCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Events applied from left to right under fixed attributes, and how often the record was there at the end.

    A support case has counts that sum to `trials`; the query has null counts and no trials.
    """

    id: Name
    attributes: dict[Name, Level]
    events: Annotated[tuple[Name, ...], Meta(min_length=1)]
    trials: Annotated[int, Meta(ge=0, le=MOST_TRIALS)] = 0
    observed_present: Annotated[int, Meta(ge=0)] | None = None
    observed_absent: Annotated[int, Meta(ge=0)] | None = None

    def __post_init__(self) -> None:
        present, absent = self.observed_present, self.observed_absent
        if present is None or absent is None:
            if present is not None or absent is not None:
                _fail("observed_present", present, "both counts or neither")
        elif present + absent != self.trials:
            _fail("observed_present", present, f"a count that makes {self.trials} trials with observed_absent")


class ObservationProtocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the histories were made; the same for every instance."""

    initial_record: Literal["ABSENT"] = "ABSENT"
    trials: str = "every trial of a case starts anew, and trials do not affect each other"
    events: str = "the events of a case are applied from left to right"
    attributes: str = "the attributes of a case stay as they are during a trial"
    outcome: str = "counted is whether the record is present or absent after the last event"


_PROTOCOL: Final = ObservationProtocol()


class LatentStep(HiddenRecord, frozen=True, forbid_unknown_fields=True):
    """Exact probabilities after an event of the query."""

    event: Name
    present_probability: Probability
    invalidated_probability: Probability
    flag_probabilities: dict[str, Probability]


class BehaviorPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The public part of a skeleton: all that an agent or a renderer gets."""

    family: Literal["hidden_system"]
    complexity: Annotated[int, Meta(ge=1)]
    event_vocabulary: Events
    attribute_vocabulary: AttributeVocabulary
    observation_protocol: ObservationProtocol
    support_cases: Annotated[tuple[BehaviorCase, ...], Meta(min_length=1)]
    query_case: BehaviorCase
    answer_options: Options

    def __post_init__(self) -> None:
        check_behavior(self)


class BehaviorSkeleton(HiddenRecord, frozen=True, forbid_unknown_fields=True):
    """The complete record of an instance, answer included."""

    id: Name
    family: Literal["hidden_system"]
    complexity: Annotated[int, Meta(ge=1)]
    event_vocabulary: Events
    attribute_vocabulary: AttributeVocabulary
    observation_protocol: ObservationProtocol
    hidden_system: HiddenSystem
    support_cases: Annotated[tuple[BehaviorCase, ...], Meta(min_length=1)]
    query_case: BehaviorCase
    answer_options: Options
    gold_answer: Outcome
    gold_present_probability: Probability
    latent_trace: tuple[LatentStep, ...]

    def __post_init__(self) -> None:
        check_behavior(self)
        check_system(self.hidden_system, self.event_vocabulary, self.attribute_vocabulary)

    def __repr__(self) -> str:
        # Not the id: it tells the index, and that the favoured side.
        return f"BehaviorSkeleton(complexity={self.complexity})"


def check_behavior(behavior: BehaviorPayload | BehaviorSkeleton) -> None:
    """Check what concerns more than one field of a payload or skeleton; a `ValueError` names the place."""
    _check_distinct("event_vocabulary", behavior.event_vocabulary)
    for name, levels in behavior.attribute_vocabulary.items():
        if list(levels) != sorted(set(levels)):
            _fail(f"attribute_vocabulary.{name}", list(levels), "levels in increasing order")
    _check_distinct("support_cases", [case.id for case in behavior.support_cases])
    _check_support(behavior)
    check_case(behavior.query_case, "query_case", behavior.event_vocabulary, behavior.attribute_vocabulary)
    query = behavior.query_case
    if query.observed_present is not None:
        _fail("query_case.observed_present", query.observed_present, "null")
    if query.trials != 0:
        _fail("query_case.trials", query.trials, "0: the query has not been run")
    for i, case in enumerate(behavior.support_cases):
        if case.events == query.events and case.attributes == query.attributes:
            _fail(
                f"support_cases[{i}].events", list(case.events), "other events, or other attributes, than the query's"
            )
    if behavior.complexity != len(set(query.events)):
        _fail(
            "complexity", behavior.complexity, f"{len(set(query.events))}, the number of different events in the query"
        )
    if behavior.observation_protocol != _PROTOCOL:
        _fail("observation_protocol", behavior.observation_protocol, f"{_PROTOCOL!r}")
    if set(behavior.answer_options) != {PRESENT, ABSENT}:
        _fail("answer_options", list(behavior.answer_options), "'PRESENT' and 'ABSENT' in either order")


def _check_support(behavior: BehaviorPayload | BehaviorSkeleton) -> None:
    """Check each support case against the vocabularies, and that it has been run."""
    events, attributes = behavior.event_vocabulary, behavior.attribute_vocabulary
    known, allowed = set(events), {(name, level) for name, levels in attributes.items() for level in levels}
    for i, case in enumerate(behavior.support_cases):
        levels = case.attributes
        fits = known.issuperset(case.events) and allowed.issuperset(levels.items())
        if not fits or len(levels) != len(attributes):
            check_case(case, f"support_cases[{i}]", events, attributes)  # slower, and says what does not fit
        if not case.trials or case.observed_present is None:
            _fail(f"support_cases[{i}].observed_present", case.observed_present, "a count of at least one trial")


def check_case(case: BehaviorCase, place: str, events: Sequence[str], attributes: AttributeVocabulary) -> None:
    """Check a case against the vocabularies."""
    for i, event in enumerate(case.events):
        if event not in events:
            _fail(f"{place}.events[{i}]", event, f"one of {', '.join(events)}")
    if case.attributes.keys() != attributes.keys():
        _fail(f"{place}.attributes", dict(case.attributes), f"a level for each of {', '.join(attributes)}")
    for name, level in case.attributes.items():
        if level not in attributes[name]:
            _fail(f"{place}.attributes.{name}", level, f"one of the levels {', '.join(map(str, attributes[name]))}")


def check_system(system: HiddenSystem, events: Sequence[str], attributes: AttributeVocabulary) -> None:
    """Check a system against the vocabularies."""
    for i, rule in enumerate(system.rules):
        place = f"hidden_system.rules[{i}]"
        if rule.on_event not in events:
            _fail(f"{place}.on_event", rule.on_event, f"one of {', '.join(events)}")
        for j, condition in enumerate(rule.conditions):
            if condition.source == "attribute" and condition.key not in attributes:
                names = ", ".join(attributes) or "no attribute"
                _fail(f"{place}.conditions[{j}].key", condition.key, f"one of {names}")


def _check_distinct(place: str, names: Sequence[str]) -> None:
    if len(set(names)) == len(names):
        return
    known: set[str] = set()
    for i, name in enumerate(names):
        if name in known:
            _fail(f"{place}[{i}]", name, "a name that no other has")
        known.add(name)


def _fail(place: str, value: Any, allowed: str) -> None:
    raise ValueError(f"{place}: got {value!r}, allowed is {allowed}")
