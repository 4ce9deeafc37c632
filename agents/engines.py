"""Who plays the instances of an evaluation: this process, or the workers of a Ray cluster.

An engine takes a job and its seeds in chunks, and gives for each chunk, in order, what happened. As an agent is a pure
function of observations and an instance one of its seed, every engine gives the same scores.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from veilgym.agents.playing import Job, Played, failure, join, play, play_each
from veilgym.envs.core.cluster import connect, is_ray

Engine = Callable[[Job, Sequence[Sequence[int]], bool], Iterator[Played]]
"""The flag says whether to go on after an instance on which the agent raises."""

_TRIES = 3  # of a chunk whose worker dies


def in_this_process(job: Job, chunks: Sequence[Sequence[int]], keep_going: bool) -> Iterator[Played]:
    """One chunk after another, here."""
    run = play_each if keep_going else play
    run(job, chunks[0][:1])  # compiles what has to be compiled
    for seeds in chunks:
        yield run(job, seeds)


def on_ray(workers: int | None = None, address: str | None = None) -> Engine:
    """Ray tasks: on the cluster at `address`, or on one of `workers` processes that is started on this machine.

    A chunk whose worker dies is played again by another worker, then instance by instance; an instance whose worker
    dies three times has failed. Within `veilgym.envs.core.cluster.connect` many evaluations share one cluster.

    Raises:
        ValueError: both are given, or `workers` is not a positive integer.
    """
    connect(workers, address)  # for its checks

    def engine(job: Job, chunks: Sequence[Sequence[int]], keep_going: bool) -> Iterator[Played]:
        with connect(workers, address):
            yield from _on_cluster(job, chunks, keep_going)

    return engine


def engine_of(name: str, workers: int | None = None, address: str | None = None) -> Engine:
    """The engine called `name`, "local" or "ray".

    Raises:
        ValueError: an argument is wrong, or does not go with the engine.
    """
    if is_ray(name, address):
        return on_ray(workers, address)
    if workers is not None:
        raise ValueError(f"workers: got {workers!r}, but only the engine 'ray' takes it")
    return in_this_process


def _on_cluster(job: Job, chunks: Sequence[Sequence[int]], keep_going: bool) -> Iterator[Played]:
    import ray

    task = ray.remote(max_retries=_TRIES - 1)(_play_warm)
    # As bytes: arrays that Ray unpacks itself are read-only, and an agent may have buffers that it writes to.
    pack: Callable[[Job], bytes] = ray.cloudpickle.dumps
    shared = ray.put(pack(job))

    def result(reference: Any, seeds: Sequence[int]) -> Played:
        try:
            found: Played = ray.get(reference)
            return found
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:  # the worker died each time
            if not keep_going:
                raise ChildProcessError(
                    f"a worker died {_TRIES} times over one chunk: {type(error).__name__}"
                ) from None
            if len(seeds) == 1:
                return failure(job, seeds[0], f"its worker died {_TRIES} times")
            alone = [task.remote(shared, [seed], keep_going) for seed in seeds]
            return join([result(one, [seed]) for one, seed in zip(alone, seeds, strict=True)])

    references = [task.remote(shared, list(seeds), keep_going) for seeds in chunks]
    for reference, seeds in zip(references, chunks, strict=True):
        yield result(reference, seeds)


def _play_warm(packed: bytes, seeds: list[int], keep_going: bool) -> Played:
    job: Job = pickle.loads(packed)
    run = play_each if keep_going else play
    run(job, seeds[:1])  # compiles what has to be compiled
    return run(job, seeds)
