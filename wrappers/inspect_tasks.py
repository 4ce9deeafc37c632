"""Tasks for inspect-ai, one a family; `inspect eval veilgym/hidden_system --model PROVIDER/NAME` finds them.

A model sees the prompt of a sample alone. What the answer is scored with is the sample's target, which inspect-ai keeps
from the model: the right option, or for circuits the complete record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, accuracy, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.tool import Tool, tool

from veilgym.envs.causal_circuits.prose import render
from veilgym.envs.causal_circuits.protocol import TurnReader
from veilgym.envs.causal_circuits.records import CircuitPayload, CircuitSkeleton, cached_task, renderer_payload, score
from veilgym.envs.core.family import Family, load_family
from veilgym.envs.core.prose import Choices, check_skin
from veilgym.envs.core.records import content_id, to_json
from veilgym.envs.core.replies import Unparsed, read_choice

MIXED = "mixed"
_PREDICTION = "prediction"
_REASON = "reason"
_UNPARSED = "unparsed"


@task
def hidden_system(
    count: int = 100,
    length: str | int = "short",
    skin: str = MIXED,
    seed: int = 0,
    split: str = "test",
) -> Task:
    """Whether the record is more likely PRESENT or ABSENT after events that were never seen together.

    Args:
        count: How many problems.
        length: "short", "medium", "long" or 4 to 10 events.
        skin: A surface, or "mixed" for one drawn for each problem.
        seed: Names the set of problems.
        split: "train" or "test".
    """
    family = load_family("hidden-system")
    return _query_task(family, family.generate(0, count, length, seed, split), skin)


@task
def dynamic_world(
    count: int = 100,
    length: str | int = "short",
    skin: str = MIXED,
    seed: int = 0,
    split: str = "test",
    entity_count: int | None = None,
    simulation_steps: int | None = None,
) -> Task:
    """Whether a proposition holds after a long history of events: YES or NO.

    Args:
        count: How many problems.
        length: "short", "medium", "long" or the number of events in a shortest proof.
        skin: A surface, or "mixed" for one drawn for each problem.
        seed: Names the set of problems.
        split: "train" or "test".
        entity_count, simulation_steps: Of smaller or larger worlds; None for the defaults of 128 and 1000.
    """
    family = load_family("dynamic-world")
    sizes = {"entity_count": entity_count, "simulation_steps": simulation_steps}
    return _query_task(family, family.generate(0, count, length, seed, split, **sizes), skin)


@task
def causal_circuits(
    count: int = 100,
    seed: int = 0,
    split: str = "test",
    protocol: Literal["json", "tools"] = "json",
    turns: int = 24,
) -> Task:
    """Experiments on a hidden circuit, then a prediction; the score is exact.

    Args:
        count: How many episodes.
        seed: Names the set of episodes.
        split: "train" or "test".
        protocol: "json" for one JSON object a turn, which any model can write; "tools" for calls of tools.
        turns: Replies after which an episode without a submission ends.
    """
    if protocol not in ("json", "tools"):
        raise ValueError(f"protocol must be 'json' or 'tools', got {protocol!r}")
    family = load_family("causal-circuits")
    samples = []
    for skeleton in family.generate(0, count, None, seed, split):
        payload = renderer_payload(skeleton)
        prompt = render(payload, "plain", is_interactive=True).text
        samples.append(Sample(prompt, target=to_json(skeleton).decode(), id=content_id(payload)))
    return Task(dataset=MemoryDataset(samples, name=family.slug), solver=play(protocol, turns), scorer=prediction())


def _query_task(family: Family[Any, Any], skeletons: Iterator[Any], skin: str) -> Task:
    check_skin(skin, (*family.skins, MIXED))
    samples = []
    for skeleton in skeletons:
        payload = family.payload(skeleton)
        surface = skin
        if skin == MIXED:
            surface = family.skins[Choices(payload, MIXED).variants("skin", 1)[0] % len(family.skins)]
        prompt = family.render(payload, surface).text
        metadata = {"skin": surface, "options": list(payload.answer_options)}
        samples.append(Sample(prompt, target=skeleton.gold_answer, id=content_id(payload), metadata=metadata))
    return Task(dataset=MemoryDataset(samples, name=family.slug), solver=generate(), scorer=choice())


@metric
def unparsed() -> Metric:
    """The share of replies that state no answer."""

    def compute(scores: list[SampleScore]) -> float:
        found = [bool((row.score.metadata or {}).get(_UNPARSED)) for row in scores]
        return sum(found) / len(found) if found else 0.0

    return compute


@scorer(metrics=[accuracy(), stderr(), unparsed()])
def choice() -> Scorer:
    """1 for the right option, as `veilgym.envs.core.replies` reads it; 0 for the other one, and for no answer."""

    async def judge(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        found = read_choice(reply, state.metadata["options"])
        if isinstance(found, Unparsed):
            return _no_answer(found.sentence, found.reason.value)
        return Score(value=float(found.option == target.text), answer=found.option, metadata={_UNPARSED: False})

    return judge


@scorer(metrics=[mean(), stderr(), unparsed()])
def prediction() -> Scorer:
    """The exact score of the submitted prediction, 0 to 1; 0 without a submission."""

    async def judge(state: TaskState, target: Target) -> Score:
        rows = state.store.get(_PREDICTION)
        if rows is None:
            return _no_answer("no prediction was submitted", state.store.get(_REASON) or "not submitted")
        skeleton = msgspec.json.decode(target.text, type=CircuitSkeleton)
        return Score(value=score(skeleton, rows), answer=str(rows), metadata={_UNPARSED: False})

    return judge


def _no_answer(sentence: str, reason: str) -> Score:
    return Score(value=0.0, explanation=sentence, metadata={_UNPARSED: True, _REASON: reason})


class Episode:
    """An episode of circuits that a model plays: the public record so far, and the submission.

    Attributes:
        payload: What the model may know.
        submitted: The prediction, None before it.
        reason: Why the last request was refused, "" if it was not.
    """

    def __init__(self, skeleton: CircuitSkeleton) -> None:
        self._skeleton = skeleton
        self._task = cached_task(skeleton.task)
        self._reader = TurnReader(self._task)
        self._experiments: list[str] = []
        self.payload: CircuitPayload = renderer_payload(skeleton)
        self.submitted: list[list[float]] | None = None
        self.reason = ""

    def serve(self, request: Any) -> str:
        """Do what a reply, or a request as a mapping, asks for, and say what came of it."""
        self.reason = ""
        turn = self._reader.read(request)
        if isinstance(turn, Unparsed):
            self.reason = turn.reason.value
            return turn.sentence
        if turn.prediction is not None:
            self.submitted = [list(row) for row in turn.prediction]
            return "The prediction is submitted; the episode is over."
        return self._readings() if turn.choice is None else self._run(self._task.experiments[turn.choice].id)

    def _run(self, experiment: str) -> str:
        try:
            self.payload = renderer_payload(self._skeleton, [*self._experiments, experiment])
        except ValueError as error:
            self.reason = "refused"
            return f"Refused at no cost: {error}"
        self._experiments.append(experiment)
        return f"{experiment} read {self._values(self.payload.measurements[-1].values)}. {self._left()}"

    def _readings(self) -> str:
        return "; ".join(f"the initial reading is {self._values(row)}" for row in self.payload.initial_readouts)

    def _values(self, values: tuple[float, ...]) -> str:
        return ", ".join(f"{name} = {value:.8g}" for name, value in zip(self._task.outputs, values, strict=True))

    def _left(self) -> str:
        return f"Credits left: {self.payload.credits} of {self._task.budget}."


@solver
def play(protocol: str, turns: int) -> Solver:
    """Let the model play an episode, turn by turn."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = Episode(msgspec.json.decode(state.target.text, type=CircuitSkeleton))
        if protocol == "tools":
            state.tools = [run_experiment(episode), submit(episode)]
        for _ in range(turns):
            state = await generate(state, tool_calls="single")
            answered = bool(state.output.choices) and bool(state.output.message.tool_calls)
            if not answered:
                said = episode.serve(state.output.completion)
                state.messages.append(ChatMessageUser(content=said))
            if episode.submitted is not None:
                break
        state.store.set(_PREDICTION, episode.submitted)
        state.store.set(_REASON, episode.reason)
        return state

    return solve


@tool
def run_experiment(episode: Episode) -> Tool:
    """A tool for experiments."""

    async def execute(action_id: str) -> str:
        """Run an experiment, or read the initial data again with "observe_initial", which is free.

        Args:
            action_id: Id of the experiment.
        """
        return episode.serve({"action_id": action_id})

    return execute


@tool
def submit(episode: Episode) -> Tool:
    """A tool for the submission."""

    async def execute(prediction: list[list[float]]) -> str:
        """Submit the prediction; this ends the episode.

        Args:
            prediction: One row of numbers for each intervention, in order; in a row one number for each output.
        """
        return episode.serve({"prediction": prediction})

    return execute
