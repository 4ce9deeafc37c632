"""A torch network that reads the support cases of a hidden system as a set of rows; needs the extra `train`.

Letters: B instances, C support cases of up to W events, n events of the query, M attributes.
"""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

_HELD, _RATE = 0, 1  # columns of a case's row, before those of its attributes
_PAIR, _REVERSED, _TRIPLE = range(3)
_STATS = 5  # numbers that describe the cases of a cell as a whole
_SPLITS = 3  # numbers that describe how they depend on one attribute


class SystemEncoder(BaseFeaturesExtractor):
    """Features of an observation of `HiddenSystem-v0` that depend on no name: not of an event, a level or an attribute.

    An event is known by its place in the query, a level by whether the query has it too. The cases are pooled into
    cells: for each two places, the cases of these two events in the query's order, in the other order, and those of
    these two and another. A cell holds the mean rate of its cases, and for each attribute by how much the rate is
    higher where a case has the query's level. A small network reads each event from its cells with the event that
    occurs most often; another reads each pair of events from these and from their own cells; attributes, events and
    pairs are summed, so their order does not matter.

    Args:
        observation_space: That of the env.
        features_dim: How many features come out.
        width: Width of the hidden layers.
    """

    def __init__(self, observation_space: spaces.Dict, features_dim: int = 128, width: int = 32) -> None:
        super().__init__(observation_space, features_dim)
        size = {key: int(space.shape[0]) for key, space in observation_space.spaces.items() if space.shape}
        self.places, self.attributes, self.cases = size["query_events"], size["query_attributes"], size["trials"]
        self.first: Tensor
        self.second: Tensor
        rows = torch.triu_indices(self.places, self.places, 1)
        self.register_buffer("first", rows[0], persistent=False)
        self.register_buffer("second", rows[1], persistent=False)
        self.split = nn.Sequential(nn.Linear(3 * _SPLITS + 2 * _STATS + 2, width), nn.ReLU(), nn.Linear(width, width))
        self.event = nn.Sequential(nn.Linear(width + 3 * _STATS + 2, width), nn.ReLU(), nn.Linear(width, width))
        self.of_first, self.of_second = nn.Linear(width, width), nn.Linear(width, width)
        self.of_split = nn.Linear(3 * _SPLITS, width)
        self.pair_in = nn.Linear(3 * _STATS + 1, width)
        self.event_in = nn.ModuleList([nn.Linear(width, width), nn.Linear(width, width)])
        self.pair = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
        self.head = nn.Sequential(nn.Linear(2 * width + 2, features_dim), nn.ReLU())

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """(B, features_dim) features."""
        with torch.no_grad():
            stats, splits, carrier, base = self._cells(observations)
        batch, first, second = len(base), self.first, self.second
        rows = torch.arange(batch, device=base.device)[:, None]
        places = torch.arange(self.places, device=base.device)[None]
        # Each event beside the carrier; the cell of a pair is stored at (earlier place, later place).
        near, far = torch.minimum(carrier[:, None], places), torch.maximum(carrier[:, None], places)
        alone = stats[:, _PAIR, places[0], places[0]]
        with_carrier = torch.cat([stats[rows, _PAIR, near, far], stats[rows, _REVERSED, near, far]], dim=2)
        is_carrier = (places == carrier[:, None]).float()[..., None]
        rate = base[:, None, None].expand(-1, self.places, -1)
        by_level = torch.cat([splits[rows, kind, near, far] for kind in (_PAIR, _REVERSED, _TRIPLE)], dim=3)
        context = torch.cat([with_carrier, is_carrier, rate], dim=2)
        context = context[:, :, None].expand(-1, -1, self.attributes, -1)
        levels = self.split(torch.cat([by_level, context], dim=3))  # (B, n, M, width)
        events = self.event(torch.cat([levels.sum(dim=2), with_carrier, alone, is_carrier, rate], dim=2))
        # Each pair of events: additive first layers, so the products are with n rows and not with n squared.
        cells = splits[:, :, first, second].permute(0, 2, 3, 1, 4).flatten(3)
        hidden = self.of_first(levels)[:, first] + self.of_second(levels)[:, second] + self.of_split(cells)
        hidden = torch.relu(hidden).sum(dim=2)
        whole = stats[:, :, first, second].permute(0, 2, 1, 3).flatten(2)
        whole = self.pair_in(torch.cat([whole, base[:, None, None].expand(-1, len(first), -1)], dim=2))
        whole = torch.relu(whole + self.event_in[0](events)[:, first] + self.event_in[1](events)[:, second])
        pairs = self.pair(torch.cat([hidden, whole], dim=2))
        order = 2.0 * observations["options"].view(batch, -1)[:, -1:] - 1.0
        features: Tensor = self.head(torch.cat([events.sum(dim=1), pairs.sum(dim=1), base[:, None], order], dim=1))
        return features

    def _cells(self, observations: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The pooled cases.

        Returns:
            stats (B, 3, n, n, _STATS) and splits (B, 3, n, n, M, _SPLITS) of the pairs in order, reversed and within
            triples, where the diagonal holds the single events; the place of the carrier, the event with most cases
            (B,), and its rate alone (B,).
        """
        n, m = self.places, self.attributes
        places, row = self._rows(observations)
        batch, size = len(row), (places < n).sum(dim=2)
        sums = row.new_zeros(batch, 2 * (n + 1) ** 2, row.shape[2])
        for i, j in ((0, 1), (0, 2), (1, 2)) if places.shape[2] > 2 else ((0, 1),):
            one, other = places[:, :, i], places[:, :, j]
            other = torch.where((size == 1) & (j == 1), one, other)
            index = (size == 3) * (n + 1) ** 2 + one * (n + 1) + other
            sums.scatter_add_(1, index[..., None].expand_as(row), row)
        sums = sums.view(batch, 2, n + 1, n + 1, -1)[:, :, :n, :n]
        sums = torch.stack([sums[:, 0], sums[:, 0].transpose(1, 2), sums[:, 1]], dim=1)
        held, total = sums[..., _HELD], sums[..., _RATE]
        agreeing, rated = sums[..., 2 : 2 + m], sums[..., 2 + m :]
        apart = held[..., None] - agreeing
        with_level = rated / agreeing.clamp(min=1.0)
        without = (total[..., None] - rated) / apart.clamp(min=1.0)
        both = (agreeing > 0) & (apart > 0)
        mean = total / held.clamp(min=1.0)
        splits = torch.stack([(with_level - without) * both, with_level, agreeing - apart], dim=-1)
        busiest = (held[:, _PAIR].sum(dim=1) + held[:, _PAIR].sum(dim=2)).argmax(dim=1)
        base = mean[torch.arange(batch), _PAIR, busiest, busiest]
        is_held = (held > 0).float()
        ratio = mean - base[:, None, None, None]
        logs = torch.log(mean.clamp(min=0.01)), torch.log((1.0 - mean).clamp(min=0.01))
        stats = torch.stack([is_held, mean * is_held, ratio * is_held, logs[0] * is_held, logs[1] * is_held], dim=-1)
        return stats, splits, busiest, base

    def _rows(self, observations: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """The places of each case's events (B, C, W), n for none, and its row (B, C, 2 + 2 M)."""
        n, cases = self.places, self.cases
        batch = len(observations["trials"])
        events = observations["events"].long().view(batch, cases, -1)
        place = torch.full((batch, n + 1), n, device=events.device)
        place.scatter_(1, observations["query_events"].long(), torch.arange(n, device=events.device).expand(batch, -1))
        places = place.gather(1, events.flatten(1)).view_as(events)
        trials = observations["trials"].float()
        held = (trials > 0).float()
        rate = observations["present"].float() / trials.clamp(min=1.0)
        levels = observations["attributes"].view(batch, cases, -1)
        agrees = (levels == observations["query_attributes"][:, None]).float() * held[..., None]
        return places, torch.cat([held[..., None], rate[..., None], agrees, agrees * rate[..., None]], dim=2)


def system_policy(observation_space: Any) -> dict[str, Any]:
    """`policy_kwargs` of stable-baselines3 for the env."""
    return {"features_extractor_class": SystemEncoder, "net_arch": [64]}
