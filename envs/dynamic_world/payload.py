"""The public record of a world, made from an allow-list: the only door from an answer-bearing record to a reader."""

from __future__ import annotations

from veilgym.envs.dynamic_world.grammar import (
    PUBLIC_FAMILY,
    Observation,
    WorldPayload,
    WorldSkeleton,
    WorldState,
)


def renderer_payload(world: WorldSkeleton) -> WorldPayload:
    """What a renderer, or an agent, may know of a world.

    Of the initial state these are the locations and the values of the counters, each with an audit id `I####`.
    """
    return WorldPayload(
        family=PUBLIC_FAMILY[world.family],
        complexity=world.complexity,
        entity_types={entity.id: entity.type for entity in world.entities},
        initial_observations=initial_observations(world.initial_state),
        events=world.events,
        query=world.query,
        answer_options=world.answer_options,
    )


def initial_observations(state: WorldState) -> list[Observation]:
    """The public facts of an initial state."""
    places = [("LOCATED_IN", name, region) for name, region in state.locations.items()]
    values = [("EQUAL", name, value) for name, value in state.numeric_values.items()]
    return [
        Observation(f"I{number:04d}", relation, (name, value))  # type: ignore[arg-type]
        for number, (relation, name, value) in enumerate([*places, *values], 1)
    ]
