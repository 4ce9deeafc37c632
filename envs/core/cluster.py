"""A Ray cluster to work on: one that is there, or one that is started on this machine and stopped afterwards."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import socket
from collections.abc import Iterator

from veilgym.envs.core.arguments import check_count

_PATIENCE = 10.0  # seconds


def is_ray(engine: str, address: str | None) -> bool:
    """Whether the engine of that name is Ray.

    Raises:
        ValueError: there is no such engine, or it takes no address.
    """
    if engine not in ("local", "ray"):
        raise ValueError(f"engine must be one of 'local', 'ray', got {engine!r}")
    if engine == "local" and address is not None:
        raise ValueError(f"address: got {address!r}, but only the engine 'ray' takes one")
    return engine == "ray"


def connect(workers: int | None = None, address: str | None = None) -> contextlib.AbstractContextManager[None]:
    """Ray is connected while the returned context lasts; a connection that the caller already has is left as it is.

    Args:
        workers: Processes of a cluster on this machine; None for one a core.
        address: Of an existing cluster, "auto" or "host:port" or "ray://host:port"; None starts one here.

    Raises:
        ValueError: both are given, `workers` is not a positive integer, or Ray is not installed.
        OSError: there is no cluster at `address`; raised when the context is entered.
    """
    if address is not None and workers is not None:
        raise ValueError(f"workers: got {workers!r} with address {address!r}; allowed is one of the two")
    if workers is not None:
        check_count("workers", workers)
    if importlib.util.find_spec("ray") is None:
        raise ValueError("the engine 'ray' needs the extra ray: pip install 'veilgym[ray]'")
    return _connection(workers, address)


@contextlib.contextmanager
def _connection(workers: int | None, address: str | None) -> Iterator[None]:
    import ray

    if ray.is_initialized():
        yield
        return
    try:
        if address is None:
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        else:
            _probe(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        where = "on this machine" if address is None else f"at {address!r}"
        raise ConnectionError(f"no Ray cluster {where}: {reason}") from None
    try:
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        yield
    finally:
        ray.shutdown()


def _probe(address: str) -> None:
    """Raise an `OSError` if nothing listens at "host:port": Ray itself would go on trying for minutes."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
