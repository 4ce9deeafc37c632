"""Tasks that differ from the default one in every field."""

from __future__ import annotations

from typing import Any

import pytest

from veilgym.envs.causal_circuits.task import Task, load_task

CHAIN: dict[str, Any] = {
    "task_id": "chain",
    "version": "1.0",
    "title": "A chain of three",
    "instructions": 'Find out what "s" does.\nThen say so; 1. first line, - second.',
    "model": "m=tanh(b+a*s), x=tanh(c*m), y=tanh(d*m+e*x+f*t)",
    "prior": "a,c ~ Uniform(-1,1); d ~ Uniform(0,1e-7); e,f ~ Uniform(-1,1); b ~ Uniform(-0.1,0.30000000000000004)",
    "budget": 9,
    "outputs": ["y", "m", "x"],
    "noise_std": [0.035, 0.0, 1e-05],
    "scoring": {"name": "inverse_normalized_mse", "scale": [0.1, 2, 1e300**0.01]},
    "initial_queries": [{}, {"s": 0.3, "t": -2}],
    "experiments": [
        {"id": "push", "query": {"s": 1.0}, "max_replicates": 3},
        {"id": "hold m, or not", "label": "Hold m (with a clamp)", "query": {"m": 0.8, "t": -0.1}, "cost": 2},
        {"id": "nothing", "query": {}, "cost": 1, "max_replicates": 2},
    ],
    "prediction_queries": [{"s": -1.0}, {"m": -0.5, "t": 1e-12}, {}],
}


@pytest.fixture(scope="session")
def chain() -> Task:
    return load_task(CHAIN)
