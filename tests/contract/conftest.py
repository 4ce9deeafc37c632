"""What the contract suite needs to know of a family, and the fixtures that walk over every registered id."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import veilgym  # noqa: F401
from veilgym.registry import ENTRIES, Entry

Step = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


@dataclass(frozen=True)
class Family:
    """How to act in a family, and where its hidden half lies.

    Attributes:
        action: From an entry of the action mask and a number in [0, 1) to an action of one env.
        batch: From B such actions to the actions of a vector env.
        answers: From the number of entries of the mask to the entries that end an episode.
        refused: Actions of one env that are refused in any state.
        malformed: Batches of B actions of a wrong dtype or trailing shape; B is the argument.
        bad: Batches that raise ValueError in a vector env of 3.
        overwrite: Puts other, random values in place of the hidden half of an env.
        plant: Puts known numbers in place of the hidden half and returns them.
    """

    action: Callable[[int, float], Any]
    batch: Callable[[list[Any]], Any]
    answers: Callable[[int], tuple[int, ...]]
    refused: tuple[Any, ...]
    malformed: Callable[[int], list[Any]]
    bad: tuple[Any, ...]
    overwrite: Callable[[gym.Env[Any, Any], np.random.Generator], None]
    plant: Callable[[gym.Env[Any, Any]], list[float]]


def _prediction(fraction: float) -> np.ndarray[Any, Any]:
    k = np.arange(16)
    return ((k * k + int(1000 * fraction)) % 201 - 100).reshape(8, 2) / 100.0


def _circuit_batch(actions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "choice": np.array([action["choice"] for action in actions], np.int64),
        "prediction": np.array([action["prediction"] for action in actions], np.float64),
    }


def _circuit_malformed(batch: int) -> list[dict[str, Any]]:
    choices, submits = np.arange(batch) % 14, np.full(batch, 12)
    good = np.zeros((batch, 8, 2))
    return [
        {"choice": choices.astype(np.float64), "prediction": good},
        {"choice": choices > 6, "prediction": good},
        {"choice": choices.astype(np.int8), "prediction": good.astype(np.int32)},
        {"choice": choices.astype(np.uint64), "prediction": good.astype(np.float32)},
        {"choice": np.full(batch, 2**64 - 1, np.uint64), "prediction": good},
        {"choice": np.full(batch, -(2**63)), "prediction": good},
        {"choice": choices, "prediction": good.swapaxes(1, 2)},
        {"choice": submits, "prediction": good.swapaxes(1, 2)},
        {"choice": submits, "prediction": good.reshape(batch, 16)},
        {"choice": submits, "prediction": good[..., None]},
        {"choice": submits, "prediction": np.zeros((batch, 8, 3))},
        {"choice": submits, "prediction": good.astype(np.complex128)},
        {"choice": submits, "prediction": good.astype(np.bool_)},
        {"choice": submits, "prediction": good.astype(str)},
        {"choice": submits, "prediction": good + np.inf},
        {"choice": submits, "prediction": np.asfortranarray(good + 1e308)},
    ]


def _circuit_overwrite(env: gym.Env[Any, Any], rng: np.random.Generator) -> None:
    episodes = env.unwrapped._episodes
    episodes.coefficients[...] = rng.uniform(-0.2, 0.2, episodes.coefficients.shape)
    episodes.sequence[...] = rng.integers(2**63, size=episodes.sequence.shape, dtype=np.uint64)


def _circuit_plant(env: gym.Env[Any, Any]) -> list[float]:
    episodes = env.unwrapped._episodes
    canaries = 0.123456789012345 + 0.000123 * np.arange(episodes.coefficients.size)
    episodes.coefficients[...] = canaries.reshape(episodes.coefficients.shape)
    keys = 0xC0FFEE0123456789 + np.arange(episodes.sequence.size, dtype=np.uint64)
    episodes.sequence[...] = keys.reshape(episodes.sequence.shape)
    return [*episodes.coefficients.ravel().tolist(), *keys.tolist()]  # as the engine's precision holds them


def _query_malformed(batch: int) -> list[Any]:
    answers = np.arange(batch) % 2
    return [
        answers.astype(np.float64),
        answers > 0,
        answers.astype(np.int8),
        answers.astype(np.uint64),
        np.full(batch, 2**64 - 1, np.uint64),
        np.full(batch, -(2**63)),
        answers[:, None],
        answers.astype(str),
        answers.astype(np.complex128),
    ]


def _system_overwrite(env: gym.Env[Any, Any], rng: np.random.Generator) -> None:
    questions = env.unwrapped._questions
    hidden = questions.hidden
    for array in (hidden.rules, hidden.bounds, questions.keys, questions.indices):
        array[...] = rng.integers(2**31, size=array.shape).astype(array.dtype)
    for array in (hidden.probability, hidden.present):
        array[...] = rng.random(array.shape)


def _system_plant(env: gym.Env[Any, Any]) -> list[float]:
    questions = env.unwrapped._questions
    hidden = questions.hidden
    canaries = []
    for array in (hidden.rules, hidden.bounds, questions.keys, questions.indices):
        array[...] = (700_001 + 13 * len(canaries) + np.arange(array.size)).reshape(array.shape).astype(array.dtype)
        canaries += array.ravel().tolist()
    for array in (hidden.probability, hidden.present):
        array[...] = (0.123456789012345 + 0.000123 * (len(canaries) + np.arange(array.size))).reshape(array.shape)
        canaries += array.ravel().tolist()
    return canaries


NAN_AT_THE_END = np.zeros((8, 2))
NAN_AT_THE_END[-1, -1] = np.nan

FAMILIES = {
    "CausalCircuits-v0": Family(
        action=lambda entry, fraction: {"choice": entry, "prediction": _prediction(fraction)},
        batch=_circuit_batch,
        answers=lambda entries: (entries - 1,),
        refused=(
            {"choice": 13, "prediction": np.zeros((8, 2))},
            {"choice": -1, "prediction": np.zeros((8, 2))},
            {"choice": 2**40, "prediction": np.zeros((8, 2))},
            {"choice": 12, "prediction": NAN_AT_THE_END},
            {"choice": 12, "prediction": np.full((8, 2), np.inf)},
        ),
        malformed=_circuit_malformed,
        bad=(
            None,
            3,
            {},
            {"choice": np.zeros(3, int)},
            {"prediction": np.zeros((3, 8, 2))},
            {"choice": np.zeros(2, int), "prediction": np.zeros((3, 8, 2))},
            {"choice": np.zeros(3, int), "prediction": np.zeros((2, 8, 2))},
            {"choice": np.zeros((3, 1), int), "prediction": np.zeros((3, 8, 2))},
            {"choice": np.int64(3), "prediction": np.zeros((3, 8, 2))},
            {"choice": np.zeros(3, int), "prediction": None},
        ),
        overwrite=_circuit_overwrite,
        plant=_circuit_plant,
    ),
    "HiddenSystem-v0": Family(
        action=lambda entry, fraction: entry,
        batch=lambda actions: np.array(actions, np.int64),
        answers=lambda entries: tuple(range(entries)),
        refused=(2, -1, 2**40),
        malformed=_query_malformed,
        bad=(None, 3, {}, np.int64(1), np.zeros(2, int), np.zeros((2, 3), int)),
        overwrite=_system_overwrite,
        plant=_system_plant,
    ),
}


@pytest.fixture(params=ENTRIES, ids=lambda entry: entry.id)
def entry(request: pytest.FixtureRequest) -> Entry:
    return request.param


@pytest.fixture
def family(entry: Entry) -> Family:
    """A new id needs an entry in FAMILIES: its actions, and the hidden half that the redaction tests overwrite."""
    return FAMILIES[entry.id]


@pytest.fixture
def env(entry: Entry) -> Iterator[gym.Env[Any, Any]]:
    """The bare env."""
    made = gym.make(entry.id).unwrapped
    yield made
    made.close()


def freeze(data: Any) -> Any:
    """Nested data as a value that compares byte for byte, types and dtypes included."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return str(data.dtype), data.shape, data.tobytes()
    if isinstance(data, np.ndarray):
        return "object", data.shape, [freeze(element) for element in data.flat]
    if isinstance(data, dict):
        return {key: freeze(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data).__name__, [freeze(element) for element in data]
    return type(data).__name__, repr(data)


@pytest.fixture(name="freeze")
def freeze_fixture() -> Callable[[Any], Any]:
    return freeze


@pytest.fixture
def play(family: Family) -> Callable[..., list[Step]]:
    """Random steps from the current state until the episode ends: accepted ones, refused ones, at last the answer."""

    def play(env: gym.Env[Any, Any], rng: np.random.Generator, refusals: float = 0.25, steps: int = 50) -> list[Step]:
        trajectory = []
        for _ in range(steps):
            if family.refused and rng.random() < refusals:
                action = family.refused[rng.integers(len(family.refused))]
            else:
                mask = env.unwrapped.action_masks()
                action = family.action(int(rng.choice(np.flatnonzero(mask))), rng.random())
            trajectory.append(env.step(action))
            if trajectory[-1][2] or trajectory[-1][3]:
                break
        return trajectory

    return play


@pytest.fixture
def random_batch(family: Family) -> Callable[..., Any]:
    """Random actions for a vector env, a fifth of them refused."""

    def random_batch(masks: np.ndarray[Any, Any], rng: np.random.Generator) -> Any:
        actions = []
        for mask in masks:
            allowed = np.flatnonzero(mask)
            if (family.refused and rng.random() < 0.2) or not allowed.size:
                actions.append(family.refused[rng.integers(len(family.refused))])
            else:
                actions.append(family.action(int(rng.choice(allowed)), rng.random()))
        return family.batch(actions)

    return random_batch


@pytest.fixture
def to_json() -> Callable[[Any], str]:
    """Strict JSON of nested data, with arrays and NumPy scalars as lists and numbers and nothing else converted."""

    def convert(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        raise TypeError(type(value).__name__)

    return lambda data: json.dumps(data, allow_nan=False, default=convert)
