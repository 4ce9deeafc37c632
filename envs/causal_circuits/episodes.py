"""Many episodes at once: the only implementation of the dynamics. The scalar env is this engine with one episode.

Letters: B episodes, R measured queries (initial, then experiments), J replicates, O outputs, E experiments, Q
prediction queries, K coefficients, N nodes. Where arithmetic runs through many episodes, the state is in T tiles of L
lanes: episode i is lane i % L of tile i // L.

An episode's readouts are fixed when it begins: the one of (row, replicate) is a pure function of the episode's key,
computed when it is revealed. So it depends on neither the order of requests nor the width of the batch.

The kernels take few arrays, because each costs a call from Python 40 ns, and allocate nothing: see
`veilgym.envs.core.elementary.kernel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.evaluator import score_submissions, targets, working_space
from veilgym.envs.causal_circuits.mechanism import (
    NO_REPLICATE,
    VECTOR,
    Mechanism,
    compile_mechanism,
    draw_coefficients,
    measure,
    terms_of,
)
from veilgym.envs.causal_circuits.request import NO_FAULTS, Refusal
from veilgym.envs.causal_circuits.task import Task
from veilgym.envs.core.elementary import kernel
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
_REFUSE, _AUTORESET, _BEGIN = range(3)

_BOOL, _INT64 = np.dtype(np.bool_), np.dtype(np.int64)

_TILE = 1024  # lanes
_CHUNK = 128  # submissions scored at a time

_BEFORE_FIRST = np.uint64(2**64 - 1)  # an index to which adding 1 gives 0

_LEDGER = np.dtype([("elapsed", "i4"), ("phase", "i4"), ("last", "i4")])
NO_ROW = -1

Outcome = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]


class Episodes:
    """State of B concurrent episodes of one task.

    Attributes:
        sequence: (T, 2, L) uint64, the key of each sequence and the index of its episode; hidden.
        coefficients: (T, K, L) float32, hidden. They are these numbers exactly, also where they are used in float64.
        ledger: (B,) records: steps taken, phase, the row measured last (`NO_ROW` before the first).
        credits: (B, 1) int32, credits left.
        replicates: (B, R) int8, how often each row has been measured.
        readouts: (B, R J O) float32, in this order; 0 where nothing has been measured.
        action_mask: (B, E + 1) int8, 1 where a request would be accepted; the submission's entry is always 1.
        submissions: (B, Q, O) float64, the accepted prediction of a terminated episode.
        num_refused: how many requests the last `advance` refused.
    """

    def __init__(self, task: Task, batch: int, split: Split, max_steps: int) -> None:
        rows = len(task.measured_queries)
        self.task, self.split = task, split
        self.mechanism = compile_mechanism(task)
        lanes = min(_TILE, -(-batch // VECTOR) * VECTOR)
        tiles = -(-batch // lanes)
        self.sequence = np.zeros((tiles, 2, lanes), np.uint64)
        self.ledger = np.zeros(batch, _LEDGER)
        self.credits = np.zeros((batch, 1), np.int32)
        self.coefficients = np.zeros((tiles, len(task.priors), lanes), np.float32)
        self.replicates = np.zeros((batch, rows), np.int8)
        self.readouts = np.zeros((batch, rows * task.max_replicates * len(task.outputs)), np.float32)
        self.action_mask = np.zeros((batch, len(task.experiments) + 1), np.int8)
        self.submissions = np.zeros((batch, *task.prediction_shape))
        self.num_refused = 0
        self._rules = (task.budget, max_steps, max(e.cost for e in task.experiments), *NO_FAULTS)
        self._constants = _pack(self.mechanism, task)
        self._state = (
            self.sequence,
            self.coefficients,
            self.ledger,
            self.credits,
            self.replicates,
            self.readouts,
            self.action_mask,
            self.submissions,
        )
        self._scratch = _scratch(len(task.nodes), len(task.priors), lanes)

    def __repr__(self) -> str:
        return f"Episodes({self.task.task_id!r}, batch={len(self.ledger)})"

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Point the episodes with a seed at the start of that seed's sequence; the others go on with theirs."""
        for i, seed in enumerate(seeds):
            if seed is not None:
                self.sequence[self._place(i)] = derive_key(FAMILY, self.split, seed), _BEFORE_FIRST

    def begin(self, which: NDArray[np.bool_]) -> None:
        """Start the next episode of each sequence where `which`, a (B,) mask, is true."""
        self._run(which.astype(np.int64), self.submissions, NO_FAULTS, _BEGIN)

    def advance(
        self,
        choice: NDArray[np.int64],
        prediction: NDArray[np.float64],
        faults: tuple[int, int] = NO_FAULTS,
        autoreset: bool = False,
    ) -> Outcome:
        """Serve one request for each episode.

        Args:
            choice: (B,) int64, an experiment's index or E to submit.
            prediction: (B, Q, O) float64; ignored where an experiment is chosen.
            faults: `Refusal` codes of the whole batch's choices and predictions, where their type or shape was wrong.
            autoreset: begin the next episode where one is over, instead of refusing.

        Returns:
            reward (B,) float64, terminated (B,) bool, truncated (B,) bool, refusal (B,) int64 codes of `Refusal`.
        """
        return self._run(choice, prediction, faults, _AUTORESET if autoreset else _REFUSE)

    def _run(
        self, choice: NDArray[np.int64], prediction: NDArray[np.float64], faults: tuple[int, int], policy: int
    ) -> Outcome:
        batch = len(choice)
        outcome = np.empty(batch), np.empty(batch, _BOOL), np.empty(batch, _BOOL), np.empty(batch, _INT64)
        rules = self._rules if faults is NO_FAULTS else (*self._rules[:3], int(faults[0]), int(faults[1]))
        self.num_refused = _advance(
            self._constants, self._state, self._scratch, outcome, choice, prediction, rules, policy
        )
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
        wiring, bounds (2, K), outputs, clamps (N, R + Q), noise and scale (2, O), cost and most replicates (2, E).
    """
    return (
        mechanism.wiring,
        np.stack([mechanism.low, mechanism.high]),
        mechanism.outputs,
        np.concatenate([mechanism.measured, mechanism.predicted], axis=1),
        np.stack([mechanism.noise_std, mechanism.scale]),
        terms_of(task),
    )


def _scratch(num_nodes: int, num_coefficients: int, lanes: int) -> tuple[NDArray[Any], ...]:
    """Room for a tile of L lanes.

    Returns:
        (9, L) uint64: the row and the replicate to reveal in each lane, if any; which submit; which begin; words; keys.
        (N + 3, L) float32: two rows of normal numbers, values of the nodes, an argument.
        (N + K + 1, ...) float64: the working space of a chunk of submissions.
    """
    return (
        np.zeros((9, lanes), np.uint64),
        np.zeros((num_nodes + 3, lanes), np.float32),
        working_space(num_nodes, num_coefficients, min(_CHUNK, lanes)),
    )


@kernel
def _advance(constants, state, scratch, outcome, choice, prediction, rules, policy):  # type: ignore[no-untyped-def]
    """Serve the requests, a tile of episodes at a time, and return how many are refused.

    `rules` holds the budget, the step limit, the highest cost, and the fault codes of all choices and all predictions.
    """
    terms = constants[-1]
    lists, words = scratch[0][:4], scratch[0][4:]
    normals, values, space = scratch[1][:2], scratch[1][2:], scratch[2]
    num_replicates = state[5].shape[1] // (state[4].shape[1] * constants[2].size)
    num_refused = 0
    for t in range(state[0].shape[0]):
        tile, results, requests, predictions = _tile(state, outcome, choice, prediction, t)
        submits, begins, refused = _serve(terms, tile, results, requests, predictions, rules, policy, lists)
        num_refused += refused
        if submits > 0:
            _submit(constants, tile, predictions, lists, submits, space, results[0])
        num_passes = 1
        if begins > 0:
            _begin(constants[1], terms, tile, lists, begins, rules[0], words)
            num_passes = max(1, tile[4].shape[1] - terms.shape[1])
        for query in range(num_passes):
            if begins > 0:
                _list_initial(terms, tile[4], lists, begins, query)
            measure(constants, tile[0], tile[1], lists[0], lists[1], words, values, normals, num_replicates, tile[5])
    return num_refused


@kernel
def _tile(state, outcome, choice, prediction, t):  # type: ignore[no-untyped-def]
    """Return the parts of the state, the outcome, the choices and the predictions that belong to tile `t`."""
    sequence, coefficients, ledger, credits_left, replicates, readouts, action_mask, submissions = state
    reward, terminated, truncated, refusal = outcome
    start, end = t * sequence.shape[2], (t + 1) * sequence.shape[2]
    tile = (
        sequence[t],
        coefficients[t],
        ledger[start:end],
        credits_left[start:end],
        replicates[start:end],
        readouts[start:end],
        action_mask[start:end],
        submissions[start:end],
    )
    results = reward[start:end], terminated[start:end], truncated[start:end], refusal[start:end]
    return tile, results, choice[start:end], prediction[start:end]


@kernel
def _serve(terms, tile, outcome, choice, prediction, rules, policy, lists):  # type: ignore[no-untyped-def]
    """Judge the requests of a tile, run its experiments, and list the episodes that submit or are to begin.

    Returns:
        The lengths of the two lists and the number of refused requests.
    """
    reward, terminated, truncated, refusal = outcome
    ledger, action_mask = tile[2], tile[6]
    row, replicate, submitting, beginning = lists[0], lists[1], lists[2], lists[3]
    submit, max_steps, is_readable = terms.shape[1], rules[1], rules[3] == _NONE and policy != _BEGIN
    reward[:], row[:], replicate[:] = 0.0, np.uint64(0), NO_REPLICATE
    submits = begins = refused = 0
    for i in range(choice.size):
        request, phase = choice[i], ledger[i].phase
        refusal[i] = _NONE
        # The mask says what is acceptable; the rest of the loop is for what is rare.
        if is_readable and phase == RUNNING and 0 <= request < submit and action_mask[i, request] == 1:
            _experiment(terms, tile, rules[2], i, np.uint64(request), row, replicate)
        elif request != 0 if policy == _BEGIN else policy == _AUTORESET and phase > RUNNING:
            beginning[begins] = i
            begins += 1
            terminated[i] = truncated[i] = False
            continue
        elif policy == _BEGIN:
            continue
        else:
            refusal[i] = _judge(terms, tile, rules, i, request, request != submit or _is_finite(prediction, i))
            if refusal[i] == _NONE:
                submitting[submits] = i
                submits += 1
                ledger[i].phase = TERMINATED
            else:
                refused += 1
        ledger[i].elapsed += refusal[i] != _EPISODE_OVER
        truncated[i] = ledger[i].elapsed >= max_steps
        if truncated[i] and ledger[i].phase == RUNNING:
            ledger[i].phase = TRUNCATED
        terminated[i] = ledger[i].phase == TERMINATED
    return submits, begins, refused


@kernel
def _experiment(terms, tile, dearest, i, e, row, replicate):  # type: ignore[no-untyped-def]
    """Charge episode `i` for a run of experiment `e`, and list what it measures."""
    _, _, ledger, credits_left, replicates, _, action_mask, _ = tile
    measured = np.uint64(replicates.shape[1] - terms.shape[1]) + e
    count = replicates[i, measured]
    row[i], replicate[i] = measured, np.uint64(count)
    replicates[i, measured] = count + 1
    credits_left[i, 0] -= terms[0, e]
    ledger[i].last = measured
    if count + 1 >= terms[1, e]:
        action_mask[i, e] = 0
    if credits_left[i, 0] < dearest:
        for other in range(terms.shape[1]):
            action_mask[i, other] &= terms[0, other] <= credits_left[i, 0]


@kernel
def _judge(terms, tile, rules, i, request, is_finite):  # type: ignore[no-untyped-def]
    """Return the `Refusal` code of a request that is not an acceptable experiment; 0 for an acceptable submission."""
    ledger, replicates = tile[2], tile[4]
    submit = terms.shape[1]
    if ledger[i].phase > RUNNING:
        return _EPISODE_OVER
    if rules[3] != _NONE:
        return rules[3]
    if request < 0 or request > submit:
        return _UNKNOWN_EXPERIMENT
    if request < submit:
        is_exhausted = replicates[i, replicates.shape[1] - submit + request] >= terms[1, request]
        return _REPLICATES_EXHAUSTED if is_exhausted else _NO_CREDITS
    if rules[4] != _NONE:
        return rules[4]
    return _NONE if is_finite else _NON_FINITE_PREDICTION


@kernel
def _is_finite(prediction, i):  # type: ignore[no-untyped-def]
    finite = True
    for query in range(prediction.shape[1]):
        for column in range(prediction.shape[2]):
            finite &= np.isfinite(prediction[i, query, column])
    return finite


@kernel
def _submit(constants, tile, prediction, lists, count, space, reward):  # type: ignore[no-untyped-def]
    """Keep and score the predictions of the `count` listed episodes."""
    _, coefficients, _, _, _, _, action_mask, submissions = tile
    for j in range(count):
        i = lists[2, j]
        for query in range(prediction.shape[1]):
            for column in range(prediction.shape[2]):
                submissions[i, query, column] = prediction[i, query, column]
        for e in range(action_mask.shape[1] - 1):
            action_mask[i, e] = 0
    for first in range(0, count, _CHUNK):
        chunk, size = lists[2, first:], min(_CHUNK, count - first)
        score_submissions(constants, coefficients, submissions, chunk, size, space, reward)


@kernel
def _begin(bounds, terms, tile, lists, count, budget, words):  # type: ignore[no-untyped-def]
    """Begin the next episode of the `count` listed sequences."""
    _clear(terms, tile, lists, count, budget)
    draw_coefficients(bounds, tile[0], lists[3], count, words, tile[1])


@kernel
def _clear(terms, tile, lists, count, budget):  # type: ignore[no-untyped-def]
    sequence, _, ledger, credits_left, replicates, readouts, action_mask, _ = tile
    submit = terms.shape[1]
    for j in range(count):
        i = lists[3, j]
        sequence[1, i] += np.uint64(1)
        credits_left[i, 0] = budget
        ledger[i].elapsed = 0
        ledger[i].phase = RUNNING
        ledger[i].last = replicates.shape[1] - submit - 1
        readouts[i] = 0.0
        replicates[i] = 0
        for e in range(submit):
            action_mask[i, e] = (terms[1, e] > 0) & (terms[0, e] <= budget)
        action_mask[i, submit] = 1


@kernel
def _list_initial(terms, replicates, lists, count, query):  # type: ignore[no-untyped-def]
    """List an initial query of the episodes that have begun; from the second one on, what was listed before is done."""
    if query > 0:
        lists[1] = NO_REPLICATE
    if query < replicates.shape[1] - terms.shape[1]:
        for j in range(count):
            i = lists[3, j]
            replicates[i, query] = 1
            lists[0, i] = np.uint64(query)
            lists[1, i] = np.uint64(0)
