"""Exact outcome probabilities by propagating a distribution over states, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.hidden_system.execution import (
    FIRST_FLAG_BIT,
    INVALIDATED_BIT,
    PRESENT_BIT,
    Program,
    activate,
    compile_system,
    mass_where,
    propagate,
    start,
)
from veilgym.envs.hidden_system.grammar import (
    ABSENT,
    PRESENT,
    AttributeVocabulary,
    HiddenSystem,
    LatentStep,
    Outcome,
    check_system,
)


def present_probability(
    system: HiddenSystem, attributes: Mapping[str, int], events: Sequence[str], vocabulary: AttributeVocabulary
) -> float:
    """The exact probability that the record is present after the events.

    Args:
        system: What is executed.
        attributes: A level for each attribute of `vocabulary`.
        events: Applied from left to right; an event without rules does nothing.
        vocabulary: Levels by attribute.

    Raises:
        ValueError: the system names an unknown attribute, has too many flags, or an attribute has no level.
    """
    return _clip([mass_where(mass, PRESENT_BIT) for mass in _distributions(system, attributes, events, vocabulary)][-1])


def latent_trace(
    system: HiddenSystem, attributes: Mapping[str, int], events: Sequence[str], vocabulary: AttributeVocabulary
) -> tuple[LatentStep, ...]:
    """The exact probabilities after each event; arguments and errors as for `present_probability`."""
    masses = _distributions(system, attributes, events, vocabulary)
    next(masses)
    return tuple(
        LatentStep(
            event=event,
            present_probability=_clip(mass_where(mass, PRESENT_BIT)),
            invalidated_probability=_clip(mass_where(mass, INVALIDATED_BIT)),
            flag_probabilities={
                name: _clip(mass_where(mass, FIRST_FLAG_BIT << i)) for i, name in enumerate(system.flags)
            },
        )
        for event, mass in zip(events, masses, strict=True)
    )


def gold_answer(probability: float) -> Outcome:
    """PRESENT if that is more probable than not."""
    return PRESENT if probability > 0.5 else ABSENT


def _distributions(
    system: HiddenSystem, attributes: Mapping[str, int], events: Sequence[str], vocabulary: AttributeVocabulary
) -> Iterator[NDArray[np.float64]]:
    """The distribution over states before the first event and after each; the array is reused."""
    known = list(dict.fromkeys([*(rule.on_event for rule in system.rules), *events]))
    check_system(system, known, vocabulary)
    if set(attributes) != set(vocabulary):
        names = ", ".join(vocabulary)
        raise ValueError(f"attributes: got {dict(attributes)!r}, allowed is a level for each of {names}")
    for name, level in attributes.items():
        if level not in vocabulary[name]:
            levels = ", ".join(map(str, vocabulary[name]))
            raise ValueError(f"attributes.{name}: got {level!r}, allowed is one of the levels {levels}")
    program = compile_system(system, known, vocabulary)
    active = np.zeros(len(system.rules), np.bool_)
    activate(program.bounds, np.array([attributes[name] for name in vocabulary], np.int64), active)
    return _walk(program, active, [known.index(event) for event in events])


def _walk(program: Program, active: NDArray[np.bool_], events: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    mass = np.zeros(program.states)
    start(mass)
    yield mass
    for event in events:
        propagate(program.rules, program.probability, active, event, mass)
        yield mass


def _clip(probability: float) -> float:
    """Without the rounding that may lead a sum of masses out of [0, 1]."""
    return float(min(max(probability, 0.0), 1.0))
