"""Results without playing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from veilgym.agents.results import Bench, Run


def make_run(agent: str, scores: Sequence[float], **changes: Any) -> Run:
    n = len(scores)
    fields = {
        "agent": agent,
        "description": f"what {agent} does",
        "scores": tuple(map(float, scores)),
        "experiments": (0,) * n,
        "refused": (0,) * n,
        "truncated": (False,) * n,
        "inferred": None,
        "claimed": None,
        "observed": None,
        "seconds": 0.5,
    }
    return Run(**(fields | changes))


def make_bench(scores: Mapping[str, Sequence[float]], **changes: Any) -> Bench:
    """A bench of agents by their scores; the first is the floor, the last the ideal observer."""
    names = list(scores)
    n = len(scores[names[0]])
    fields: dict[str, Any] = {
        "env_id": "HiddenSystem-v0",
        "split": "test",
        "seed": 0,
        "arguments": {},
        "instances": tuple(hashlib.md5(f"{i}".encode()).hexdigest() for i in range(n)),
        "floor": names[0],
        "ideal": names[-1],
        "runs": tuple(make_run(name, values) for name, values in scores.items()),
    }
    return Bench(**(fields | changes))


@pytest.fixture(name="make_run")
def make_run_fixture() -> Callable[..., Run]:
    return make_run


@pytest.fixture(name="make_bench")
def make_bench_fixture() -> Callable[..., Bench]:
    return make_bench
