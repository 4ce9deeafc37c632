"""Telling a payload in a skin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from veilgym.envs.core.prose import Choices, Rendering, check_skin
from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES, EVENT_FORMS, Observation, Query, WorldEvent, WorldPayload
from veilgym.envs.dynamic_world.prose.forms import SKIN_TABLE, Form, Surface, key_of, surface_of
from veilgym.envs.dynamic_world.prose.frame import (
    DIFFICULTY,
    QUESTION,
    answer_lines,
    glossary_lines,
    listing_lines,
    opening_lines,
)
from veilgym.envs.dynamic_world.prose.legality import check_payload
from veilgym.envs.dynamic_world.prose.names import draw_names, symbols_by_type

SKINS: tuple[str, ...] = tuple(SKIN_TABLE)

# The arguments of events that are told by a name; numbers and marks are told as they are.
_SYMBOL_FIELDS = frozenset(name for form in EVENT_FORMS for name, kind in form.fields if kind in ENTITY_TYPES)


def render(payload: WorldPayload, skin: str) -> Rendering:
    """Tell a world in natural language.

    Args:
        payload: The public record; the text depends on nothing else.
        skin: One of `SKINS`.

    Raises:
        ValueError: the skin is unknown, or the payload is not one of a world: an event has not the arguments of its
            form, a symbol is missing or of a wrong type, ids or times are out of order, or something is asked or
            offered for answer that no world asks.
    """
    surface = surface_of(check_skin(skin, SKINS))
    check_payload(payload)
    choices = Choices(payload, skin)
    symbols = symbols_by_type(payload)
    names = draw_names(symbols, surface.skin.kinds, choices)
    listed = {kind: [names[symbol] for symbol in of_kind] for kind, of_kind in symbols.items()}
    blocks = [
        opening_lines(surface.skin, {kind: len(of_kind) for kind, of_kind in symbols.items()}),
        listing_lines(surface.skin, listed),
        glossary_lines(surface.skin),
        [surface.skin.start, *_observation_lines(payload.initial_observations, surface, names, choices)],
        [surface.skin.history, *_event_lines(payload.events, surface, names, choices)],
        [
            QUESTION + _question_line(payload.query, surface, names, choices),
            f"{DIFFICULTY}{payload.complexity}.",
            *answer_lines(payload.answer_options),
        ],
    ]
    return Rendering(skin, "\n\n".join("\n".join(lines) for lines in blocks), names)


def _event_lines(
    events: Sequence[WorldEvent], surface: Surface, names: Mapping[str, str], choices: Choices
) -> list[str]:
    lines = []
    for event, variant in zip(events, choices.variants("events", len(events)), strict=True):
        arguments, form = event.arguments, _pick(surface.events[key_of(event)], variant)
        told = [
            names[arguments[field]] if field in _SYMBOL_FIELDS else arguments[field]  # type: ignore[index]
            for field in form.names[2:]
        ]
        lines.append(form.text % (event.id, event.time, *told))
    return lines


def _observation_lines(
    observations: Sequence[Observation], surface: Surface, names: Mapping[str, str], choices: Choices
) -> list[str]:
    lines = []
    for observation, variant in zip(observations, choices.variants("start", len(observations)), strict=True):
        name, value = observation.arguments
        told = {"id": observation.id, "name": names[name], "value": value if type(value) is int else names[str(value)]}
        form = _pick(surface.observations[observation.relation], variant)
        lines.append(form.text % tuple(told[field] for field in form.names))
    return lines


def _question_line(query: Query, surface: Surface, names: Mapping[str, str], choices: Choices) -> str:
    left, right = query.arguments
    told = {"left": names[left], "right": names[right], "time": query.time}
    form = _pick(surface.questions[query.predicate], choices.variants("question", 1)[0])
    return form.text % tuple(told[field] for field in form.names)


def _pick(forms: Sequence[Form], variant: int) -> Form:
    return forms[variant % len(forms)]
