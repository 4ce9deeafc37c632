"""A torch network that reads the record of a circuit; needs the extra `train`.

Letters: B episodes, R measured queries, J replicates, O outputs.
"""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

_REACH = 0.995  # of a mean readout before its inverse tanh is taken


class CircuitEncoder(BaseFeaturesExtractor):
    """Features of an observation of `CausalCircuits-v0`.

    Replicates are averaged: their mean and their number are all that they tell. A mean readout m comes as m and as
    atanh(m), which is linear in the hidden coefficients of its node.

    Args:
        observation_space: That of the env.
        features_dim: How many features come out.
    """

    def __init__(self, observation_space: spaces.Dict, features_dim: int = 128) -> None:
        super().__init__(observation_space, features_dim)
        boxes = {key: box for key, box in observation_space.spaces.items() if isinstance(box, spaces.Box)}
        self.rows = boxes["replicates"].shape[0]
        self.replicates, self.budget = float(boxes["replicates"].high.max()), float(boxes["credits"].high.max())
        self.outputs = boxes["readouts"].shape[0] // (self.rows * int(self.replicates))
        inputs = self.rows * (2 * self.outputs + 2) + 1
        self.body = nn.Sequential(
            nn.Linear(inputs, features_dim), nn.ReLU(), nn.Linear(features_dim, features_dim), nn.ReLU()
        )

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """(B, features_dim) features."""
        features: Tensor = self.body(record_features(observations, self.outputs, self.replicates, self.budget))
        return features


def record_features(observations: dict[str, Tensor], outputs: int, replicates: float, budget: float) -> Tensor:
    """(B, R (2 O + 2) + 1): mean readouts, their inverse tanh, how often and whether each row was measured, credits."""
    counts = observations["replicates"].float()
    batch, rows = counts.shape
    readouts = observations["readouts"].float().view(batch, rows, -1, outputs)
    means = readouts.sum(dim=2) / counts.clamp(min=1.0)[..., None]
    columns = [
        means.flatten(1),
        torch.atanh(means.clamp(-_REACH, _REACH)).flatten(1),
        counts / replicates,
        (counts > 0).float(),
        observations["credits"].float().view(batch, 1) / budget,
    ]
    return torch.cat(columns, dim=1)
