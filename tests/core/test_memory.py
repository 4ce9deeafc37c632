"""Aligned arrays, and arrays that are used again once nobody holds them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from veilgym.envs.core.memory import Arrays, Recycler, aligned_zeros


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (3, 5), (9, 1024)])
def test_aligned_zeros(shape: tuple[int, ...], dtype: Any) -> None:
    arrays = [aligned_zeros(shape, dtype) for _ in range(20)]
    for array in arrays:
        assert (array.shape, array.dtype, array.ctypes.data % 64) == (shape, dtype, 0)
        assert not array.any()
        assert array.flags.carray
        array.fill(1)
    assert len({array.ctypes.data for array in arrays}) == 20


def make(size: int) -> Arrays:
    return np.zeros(size), np.zeros((size, 2), np.int8)


HOLDERS: dict[str, Callable[[Arrays], Any]] = {
    "the first array": lambda arrays: arrays[0],
    "the last array": lambda arrays: arrays[-1],
    "a view": lambda arrays: arrays[0][1:3],
    "a view of a view": lambda arrays: arrays[1].reshape(-1)[::2][1:],
    "a buffer": lambda arrays: memoryview(arrays[0]),
    "a row in a list": lambda arrays: list(arrays[1]),
    "an iterator": lambda arrays: iter(arrays[0]),
    "a dlpack array": lambda arrays: np.from_dlpack(arrays[0]),
    "another dtype": lambda arrays: arrays[0].view(np.int64),
}


def places(arrays: Arrays) -> set[int]:
    return {array.__array_interface__["data"][0] for array in arrays}


def filled(arrays: Arrays, number: int) -> Arrays:
    for array in arrays:
        array.fill(number)
    return arrays


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_held_is_never_given_again(holder: str) -> None:
    recycler, hold = Recycler(partial(make, 50)), HOLDERS[holder]
    held = hold(filled(recycler.take(), 7))
    for number in range(20):
        filled(recycler.take(), number % 5)
    np.testing.assert_array_equal(list(held), list(hold(filled(make(50), 7))))


def test_what_is_dropped_is_given_again_in_turn() -> None:
    recycler = Recycler(partial(make, 50))
    found = [places(recycler.take()) for _ in range(6)]
    assert found[0] == found[2] == found[4]
    assert found[1] == found[3] == found[5]
    assert not found[0] & found[1]


def test_the_last_step_is_kept_while_the_next_one_is_made() -> None:
    recycler = Recycler(partial(make, 50))
    arrays = recycler.take()
    for _ in range(10):
        before = places(arrays)
        arrays = recycler.take()
        assert not places(arrays) & before


def test_a_copy_shares_nothing() -> None:
    recycler = Recycler(partial(make, 50))
    taken = places(recycler.take()) | places(recycler.take())
    other = pickle.loads(pickle.dumps(recycler))
    assert not any(places(other.take()) & taken for _ in range(4))


@pytest.mark.parametrize(("is_exact", "made"), [(True, 2), (False, 10)])
def test_without_exact_counts_nothing_is_given_again(
    monkeypatch: pytest.MonkeyPatch, is_exact: bool, made: int
) -> None:
    monkeypatch.setattr("veilgym.envs.core.memory._IS_COUNT_EXACT", is_exact)
    sets: list[None] = []

    def counted() -> Arrays:
        sets.append(None)
        return make(3)

    recycler = Recycler(counted)
    for _ in range(10):
        recycler.take()
    assert len(sets) == made


def test_what_a_caller_keeps_of_the_steps_of_circuits_stays_as_it_was() -> None:
    envs = gym.make_vec("CausalCircuits-v0", num_envs=9, vectorization_mode="vector_entry_point")
    rng = np.random.default_rng(0)
    envs.reset(seed=1)
    kept: list[tuple[Any, Any]] = []
    for step in range(300):
        actions = {"choice": rng.integers(0, 14, 9), "prediction": rng.uniform(-1, 1, (9, 8, 2))}
        observation, *rest, infos = envs.step(actions)
        results = [*observation.values(), *rest, *infos.values()]
        for place in rng.permutation(len(results))[: step % 3]:
            result = results[place]
            kept.append((result[2:] if step % 2 else result, result.copy()))
        del observation, rest, infos, results
    for result, copy in kept:
        assert result.tolist() == (copy[2:] if len(result) < len(copy) else copy).tolist()
    assert len(kept) == 300
