"""The circuit's equations as arrays, their evaluation, and what is random: coefficients and measurements.

Letters: N nodes (parents before children), K coefficients, L lanes. A lane is one evaluation: a replicate, a prediction
query, a sample of a posterior, an episode. Lanes are the last axis and the innermost loop, so the arithmetic is
vectorised. R measured queries, O outputs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.task import Query, Task
from veilgym.envs.core.elementary import kernel, tanh
from veilgym.envs.core.philox import WORD_BITS, five_rounds, last_rounds_lanes, normal_lanes, philox_lanes, unit_uniform

ABSENT = -1
ROOT = -2
NO_CELL = np.uint64(2**64 - 1)
VECTOR = 16  # lanes are padded to whole vectors of the processor

# Streams of the counter-based generator.
_COEFFICIENT, _NOISE = np.uint64(0), np.uint64(1)


class Mechanism(NamedTuple):
    """A task's circuit as arrays.

    Attributes:
        wiring: (N, 1 + N) int64. Column 0 is the index of the node's bias coefficient (`ABSENT` if it has none, `ROOT`
            if the node has no equation); column 1 + p is the index of the coefficient on parent p, or `ABSENT`.
        low, high: (K,) float64, bounds of the uniform prior.
        outputs: (O,) int64, the observed nodes.
        measured: (N, R) float64, the clamped values of each row of a readout array; NaN where a node is free.
        predicted: (N, Q) float64, the same for the prediction queries.
        noise_std, scale: (O,) float64.
    """

    wiring: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    outputs: NDArray[np.int64]
    measured: NDArray[np.float64]
    predicted: NDArray[np.float64]
    noise_std: NDArray[np.float64]
    scale: NDArray[np.float64]


def compile_mechanism(task: Task) -> Mechanism:
    """Translate the names of `task` into indices."""
    nodes = {name: i for i, name in enumerate(task.nodes)}
    coefficients = {prior.coefficient: k for k, prior in enumerate(task.priors)}
    wiring = np.full((len(nodes), 1 + len(nodes)), ABSENT, np.int64)
    wiring[:, 0] = ROOT
    for equation in task.equations:
        row = wiring[nodes[equation.node]]
        row[0] = ABSENT if equation.bias is None else coefficients[equation.bias]
        for coefficient, parent in equation.weights:
            row[1 + nodes[parent]] = coefficients[coefficient]
    return Mechanism(
        wiring=wiring,
        low=np.array([prior.low for prior in task.priors]),
        high=np.array([prior.high for prior in task.priors]),
        outputs=np.array([nodes[name] for name in task.outputs]),
        measured=_clamps(task.measured_queries, nodes),
        predicted=_clamps(task.prediction_queries, nodes),
        noise_std=np.array(task.noise_std),
        scale=np.array(task.scale),
    )


def terms_of(task: Task) -> NDArray[np.int64]:
    """(2, E): what each experiment costs, and how often it may be run."""
    return np.array([[e.cost for e in task.experiments], [e.max_replicates for e in task.experiments]])


def _clamps(queries: tuple[Query, ...], nodes: dict[str, int]) -> NDArray[np.float64]:
    clamps = np.full((len(nodes), len(queries)), np.nan)
    for column, query in enumerate(queries):
        for node, value in query:
            clamps[nodes[node], column] = value
    return clamps


@kernel
def propagate(wiring, coefficients, clamps, query, values, lanes):  # type: ignore[no-untyped-def]
    """Evaluate one query in every lane.

    Args:
        wiring: as in `Mechanism`.
        coefficients: (K, L) float64.
        clamps: (N, queries) float64, NaN where a node is free.
        query: the column of `clamps` to evaluate.
        values: (N, L) float64, written: the value of every node.
        lanes: how many of the L lanes to evaluate.
    """
    for node in range(wiring.shape[0]):
        value, bias, clamped = values[node], wiring[node, 0], clamps[node, query]
        if bias == ROOT or not np.isnan(clamped):
            fixed = 0.0 if np.isnan(clamped) else clamped
            for lane in range(lanes):
                value[lane] = fixed
        else:
            _add_terms(wiring, coefficients, values, node, value, lanes)
            for lane in range(lanes):
                value[lane] = tanh(value[lane])


@kernel
def _add_terms(wiring, coefficients, values, node, argument, lanes):  # type: ignore[no-untyped-def]
    """Write the argument of a node's tanh."""
    zero, bias = values.dtype.type(0.0), wiring[node, 0]
    for lane in range(lanes):
        argument[lane] = zero if bias == ABSENT else coefficients[bias, lane]
    for parent in range(node):
        weight = wiring[node, 1 + parent]
        if weight != ABSENT:
            for lane in range(lanes):
                argument[lane] += coefficients[weight, lane] * values[parent, lane]


@kernel
def propagate_mixed(wiring, coefficients, clamps, values, lanes):  # type: ignore[no-untyped-def]
    """Evaluate a query of its own in every lane, in the precision of `values`.

    Args:
        coefficients: (K, L) float32 or float64.
        clamps: (N, L) as `values`, the clamped values, NaN where a node is free.
        values: (N, L) float32 or float64, written: the value of every node.
    """
    zero = values.dtype.type(0.0)
    for node in range(wiring.shape[0]):
        value, clamp = values[node], clamps[node]
        if wiring[node, 0] == ROOT:
            for lane in range(lanes):
                value[lane] = zero if np.isnan(clamp[lane]) else clamp[lane]
        else:
            _add_terms(wiring, coefficients, values, node, value, lanes)
            for lane in range(lanes):
                free = tanh(value[lane])
                value[lane] = free if np.isnan(clamp[lane]) else clamp[lane]


@kernel
def draw_coefficients(bounds, sequence, which, count, words, coefficients):  # type: ignore[no-untyped-def]
    """Draw the circuits of some lanes from the prior.

    Args:
        bounds: (2, K) float64, lows and highs.
        sequence: (2, L) uint64, the key and the index of each episode.
        which: uint64 numbers, whose first `count` are the lanes to draw for.
        words: (5, L) uint64, working space.
        coefficients: (K, L) float32, written.
    """
    for k in range(bounds.shape[1]):
        if k % 4 == 0:
            for j in range(count):
                i = which[j]
                words[0, j] = sequence[1, i]
                words[1, j] = sequence[1, i] >> WORD_BITS
                words[2, j] = k
                words[3, j] = _COEFFICIENT
                words[4, j] = sequence[0, i]
            philox_lanes(words, -(-count // VECTOR) * VECTOR)
        low, width = bounds[0, k], bounds[1, k] - bounds[0, k]
        for j in range(count):
            coefficients[k, which[j]] = low + width * unit_uniform(words[k % 4, j])


@kernel
def measure(constants, sequence, coefficients, lists, words, space, readouts):  # type: ignore[no-untyped-def]
    """Write one readout of each lane.

    Args:
        constants: the arrays of a task, as the engine packs them.
        sequence: (2, L) uint64, the key and the index of each episode.
        coefficients: (K, L) float32.
        lists: (2, L) uint64 or longer, the row and the cell (row J + replicate) to measure; nothing where the cell is
            `NO_CELL`.
        words: (5, L) uint64, working space.
        space: (2, L), (N, L) and (N, L) float32, working space, whose second array is NaN before the first call.
        readouts: (B, R J O) float32 of the first B of the L lanes, written.
    """
    wiring, _, outputs, measured, columns = constants[:5]
    row, cell = lists[0], lists[1]
    normals, clamps, values = space
    for node in range(clamps.shape[0]):
        if _is_clamped(measured[node]):
            for lane in range(row.size):
                clamps[node, lane] = measured[node, row[lane]]
    propagate_mixed(wiring, coefficients, clamps, values, row.size)
    for column in range(outputs.size):
        if column % 2 == 0:
            _draw_normals(sequence, cell, column, words, normals)
        noise_std = np.float32(columns[0, column])
        noisy, noise = values[outputs[column]], normals[column % 2]
        for lane in range(row.size):
            noisy[lane] += noise_std * noise[lane]
        for lane in range(readouts.shape[0]):
            if cell[lane] != NO_CELL:
                readouts[lane, cell[lane] * np.uint64(outputs.size) + np.uint64(column)] = noisy[lane]


@kernel
def _is_clamped(values):  # type: ignore[no-untyped-def]
    """Whether any query clamps the node that has these values."""
    is_free = True
    for value in values:
        is_free &= np.isnan(value)
    return not is_free


@kernel
def _draw_normals(sequence, cell, column, words, normals):  # type: ignore[no-untyped-def]
    """Draw the noise of a column and its successor."""
    c0, c1, c2, c3, key = words[0], words[1], words[2], words[3], words[4]
    keys, index, stream = sequence[0], sequence[1], _NOISE + np.uint64(column)
    for lane in range(cell.size):
        high, k0, k1 = index[lane] >> WORD_BITS, keys[lane], keys[lane] >> WORD_BITS
        c0[lane], c1[lane], c2[lane], c3[lane] = five_rounds(index[lane], high, cell[lane], stream, k0, k1)
        key[lane] = k0
    last_rounds_lanes(words, cell.size)
    normal_lanes(words, normals, cell.size)
