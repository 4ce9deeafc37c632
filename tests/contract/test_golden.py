"""(id, seed) -> observation bytes and (instance, answer) -> reward are frozen per id.

A digest that changes means that the id needs a new version, and a line in the env's version history. To write the file
anew, from the root of the repository:

    VEILGYM_GOLDEN=write pytest tests/contract/test_golden.py
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).with_name("golden.json")
SEEDS = range(5)


def rollout(subject, family, seed, split):
    """Two episodes of up to 9 fixed requests and a fixed answer: the digest of all that was seen, and the rewards."""
    env = subject.make(split=split)
    digest, rewards = hashlib.sha256(), []
    for reset_seed in (seed, None):
        observation, _ = env.reset(seed=reset_seed)
        terminated, step = False, 0
        while not terminated:
            for key in sorted(observation):
                digest.update(key.encode() + np.ascontiguousarray(observation[key]).tobytes())
            mask = env.unwrapped.action_masks()
            digest.update(mask.astype(np.int8).tobytes())
            requests = [choice for choice in np.flatnonzero(mask) if choice not in family.answers][: 9 - step]
            choice = requests[5 * step % len(requests)] if requests else family.answers[seed % len(family.answers)]
            observation, reward, terminated, _, _ = env.step(family.action(int(choice), seed / 7))
            step += 1
        rewards.append(round(reward, 12))
    return [digest.hexdigest(), *rewards]


@pytest.mark.every_variant
def test_rollout__has_the_frozen_digest(subject, family):
    plays = [(split, seed) for split in ("train", "test") for seed in SEEDS] if subject.is_default else [("train", 3)]
    found = {f"{split} {seed}": rollout(subject, family, seed, split) for split, seed in plays}
    golden = json.loads(FILE.read_text()) if FILE.exists() else {}
    if os.environ.get("VEILGYM_GOLDEN") == "write":
        FILE.write_text(json.dumps({**golden, subject.name: found}, indent=2) + "\n")
        pytest.skip("written")
    assert found == golden[subject.name]
