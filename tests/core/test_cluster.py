"""An existing Ray cluster, as `ray start` makes it: the same bytes and scores; who is not let in, and why."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra ray is not installed")


@dataclass(frozen=True)
class Cluster:
    address: str
    folder: Path

    def run(self, *arguments: str, token: str = "of the tests", **variables: str) -> subprocess.CompletedProcess[str]:
        """Python with these arguments, in a process of its own: Ray reads the token once."""
        command, env = [sys.executable, *arguments], environment(token) | variables
        return subprocess.run(
            command, env=env, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )


def environment(token: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return kept | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}


@pytest.fixture(scope="module", name="cluster")
def cluster_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A head with two workers and a token; it ends with the process, unlike one that `ray stop` has to stop."""
    folder = tmp_path_factory.mktemp("cluster")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--head", f"--port={port}", "--num-cpus=2", "--include-dashboard=false", "--block"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options]
    with (folder / "head.log").open("w") as log:
        head = subprocess.Popen(
            command, env=environment("of the tests"), stdout=log, stderr=log, start_new_session=True
        )
        try:
            found = Cluster(f"127.0.0.1:{port}", folder)
            _await(found)
            yield found
        finally:
            os.killpg(head.pid, signal.SIGKILL)
            head.wait()


def _await(cluster: Cluster) -> None:
    end = time.monotonic() + 90
    while (ready := cluster.run("-m", "ray.scripts.scripts", "status", "--address", cluster.address)).returncode:
        assert time.monotonic() < end, ready.stderr + (cluster.folder / "head.log").read_text()
        time.sleep(0.5)


GENERATE = ["-m", "veilgym.cli", "generate", "hidden-system", "--count", "40"]


def test_a_cluster_by_its_address_gives_the_same_bytes(cluster: Cluster) -> None:
    there = cluster.run(*GENERATE, "--out", "there", "--engine", "ray", "--address", cluster.address)
    assert there.returncode == 0, there.stderr
    here = cluster.run(*GENERATE, "--out", "here")
    assert here.returncode == 0, here.stderr
    names = sorted(path.name for path in (cluster.folder / "here").iterdir())
    assert names == sorted(path.name for path in (cluster.folder / "there").iterdir())
    for name in names:
        assert (cluster.folder / "there" / name).read_bytes() == (cluster.folder / "here" / name).read_bytes()


EVALUATE = """
import sys
from veilgym.agents.engines import in_this_process, on_ray
from veilgym.agents.evaluation import evaluate
from veilgym.agents.hidden_system.ladder import MeanRate
from veilgym.envs.hidden_system.task import load_task
for engine in (on_ray(address=sys.argv[1]), in_this_process):
    print(evaluate(MeanRate(load_task()), "HiddenSystem-v0", 40, num_envs=7, engine=engine).scores.tolist())
"""


def test_a_cluster_by_its_address_gives_the_same_scores(cluster: Cluster) -> None:
    result = cluster.run("-c", EVALUATE, cluster.address)
    assert result.returncode == 0, result.stderr
    there, here = result.stdout.splitlines()
    assert there == here
    assert {"0.0", "1.0"} == set(here.strip("[]").split(", "))


def test_a_wrong_token_is_said_in_a_sentence(cluster: Cluster) -> None:
    result = cluster.run(*GENERATE, "--out", "no", "--engine", "ray", "--address", cluster.address, token="stolen")
    assert result.returncode != 0
    assert f"veilgym: no Ray cluster at '{cluster.address}': " in result.stderr
    assert "RAY_AUTH_TOKEN" in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


# Where "auto" looks first, and so on a machine where other tests have clusters, too.
def test_auto_finds_the_cluster(cluster: Cluster) -> None:
    command = [*GENERATE, "--out", "auto", "--engine", "ray", "--address", "auto"]
    result = cluster.run(*command, RAY_ADDRESS=cluster.address)
    assert result.returncode == 0, result.stderr


def test_auto_does_not_wait_for_a_cluster_that_died(cluster: Cluster) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # nothing listens here
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        command = [*GENERATE, "--out", "none", "--engine", "ray", "--address", "auto"]
        result = cluster.run(*command, RAY_ADDRESS=address)
    assert result.returncode != 0
    assert result.stderr.splitlines()[-1].startswith("veilgym: no Ray cluster at 'auto': ")
    assert "refused" in result.stderr.splitlines()[-1]


OTHER_VERSION = """
import sys
from veilgym.envs.core import cluster
cluster.__version__ = "7.0"
try:
    with cluster.connect(address=sys.argv[1]):
        print("connected")
except OSError as error:
    print(error)
"""


def test_a_machine_with_another_version_is_refused(cluster: Cluster) -> None:
    result = cluster.run("-c", OTHER_VERSION, cluster.address)
    assert result.stdout.startswith("the machine "), result.stderr
    assert "but this is 7.0" in result.stdout
