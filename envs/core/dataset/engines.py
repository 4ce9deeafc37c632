"""Who makes the blocks of a data set: this process, several processes, or a Ray cluster.

An engine takes a work and the numbers of its blocks that are missing, and gives each with its number, in any order. As
a block is a pure function of the work and its number, every engine gives the same.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from multiprocessing.connection import wait as wait_for
from typing import Any

import msgspec

from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.cluster import connect, is_ray
from veilgym.envs.core.dataset.blocks import Block, Failure
from veilgym.envs.core.dataset.parts import Work, make_block

Engine = Callable[[Work, Sequence[int]], Iterator[tuple[int, Block]]]

_AHEAD = 4  # blocks handed out for each worker, so that none waits and memory stays flat
_TRIES = 3  # of a block whose worker dies


def in_this_process(work: Work, numbers: Sequence[int]) -> Iterator[tuple[int, Block]]:
    """One block after another, here."""
    for number in numbers:
        yield number, make_block(work, number)


def in_processes(workers: int) -> Engine:
    """Several processes of this machine; 1 is this one.

    Raises:
        ValueError: `workers` is not a positive integer.
    """
    check_count("workers", workers)
    if workers == 1:
        return in_this_process

    def engine(work: Work, numbers: Sequence[int]) -> Iterator[tuple[int, Block]]:
        context = multiprocessing.get_context("spawn")  # not every library survives a fork
        count = max(1, min(workers, len(numbers)))
        with ProcessPoolExecutor(count, context, initializer=_follow_parent) as pool:
            running: set[Future[tuple[int, Block]]] = set()
            try:
                for number in numbers:
                    running.add(pool.submit(_numbered, work, number))
                    if len(running) >= _AHEAD * count:
                        ended, running = wait(running, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in ended)
                yield from (future.result() for future in running)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    return engine


def on_ray(workers: int | None = None, address: str | None = None) -> Engine:
    """Ray Data: on the cluster at `address`, or on one of `workers` processes that is started on this machine.

    A block whose worker dies is made again by another, three times at most; then all of its rows have failed.

    Raises:
        ValueError: both are given, or `workers` is not a positive integer.
    """
    connect(workers, address)  # for its checks

    def engine(work: Work, numbers: Sequence[int]) -> Iterator[tuple[int, Block]]:
        if not numbers:
            return
        with connect(workers, address):
            yield from _on_cluster(work, numbers)

    return engine


def engine_of(name: str, workers: int | None = None, address: str | None = None) -> Engine:
    """The engine called `name`, "local" or "ray".

    Raises:
        ValueError: an argument is wrong, or does not go with the engine.
    """
    if is_ray(name, address):
        return on_ray(workers, address)
    return in_processes(1 if workers is None else workers)


def _on_cluster(work: Work, numbers: Sequence[int]) -> Iterator[tuple[int, Block]]:
    from ray import data

    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.max_errored_blocks = -1  # a task that fails for good must not end the others
    lost = dict.fromkeys(numbers)
    tasks = data.from_items([{"number": number} for number in numbers], override_num_blocks=len(numbers))
    for row in tasks.map(partial(_as_row, work), max_retries=_TRIES - 1).iter_rows():
        del lost[row["number"]]
        yield row["number"], msgspec.msgpack.decode(row["block"], type=Block)
    for number in lost:
        first = number * work.block_size
        rows = range(first, first + work.rows(number))
        yield number, Block({}, [Failure(row, row, "its worker died each time") for row in rows])


def _as_row(work: Work, row: dict[str, Any]) -> dict[str, Any]:
    return {"number": row["number"], "block": msgspec.msgpack.encode(make_block(work, row["number"]))}


def _numbered(work: Work, number: int) -> tuple[int, Block]:
    return number, make_block(work, number)


def _follow_parent() -> None:
    """End with the parent, also when it is killed; leave an interrupt to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def watch() -> None:
            wait_for([sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
