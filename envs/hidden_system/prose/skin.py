"""What a skin of the prose is: the words of one scenario, and the sentence forms in which it tells a case."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from veilgym.envs.hidden_system.grammar import ABSENT, PRESENT, Options
from veilgym.envs.hidden_system.prose.series import ATTRIBUTE_STYLES, EVENT_STYLES

_STYLES = {**dict.fromkeys(EVENT_STYLES, "events"), **dict.fromkeys(ATTRIBUTE_STYLES, "attributes")}
_PLACE = re.compile(r"\{(\w+)\}")
# What a form is filled with, in this order whatever the order in its sentence.
_FILLED = ("events", "attributes", "present", "absent", "trials")


@dataclass(frozen=True)
class Form:
    """A sentence form: fixed words around the clauses and counts of a case.

    Attributes:
        template: With one place for the events ({events}, {chain}, {steps} or {arrows}: the keys of `EVENT_STYLES`), at
            most one for the attributes ({attributes} or {values}: the keys of `ATTRIBUTE_STYLES`), and in the form of a
            support case one each for {present}, {absent} and {trials}, which comes with its noun. The words between
            two places occur in nothing that may come to the former.
    """

    template: str

    @cached_property
    def first(self) -> str:
        """The first word; no two forms of a list share it."""
        return self.template.partition(" ")[0]

    @cached_property
    def styles(self) -> tuple[str, str | None]:
        """The styles of the clauses of events and attributes, None if the form has no attributes."""
        names = _PLACE.findall(self.template)
        attributes = next((name for name in names if name in ATTRIBUTE_STYLES), None)
        return next(name for name in names if name in EVENT_STYLES), attributes

    @cached_property
    def fill(self) -> Callable[..., str]:
        """Make the sentence of the two clauses, the counts present and absent, and the trials with their noun."""
        return _PLACE.sub(lambda place: f"{{{_FILLED.index(_kind(place[1]))}}}", self.template).format


def _kind(place: str) -> str:
    """What comes to a place of a template."""
    return _STYLES.get(place, place)


@dataclass(frozen=True)
class Skin:
    """The words of one scenario.

    Attributes:
        name: What it is asked for by.
        opening: Lines on the scenario and on what is asked for.
        protocol: Lines that say in the skin's words what `ObservationProtocol` says.
        event_heading, attribute_heading: What the lines that list the names begin with.
        no_attributes: Instead of the latter, if there are no attributes.
        case_heading, query_heading: The lines before the support cases and before the query.
        trial, trials: The noun for a trial, singular and plural; a lower-case word each.
        outcome: What is present or absent: the record of the language.
        meaning: What an answer means, with places {this} and {other} for the two outcomes in lower case.
        events: Names for events: noun phrases that can be counted and take "a", or "an" before a vowel letter.
        attributes: Names for attributes: quantities whose level is a plain integer.
        forms, bare_forms: How a support case is told, with and without attributes.
        query_forms, bare_query_forms: The same for the query, whose outcome is asked and not told.
    """

    name: str
    opening: tuple[str, ...]
    protocol: tuple[str, ...]
    event_heading: str
    attribute_heading: str
    no_attributes: str
    case_heading: str
    query_heading: str
    trial: str
    trials: str
    outcome: str
    meaning: str
    events: tuple[str, ...]
    attributes: tuple[str, ...]
    forms: tuple[Form, ...]
    bare_forms: tuple[Form, ...]
    query_forms: tuple[Form, ...]
    bare_query_forms: tuple[Form, ...]

    def noun(self, trials: int) -> str:
        """The noun after a number of trials."""
        return self.trial if trials == 1 else self.trials

    @cached_property
    def head(self) -> list[str]:
        """The lines before the names."""
        return [*self.opening, "", *self.protocol, ""]

    def tail(self, options: Options) -> list[str]:
        """The lines after the query: what the options mean, and how to answer, in the order of the options."""
        return self._tails[options]

    @cached_property
    def _tails(self) -> dict[Options, list[str]]:
        return {options: self._tail(options) for options in ((PRESENT, ABSENT), (ABSENT, PRESENT))}

    def _tail(self, options: Options) -> list[str]:
        other = {PRESENT: ABSENT, ABSENT: PRESENT}
        meanings = [self.meaning.format(this=label.lower(), other=other[label].lower()) for label in options]
        first, second = options
        return [
            "",
            "There are two possible answers:",
            *(f"{label}: {meaning}." for label, meaning in zip(options, meanings, strict=True)),
            f'End your reply with a line that is either "Answer: {first}" or "Answer: {second}".',
        ]

    def case_forms(self, has_attributes: bool) -> tuple[Form, ...]:
        """The forms for the support cases of an instance with or without attributes."""
        return self.forms if has_attributes else self.bare_forms

    def asking_forms(self, has_attributes: bool) -> tuple[Form, ...]:
        """The forms for the query of an instance with or without attributes."""
        return self.query_forms if has_attributes else self.bare_query_forms


def forms(*templates: str) -> tuple[Form, ...]:
    """Sentence forms of these templates."""
    return tuple(map(Form, templates))
