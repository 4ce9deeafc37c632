"""Many episodes at once: the only implementation of the dynamics. The scalar env is this engine with one episode.

Letters: B episodes, R measured queries (initial, then experiments), J replicates, O outputs, E experiments, Q prediction
queries, K coefficients.

An episode's readouts are fixed when it begins: the one of (row, replicate) is a pure function of the episode's key,
computed when it is revealed. So it depends on neither the order of requests nor the width of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.evaluator import score_submissions, targets
from veilgym.envs.causal_circuits.mechanism import compile_mechanism, propagate
from veilgym.envs.causal_circuits.request import Refusal
from veilgym.envs.causal_circuits.task import Task
from veilgym.envs.core.philox import LOW_WORD, WORD_BITS, normal_lanes, philox, philox_lanes, unit_uniform
from veilgym.envs.core.seeding import Split, derive_key

FAMILY = "CausalCircuits-v0"

UNSTARTED, RUNNING, TERMINATED, TRUNCATED = range(4)
NO_LIMIT = 2**31 - 1

# Streams of the counter-based generator.
_COEFFICIENT, _NOISE = np.uint64(0), np.uint64(1)
_NONE = int(Refusal.NONE)
_UNKNOWN_EXPERIMENT = int(Refusal.UNKNOWN_EXPERIMENT)
_REPLICATES_EXHAUSTED = int(Refusal.REPLICATES_EXHAUSTED)
_NO_CREDITS = int(Refusal.NO_CREDITS)
_NON_FINITE_PREDICTION = int(Refusal.NON_FINITE_PREDICTION)
_EPISODE_OVER = int(Refusal.EPISODE_OVER)
_TILE = 128
_NO_ROW = -1

_BEFORE_FIRST = np.uint64(2**64 - 1)  # an index to which adding 1 gives 0

_LEDGER = np.dtype(
    [("key", "u8"), ("index", "u8"), ("credits", "i4"), ("elapsed", "i4"), ("phase", "i1")],
    align=True,
)


class Episodes:
    """State of B concurrent episodes of one task.

    Attributes:
        coefficients: (K, B) float64, hidden.
        ledger: (B,) records: the keys that identify the episode (hidden), credits left, steps taken, phase.
        replicates: (B, R) int8, how often each row has been measured.
        readouts: (B, R, J, O) float32; 0 where nothing has been measured.
        action_mask: (B, E + 1) int8, 1 where a request would be accepted; the submission's entry is always 1.
        submissions: (B, Q, O) float64, the accepted prediction of a terminated episode.
    """

    def __init__(self, task: Task, batch: int, split: Split, max_steps: int) -> None:
        rows = len(task.measured_queries)
        self.task, self.split = task, split
        self.mechanism = compile_mechanism(task)
        self.ledger = np.zeros(batch, _LEDGER)
        self.coefficients = np.zeros((len(task.priors), batch))
        self.replicates = np.zeros((batch, rows), np.int8)
        self.readouts = np.zeros((batch, rows, task.max_replicates, len(task.outputs)), np.float32)
        self.action_mask = np.zeros((batch, len(task.experiments) + 1), np.int8)
        self.submissions = np.zeros((batch, *task.prediction_shape))
        self._terms = np.array([[e.cost for e in task.experiments], [e.max_replicates for e in task.experiments]])
        self._limits = (task.budget, max_steps)
        self._constants = (*self.mechanism, self._terms)
        self._state = (
            self.ledger,
            self.coefficients,
            self.replicates,
            self.readouts,
            self.action_mask,
            self.submissions,
        )

    def __repr__(self) -> str:
        return f"Episodes({self.task.task_id!r}, batch={len(self.ledger)})"

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Point the episodes with a seed at the start of that seed's sequence; the others go on with theirs."""
        for record, seed in zip(self.ledger, seeds, strict=True):
            if seed is not None:
                record["key"] = derive_key(FAMILY, self.split, seed)
                record["index"] = _BEFORE_FIRST

    def begin(self, which: NDArray[np.bool_]) -> None:
        """Start the next episode of each sequence where `which`, a (B,) mask, is true."""
        _start(self._constants, self._state, which, self.task.budget)

    def advance(
        self,
        choice: NDArray[np.int64],
        prediction: NDArray[np.float64],
        faults: tuple[int, int] = (_NONE, _NONE),
        autoreset: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
        """Serve one request for each episode.

        Args:
            choice: (B,) int64, an experiment's index or E to submit.
            prediction: (B, Q, O) float64; ignored where an experiment is chosen.
            faults: `Refusal` codes of the whole batch's choices and predictions, where their type or shape was wrong.
            autoreset: begin the next episode where one is over, instead of refusing.

        Returns:
            reward (B,) float64, terminated (B,) bool, truncated (B,) bool, refusal (B,) int64 codes of `Refusal`.
        """
        batch = len(self.ledger)
        outcome = np.empty(batch), np.empty(batch, np.bool_), np.empty(batch, np.bool_), np.empty(batch, np.int64)
        _advance(self._constants, self._state, outcome, choice, prediction, faults, self._limits, autoreset)
        return outcome

    def targets(self, episode: int) -> NDArray[np.float64]:
        """Noiseless (Q, O) targets of one episode. Hidden: for use after its end only."""
        mechanism = self.mechanism
        return targets(mechanism.wiring, self.coefficients[:, episode], mechanism.predicted, mechanism.outputs)  # type: ignore[no-any-return]


@njit(cache=True, error_model="numpy")
def _advance(constants, state, outcome, choice, prediction, faults, limits, autoreset):  # type: ignore[no-untyped-def]
    reward, terminated, truncated, refusal = outcome
    ledger = state[0]
    row = np.empty(choice.size, np.int64)
    over = np.empty(choice.size, np.bool_)
    for i in range(choice.size):
        over[i] = ledger[i].phase > RUNNING
        row[i] = _NO_ROW
        reward[i] = 0.0
    _judge(constants[-1], state, choice, prediction, faults, refusal)
    _submit(constants, state, choice, prediction, refusal, reward)
    _experiment(constants[-1], state, choice, refusal, row)
    if autoreset:
        _begin(constants, state, over, limits[0], row)
    for i in range(choice.size):
        if autoreset and over[i]:
            refusal[i] = _NONE
        elif not over[i]:
            ledger[i].elapsed += 1
            if ledger[i].elapsed >= limits[1] and ledger[i].phase == RUNNING:
                ledger[i].phase = TRUNCATED
        terminated[i] = ledger[i].phase == TERMINATED
        truncated[i] = ledger[i].elapsed >= limits[1]
    _reveal(constants, state, row)


@njit(cache=True, error_model="numpy")
def _start(constants, state, which, budget):  # type: ignore[no-untyped-def]
    row = np.full(which.size, _NO_ROW)
    _begin(constants, state, which, budget, row)
    _reveal(constants, state, row)


@njit(cache=True, error_model="numpy")
def _judge(terms, state, choice, prediction, faults, refusal):  # type: ignore[no-untyped-def]
    """Write the `Refusal` code that each request deserves; 0 if it is acceptable."""
    ledger, _, replicates, _, action_mask, _ = state
    submit = action_mask.shape[1] - 1
    initial = replicates.shape[1] - submit
    for i in range(choice.size):
        if ledger[i].phase > RUNNING:
            refusal[i] = _EPISODE_OVER
        elif faults[0] != _NONE:
            refusal[i] = faults[0]
        elif choice[i] < 0 or choice[i] > submit:
            refusal[i] = _UNKNOWN_EXPERIMENT
        elif choice[i] < submit:
            refusal[i] = _NONE
            if replicates[i, initial + choice[i]] >= terms[1, choice[i]]:
                refusal[i] = _REPLICATES_EXHAUSTED
            elif terms[0, choice[i]] > ledger[i].credits:
                refusal[i] = _NO_CREDITS
        elif faults[1] != _NONE:
            refusal[i] = faults[1]
        else:
            refusal[i] = _NONE
            for query in range(prediction.shape[1]):
                for column in range(prediction.shape[2]):
                    if not np.isfinite(prediction[i, query, column]):
                        refusal[i] = _NON_FINITE_PREDICTION


@njit(cache=True, error_model="numpy")
def _submit(constants, state, choice, prediction, refusal, reward):  # type: ignore[no-untyped-def]
    """End the episodes whose submission is accepted, and write their scores."""
    ledger, coefficients, _, _, action_mask, submissions = state
    submit = action_mask.shape[1] - 1
    which = np.empty(choice.size, np.int64)
    count = 0
    for i in range(choice.size):
        if refusal[i] == _NONE and choice[i] == submit:
            which[count] = i
            count += 1
            ledger[i].phase = TERMINATED
            for query in range(prediction.shape[1]):
                for column in range(prediction.shape[2]):
                    submissions[i, query, column] = prediction[i, query, column]
            for e in range(submit):
                action_mask[i, e] = 0
    if count > 0:
        score_submissions(constants, coefficients, submissions, which[:count], reward)


@njit(cache=True, error_model="numpy")
def _experiment(terms, state, choice, refusal, row):  # type: ignore[no-untyped-def]
    """Charge for the accepted experiments and write the rows that they measure."""
    ledger, _, replicates, _, action_mask, _ = state
    submit = action_mask.shape[1] - 1
    initial = replicates.shape[1] - submit
    dearest = terms[0].max()
    for i in range(choice.size):
        if refusal[i] == _NONE and choice[i] < submit:
            row[i] = initial + choice[i]
            replicates[i, row[i]] += 1
            ledger[i].credits -= terms[0, choice[i]]
            action_mask[i, choice[i]] = replicates[i, row[i]] < terms[1, choice[i]]
            if ledger[i].credits < dearest:
                for e in range(submit):
                    action_mask[i, e] &= terms[0, e] <= ledger[i].credits


@njit(cache=True, error_model="numpy")
def _begin(constants, state, which, budget, row):  # type: ignore[no-untyped-def]
    """Draw the next circuit of each sequence where `which` is true; leave the last initial row in `row` to be revealed."""
    low, high, terms = constants[1], constants[2], constants[-1]
    ledger, coefficients, replicates, readouts, action_mask, _ = state
    submit = action_mask.shape[1] - 1
    initial = replicates.shape[1] - submit
    for i in range(which.size):
        if which[i]:
            ledger[i].index += np.uint64(1)
            c0, c1 = ledger[i].index & LOW_WORD, ledger[i].index >> WORD_BITS
            ledger[i].credits = budget
            ledger[i].elapsed = 0
            ledger[i].phase = RUNNING
            for k in range(0, low.size, 4):
                words = philox(ledger[i].key, c0, c1, np.uint64(k), _COEFFICIENT)
                for j in range(min(4, low.size - k)):
                    coefficients[k + j, i] = low[k + j] + (high[k + j] - low[k + j]) * unit_uniform(words[j])
            readouts[i] = 0.0
            replicates[i] = 0
            for e in range(submit):
                action_mask[i, e] = (terms[1, e] > 0) & (terms[0, e] <= budget)
            action_mask[i, submit] = 1
    for query in range(initial):
        if query > 0:
            _reveal(constants, state, row)
        for i in range(which.size):
            if which[i]:
                replicates[i, query] = 1
                row[i] = query
            elif query > 0:
                row[i] = _NO_ROW


@njit(cache=True, error_model="numpy")
def _reveal(constants, state, row):  # type: ignore[no-untyped-def]
    """Write the newest readout of the given row of each episode, a tile of episodes at a time; `_NO_ROW` is none."""
    wiring, _, _, outputs, measured, _, noise_std, _, _ = constants
    ledger, coefficients, replicates, readouts, _, _ = state
    num_rows, num_replicates, num_outputs = readouts.shape[1:]
    flat = readouts.reshape(-1)
    width = min(_TILE, row.size)
    values = np.empty((measured.shape[1] + 2, width))
    normals = values[measured.shape[1] :]
    words = np.empty((6, width), np.uint64)
    key, cell = words[4], words[5]
    for start in range(0, row.size, _TILE):
        lanes = min(_TILE, row.size - start)
        for lane in range(lanes):
            r = max(row[start + lane], 0)
            key[lane] = ledger[start + lane].key
            cell[lane] = r * num_replicates + replicates[start + lane, r] - 1
            for node in range(measured.shape[1]):
                values[node, lane] = measured[r, node]
        propagate(wiring, coefficients[:, start : start + lanes], values, lanes)
        for column in range(num_outputs):
            if column % 2 == 0:
                for lane in range(lanes):
                    words[0, lane] = ledger[start + lane].index & LOW_WORD
                    words[1, lane] = ledger[start + lane].index >> WORD_BITS
                    words[2, lane] = cell[lane]
                    words[3, lane] = _NOISE + np.uint64(column)
                philox_lanes(key, words, lanes)
                normal_lanes(words, normals, lanes)
            noisy = values[outputs[column]]
            for lane in range(lanes):
                noisy[lane] += noise_std[column] * normals[column % 2, lane]
            for lane in range(lanes):
                if row[start + lane] >= 0:
                    position = (start + lane) * num_rows * num_replicates + np.int64(cell[lane])
                    flat[position * num_outputs + column] = noisy[lane]
