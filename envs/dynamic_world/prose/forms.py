"""The sentences of a skin, ready to be filled in and to be recognised.

A sentence is literal text with tokens between: names, numbers, ids and marks. What a form says by its words alone, the
operator of an update for instance, has no token. So the text between the tokens tells the form.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES, EVENT_FORMS, EventForm, WorldEvent
from veilgym.envs.dynamic_world.prose.names import Kind
from veilgym.envs.dynamic_world.prose.notebook import NOTEBOOK
from veilgym.envs.dynamic_world.prose.shipping import SHIPPING
from veilgym.envs.dynamic_world.prose.skin import Lexicon, Skin, Words
from veilgym.envs.dynamic_world.prose.technical import TECHNICAL
from veilgym.envs.dynamic_world.prose.ward import WARD

SKIN_TABLE: Mapping[str, Skin] = {skin.name: skin for skin in (NOTEBOOK, WARD, SHIPPING, TECHNICAL)}

# One set of first characters lets the search skip what cannot begin a token.
TOKEN = re.compile(r'(["A-Z0-9-][A-Za-z0-9_"]*(?: [A-Z][A-Za-z]*)*)')
"""A name or an id, an integer, or a mark in quotation marks. Nothing else has their first letters."""

QUESTION_TYPES = {"ABOVE": ("Entity", "Entity"), "MEMBER": ("Entity", "Set")}
"""What may be asked, and the types of its arguments."""

_PLACE = re.compile(r"\{(\w+)\}")
# The fields that a form tells by its words.
_TOLD_BY_WORDS = {"MOVE": (), "UPDATE_NUMBER": ("operator",), "SET_STATE": ("before", "after")}


@dataclass(frozen=True)
class Form:
    """One sentence.

    Attributes:
        text: A line with "%s" for each token.
        names, types: Of what is told by each token, in the order of the text.
        fixed: What is told by the words.
        head: The relation, or the kind of an event without one.
    """

    text: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    fixed: Mapping[str, Any]
    head: str

    @property
    def skeleton(self) -> str:
        """The text between the tokens, as `skeleton_of` finds it in a line."""
        return skeleton_of(TOKEN.split(self.text % (("X",) * len(self.names))))


@dataclass(frozen=True)
class Surface:
    """A skin's sentences.

    Attributes:
        skin: The skin.
        observations: By relation.
        events: By `key_of` of the event.
        questions: By predicate.
        forms: Of observations, of events and of questions: by skeleton.
    """

    skin: Skin
    observations: Mapping[str, tuple[Form, ...]]
    events: Mapping[tuple[Any, ...], tuple[Form, ...]]
    questions: Mapping[str, tuple[Form, ...]]
    forms: tuple[Mapping[str, Form], Mapping[str, Form], Mapping[str, Form]]


def skeleton_of(parts: Sequence[str]) -> str:
    """What the literal parts of a line, split by `TOKEN`, have in common with all lines of its form."""
    return "\0".join(parts[::2])


def key_of(event: WorldEvent) -> tuple[Any, ...]:
    """What decides which forms an event can be told in."""
    arguments = event.arguments
    if event.kind == "RELATE":
        return (arguments["relation"],)
    return (event.kind, *[arguments[name] for name in _TOLD_BY_WORDS[event.kind]])


@functools.cache
def surface_of(skin: str) -> Surface:
    """The sentences of the skin of that name."""
    words = SKIN_TABLE[skin]
    events: dict[tuple[Any, ...], tuple[Form, ...]] = {}
    for form in EVENT_FORMS:
        events.update(_event_forms(words, form))
    observations = {
        "LOCATED_IN": _observation_forms(words, "LOCATED_IN", ("Entity", "Region")),
        "EQUAL": _observation_forms(words, "EQUAL", ("Number", "int")),
    }
    questions = {predicate: tuple(_question_forms(words, predicate)) for predicate in words.questions}
    return Surface(words, observations, events, questions, (_index(observations), _index(events), _index(questions)))


def relation_words(lexicon: Lexicon, relation: str) -> Words:
    """The words of a relation of `RELATIONS`."""
    words: Words = getattr(lexicon, relation.lower())
    return words


def _index(forms: Mapping[Any, Iterable[Form]]) -> dict[str, Form]:
    return {form.skeleton: form for of_key in forms.values() for form in of_key}


def _observation_forms(skin: Skin, relation: str, types: tuple[str, str]) -> tuple[Form, ...]:
    kinds = {"id": "id", "name": types[0], "value": types[1]}
    templates = (f"{{id}}: {template}." for template in skin.observations[relation])
    return tuple(_form(skin.kinds, template, kinds, {}, relation) for template in templates)


def _event_forms(skin: Skin, form: EventForm) -> dict[tuple[Any, ...], tuple[Form, ...]]:
    head = form.relation or form.kind
    kinds = {"id": "id", "time": "int", **dict(form.fields)}
    templates = [f"{{id}}, step {{time}}: {template}." for template in skin.events[head]]
    if form.relation is not None:
        told = _with_relation(templates, relation_words(skin.lexicon, head), form.fields[0][0], form.fields[1][0])
        return {(head,): tuple(_form(skin.kinds, template, kinds, {"relation": head}, head) for template in told)}
    forms = {}
    for fixed, words in _told_by_words(skin.lexicon, form.kind):
        told = [_insert(template, choice) for template in templates for choice in words]
        forms[(form.kind, *fixed.values())] = tuple(_form(skin.kinds, each, kinds, fixed, head) for each in told)
    return forms


def _question_forms(skin: Skin, predicate: str) -> Iterator[Form]:
    words = Words(relation_words(skin.lexicon, predicate).forward)  # arguments are asked for in their order
    kinds = {"time": "int", **dict(zip(("left", "right"), QUESTION_TYPES[predicate], strict=True))}
    for template in _with_relation(skin.questions[predicate], words, "left", "right"):
        yield _form(skin.kinds, template, kinds, {}, predicate)


def _told_by_words(lexicon: Lexicon, kind: str) -> Iterator[tuple[dict[str, Any], list[dict[str, str]]]]:
    """What the words of a kind of event can tell, and the choices of words for each."""
    if kind == "UPDATE_NUMBER":
        yield {"operator": "ADD"}, [{"word": word} for word in lexicon.add]
        yield {"operator": "SUBTRACT"}, [{"word": word} for word in lexicon.subtract]
    elif kind == "SET_STATE":
        values = {True: lexicon.true, False: lexicon.false}
        for before, after in product(values, values):
            yield {"before": before, "after": after}, [{"before": values[before], "after": values[after]}]
    else:
        yield {}, [{}]


def _with_relation(templates: Iterable[str], words: Words, first: str, second: str) -> list[str]:
    ways = [(first, second, word) for word in words.forward] + [(second, first, word) for word in words.backward]
    return [
        _insert(template, {"x": f"{{{x}}}", "y": f"{{{y}}}", "word": word})
        for template in templates
        for x, y, word in ways
    ]


def _insert(template: str, words: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: words.get(place[1], place[0]), template)


def _form(
    kinds: Mapping[str, Kind], template: str, types: Mapping[str, str], fixed: Mapping[str, Any], head: str
) -> Form:
    names = tuple(_PLACE.findall(template))
    text = _PLACE.sub(lambda place: _place_of(types[place[1]], kinds), template)
    return Form(text, names, tuple(types[name] for name in names), fixed, head)


def _place_of(kind: str, kinds: Mapping[str, Kind]) -> str:
    """What stands in a line where a token of some type goes."""
    if kind == "Flag":
        return '"%s"'
    return f"{kinds[kind].article}%s" if kind in ENTITY_TYPES else "%s"
