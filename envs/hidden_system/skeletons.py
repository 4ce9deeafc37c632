"""Complete, answer-bearing records: of generated instances, and of systems that a person has written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.records import convert, from_json
from veilgym.envs.core.seeding import check_seed, check_split, derive_key
from veilgym.envs.hidden_system.evaluator import gold_answer, latent_trace, present_probability
from veilgym.envs.hidden_system.execution import (
    ACTION,
    ACTIONS,
    EVENT,
    HIGHEST,
    LOWEST,
    MASK,
    SET_FLAG,
    Program,
)
from veilgym.envs.hidden_system.generator import DRAWN, FLAG, Generator
from veilgym.envs.hidden_system.grammar import (
    ABSENT,
    PRESENT,
    RECORD,
    AttributeVocabulary,
    BehaviorCase,
    BehaviorPayload,
    BehaviorSkeleton,
    Condition,
    Events,
    HiddenRule,
    HiddenSystem,
    LatentStep,
    Name,
    ObservationProtocol,
    check_case,
    check_system,
)
from veilgym.envs.hidden_system.layout import HiddenArrays, Layout
from veilgym.envs.hidden_system.payload import decode, select
from veilgym.envs.hidden_system.task import Task, TaskSource, load_task

FAMILY = "HiddenSystem-v0"
_CHUNK = 256
_TOLERANCE = 1e-12


def generate_skeletons(
    count: int,
    length: str | int | None = None,
    seed: int = 0,
    *,
    split: str = "train",
    task: TaskSource = None,
    balance: Literal["index", "drawn"] = "index",
) -> list[BehaviorSkeleton]:
    """Generate complete records; the same arguments give the same bytes.

    Args:
        count: How many, at least 1. A longer list begins with a shorter one.
        length: "short", "medium", "long" or 4 to 10 events; None for what `task` says.
        seed: Names the list.
        split: "train" or "test", independent draws from the same distribution.
        task: As for the env.
        balance: "index" favours PRESENT at odd and ABSENT at even indices. "drawn" draws the side, as the env does:
            then record i is the i-th episode after the env's `reset(seed=seed)`.

    Raises:
        ValueError: an argument is wrong.
    """
    return list(iterate_skeletons(check_count("count", count), length, seed, split=split, task=task, balance=balance))


def iterate_skeletons(
    count: int,
    length: str | int | None = None,
    seed: int = 0,
    *,
    split: str = "train",
    task: TaskSource = None,
    balance: Literal["index", "drawn"] = "index",
    first: int = 0,
) -> Iterator[BehaviorSkeleton]:
    """`generate_skeletons` one by one, from index `first` on, which is at least 0."""
    if isinstance(first, bool) or not isinstance(first, int) or first < 0:
        raise ValueError(f"first must be a non-negative integer, got {first!r}")
    return skeletons_at(range(first, first + count), load_task(task, length=length), seed, split, balance)


def skeletons_at(
    indices: Sequence[int],
    task: Task,
    seed: int = 0,
    split: str = "train",
    balance: Literal["index", "drawn"] = "index",
) -> Iterator[BehaviorSkeleton]:
    """The records at any places of the list that `generate_skeletons` makes, in the order of `indices`."""
    if balance not in ("index", "drawn"):
        raise ValueError(f"balance must be 'index' or 'drawn', got {balance!r}")
    return _skeletons_at(indices, task, check_seed(seed), check_split(split), balance == "index")


def _skeletons_at(
    indices: Sequence[int], task: Task, seed: int, split: str, is_balanced: bool
) -> Iterator[BehaviorSkeleton]:
    generator = Generator(task)
    key = derive_key(sequence_name(task), split, seed)
    for start in range(0, len(indices), _CHUNK):
        places = np.array(indices[start : start + _CHUNK], np.uint64)
        batch = len(places)
        public, hidden = generator.layout.public(batch), generator.hidden(batch)
        sides = (places % 2).astype(np.int64) if is_balanced else np.full(batch, DRAWN, np.int64)
        generator.draw(np.full(batch, key, np.uint64), places, np.ones(batch, np.bool_), public, hidden, sides)
        for row, index in enumerate(places.tolist()):
            payload = decode(select(public, row), generator.layout)
            system = read_system(hidden, row, generator.layout)
            yield _complete(f"{sequence_name(task)}/{split}/{seed}/{index}", payload, system)


def sequence_name(task: Task) -> str:
    """What the keys of a task's instances are derived from: instances of different lengths share nothing."""
    return f"{FAMILY} {task.complexity}"


def read_system(hidden: HiddenArrays, row: int, layout: Layout) -> HiddenSystem:
    """The record of a generated system."""
    program = Program(hidden.rules[row], hidden.probability[row], hidden.bounds[row], (FLAG,))
    return HiddenSystem(
        initial_record=ABSENT,
        conflict_policy="PERSISTENT_INVALIDATION_VETO",
        rules=tuple(_read_rule(program, rule, layout) for rule in range(len(program.rules))),
    )


def _read_rule(program: Program, rule: int, layout: Layout) -> HiddenRule:
    row = program.rules[rule]
    conditions = [
        condition
        for name, (low, high) in zip(layout.attributes, program.bounds[rule].tolist(), strict=True)
        for condition in _read_gate(name, low, high)
    ]
    if row[MASK]:
        conditions.append(Condition("state", FLAG, "IS_SET"))
    return HiddenRule(
        id=f"R{rule + 1}",
        on_event=layout.events[row[EVENT]],
        conditions=tuple(conditions),
        probability=float(program.probability[rule]),
        action=ACTIONS[row[ACTION]],  # type: ignore[arg-type]
        target=FLAG if row[ACTION] == SET_FLAG else RECORD,
    )


def _read_gate(name: str, low: int, high: int) -> Iterator[Condition]:
    if low == high:
        yield Condition("attribute", name, "EQ", low)
    elif low > LOWEST:
        yield Condition("attribute", name, "GT", low - 1)
    elif high < HIGHEST:
        yield Condition("attribute", name, "LE", high)


def _complete(name: str, payload: BehaviorPayload, system: HiddenSystem) -> BehaviorSkeleton:
    query, vocabulary = payload.query_case, payload.attribute_vocabulary
    trace = latent_trace(system, query.attributes, query.events, vocabulary)
    probability = trace[-1].present_probability
    return BehaviorSkeleton(
        id=name,
        family=payload.family,
        complexity=payload.complexity,
        event_vocabulary=payload.event_vocabulary,
        attribute_vocabulary=vocabulary,
        observation_protocol=payload.observation_protocol,
        hidden_system=system,
        support_cases=payload.support_cases,
        query_case=query,
        answer_options=payload.answer_options,
        gold_answer=gold_answer(probability),
        gold_present_probability=probability,
        latent_trace=trace,
    )


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Events to apply under given attributes."""

    attributes: dict[Name, int]
    events: Annotated[tuple[Name, ...], Meta(min_length=1)]


class SystemFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system written by hand, what is to be seen of it, and what is asked.

    Attributes:
        id: Unique name.
        event_vocabulary, attribute_vocabulary: As in a skeleton.
        hidden_system: The program.
        support_cases: What is run, `trials` times each.
        query_case: What is asked; it may not be among the support cases.
        trials: Trials per support case, 1 to 32,767.
    """

    id: Name
    event_vocabulary: Events
    attribute_vocabulary: AttributeVocabulary
    hidden_system: HiddenSystem
    support_cases: Annotated[tuple[Experiment, ...], Meta(min_length=1)]
    query_case: Experiment
    trials: Annotated[int, Meta(ge=1, le=2**15 - 1)] = 64


def read_system_file(path: str | os.PathLike[str]) -> SystemFile:
    """Read a `SystemFile` from JSON.

    Raises:
        ValueError: the file cannot be read, or a field is wrong; the message names it.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ValueError(f"system file {str(path)!r} cannot be read: {getattr(error, 'strerror', error)}") from None
    return from_json(data, SystemFile, "system field")


def run_system(file: SystemFile, seed: int = 0) -> BehaviorSkeleton:
    """Execute a written system: draw the counts of its support cases and find the exact answer to its query.

    Args:
        file: The system and its cases.
        seed: Names the draw of the counts.

    Raises:
        ValueError: a field is wrong, a case or a rule names something unknown, or the query is among the support cases.
    """
    file = convert(msgspec.to_builtins(file), SystemFile, "system field")  # records made in Python are not checked
    events, vocabulary = file.event_vocabulary, file.attribute_vocabulary
    check_system(file.hidden_system, events, vocabulary)
    rng = np.random.Generator(np.random.Philox(key=derive_key(FAMILY, "written", file.id, check_seed(seed))))
    query = BehaviorCase("Q", file.query_case.attributes, file.query_case.events)
    check_case(query, "query_case", events, vocabulary)
    cases = []
    for i, experiment in enumerate(file.support_cases):
        case = BehaviorCase(f"C{i + 1}", experiment.attributes, experiment.events)
        check_case(case, f"support_cases[{i}]", events, vocabulary)
        probability = present_probability(file.hidden_system, case.attributes, case.events, vocabulary)
        present = int(rng.binomial(file.trials, probability))
        cases.append(BehaviorCase(case.id, case.attributes, case.events, file.trials, present, file.trials - present))
    payload = BehaviorPayload(
        family="hidden_system",
        complexity=len(set(query.events)),
        event_vocabulary=events,
        attribute_vocabulary=vocabulary,
        observation_protocol=ObservationProtocol(),
        support_cases=tuple(cases),
        query_case=query,
        answer_options=(PRESENT, ABSENT),
    )
    return _complete(file.id, payload, file.hidden_system)


def read_skeletons(path: str | os.PathLike[str]) -> list[BehaviorSkeleton]:
    """Read the skeletons in a file of JSON lines, and recompute what is derived from the systems.

    A line is a skeleton, or a row of a data set (`veilgym generate`), which has it in its field "skeleton".

    Raises:
        ValueError: the file cannot be read, a line is wrong, or a recorded answer is not what the system gives.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except (OSError, ValueError) as error:
        raise ValueError(f"skeleton file {str(path)!r} cannot be read: {getattr(error, 'strerror', error)}") from None
    return check_skeletons([_read_line(line, f"line {i + 1}") for i, line in enumerate(lines)])


def _read_line(line: bytes, place: str) -> BehaviorSkeleton:
    if line.lstrip()[:1] == b"{" and line.rstrip().endswith(b"}}"):
        with contextlib.suppress(msgspec.MsgspecError):
            return convert(msgspec.json.decode(line, type=_Row).skeleton, BehaviorSkeleton, f"{place} skeleton")
    return from_json(line, BehaviorSkeleton, place)


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    skeleton: dict[str, Any]


def check_skeletons(skeletons: Sequence[BehaviorSkeleton]) -> list[BehaviorSkeleton]:
    """Return `skeletons` as a list if each one's answer is what its system gives; a `ValueError` names the first bad.

    Probabilities must agree within 1e-12.
    """
    if not isinstance(skeletons, Sequence) or not all(isinstance(s, BehaviorSkeleton) for s in skeletons):
        raise ValueError(f"skeletons must be a path or a sequence of BehaviorSkeleton, got {skeletons!r}")
    # Through plain data: records made in Python are not checked, and the copies share no mapping with the caller's.
    copies = [convert(msgspec.to_builtins(s), BehaviorSkeleton, f"skeletons[{i}]") for i, s in enumerate(skeletons)]
    for skeleton in copies:
        query, vocabulary = skeleton.query_case, skeleton.attribute_vocabulary
        trace = latent_trace(skeleton.hidden_system, query.attributes, query.events, vocabulary)
        exact, got = trace[-1].present_probability, skeleton.gold_present_probability
        if abs(exact - got) > _TOLERANCE:
            raise ValueError(f"{skeleton.id}.gold_present_probability: got {got!r}, allowed is {exact!r}")
        if skeleton.gold_answer != gold_answer(exact):
            allowed = gold_answer(exact)
            raise ValueError(f"{skeleton.id}.gold_answer: got {skeleton.gold_answer!r}, allowed is {allowed!r}")
        if not _agree(skeleton.latent_trace, trace):
            raise ValueError(
                f"{skeleton.id}.latent_trace: got other probabilities than the system's, allowed are these"
            )
    return copies


def _agree(recorded: Sequence[LatentStep], exact: Sequence[LatentStep]) -> bool:
    if [step.event for step in recorded] != [step.event for step in exact]:
        return False
    return all(
        set(one.flag_probabilities) == set(other.flag_probabilities)
        and all(abs(a - b) <= _TOLERANCE for a, b in zip(_numbers(one), _numbers(other), strict=True))
        for one, other in zip(recorded, exact, strict=True)
    )


def _numbers(step: LatentStep) -> list[float]:
    flags = [step.flag_probabilities[name] for name in sorted(step.flag_probabilities)]
    return [step.present_probability, step.invalidated_probability, *flags]
