"""Each intervention does what the equations say: the clamped node, its descendants, and nothing else."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.task import read_document

CLAMPS = [(node, value) for node in "uvx" for value in (-1.0, -0.4, 0.4, 1.0)]
EVERY_EXPERIMENT = pytest.mark.parametrize("choice", range(12), ids=[f"{node}={value}" for node, value in CLAMPS])

# By hand: bx=0.1, wu=0.5, wv=-0.3, by=-0.05, wx=0.8, yu=-0.2, yv=0.6.
CIRCUIT = {"bx": 0.1, "by": -0.05, "wu": 0.5, "wv": -0.3, "wx": 0.8, "yu": -0.2, "yv": 0.6}
BY_HAND = [
    (-0.3799489623, -0.1527541406),  # x = tanh(0.1 - 0.5), y = tanh(-0.05 + 0.8 x + 0.2)
    (-0.0996679946, -0.0496934301),
    (0.2913126125, 0.1026868588),
    (0.5370495670, 0.1777319269),
    (0.3799489623, -0.3328596847),  # x = tanh(0.1 + 0.3), y = tanh(-0.05 + 0.8 x - 0.6)
    (0.2165180615, -0.1162574907),
    (-0.0199973338, 0.1722670702),
    (-0.1973753202, 0.3731689863),
    (-1.0, -0.6910694698),  # y = tanh(-0.05 - 0.8)
    (-0.4, -0.3539917125),
    (0.4, 0.2636248355),
    (1.0, 0.6351489524),
]


def one_run(envs, choice):
    """The readouts (B, O) of one run of an experiment after a reset with a fixed seed."""
    zeros = np.zeros((envs.num_envs, 8, 2))
    observation, *_ = envs.step({"choice": np.full(envs.num_envs, choice), "prediction": zeros})
    return observation["readouts"].reshape(envs.num_envs, 13, 2, 2)[:, 1 + choice, 0]


@pytest.fixture(scope="module")
def noiseless():
    return gym.make_vec("CausalCircuits-v0", num_envs=300, task={**read_document(), "noise_std": [0.0, 0.0]})


@EVERY_EXPERIMENT
def test_intervention__agrees_with_values_by_hand(noiseless, set_hidden_coefficients, choice):
    noiseless.reset(seed=0)
    set_hidden_coefficients(noiseless, CIRCUIT)
    readout = one_run(noiseless, choice)
    assert readout == pytest.approx(np.tile(BY_HAND[choice], (300, 1)), abs=5e-7)


@EVERY_EXPERIMENT
def test_intervention__follows_the_specification(noiseless, spec_circuit, hidden_coefficients, choice):
    noiseless.reset(seed=choice)
    coefficients = hidden_coefficients(noiseless)
    node, value = CLAMPS[choice]
    readout = one_run(noiseless, choice)
    assert readout == pytest.approx(spec_circuit(coefficients, {node: value}), abs=1e-6)
    if node == "x":
        assert (readout[:, 0] == np.float32(value)).all()
    else:
        assert readout[:, 0].std() > 0.1


def test_initial_query__reads_the_circuit_with_roots_at_zero(noiseless, spec_circuit, hidden_coefficients):
    observation, _ = noiseless.reset(seed=5)
    coefficients = hidden_coefficients(noiseless)
    readout = observation["readouts"].reshape(300, 13, 2, 2)
    assert readout[:, 0, 0] == pytest.approx(spec_circuit(coefficients, {}), abs=1e-6)
    assert not readout[:, 0, 1].any()
    assert not readout[:, 1:].any()


def test_clamp__cuts_the_influence_of_what_comes_before(noiseless, set_hidden_coefficients):
    """x's own coefficients do not matter where x is clamped; y's never matter to x."""
    results = []
    for change in ({}, {"bx": 0.19, "wu": -0.9, "wv": 0.9}):
        noiseless.reset(seed=0)
        set_hidden_coefficients(noiseless, {**CIRCUIT, **change})
        results.append(one_run(noiseless, 8))
    assert (results[0] == results[1]).all()
    results = []
    for change in ({}, {"by": 0.19, "wx": -0.9, "yu": 0.9, "yv": 0.9}):
        noiseless.reset(seed=0)
        set_hidden_coefficients(noiseless, {**CIRCUIT, **change})
        results.append(one_run(noiseless, 0))
    assert (results[0][:, 0] == results[1][:, 0]).all()
    assert (results[0][:, 1] != results[1][:, 1]).all()


@EVERY_EXPERIMENT
def test_intervention__noisy_mean_is_within_four_standard_errors(spec_circuit, hidden_coefficients, choice):
    envs = gym.make_vec("CausalCircuits-v0", num_envs=2000)
    envs.reset(seed=100 + choice)
    node, value = CLAMPS[choice]
    expected = spec_circuit(hidden_coefficients(envs), {node: value})
    for _ in range(2):
        error = (one_run(envs, choice) - expected).mean(axis=0)
        assert np.abs(error).max() < 4 * 0.035 / np.sqrt(2000)


def test_task__other_circuits_are_evaluated_by_their_equations(reference, hidden_coefficients):
    """Roots as outputs, a chain, a diamond, nodes without bias or without parents, clamps on several nodes."""
    circuit = {"b": (None, {"a": "p"}), "c": ("q", {"a": "r"}), "d": ("s", {"b": "t", "c": "o"}), "e": ("m", {})}
    queries = [{}, {"a": 1.5}, {"a": -2.0, "b": 0.25}, {"c": 0.5, "e": 3.0}, {"d": -7.0}]
    envs = gym.make_vec(
        "CausalCircuits-v0",
        num_envs=50,
        task={
            "task_id": "diamond",
            "version": "1",
            "budget": 5,
            "model": "d=tanh(t*b+o*c+s), e=tanh(m), c=tanh(q+r*a), b=tanh(p*a)",
            "prior": "p,q,r ~ Uniform(-1,2); s,t,o,m ~ Uniform(-3,0.5)",
            "outputs": ["d", "a", "e", "b", "c"],
            "noise_std": [0.0] * 5,
            "scoring": {"name": "inverse_normalized_mse", "scale": [1.0] * 5},
            "experiments": [{"id": str(i), "query": query} for i, query in enumerate(queries)],
            "prediction_queries": [{}],
        },
    )
    envs.reset(seed=0)
    coefficients = hidden_coefficients(envs)
    for choice, query in enumerate(queries):
        action = {"choice": np.full(50, choice), "prediction": np.zeros((50, 1, 5))}
        observation, *_ = envs.step(action)
        values = reference(circuit, coefficients, query)
        expected = np.stack([np.broadcast_to(values.get(node, 0.0), 50) for node in "daebc"], axis=1)
        assert observation["readouts"].reshape(50, 5, 1, 5)[:, choice, 0] == pytest.approx(expected, abs=2e-6)
