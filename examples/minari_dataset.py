"""Minari: record what an agent of the ladder does as a data set for offline learning.

pip install veilgym 'minari[create,hdf5]' pillow
python examples/minari_dataset.py --dataset veilgym/circuits-random-v0
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import gymnasium as gym
from minari import DataCollector

import veilgym  # noqa: F401  (registers the ids)
from veilgym.agents.ladder import load_ladder


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, and return how many episodes the data set has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="CausalCircuits-v0")
    parser.add_argument("--agent", default="random experiments", help="name on the ladder")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--dataset", default="veilgym/circuits-random-v0")
    given = parser.parse_args(arguments)
    agent = load_ladder(given.env_id)[given.agent]
    env = DataCollector(gym.make(given.env_id))
    for episode in range(given.episodes):
        observation, _ = env.reset(seed=episode)
        done = False
        while not done:
            observation, _, terminated, truncated, _ = env.step(agent.act(observation))
            done = terminated or truncated
    dataset = env.create_dataset(
        given.dataset, algorithm_name=given.agent, author="veilgym", author_email="none", code_permalink="none"
    )
    env.close()
    print(f"{dataset.spec.dataset_id}: {dataset.total_episodes} episodes, {dataset.total_steps} steps")
    return int(dataset.total_episodes)


if __name__ == "__main__":
    main()
