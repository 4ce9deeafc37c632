"""stable-baselines3 and sb3-contrib: learn which experiments to run on a circuit, with masks, on the native vector env.

pip install 'veilgym[train]'
python examples/stable_baselines3_ppo.py
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import gymnasium as gym
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

import veilgym  # noqa: F401  (registers the ids)
from veilgym.wrappers.discrete_experiments import VectorDiscreteExperiments
from veilgym.wrappers.stable_baselines import NativeVecEnv


def make_envs(num_envs: int, split: str) -> VecMonitor:
    """Circuits whose submissions are made by the posterior mode."""
    envs = gym.make_vec("CausalCircuits-v0", num_envs=num_envs, split=split, autoreset_mode="SameStep")
    return VecMonitor(NativeVecEnv(VectorDiscreteExperiments(envs)))


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, and return the mean score on circuits of the test split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--episodes", type=int, default=500)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    model = MaskablePPO(
        "MultiInputPolicy", make_envs(given.num_envs, "train"), n_steps=18, batch_size=9 * given.num_envs // 2,
        learning_rate=1e-3, gamma=1.0, ent_coef=0.003, n_epochs=4, seed=0, device="cpu",
    )  # fmt: skip
    model.learn(given.steps)
    test = make_envs(given.episodes, "test")
    test.seed(0)
    score, _ = evaluate_policy(model, test, n_eval_episodes=given.episodes)
    print(f"mean score on {given.episodes} test circuits: {score:.3f} (random experiments: 0.54)")
    return float(score)


if __name__ == "__main__":
    main()
