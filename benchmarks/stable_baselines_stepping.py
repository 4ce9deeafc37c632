"""Steps per second of `NativeVecEnv` beside stable-baselines3's `DummyVecEnv` of the scalar envs, in one process.

python benchmarks/stable_baselines_stepping.py
"""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

import veilgym  # noqa: F401  (registers the ids)
from veilgym.wrappers.discrete_experiments import DiscreteExperiments, VectorDiscreteExperiments
from veilgym.wrappers.stable_baselines import NativeVecEnv

WIDTH, STEPS = 256, 90
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("CausalCircuits-v0", {}),
    ("HiddenSystem-v0", {"length": "short"}),
    ("HiddenSystem-v0", {"length": "long"}),
    ("DynamicWorld-v0", {}),
)


def main() -> None:
    """Print a line for each case; process time, so that a busy machine changes little."""
    print(f"{WIDTH} envs, steps per second of process time: NativeVecEnv, DummyVecEnv")
    for env_id, arguments in CASES:
        native, dummy = _make(env_id, arguments)
        ours, theirs = _rate(native, STEPS), _rate(dummy, STEPS // 5)
        print(f"{env_id} {arguments.get('length', ''):<6} {ours:>10,.0f} {theirs:>10,.0f}  x {ours / theirs:.1f}")


def _make(env_id: str, arguments: dict[str, Any]) -> tuple[VecEnv, VecEnv]:
    envs = gym.make_vec(env_id, num_envs=WIDTH, autoreset_mode="SameStep", **arguments)
    if env_id != "CausalCircuits-v0":
        return NativeVecEnv(envs), DummyVecEnv([lambda: gym.make(env_id, **arguments)] * WIDTH)
    scalar = [lambda: DiscreteExperiments(gym.make(env_id))] * WIDTH
    return NativeVecEnv(VectorDiscreteExperiments(envs)), DummyVecEnv(scalar)


def _rate(envs: VecEnv, steps: int) -> float:
    """Circuits run eight experiments and submit; the others answer."""
    is_circuits = envs.action_space.n > 2  # type: ignore[attr-defined]
    envs.reset()
    for step in range(9 + steps):
        if step == 9:  # what had to be compiled is
            start = time.process_time()
        action = (12 if step % 9 == 8 else 5 * step % 12) if is_circuits else 0
        envs.step(np.full(WIDTH, action))
    return WIDTH * steps / (time.process_time() - start)


if __name__ == "__main__":
    main()
