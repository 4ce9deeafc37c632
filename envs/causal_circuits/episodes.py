"""Many episodes at once: the only implementation of the dynamics. The scalar env is this engine with one episode.

Letters: B episodes, R measured queries (initial, then experiments), J replicates, O outputs, E experiments, Q
prediction queries, K coefficients, N nodes. Where arithmetic runs through many episodes, the state is in T tiles of L
lanes: episode i is lane i % L of tile i // L.

An episode's readouts are fixed when it begins: the one of (row, replicate) is a pure function of the episode's key,
computed when it is revealed. So it depends on neither the order of requests nor the width of the batch.

The kernels take few arrays, because each costs a call from Python 8 ns, and allocate nothing: see
`veilgym.envs.core.elementary.kernel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.evaluator import FEW, score_submissions, targets, working_space
from veilgym.envs.causal_circuits.mechanism import (
    NO_CELL,
    VECTOR,
    Mechanism,
    compile_mechanism,
    draw_coefficients,
    measure,
    terms_of,
)
from veilgym.envs.causal_circuits.request import NO_FAULTS, Refusal
from veilgym.envs.causal_circuits.task import Task
from veilgym.envs.core.elementary import kernel, kernel_part, machine_code
from veilgym.envs.core.memory import aligned_zeros
from veilgym.envs.core.seeding import Split, derive_key

FAMILY = "CausalCircuits-v0"

UNSTARTED, RUNNING, TERMINATED, TRUNCATED = range(4)
NO_LIMIT = 2**31 - 1

_NONE = int(Refusal.NONE)
_UNKNOWN_EXPERIMENT = int(Refusal.UNKNOWN_EXPERIMENT)
_REPLICATES_EXHAUSTED = int(Refusal.REPLICATES_EXHAUSTED)
_NO_CREDITS = int(Refusal.NO_CREDITS)
_NON_FINITE_PREDICTION = int(Refusal.NON_FINITE_PREDICTION)
_EPISODE_OVER = int(Refusal.EPISODE_OVER)
# If an episode is over, refuse its request or begin the next one. Or serve nothing and begin where the choice is not 0.
REFUSE, AUTORESET, _BEGIN = range(3)

_BOOL, _FLOAT32 = np.dtype(np.bool_), np.dtype(np.float32)
_INT8, _INT32, _INT64 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.int64)

_TILE = 1024  # lanes

_BEFORE_FIRST = np.uint64(2**64 - 1)  # an index to which adding 1 gives 0

NO_ROW = -1

Record = tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int32], NDArray[np.int8]]
Outcome = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64], Record]


class Episodes:
    """State of B concurrent episodes of one task.

    Attributes:
        sequence: (T, 2, L) uint64, the key of each sequence and the index of its episode; hidden.
        coefficients: (T, K, L) float32, hidden. They are these numbers exactly, also where they are used in float64.
        elapsed, phase, last: (B,) int32, steps taken, phase, and the row measured last (`NO_ROW` before the first).
        record: what the agents may see, and all that they may see:
            readouts: (B, R J O) float32, in this order; 0 where nothing has been measured.
            replicates: (B, R) int8, how often each row has been measured.
            credits: (B, 1) int32, credits left.
            action_mask: (B, E + 1) int8, 1 where a request would be accepted; the submission's entry is always 1.
        num_refused: how many requests the last `advance` refused.
    """

    def __init__(self, task: Task, batch: int, split: Split, max_steps: int) -> None:
        rows = len(task.measured_queries)
        self.task, self.split = task, split
        self.mechanism = compile_mechanism(task)
        lanes = min(_TILE, -(-batch // VECTOR) * VECTOR)
        tiles = -(-batch // lanes)
        self.sequence = aligned_zeros((tiles, 2, lanes), np.uint64)
        self.coefficients = aligned_zeros((tiles, len(task.priors), lanes), np.float32)
        self.elapsed, self.phase, self.last = (np.zeros(batch, np.int32) for _ in range(3))
        self._submissions = aligned_zeros((batch, prod(task.prediction_shape)))
        self.readouts = aligned_zeros((batch, rows * task.max_replicates * len(task.outputs)), np.float32)
        self.replicates = aligned_zeros((batch, rows), np.int8)
        self.credits = aligned_zeros((batch, 1), np.int32)
        self.action_mask = aligned_zeros((batch, len(task.experiments) + 1), np.int8)
        self.record = self.readouts, self.replicates, self.credits, self.action_mask
        self.num_refused = 0
        dearest = max(experiment.cost for experiment in task.experiments)
        self._rules = (task.budget, max_steps, dearest, task.max_replicates, *NO_FAULTS)
        self._constants = _pack(self.mechanism, task)
        self._state = (
            self.sequence,
            self.coefficients,
            self.elapsed,
            self.phase,
            self.last,
            self._submissions,
            *self.record,
        )
        self._record_shapes = [array.shape for array in self.record]
        self._scratch = _scratch(task, lanes)

    def __repr__(self) -> str:
        return f"Episodes({self.task.task_id!r}, batch={len(self.phase)})"

    @property
    def submissions(self) -> NDArray[np.float64]:
        """(B, Q, O) float64, the accepted prediction of each episode that is terminated."""
        return self._submissions.reshape(-1, *self.task.prediction_shape)

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Point the episodes with a seed at the start of that seed's sequence; the others go on with theirs."""
        for i, seed in enumerate(seeds):
            if seed is not None:
                self.sequence[self._place(i)] = derive_key(FAMILY, self.split, seed), _BEFORE_FIRST

    def begin(self, which: NDArray[np.bool_]) -> Record:
        """Start the next episode of each sequence where `which`, a (B,) mask, is true; return a copy of `record`."""
        return self.advance(which.astype(np.int64), self.submissions, policy=_BEGIN)[-1]

    def advance(
        self,
        choice: NDArray[np.int64],
        prediction: NDArray[np.float64],
        faults: tuple[int, int] = NO_FAULTS,
        policy: int = REFUSE,
    ) -> Outcome:
        """Serve one request for each episode.

        Args:
            choice: (B,) int64, an experiment's index or E to submit.
            prediction: (B, Q, O) float64; ignored where an experiment is chosen.
            faults: `Refusal` codes of the whole batch's choices and predictions, where their type or shape was wrong.
            policy: where an episode is over, `REFUSE` the request or begin the next one (`AUTORESET`).

        Returns:
            reward (B,) float64, terminated (B,) bool, truncated (B,) bool, refusal (B,) int64 codes of `Refusal`, and
            a copy of `record`.
        """
        batch, empty, shapes = len(choice), np.empty, self._record_shapes
        record = empty(shapes[0], _FLOAT32), empty(shapes[1], _INT8), empty(shapes[2], _INT32), empty(shapes[3], _INT8)
        outcome = empty(batch), empty(batch, _BOOL), empty(batch, _BOOL), empty(batch, _INT64), record
        rules = self._rules if faults is NO_FAULTS else (*self._rules[:4], int(faults[0]), int(faults[1]))
        arguments = self._constants, self._state, self._scratch, outcome, choice, prediction, rules, policy
        self.num_refused = machine_code(_advance, arguments)(*arguments)
        return outcome

    def _place(self, episode: int) -> tuple[int, slice, int]:
        tile, lane = divmod(episode, self.sequence.shape[-1])
        return tile, slice(None), lane

    def targets(self, episode: int) -> NDArray[np.float64]:
        """Noiseless (Q, O) targets of one episode. Hidden: for use after its end only."""
        return targets(self.mechanism, self.coefficients[self._place(episode)])


def _pack(mechanism: Mechanism, task: Task) -> tuple[NDArray[Any], ...]:
    """The arrays of a task, in the order in which the kernels unpack them.

    Returns:
        wiring, bounds (2, K), outputs, clamps (N, R + Q), noise and scale (2, O), (3, E) cost, most replicates and
        whether it may be run first, and (N, Q FEW) the clamps of a few submissions: lane j of query q is q FEW + j.
    """
    return (
        mechanism.wiring,
        np.stack([mechanism.low, mechanism.high]),
        mechanism.outputs,
        np.concatenate([mechanism.measured, mechanism.predicted], axis=1),
        np.stack([mechanism.noise_std, mechanism.scale]),
        _terms(task),
        np.repeat(mechanism.predicted, FEW, axis=1),
    )


def _terms(task: Task) -> NDArray[np.int64]:
    cost, most = terms_of(task)
    return np.stack([cost, most, (most > 0) & (cost <= task.budget)])


def _scratch(task: Task, lanes: int) -> tuple[NDArray[Any], ...]:
    """Room for a tile of L lanes.

    Returns:
        (9, L) uint64: the row and the cell to reveal in each lane, if any; which submit; which begin; words; keys.
        Three arrays of float32, for `measure`: two rows of normal numbers, clamped values and values of N nodes.
        float64: the working space of `score_submissions`.
    """
    nodes = len(task.nodes)
    clamps = aligned_zeros((nodes, lanes), np.float32)
    clamps[:] = np.nan
    return (
        aligned_zeros((9, lanes), np.uint64),
        aligned_zeros((2, lanes), np.float32),
        clamps,
        aligned_zeros((nodes, lanes), np.float32),
        working_space(nodes, len(task.priors), task.prediction_shape),
    )


@kernel
def _advance(constants, state, scratch, outcome, choice, prediction, rules, policy):  # type: ignore[no-untyped-def]
    """Serve the requests, a tile of episodes at a time, and return how many are refused.

    `rules` holds the budget, the step limit, the highest cost, J, and the fault codes of all choices and predictions.
    """
    terms = constants[5]
    lists, words = scratch[0][:4], scratch[0][4:]
    prediction = prediction.reshape((prediction.shape[0], prediction.shape[1] * prediction.shape[2]))
    num_refused = 0
    for t in range(state[0].shape[0]):
        tile, results, requests, predictions = _tile(state, outcome, choice, prediction, t)
        lists[0], lists[1] = np.uint64(0), NO_CELL
        if policy == _BEGIN:
            submits, begins, refused = 0, _list_chosen(requests, lists[3]), 0
        else:
            submits, begins, refused = _serve(terms, tile, results, requests, predictions, rules, policy, lists)
        num_refused += refused
        if submits > 0:
            score_submissions(constants, tile[1], tile[5], lists[2], submits, scratch[4], results[0])
        num_passes = 1
        if begins > 0:
            _begin(constants[1], terms, tile, results, lists[3], begins, rules[0], words)
            num_passes = max(1, tile[7].shape[1] - terms.shape[1])
        for query in range(num_passes):
            if begins > 0:
                _list_initial(terms, tile[7], rules[3], lists, begins, query)
            measure(constants, tile[0], tile[1], lists, words, scratch[1:4], tile[6])
        _copy_record(tile, results[4])
    return num_refused


@kernel_part
def _tile(state, outcome, choice, prediction, t):  # type: ignore[no-untyped-def]
    """Return the parts of the state, the outcome, the choices and the predictions that tile `t` holds."""
    sequence, coefficients, elapsed, phase, last, submissions, readouts, replicates, credits_left, action_mask = state
    reward, terminated, truncated, refusal, record = outcome
    start, end = t * sequence.shape[2], (t + 1) * sequence.shape[2]
    tile = (
        sequence[t],
        coefficients[t],
        elapsed[start:end],
        phase[start:end],
        last[start:end],
        submissions[start:end],
        readouts[start:end],
        replicates[start:end],
        credits_left[start:end],
        action_mask[start:end],
    )
    copies = record[0][start:end], record[1][start:end], record[2][start:end], record[3][start:end]
    results = reward[start:end], terminated[start:end], truncated[start:end], refusal[start:end], copies
    return tile, results, choice[start:end], prediction[start:end]


@kernel_part
def _copy_record(tile, copies):  # type: ignore[no-untyped-def]
    _copy(tile[6], copies[0])
    _copy(tile[7], copies[1])
    _copy(tile[8], copies[2])
    _copy(tile[9], copies[3])


@kernel_part
def _copy(source, target):  # type: ignore[no-untyped-def]
    for cell in range(source.size):
        target.flat[cell] = source.flat[cell]


@kernel_part
def _list_chosen(choice, beginning):  # type: ignore[no-untyped-def]
    begins = 0
    for i in range(choice.size):
        if choice[i] != 0:
            beginning[begins] = i
            begins += 1
    return begins


@kernel_part
def _serve(terms, tile, outcome, choice, prediction, rules, policy, lists):  # type: ignore[no-untyped-def]
    """Judge the requests of a tile, run its experiments, and list the episodes that submit or are to begin.

    Returns:
        The lengths of the two lists and the number of refused requests.
    """
    reward, _, _, refusal, _ = outcome
    phase, action_mask = tile[3], tile[9]
    submitting, beginning = lists[2], lists[3]
    submit, is_readable = terms.shape[1], rules[4] == _NONE
    reward[:], refusal[:] = 0.0, _NONE
    submits = begins = refused = 0
    for i in range(choice.size):
        request = choice[i]
        # The mask says what is acceptable; the rest of the loop is for what is rare.
        if is_readable and phase[i] == RUNNING and 0 <= request < submit and action_mask[i, request] == 1:
            _experiment(terms, tile, rules, i, np.uint64(request), lists[0], lists[1])
        elif policy == AUTORESET and phase[i] > RUNNING:
            beginning[begins] = i
            begins += 1
        else:
            refusal[i] = _judge(terms, tile, rules, i, request)
            if refusal[i] == _NONE:
                submitting[submits] = i
                submits += 1
            else:
                refused += 1
    accepted = _accept(tile, prediction, submitting, submits, refusal)
    _count_step(tile[2], phase, rules[1], outcome)
    return accepted, begins, refused + submits - accepted


@kernel_part
def _count_step(elapsed, phase, max_steps, outcome):  # type: ignore[no-untyped-def]
    """Count the step that was served, truncate what has reached the limit, and write the flags."""
    _, terminated, truncated, refusal, _ = outcome
    for i in range(phase.size):
        elapsed[i] += refusal[i] != _EPISODE_OVER
        is_late = elapsed[i] >= max_steps
        truncated[i] = is_late
        phase[i] = TRUNCATED if is_late and phase[i] == RUNNING else phase[i]
        terminated[i] = phase[i] == TERMINATED


@kernel
def _experiment(terms, tile, rules, i, e, row, cell):  # type: ignore[no-untyped-def]
    """Charge episode `i` for a run of experiment `e`, and list what it measures."""
    _, _, _, _, last, _, _, replicates, credits_left, action_mask = tile
    measured = np.uint64(replicates.shape[1] - terms.shape[1]) + e
    count = replicates[i, measured]
    row[i], cell[i] = measured, measured * np.uint64(rules[3]) + np.uint64(count)
    replicates[i, measured] = count + 1
    credits_left[i, 0] -= terms[0, e]
    last[i] = measured
    if count + 1 >= terms[1, e]:
        action_mask[i, e] = 0
    if credits_left[i, 0] < rules[2]:
        for other in range(terms.shape[1]):
            action_mask[i, other] &= terms[0, other] <= credits_left[i, 0]


@kernel
def _judge(terms, tile, rules, i, request):  # type: ignore[no-untyped-def]
    """Return the `Refusal` code of a request that is no acceptable experiment; 0 for a submission, if finite."""
    phase, replicates = tile[3], tile[7]
    submit = terms.shape[1]
    if phase[i] > RUNNING:
        return _EPISODE_OVER
    if rules[4] != _NONE:
        return rules[4]
    if request < 0 or request > submit:
        return _UNKNOWN_EXPERIMENT
    if request < submit:
        is_exhausted = replicates[i, replicates.shape[1] - submit + request] >= terms[1, request]
        return _REPLICATES_EXHAUSTED if is_exhausted else _NO_CREDITS
    return rules[5]


@kernel_part
def _accept(tile, prediction, which, count, refusal):  # type: ignore[no-untyped-def]
    """Keep the predictions of the `count` listed episodes and end these; refuse and unlist those that are not finite.

    They are checked here, and not as they are listed, because in a short loop the processor fetches many rows at once.
    Only the submission of an episode that is over counts, so one that is refused overwrites nothing of worth.
    """
    phase, submissions, action_mask = tile[3], tile[5], tile[9]
    accepted = 0
    for j in range(count):
        i = which[j]
        is_finite = True
        for cell in range(prediction.shape[1]):
            submissions[i, cell] = prediction[i, cell]
            is_finite &= np.isfinite(prediction[i, cell])
        if is_finite:
            for e in range(action_mask.shape[1] - 1):
                action_mask[i, e] = 0
            phase[i] = TERMINATED
            which[accepted] = i
            accepted += 1
        else:
            refusal[i] = _NON_FINITE_PREDICTION
    return accepted


@kernel_part
def _begin(bounds, terms, tile, outcome, which, count, budget, words):  # type: ignore[no-untyped-def]
    """Begin the next episode of the `count` listed sequences."""
    sequence, coefficients, elapsed, phase, last, _, readouts, replicates, credits_left, action_mask = tile
    submit = terms.shape[1]
    for j in range(count):
        i = which[j]
        sequence[1, i] += np.uint64(1)
        elapsed[i], phase[i], last[i] = 0, RUNNING, replicates.shape[1] - submit - 1
        outcome[1][i] = outcome[2][i] = False
        readouts[i] = 0.0
        replicates[i] = 0
        credits_left[i, 0] = budget
        for e in range(submit):
            action_mask[i, e] = terms[2, e]
        action_mask[i, submit] = 1
    draw_coefficients(bounds, sequence, which, count, words, coefficients)


@kernel_part
def _list_initial(terms, replicates, num_replicates, lists, count, query):  # type: ignore[no-untyped-def]
    """List an initial query of the episodes that have begun; from the second one on, what was listed before is done."""
    if query > 0:
        lists[1] = NO_CELL
    if query < replicates.shape[1] - terms.shape[1]:
        for j in range(count):
            i = lists[3, j]
            replicates[i, query] = 1
            lists[0, i] = np.uint64(query)
            lists[1, i] = np.uint64(query * num_replicates)
