"""RLlib: PPO on flat observations. The id is "veilgym:...", so that the workers find it.

pip install veilgym 'ray[rllib]' torch
python examples/rllib_ppo.py
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import gymnasium as gym
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env

from veilgym.wrappers.flatten_payload import FlattenPayload


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, and return the mean return of the last iteration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="veilgym:HiddenSystem-v0")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--batch", type=int, default=4000)
    given = parser.parse_args(arguments)
    ray.init(num_cpus=1, include_dashboard=False, ignore_reinit_error=True, log_to_driver=False)
    register_env("flat", lambda config: FlattenPayload(gym.make(given.env_id, **config)))
    config = (
        PPOConfig()
        .environment("flat", env_config={})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
        .training(train_batch_size_per_learner=given.batch, minibatch_size=given.batch // 4, num_epochs=2, gamma=1.0)
    )
    algorithm = config.build_algo()
    for _ in range(given.iterations):
        result = algorithm.train()
    algorithm.stop()
    ray.shutdown()
    reached = float(result["env_runners"]["episode_return_mean"])
    print(f"mean return of the last iteration: {reached:.3f} (chance: 0.5)")
    return reached


if __name__ == "__main__":
    main()
