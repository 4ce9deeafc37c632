"""The language of dynamic worlds: records with the field names of the specification, and their JSON.

Every record refuses unknown fields and values outside the vocabulary; `decode` is the inverse of
`veilgym.envs.core.records.to_json`.
What may be shown of a world is `WorldPayload`; `WorldSkeleton` bears the answer.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

import msgspec
from msgspec import Meta

TypeName = Literal["Entity", "Set", "Region", "Number", "Boolean", "State"]
PredicateName = Literal[
    "EQUAL",
    "NOT_EQUAL",
    "ABOVE",
    "BELOW",
    "MEMBER",
    "SUBSET",
    "DISJOINT",
    "ADJACENT",
    "CONNECTED",
    "CAUSES",
    "LOCATED_IN",
]
OperatorName = Literal[
    "NOT",
    "AND",
    "OR",
    "IMPLIES",
    "ADD",
    "SUBTRACT",
    "COMPARE",
    "UNION",
    "INTERSECTION",
    "MOVE",
    "SWAP",
    "SET",
    "COMPOSE",
]
QuantifierName = Literal["ALL", "EXISTS"]
StructureName = Literal["CHAIN", "BRANCH", "MERGE", "CYCLE", "NEST", "CONDITION", "SEQUENCE"]
EventKind = Literal["MOVE", "RELATE", "UPDATE_NUMBER", "SET_STATE"]
Family = Literal["spatial_order", "membership_inheritance", "membership_disjointness"]
PublicFamily = Literal["spatial_order", "membership"]
Answer = Literal["YES", "NO"]

ENTITY_TYPES: tuple[TypeName, ...] = ("Entity", "Set", "Region", "Number")
FLAGS = ("active", "sealed")
OPERATORS = ("ADD", "SUBTRACT")
ANSWER_OPTIONS: tuple[Answer, ...] = get_args(Answer)
PUBLIC_FAMILIES: tuple[PublicFamily, ...] = get_args(PublicFamily)
PUBLIC_FAMILY: dict[Family, PublicFamily] = {
    "spatial_order": "spatial_order",
    "membership_inheritance": "membership",
    "membership_disjointness": "membership",
}


class EventForm(NamedTuple):
    """A form of realised event: its kind, the relation that a RELATE states, and the (name, type) of each argument."""

    kind: EventKind
    relation: PredicateName | None
    fields: tuple[tuple[str, str], ...]


EVENT_FORMS = (
    EventForm("MOVE", None, (("entity", "Entity"), ("origin", "Region"), ("destination", "Region"))),
    EventForm("RELATE", "ABOVE", (("higher", "Entity"), ("lower", "Entity"), ("region", "Region"))),
    EventForm("RELATE", "MEMBER", (("entity", "Entity"), ("set", "Set"))),
    EventForm("RELATE", "SUBSET", (("child_set", "Set"), ("parent_set", "Set"))),
    EventForm("RELATE", "DISJOINT", (("left_set", "Set"), ("right_set", "Set"))),
    EventForm("RELATE", "CONNECTED", (("left_entity", "Entity"), ("right_entity", "Entity"))),
    EventForm(
        "UPDATE_NUMBER",
        None,
        (("counter", "Number"), ("operator", "Operator"), ("amount", "int"), ("before", "int"), ("after", "int")),
    ),
    EventForm("SET_STATE", None, (("entity", "Entity"), ("flag", "Flag"), ("before", "bool"), ("after", "bool"))),
)
FORM_INDEX = {(form.kind, form.relation): index for index, form in enumerate(EVENT_FORMS)}
RELATIONS: tuple[PredicateName, ...] = tuple(form.relation for form in EVENT_FORMS if form.relation is not None)

_Probability = Annotated[float, Meta(ge=0.0, le=1.0)]
_Positive = Annotated[int, Meta(ge=1)]
_Natural = Annotated[int, Meta(ge=0)]
_EventId = Annotated[str, Meta(pattern="^V[0-9]{5,}$")]
_ObservationId = Annotated[str, Meta(pattern="^I[0-9]{4,}$")]
_Pair = tuple[str, str]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """An immutable record that refuses unknown fields. None is part of a cycle, so the collector need not look."""


class Expression(Record, frozen=True):
    """A term of the language: a head and what it is applied to. Strings are variables or constants."""

    head: str
    arguments: tuple[Expression | str | bool | int | float, ...]


RuleExpression = Expression


class Variable(Record, frozen=True):
    """A variable that a trigger binds: its name, its type, and the expression from which its value is drawn."""

    name: str
    type: str
    draw: Expression


class Trigger(Record, frozen=True):
    """When a transition is a candidate: its relative frequency, and what is drawn, in this order."""

    weight: Annotated[float, Meta(ge=0.0)]
    variables: tuple[Variable, ...]


class TransitionRule(Record, frozen=True):
    """How the world may change in one step."""

    id: str
    trigger: Trigger
    preconditions: tuple[Expression, ...]
    probability: _Probability
    effects: Annotated[tuple[Expression, ...], Meta(min_length=1)]


class HiddenProgram(Record, frozen=True):
    """The laws of a world, as data."""

    types: Annotated[tuple[TypeName, ...], Meta(min_length=1)]
    relations: Annotated[tuple[PredicateName, ...], Meta(min_length=1)]
    operators: Annotated[tuple[OperatorName, ...], Meta(min_length=1)]
    quantifiers: Annotated[tuple[QuantifierName, ...], Meta(min_length=1)]
    structures: Annotated[tuple[StructureName, ...], Meta(min_length=1)]
    inference_rules: Annotated[tuple[RuleExpression, ...], Meta(min_length=1)]
    transition_rules: Annotated[tuple[TransitionRule, ...], Meta(min_length=1)]


class Entity(Record, frozen=True):
    """A typed symbol."""

    id: str
    type: Literal["Entity", "Set", "Region", "Number"]


class WorldState(Record, frozen=True):
    """A state of the world: functions as dictionaries, relations as pairs in the order of the entities."""

    locations: dict[str, str]
    directed_order_relations: list[_Pair]
    memberships: list[_Pair]
    subset_relations: list[_Pair]
    disjoint_relations: list[_Pair]
    connections: list[_Pair]
    numeric_values: dict[str, int]
    boolean_flags: dict[str, dict[str, bool]]
    hidden_generation_attributes: dict[str, dict[str, int]]


class WorldEvent(Record, frozen=True):
    """A realised event: `arguments` holds the fields of its form, `participants` the entities among them."""

    id: _EventId
    time: _Positive
    kind: EventKind
    participants: list[str]
    arguments: dict[str, str | bool | int]


class Observation(Record, frozen=True):
    """A public initial fact: LOCATED_IN(entity, region) or EQUAL(counter, value)."""

    id: _ObservationId
    relation: Literal["LOCATED_IN", "EQUAL"]
    arguments: tuple[str, str | int]


class Query(Record, frozen=True):
    """A proposition to decide as of a time."""

    predicate: PredicateName
    arguments: _Pair
    time: _Natural


class ProofFact(Record, frozen=True):
    """A direct fact that a proof uses."""

    relation: PredicateName
    arguments: _Pair


class GeneratorChecks(Record, frozen=True):
    """What the generator verified of a world.

    Attributes:
        query_is_no_direct_event: no event states the proposition, or for a spatial order its converse.
        shortest_proof_events: the number of events of a shortest proof.
        proof_meets_minimum: it is at least the complexity.
        proof_share_of_events: proof events divided by all events.
        direct_fact_baseline_fails, short_proof_baseline_fails: looking the proposition up, or proving it from fewer
            events than the complexity, gives no answer.
        matching: how closely the arguments match those of a counterpart with the other answer: another question about
            the world, or the same question about its twin. One of `veilgym.envs.dynamic_world.query.MATCHINGS`.
    """

    query_is_no_direct_event: bool
    shortest_proof_events: _Positive
    proof_meets_minimum: bool
    proof_share_of_events: _Probability
    direct_fact_baseline_fails: bool
    short_proof_baseline_fails: bool
    matching: str


class WorldSkeleton(Record, frozen=True):
    """The complete, answer-bearing record of a world."""

    id: str
    family: Family
    complexity: _Positive
    entity_count: _Positive
    simulation_steps: _Positive
    hidden_program: HiddenProgram
    entities: list[Entity]
    initial_state: WorldState
    events: list[WorldEvent]
    final_state: WorldState
    query: Query
    answer_options: tuple[Answer, ...]
    gold_answer: Answer
    proof_event_ids: list[_EventId]
    proof_facts: list[ProofFact]
    generator_checks: GeneratorChecks

    def __repr__(self) -> str:
        return f"WorldSkeleton(complexity={self.complexity}, entities={self.entity_count}, events={len(self.events)})"


class WorldPayload(Record, frozen=True):
    """All that may be shown of a world before it is answered."""

    family: PublicFamily
    complexity: _Positive
    entity_types: dict[str, Literal["Entity", "Set", "Region", "Number"]]
    initial_observations: list[Observation]
    events: list[WorldEvent]
    query: Query
    answer_options: tuple[Answer, ...]


R = TypeVar("R", bound=Record)


def decode(document: bytes | str, record_type: type[R]) -> R:
    """Read a record from JSON.

    Raises:
        ValueError: the document is not JSON, or not such a record; the message says where.
    """
    record = msgspec.json.decode(document, type=record_type)  # msgspec's errors are ValueErrors
    if isinstance(record, (WorldSkeleton, WorldPayload)):
        for event in record.events:
            check_event(event)
    return record


def form_of(event: WorldEvent) -> EventForm:
    """The form of an event.

    Raises:
        ValueError: its kind and relation have none.
    """
    key: Any = event.kind, event.arguments.get("relation")
    if key not in FORM_INDEX:
        raise ValueError(f"event {event.id}: no form has the kind {key[0]!r} and the relation {key[1]!r}")
    return EVENT_FORMS[FORM_INDEX[key]]


def check_event(event: WorldEvent) -> None:
    """Check the fields of an event against its form.

    Raises:
        ValueError: a field is missing, unknown or of another type, or the participants are not those of the form.
    """
    form = form_of(event)
    names = [name for name, _ in form.fields]
    expected = ["relation", *names] if form.relation else names
    if sorted(event.arguments) != sorted(expected):
        raise ValueError(f"event {event.id}: arguments must be {', '.join(expected)}, got {', '.join(event.arguments)}")
    for name, kind in form.fields:
        if not _is_of_kind(event.arguments[name], kind):
            raise ValueError(f"event {event.id}: argument {name} must be of type {kind}, got {event.arguments[name]!r}")
    participants = [event.arguments[name] for name, kind in form.fields if kind in ENTITY_TYPES]
    if event.participants != participants:
        raise ValueError(f"event {event.id}: participants must be {participants}, got {event.participants}")


def _is_of_kind(value: str | bool | int, kind: str) -> bool:
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    allowed = {"Operator": OPERATORS, "Flag": FLAGS}
    return isinstance(value, str) and (kind not in allowed or value in allowed[kind])
