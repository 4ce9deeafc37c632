"""From a payload to a problem in natural language."""

from __future__ import annotations

from collections.abc import Mapping

from veilgym.envs.core.prose import Choices, Rendering, check_skin
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload
from veilgym.envs.hidden_system.prose.names import draw_names, with_article
from veilgym.envs.hidden_system.prose.series import ATTRIBUTE_STYLES, EVENT_STYLES, LEVELS, VOCABULARY
from veilgym.envs.hidden_system.prose.skin import Form, Skin
from veilgym.envs.hidden_system.prose.skins import BY_NAME, SKINS


def render(payload: BehaviorPayload, skin: str) -> Rendering:
    """Tell a payload in the words of a skin; the same payload and skin give the same bytes.

    The text has one line per support case, which begins with its id in brackets, and one for the query; no other part
    of it has a bracket.

    Args:
        payload: The public half of an instance.
        skin: One of `SKINS`.

    Raises:
        ValueError: there is no such skin, `payload` is not a payload, or an id of a case cannot stand in a line: it
            has a bracket or a character that is not printable, or is also the query's.
    """
    words = BY_NAME[check_skin(skin, SKINS)]
    if type(payload) is not BehaviorPayload:  # a skeleton has the same fields, and the answer
        raise ValueError(f"payload must be a BehaviorPayload, got {type(payload).__name__}")
    _check_ids(payload)
    choices = Choices(payload, skin)
    names = draw_names(payload, words, choices)
    return Rendering(skin, "\n".join(_lines(payload, words, names, choices)), names)


def _lines(payload: BehaviorPayload, skin: Skin, names: Mapping[str, str], choices: Choices) -> list[str]:
    """All lines of the text."""
    clauses = _Clauses(payload, names)
    cases, has_attributes = payload.support_cases, bool(payload.attribute_vocabulary)
    forms, asking = skin.case_forms(has_attributes), skin.asking_forms(has_attributes)
    drawn = [forms[byte % len(forms)] for byte in choices.variants("forms", len(cases))]
    query_form = asking[choices.variants("query form", 1)[0] % len(asking)]
    return [
        *skin.head,
        f"{skin.event_heading}{VOCABULARY.join([names[symbol] for symbol in payload.event_vocabulary])}.",
        _attribute_line(payload, skin, names),
        "",
        skin.case_heading,
        *[clauses.line(case, form, skin) for case, form in zip(cases, drawn, strict=True)],
        "",
        skin.query_heading,
        clauses.line(payload.query_case, query_form, skin),
        *skin.tail(payload.answer_options),
    ]


def _attribute_line(payload: BehaviorPayload, skin: Skin, names: Mapping[str, str]) -> str:
    """The line that lists the attributes with their levels, by symbol: a mapping has no order of its own."""
    vocabulary = sorted(payload.attribute_vocabulary.items())
    if not vocabulary:
        return skin.no_attributes
    listed = [f"{names[symbol]} ({LEVELS.join([str(level) for level in levels])})" for symbol, levels in vocabulary]
    return f"{skin.attribute_heading}{VOCABULARY.join(listed)}."


class _Clauses:
    """Writes the cases of one instance; most clauses come several times and are put together once."""

    def __init__(self, payload: BehaviorPayload, names: Mapping[str, str]) -> None:
        self._symbols = sorted(payload.attribute_vocabulary)
        self._names = names
        self._phrases = {symbol: with_article(names[symbol]) for symbol in payload.event_vocabulary}
        self._events: dict[str, dict[tuple[str, ...], str]] = {style: {} for style in EVENT_STYLES}
        self._attributes: dict[str, dict[tuple[int, ...], str]] = {style: {} for style in ATTRIBUTE_STYLES}

    def line(self, case: BehaviorCase, form: Form, skin: Skin) -> str:
        """A support case, or the query, in a form that fits it."""
        event_style, attribute_style = form.styles
        events = self._events[event_style].get(case.events) or self._event_clause(event_style, case.events)
        attributes = attribute_style and self._attribute_clause(attribute_style, case.attributes)
        trials = case.trials
        noun = skin.trial if trials == 1 else skin.trials
        sentence = form.fill(events, attributes, case.observed_present, case.observed_absent, f"{trials} {noun}")
        return f"[{case.id}] {sentence}"

    def _event_clause(self, style: str, events: tuple[str, ...]) -> str:
        series = EVENT_STYLES[style]
        called = self._phrases if series.has_article else self._names
        clause = self._events[style][events] = series.join([called[symbol] for symbol in events])
        return clause

    def _attribute_clause(self, style: str, attributes: Mapping[str, int]) -> str:
        levels = tuple([attributes[symbol] for symbol in self._symbols])
        clause = self._attributes[style].get(levels)
        if clause is None:
            series = ATTRIBUTE_STYLES[style]
            pairs = zip(self._symbols, levels, strict=True)
            items = [f"{self._names[symbol]}{series.equals}{level}" for symbol, level in pairs]
            clause = self._attributes[style][levels] = series.join(items)
        return clause


def _check_ids(payload: BehaviorPayload) -> None:
    """Refuse ids that could not be kept and told apart; a `ValueError` names the place."""
    query = payload.query_case.id
    for i, case in enumerate(payload.support_cases):
        _check_id(case.id, f"support_cases[{i}].id")
        if case.id == query:
            raise ValueError(f"support_cases[{i}].id: got {query!r}, allowed is an id other than the query's")
    _check_id(query, "query_case.id")


def _check_id(name: str, place: str) -> None:
    if not name.isprintable() or "[" in name or "]" in name:
        raise ValueError(f"{place}: got {name!r}, allowed are printable characters without brackets")
