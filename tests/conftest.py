"""A second implementation of circuits for the tests, and a reader of the hidden coefficients."""

from __future__ import annotations

import getpass
import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def kernel_cache() -> str:
    """A folder for compiled kernels that is new whenever any source with kernels changes.

    Numba compiles a function anew only if its own file has changed, not if one that it calls has: with the ordinary
    cache the tests could pass on code that is no longer there.
    """
    spec = importlib.util.find_spec("veilgym")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    sources = sorted(path for folder in ("agents", "envs") for path in (root / folder).rglob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    return str(Path(tempfile.gettempdir()) / f"veilgym-kernels-{getpass.getuser()}" / digest)


# Before anything imports numba, and inherited by the processes that tests start.
os.environ.setdefault("NUMBA_CACHE_DIR", kernel_cache())


def evaluate(circuit: Mapping[str, Any], coefficients: Mapping[str, Any], query: Mapping[str, float]) -> dict[str, Any]:
    """The value of every node by recursion.

    `circuit` maps a node to (bias or None, {parent: weight}); nodes that it lacks are roots.
    """
    values: dict[str, Any] = {}

    def value(node: str) -> Any:
        if node not in values:
            if node in query:
                values[node] = query[node]
            elif node in circuit:
                bias, weights = circuit[node]
                total = 0.0 if bias is None else coefficients[bias]
                for parent, weight in weights.items():
                    total = total + coefficients[weight] * value(parent)
                values[node] = np.tanh(total)
            else:
                values[node] = 0.0
        return values[node]

    for node in circuit:
        value(node)
    return {**values, **query}


def spec_circuit(coefficients: Mapping[str, Any], query: Mapping[str, float]) -> np.ndarray[Any, Any]:
    """x and y of the specification's circuit, (..., 2): x=tanh(bx+wu*u+wv*v), y=tanh(by+wx*x+yu*u+yv*v)."""
    c, u, v = coefficients, query.get("u", 0.0), query.get("v", 0.0)
    x = np.tanh(c["bx"] + c["wu"] * u + c["wv"] * v)
    x = np.full_like(x, query["x"]) if "x" in query else x
    return np.stack([x, np.tanh(c["by"] + c["wx"] * x + c["yu"] * u + c["yv"] * v)], axis=-1)


def spec_targets(coefficients: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Noiseless x and y, (B, 8, 2), under the specification's prediction queries."""
    queries = [
        {"u": -0.8, "v": -0.8},
        {"u": -0.8, "v": 0.8},
        {"u": 0.8, "v": -0.8},
        {"u": 0.8, "v": 0.8},
        {"u": -0.4, "v": 0.7},
        {"u": 0.6, "v": -0.3},
        {"u": -0.6, "x": 0.6},
        {"v": 0.6, "x": -0.6},
    ]
    return np.stack([spec_circuit(coefficients, query) for query in queries], axis=1)


def hidden_coefficients(env: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The coefficients of each episode of an env or vector env by name, (B,); see the docstring of `Episodes`."""
    episodes, task = env.unwrapped._episodes, env.unwrapped.task
    by_episode = episodes.coefficients.transpose(0, 2, 1).reshape(-1, len(task.priors))[: len(episodes.replicates)]
    return {prior.coefficient: by_episode[:, k].astype(np.float64) for k, prior in enumerate(task.priors)}


def set_hidden_coefficients(env: Any, values: Mapping[str, float]) -> None:
    """Give the named coefficients one value in all episodes."""
    for k, prior in enumerate(env.unwrapped.task.priors):
        if prior.coefficient in values:
            env.unwrapped._episodes.coefficients[:, k, :] = values[prior.coefficient]


@pytest.fixture
def reference() -> Callable[..., dict[str, Any]]:
    return evaluate


@pytest.fixture(name="spec_circuit")
def spec_circuit_fixture() -> Callable[..., np.ndarray[Any, Any]]:
    return spec_circuit


@pytest.fixture(name="spec_targets")
def spec_targets_fixture() -> Callable[..., np.ndarray[Any, Any]]:
    return spec_targets


@pytest.fixture(name="hidden_coefficients")
def hidden_coefficients_fixture() -> Callable[[Any], dict[str, np.ndarray[Any, Any]]]:
    return hidden_coefficients


@pytest.fixture(name="set_hidden_coefficients")
def set_hidden_coefficients_fixture() -> Callable[..., None]:
    return set_hidden_coefficients
