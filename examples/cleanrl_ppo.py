"""CleanRL's way: PPO in a single file, on the native vector env with flat observations.

    pip install veilgym torch
    python examples/cleanrl_ppo.py --env-id HiddenSystem-v0

A question is one episode of one step, so there is nothing to bootstrap from and the advantage is reward minus value.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import veilgym  # noqa: F401  (registers the ids)
from veilgym.wrappers.flatten_payload import VectorFlattenPayload


class Agent(nn.Module):
    """Actor and critic on flat observations."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.actor, self.critic = nn.Linear(128, actions), nn.Linear(128, 1)

    def forward(self, observations: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """The distribution of actions, and the value."""
        hidden = self.body(observations)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden)[:, 0]


def main(arguments: Sequence[str] | None = None) -> float:
    """Train, and return the mean reward of the last tenth of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="HiddenSystem-v0")
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--num-envs", type=int, default=1024)
    given = parser.parse_args(arguments)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    envs = VectorFlattenPayload(gym.make_vec(given.env_id, num_envs=given.num_envs))
    agent = Agent(envs.single_observation_space.shape[0], int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    observations, _ = envs.reset(seed=0)
    rewards = []
    for _ in range(max(1, given.steps // given.num_envs)):
        seen = torch.as_tensor(observations)
        with torch.no_grad():
            policy, value = agent(seen)
            action = policy.sample()
            before = policy.log_prob(action)
        observations, reward, _, _, _ = envs.step(action.numpy())
        rewards.append(float(reward.mean()))
        gain = torch.as_tensor(reward, dtype=torch.float32)
        advantage = gain - value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for _ in range(4):
            policy, value = agent(seen)
            ratio = torch.exp(policy.log_prob(action) - before)
            clipped = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
            loss = -clipped.mean() + 0.5 * ((value - gain) ** 2).mean() - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    reached = float(np.mean(rewards[-max(1, len(rewards) // 10) :]))
    print(f"mean reward at the end: {reached:.3f} (chance: 0.5; a plain network on flat observations learns little)")
    return reached


if __name__ == "__main__":
    main()
