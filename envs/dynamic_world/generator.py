"""Worlds as complete records, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.seeding import Split, check_seed, check_split
from veilgym.envs.dynamic_world.grammar import (
    ANSWER_OPTIONS,
    Answer,
    Family,
    GeneratorChecks,
    PredicateName,
    ProofFact,
    Query,
    WorldEvent,
    WorldSkeleton,
)
from veilgym.envs.dynamic_world.inference import shortest_proof, stated_fact
from veilgym.envs.dynamic_world.notation import Notation, changing, levels
from veilgym.envs.dynamic_world.query import MATCHINGS, SPATIAL_ORDER
from veilgym.envs.dynamic_world.task import Task, make_task
from veilgym.envs.dynamic_world.twins import TwinMaker, Twins
from veilgym.envs.dynamic_world.worlds import Simulator, Worlds, sequence_key, sequence_name


def generate_worlds(
    count: int,
    length: str | int = "short",
    seed: int = 0,
    *,
    entity_count: int = 128,
    simulation_steps: int = 1000,
    split: Split = "train",
    first: int = 0,
    task: Task | None = None,
) -> Iterator[WorldSkeleton]:
    """Generate worlds, the same ones that an env with these parameters plays.

    Args:
        count: how many, at least 1.
        length: the number of events in a shortest proof, or "short" (4), "medium" (6) or "long" (8).
        seed: a non-negative integer; the worlds of two seeds share nothing.
        entity_count: entities of all types.
        simulation_steps: candidate steps.
        split: "train" or "test".
        first: the place of the first world in the seed's sequence.
        task: all parameters of a world at once, in place of `length`, `entity_count` and `simulation_steps`.

    Raises:
        ValueError: an argument is wrong, or its worlds have no question of that length. The former at once.
    """
    if task is None:
        task = make_task(length, entity_count, simulation_steps)
    return worlds_at(_indices(first, count), task, seed, split)


def generate_twins(
    count: int,
    length: str | int = "short",
    seed: int = 0,
    *,
    entity_count: int = 128,
    simulation_steps: int = 1000,
    split: Split = "train",
    first: int = 0,
    task: Task | None = None,
) -> Iterator[tuple[WorldSkeleton, WorldSkeleton]]:
    """Generate pairs of worlds that differ in one event and have opposite answers to the same question.

    Which of a pair is the one to answer with YES is drawn. The event that differs has the same id and time in both;
    how it is found says `veilgym.envs.dynamic_world.twins`.

    Args:
        count: how many pairs, at least 1.
        length: at least 3; `length` and the other arguments are those of `generate_worlds`. Of a task, the number of
            entity levels is not used for questions of an order.

    Raises:
        ValueError: an argument is wrong, or the worlds have no twins. The former at once.
    """
    if task is None:
        task = make_task(length, entity_count, simulation_steps)
    indices = _indices(first, count)
    return _generate_twins(TwinMaker(task, check_split(split), check_seed(seed)), indices)


def _indices(first: int, count: int) -> range:
    if isinstance(first, bool) or not isinstance(first, int) or first < 0:
        raise ValueError(f"first must be a non-negative integer, got {first!r}")
    return range(first, first + check_count("count", count))


def worlds_at(indices: Sequence[int], task: Task, seed: int = 0, split: str = "train") -> Iterator[WorldSkeleton]:
    """The worlds at any places of a seed's sequence, in the order of `indices`; errors as for `generate_worlds`."""
    return _generate(Simulator(task), indices, check_seed(seed), check_split(split))


def _generate(simulator: Simulator, indices: Sequence[int], seed: int, split: Split) -> Iterator[WorldSkeleton]:
    notation, key = Notation(simulator.task), np.array([sequence_key(simulator.task, split, seed)], np.uint64)
    for index in indices:
        worlds = simulator.make(key, np.array([index], np.uint64))
        yield _skeleton(f"{sequence_name(simulator.task)}/{split}/{seed}/{index}", simulator, notation, worlds)


def _generate_twins(maker: TwinMaker, indices: range) -> Iterator[tuple[WorldSkeleton, WorldSkeleton]]:
    for index in indices:
        twins = maker.make(index)
        simulator = maker.simulators[int(twins.worlds.queries[0, 0])]
        yield tuple(_twin(f"{maker.name}/{index}/{i}", simulator, twins, i) for i in range(2))  # type: ignore[misc]


def _twin(name: str, simulator: Simulator, twins: Twins, i: int) -> WorldSkeleton:
    world = twins.worlds.only(i)
    simulator.replay(world, twins.levels[i])
    return _skeleton(name, simulator, Notation(simulator.task), world)


def _skeleton(name: str, simulator: Simulator, notation: Notation, worlds: Worlds) -> WorldSkeleton:
    """The record of the only world of a batch, at the end of which the simulator's state is."""
    task, symbols = simulator.task, simulator.state[0]
    events = notation.events(worlds.events[0, : worlds.num_events[0]])
    family, left, right, matching = worlds.queries[0].tolist()
    predicate: PredicateName = "ABOVE" if family == SPATIAL_ORDER else "MEMBER"
    query = Query(predicate, (notation.names[left], notation.names[right]), task.simulation_steps)
    is_yes = bool(worlds.is_yes[0])
    proof = [events[row] for row in worlds.proofs[0].tolist()]
    return WorldSkeleton(
        id=name,
        family=_family(predicate, is_yes),
        complexity=task.complexity,
        entity_count=task.allocation.total,
        simulation_steps=task.simulation_steps,
        hidden_program=simulator.program,
        entities=notation.entities,
        initial_state=notation.state(worlds.initial[0], None, levels(symbols)),
        events=events,
        final_state=notation.state(changing(symbols), simulator.state[2], levels(symbols)),
        query=query,
        answer_options=ANSWER_OPTIONS,
        gold_answer="YES" if is_yes else "NO",
        proof_event_ids=[event.id for event in proof],
        proof_facts=[_fact(event) for event in proof],
        generator_checks=_checks(events, query, "YES" if is_yes else "NO", task.complexity, MATCHINGS[matching]),
    )


def _family(predicate: PredicateName, is_yes: bool) -> Family:
    if predicate == "ABOVE":
        return "spatial_order"
    return "membership_inheritance" if is_yes else "membership_disjointness"


def _fact(event: WorldEvent) -> ProofFact:
    relation, left, right = stated_fact(event) or ("", "", "")
    return ProofFact(relation, (left, right))  # type: ignore[arg-type]


def _checks(events: list[WorldEvent], query: Query, answer: Answer, complexity: int, matching: str) -> GeneratorChecks:
    """Prove the query once more, from the records.

    Raises:
        RuntimeError: the proof differs in answer or length. It never should; a world that is wrong must not get out.
    """
    proof = shortest_proof(events, query)
    stated = {(query.predicate, *query.arguments), (query.predicate, *query.arguments[::-1])}
    candidates = (event for event in events if event.arguments.get("relation") == query.predicate)
    is_stated = any(stated_fact(event) in stated for event in candidates)
    if proof is None or proof.answer != answer or len(proof.event_ids) != complexity or is_stated:
        raise RuntimeError(f"inference and query selection disagree about {query}: {proof}")
    return GeneratorChecks(
        query_is_no_direct_event=not is_stated,
        shortest_proof_events=len(proof.event_ids),
        proof_meets_minimum=len(proof.event_ids) >= complexity,
        proof_share_of_events=len(proof.event_ids) / len(events),
        direct_fact_baseline_fails=not is_stated,
        short_proof_baseline_fails=len(proof.event_ids) >= complexity,
        matching=matching,
    )
