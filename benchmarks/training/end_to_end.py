"""Circuits, everything learned: which experiments to run, and what to make of the readouts.

    python benchmarks/training/end_to_end.py

No agent of this script knows Bayes' rule or a posterior. A network learns from simulated circuits to predict the
targets from the readouts of random experiments (amortised inference). With it as the estimator, maskable PPO learns
which experiments to run, from the score alone. Then the network goes on learning, on the experiments that PPO has come
to choose. Writes `circuits-end-to-end.json`: the mean score after each part on 2,000 test instances, with its interval.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym
import numpy as np
import torch

from veilgym import __version__
from veilgym.agents.causal_circuits.amortised import AmortisedEstimator, random_designs, train_amortised
from veilgym.agents.causal_circuits.ladder import RandomExperiments
from veilgym.agents.evaluation import evaluate
from veilgym.agents.ladder import load_ladder
from veilgym.agents.statistics import score_interval
from veilgym.agents.training.recipe import Recipe, falling
from veilgym.agents.training.trained import TrainedAgent
from veilgym.wrappers.discrete_experiments import VectorDiscreteExperiments
from veilgym.wrappers.stable_baselines import NativeVecEnv

CIRCUITS = "CausalCircuits-v0"
HERE = Path(__file__).parent


class RandomWithNetwork(RandomExperiments):
    """Random experiments, and a network's predictions."""

    def predict(self, observations: dict[str, Any]) -> Any:
        """(B, Q, O) predictions."""
        return self._predictor(observations)


def learn(seed: int, first: int, steps: int, last: int, episodes: int) -> dict[str, Any]:
    """All parts with one seed; `first` and `last` are circuits, `steps` environment steps."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    clock = time.perf_counter(), time.process_time()
    parts: list[dict[str, Any]] = []

    def note(part: str, agent: Any) -> None:
        took = [
            round(now - then, 1) for now, then in zip((time.perf_counter(), time.process_time()), clock, strict=True)
        ]
        scores = evaluate(agent, CIRCUITS, episodes).scores
        interval = [round(value, 4) for value in score_interval(scores) or ()]
        parts.append({"part": part, "score": round(float(scores.mean()), 4), "interval": interval})
        parts[-1] |= {"seconds": took[0], "process_seconds": took[1]}
        print(json.dumps({"seed": seed, **parts[-1]}), flush=True)

    envs = gym.make_vec(CIRCUITS, num_envs=256, autoreset_mode="SameStep")
    task = envs.unwrapped.task
    estimator = AmortisedEstimator(task)
    train_amortised(estimator, random_designs(task), first, seed)
    note("amortised inference, random experiments", RandomWithNetwork(task, estimator))
    recipe = Recipe(CIRCUITS, "maskable-ppo")
    settings = recipe.settings()
    del settings["num_envs"]
    settings["learning_rate"] = falling(settings["learning_rate"])
    model = recipe.algorithm()(
        recipe.policy_name(), NativeVecEnv(VectorDiscreteExperiments(envs, estimator)), seed=seed, device="cpu",
        policy_kwargs=recipe.policy_arguments(), **settings,
    )  # fmt: skip
    model.learn(steps)
    agent = TrainedAgent(model, recipe, estimator=estimator)
    note("amortised inference, learned experiments", agent)
    chosen = evaluate(agent, CIRCUITS, 4 * episodes, split="train").observations["replicates"]
    chosen = chosen[:, len(task.initial_queries) :].astype(np.int64)
    train_amortised(estimator, lambda batch, rng: chosen[rng.integers(len(chosen), size=batch)], last, seed + 1000)
    note("the same, inference trained on the learned experiments", agent)
    return {"seed": seed, "parts": parts}


def main() -> None:
    """Run all seeds and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--first", type=int, default=500_000, help="circuits of the first part")
    parser.add_argument("--steps", type=int, default=200_000, help="environment steps of PPO")
    parser.add_argument("--last", type=int, default=1_000_000, help="circuits of the last part")
    parser.add_argument("--episodes", type=int, default=2000, help="test instances")
    parser.add_argument("--out", type=Path, default=HERE / "circuits-end-to-end.json")
    given = parser.parse_args()
    runs = [learn(seed, given.first, given.steps, given.last, given.episodes) for seed in given.seeds]
    ladder = load_ladder(CIRCUITS)
    ends = {
        end: float(evaluate(ladder[name], CIRCUITS, given.episodes).scores.mean())
        for end, name in (("floor", ladder.floor), ("ideal", ladder.ideal))
    }
    for run in runs:
        for part in run["parts"]:
            part["normalised"] = round((part["score"] - ends["floor"]) / (ends["ideal"] - ends["floor"]), 4)
    document = {
        "veilgym": __version__,
        "command": "python benchmarks/training/end_to_end.py",
        "first": given.first,
        "steps": given.steps,
        "last": given.last,
        "test_instances": given.episodes,
        "target_normalised": 0.30,
        **{end: round(value, 4) for end, value in ends.items()},
        "runs": runs,
    }
    given.out.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
