"""TorchRL: `GymEnv` takes the ids as they are, `Dict` actions included.

pip install veilgym torchrl
python examples/torchrl_rollout.py
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch
from torchrl.envs import GymEnv
from torchrl.envs.utils import check_env_specs

import veilgym  # noqa: F401  (registers the ids)


def main(arguments: Sequence[str] | None = None) -> float:
    """Roll a random policy out, and return its mean reward on each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="HiddenSystem-v0")
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args(arguments)
    torch.manual_seed(0)
    env = GymEnv(given.env_id, categorical_action_encoding=True)
    check_env_specs(env)
    env.set_seed(0)
    rollout = env.rollout(given.steps, break_when_any_done=False)
    reward = float(rollout["next", "reward"].mean())
    print(f"{given.env_id}: {len(rollout)} steps, keys {sorted(map(str, rollout.keys()))}, mean reward {reward:.3f}")
    return reward


if __name__ == "__main__":
    main()
