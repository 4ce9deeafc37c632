"""What the contract suite needs to know of a family, and the fixtures that walk over every registered id.

A test that asks for `subject` runs for every id with its default arguments; marked `every_variant`, also for the
other arguments that `variants` lists, or with `fresh=True` for those whose instances are all drawn anew. A new id needs
an entry in `FAMILIES`, and one in `variants` if its arguments change spaces or instances.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import veilgym  # noqa: F401
from veilgym.registry import ENTRIES, Entry

Step = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


@dataclass(frozen=True)
class Family:
    """How to act in a family, and where its hidden half lies.

    Attributes:
        action: From an entry of the action mask and a number in [0, 1) to an action of one env.
        batch: From B such actions to the actions of a vector env.
        entries: How many entries the action mask has, 0 if there is none.
        answers: The entries that end an episode; one that `action` ignores if there is no mask.
        waits: Three actions that leave a fresh episode running, in this order: requests that are accepted, refused
            answers in one-step families.
        refused: Actions of one env that are refused in any state.
        malformed: Batches of B actions of a wrong dtype or trailing shape; B is the argument.
        bad: Batches that raise ValueError in a vector env of 3.
        overwrite: Puts other, random values in place of the hidden half of an env or a vector env.
        plant: Puts known numbers in place of the hidden half and returns them.
        autoreset: The mode of a vector env that is made without one.
        wrong: Arguments of the env that a ValueError names, with the value.
    """

    action: Callable[[int, float], Any]
    batch: Callable[[list[Any]], Any]
    entries: int
    answers: tuple[int, ...]
    waits: tuple[Any, Any, Any]
    refused: tuple[Any, ...]
    malformed: Callable[[int], list[Any]]
    bad: tuple[Any, ...]
    overwrite: Callable[[gym.Env[Any, Any], np.random.Generator], None]
    plant: Callable[[gym.Env[Any, Any]], list[float]]
    autoreset: AutoresetMode
    wrong: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Subject:
    """An id with arguments, and how to act in it.

    Attributes:
        name: The id, and what the arguments change.
        entry: The registered id.
        family: How to act, under these arguments.
        make_arguments: Makes the keyword arguments, when they are needed.
    """

    name: str
    entry: Entry
    family: Family
    make_arguments: Callable[[], dict[str, Any]] = dict

    def make(self, **kwargs: Any) -> gym.Env[Any, Any]:
        """The env as `gymnasium.make` gives it."""
        return gym.make(self.entry.id, **{**self.make_arguments(), **kwargs})

    def make_vec(self, num_envs: int, **kwargs: Any) -> gym.vector.VectorEnv[Any, Any, Any]:
        """The native vector env."""
        return gym.make_vec(self.entry.id, num_envs=num_envs, **{**self.make_arguments(), **kwargs})

    @property
    def limit(self) -> int | None:
        """Steps after which an episode is truncated, None in one-step families."""
        return self.entry.max_episode_steps

    @property
    def is_default(self) -> bool:
        return self.name == self.entry.id

    def answer(self, fraction: float = 0.3, which: int = 0) -> Any:
        """An action that ends an episode."""
        return self.family.action(self.family.answers[which], fraction)

    def observed(self, observation: dict[str, Any]) -> list[dict[str, Any]]:
        """The observations of single envs in a batch of them."""
        batch = len(next(iter(observation.values())))
        return [{key: array[i] for key, array in observation.items()} for i in range(batch)]


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


def _stated_malformed(batch: int) -> list[Any]:
    fractions = np.linspace(0, 1, batch)[:, None]
    return [
        np.arange(batch)[:, None] % 2,
        np.arange(batch, dtype=np.uint64)[:, None],
        fractions.astype(np.float16),
        fractions.astype(np.longdouble),
        np.asfortranarray(fractions),
        fractions > 0.5,
        fractions.astype(str),
        fractions.astype(np.complex128),
        fractions.astype(object),
        fractions[:, 0],
        fractions[:, :, None],
        np.repeat(fractions, 2, axis=1),
        np.zeros((batch, 0)),
        fractions - 0.5,
        fractions + 1e-12,
        fractions * np.nan,
        fractions + 1e308,
        np.full((batch, 1), 2**64 - 1, np.uint64),
    ]


def _query_overwrite(env: gym.Env[Any, Any], rng: np.random.Generator) -> None:
    questions = env.unwrapped._questions
    for array in _hidden_arrays(questions):
        whole = rng.integers(2 if array.dtype.kind == "b" else 2**31, size=array.shape)
        random = whole if array.dtype.kind in "biu" else rng.random(array.shape)
        array[...] = random.astype(array.dtype)


def _query_plant(env: gym.Env[Any, Any]) -> list[float]:
    canaries: list[float] = []
    for array in _hidden_arrays(env.unwrapped._questions):
        if array.dtype.kind == "b":  # true is no canary: it is everywhere
            continue
        number = len(canaries) + np.arange(array.size).reshape(array.shape)
        is_integer = array.dtype.kind in "iu"
        array[...] = (700_001 + 13 * number if is_integer else 0.123456789012345 + 0.000123 * number).astype(
            array.dtype
        )
        canaries += array.ravel().tolist()
    return canaries


def _hidden_arrays(questions: Any) -> list[np.ndarray[Any, Any]]:
    """What the engine of a query family knows and does not show: of generated, or of recorded instances."""
    if hasattr(questions, "hidden"):
        return [questions.keys, questions.indices, *vars(questions.hidden).values()]
    if hasattr(questions, "worlds"):
        return [questions.keys, questions.indices, questions.worlds.is_yes, *questions._simulator.state[:1]]
    return [questions.keys, questions.indices, questions._probabilities]


NAN_AT_THE_END = np.zeros((8, 2))
NAN_AT_THE_END[-1, -1] = np.nan

MOVES = {"weight": 20, "probability": 0.9}

FAMILIES = {
    "CausalCircuits-v0": Family(
        action=lambda entry, fraction: {"choice": entry, "prediction": _prediction(fraction)},
        batch=_circuit_batch,
        entries=13,
        answers=(12,),
        waits=tuple({"choice": choice, "prediction": _prediction(0.5)} for choice in (0, 0, 3)),
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
            {"prediction": np.zeros((3, 8, 2))},
            {"choice": np.zeros(2, int), "prediction": np.zeros((3, 8, 2))},
            {"choice": np.zeros(3, int), "prediction": np.zeros((2, 8, 2))},
            {"choice": np.zeros((3, 1), int), "prediction": np.zeros((3, 8, 2))},
            {"choice": np.int64(3), "prediction": np.zeros((3, 8, 2))},
        ),
        overwrite=_circuit_overwrite,
        plant=_circuit_plant,
        autoreset=AutoresetMode.NEXT_STEP,
        wrong=({"task": 5},),
    ),
    "HiddenSystem-v0": Family(
        action=lambda entry, fraction: entry,
        batch=lambda actions: np.array(actions, np.int64),
        entries=2,
        answers=(0, 1),
        waits=(2, -1, 2**40),
        refused=(2, -1, 2**40),
        malformed=_query_malformed,
        bad=(None, 3, {}, np.int64(1), np.zeros(2, int), np.zeros((2, 3), int)),
        overwrite=_query_overwrite,
        plant=_query_plant,
        autoreset=AutoresetMode.SAME_STEP,
        wrong=(
            *({"length": value} for value in (3, 11, "tiny", True, 4.0)),
            *({"trials": value} for value in (0, 1001, True, 2.5)),
            *({"margin": value} for value in (-0.1, 0.5, "narrow")),
            *({"reward": value} for value in ("mse", None, 1)),
            *({"shuffle_options": value} for value in ("no", None, 2)),
            *({"skeletons": value} for value in ([], 5, [1], "no such file")),
            {"task": 5},
        ),
    ),
}
FAMILIES["DynamicWorld-v0"] = replace(
    FAMILIES["HiddenSystem-v0"],
    wrong=(
        *({"length": value} for value in (1, 100, "tiny", True, 4.5)),
        *({"entity_count": value} for value in (7, 4097, True, 64.5)),
        *({"simulation_steps": value} for value in (0, 100_001, True, 2.5)),
        *({"reward": value} for value in ("mse", None, 1)),
        {"task": 5},
    ),
)


def _stating(family: Family) -> Family:
    """A query family whose answer is a probability."""
    refused = tuple(np.array([value], np.float32) for value in (np.nan, np.inf, -0.1, 1.1))
    return replace(
        family,
        action=lambda entry, fraction: np.array([fraction], np.float32),
        batch=lambda actions: np.stack(actions),
        entries=0,
        answers=(0,),
        waits=refused[:3],
        refused=refused,
        malformed=_stated_malformed,
        bad=(None, 3, {}, np.float64(0.5), np.zeros((2, 1)), np.zeros((1, 3))),
    )


@cache
def skeletons(length: str | int = "short") -> list[Any]:
    """Records of hidden systems; made when needed, since the first use compiles kernels."""
    from veilgym.envs.hidden_system import generate_skeletons

    return generate_skeletons(12, length, seed=5)


def variants(entry: Entry) -> list[Subject]:
    """An id with its default arguments, and with others."""
    family, default = FAMILIES[entry.id], Subject(entry.id, entry, FAMILIES[entry.id])
    changes: dict[str, tuple[Callable[[], dict[str, Any]], Family]] = {
        "split=test": (lambda: {"split": "test"}, family)
    }
    if entry.id == "HiddenSystem-v0":
        changes |= {f"length={n}": (lambda n=n: {"length": n}, family) for n in (5, 6, 7, 9, 10, "long")}
        task = {"length": 5, "trials": 20, "margin": 0.1, "attributes": 5, "pivotal_share": 1}
        stating = _stating(family)
        changes |= {
            "shuffle_options": (lambda: {"shuffle_options": True}, family),
            "reward=brier": (lambda: {"reward": "brier"}, stating),
            "reward=log": (lambda: {"reward": "log", "shuffle_options": True, "length": "medium"}, stating),
            "task": (lambda: {"task": task}, family),
            "skeletons": (lambda: {"skeletons": skeletons()}, family),
            "skeletons,log": (lambda: {"skeletons": skeletons(5), "reward": "log", "shuffle_options": True}, stating),
        }
    if entry.id == "DynamicWorld-v0":
        changes |= {f"length={n}": (lambda n=n: {"length": n}, family) for n in (3, "long")}
        task = {"length": 4, "entity_count": 64, "simulation_steps": 500, "transitions": {"move": MOVES}}
        changes |= {
            "reward=brier": (lambda: {"reward": "brier"}, _stating(family)),
            "task": (lambda: {"task": task}, family),
        }
    return [default, *(Subject(f"{entry.id}:{name}", entry, *change[::-1]) for name, change in changes.items())]


SUBJECTS = [subject for entry in ENTRIES for subject in variants(entry)]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "every_variant: run for the other arguments of each id too")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("every_variant")
        is_fresh = marker is not None and marker.kwargs.get("fresh")
        subjects = [s for s in SUBJECTS if s.is_default or (marker and not (is_fresh and "skeletons" in s.name))]
        if "wrong" in metafunc.fixturenames:
            pairs = [(subject, wrong) for subject in subjects for wrong in subject.family.wrong]
            metafunc.parametrize(("subject", "wrong"), pairs, ids=[f"{s.name}-{w}" for s, w in pairs])
        else:
            metafunc.parametrize("subject", subjects, ids=lambda subject: subject.name)


@pytest.fixture
def family(subject: Subject) -> Family:
    return subject.family


@pytest.fixture
def env(subject: Subject) -> Iterator[gym.Env[Any, Any]]:
    """The bare env."""
    made = subject.make().unwrapped
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
            if rng.random() < refusals:
                action = family.refused[rng.integers(len(family.refused))]
            else:
                action = family.action(_choice(env.unwrapped.action_masks(), rng), rng.random())
            trajectory.append(env.step(action))
            if trajectory[-1][2] or trajectory[-1][3]:
                break
        return trajectory

    return play


def _choice(mask: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """An entry that is true; 0 without a mask."""
    return int(rng.choice(np.flatnonzero(mask))) if mask.size else 0


@pytest.fixture
def random_batch(family: Family) -> Callable[..., Any]:
    """Random actions for a native vector env that has begun, a fifth of them refused."""

    def random_batch(envs: gym.vector.VectorEnv[Any, Any, Any], rng: np.random.Generator) -> Any:
        actions = []
        for mask in envs.unwrapped.action_masks():
            if rng.random() < 0.2 or (mask.size and not mask.any()):
                actions.append(family.refused[rng.integers(len(family.refused))])
            else:
                actions.append(family.action(_choice(mask, rng), rng.random()))
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
