"""A Ray cluster to work on: one that is there, or one that is started on this machine and stopped afterwards."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import socket
from collections.abc import Iterator
from typing import Any

from veilgym import __version__
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
        address: Of an existing cluster, "auto" or "host:port"; None starts one here.

    Raises:
        ValueError: both are given, `workers` is not a positive integer, the address is of another kind, or Ray is not
            installed.
        OSError: there is no cluster at `address`, it does not let us in, or a machine of it has another version of
            veilgym or none; raised when the context is entered.
    """
    if address is not None and workers is not None:
        raise ValueError(f"workers: got {workers!r} with address {address!r}; allowed is one of the two")
    if workers is not None:
        check_count("workers", workers)
    if address is not None and address != "auto":
        host, _, port = address.rpartition(":")
        if not host or "//" in host or not port.isdecimal():  # Ray Data does not work through a Ray Client, "ray://"
            raise ValueError(f"address must be 'auto' or 'host:port', got {address!r}")
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
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ConnectionError(_refusal(address, error)) from None
    try:
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        if address is not None:
            _check_versions(address)
        yield
    finally:
        ray.shutdown()


def _probe(address: str) -> None:
    """Raise an `OSError` if nothing listens at the address: Ray itself would go on trying for minutes."""
    host, _, port = _located(address).rpartition(":")
    if host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _located(address: str) -> str:
    """The "host:port" that Ray takes "auto" for, which may be that of a cluster that died; any other address itself."""
    if address != "auto":
        return address
    try:
        from ray._private.services import canonicalize_bootstrap_address_or_die as locate  # it has no public name
    except ImportError:
        return address
    return str(locate(address))


def _refusal(address: str | None, error: Exception) -> str:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    where = "on this machine" if address is None else f"at {address!r}"
    refusal = f"no Ray cluster {where}: {reason}"
    if "Failed to connect" in reason:  # which is all that Ray says of a wrong token, too
        refusal += (
            "; a cluster with tokens needs RAY_AUTH_MODE=token in the environment "
            "and its token in RAY_AUTH_TOKEN or ~/.ray/auth_token"
        )
    return refusal


def _check_versions(address: str) -> None:
    """Raise an `OSError` unless every machine that would work for us has this version of veilgym."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes: Any = ray.nodes  # it has no types
    ask: Any = ray.remote(num_cpus=0)(_version)

    def asked(node: Any) -> Any:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        return ask.options(scheduling_strategy=there).remote()

    answers = [(node, asked(node)) for node in nodes() if node["Alive"] and node["Resources"].get("CPU")]
    for node, answer in answers:
        machine = f"the machine {node['NodeManagerAddress']} of the Ray cluster at {address!r}"
        try:
            version: str = ray.get(answer)
        except ray.exceptions.RayTaskError:  # a worker that cannot import this module
            version = "in no version that can be imported"
        except ray.exceptions.RayError as error:
            raise ConnectionError(f"{machine} runs nothing for us: {str(error).splitlines()[0]}") from None
        if version != __version__:
            raise ConnectionError(f"{machine} has veilgym {version}, but this is {__version__}")


def _version() -> str:
    return __version__
