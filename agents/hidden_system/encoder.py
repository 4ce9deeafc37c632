"""A torch network that reads the support cases of a hidden system as a set of rows; needs the extra `train`.

Letters: B instances, C support cases of up to W events, n events of the query, M attributes.
"""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

_HELD, _RATE = 0, 1  # columns of a case's row, before those of its attributes
_PAIR, _REVERSED, _TRIPLE = range(3)
_STATS = 5  # numbers that describe the cases of a cell as a whole
_EFFECTS = 3  # numbers that describe what an event changes
_SHARPNESS = 12.0  # at first, of the attention to attributes
_FEWEST = 0.01  # the lowest rate of which a logarithm is taken


class SystemEncoder(BaseFeaturesExtractor):
    """Features of an observation of `HiddenSystem-v0` that depend on no name: not of an event, a level or an attribute.

    An event is known by its place in the query, a level by whether the query has it too. The cases are pooled into
    cells: for each two places, the cases of these two events in the query's order, in the other order, and those of
    these two and another. A cell holds the mean rate of its cases, and for each attribute by how much the rate is
    higher where a case has the query's level. Each event pays attention to the attributes by how much they change the
    rate of its cell with the carrier, the event that occurs most often; what it does at the query's level follows. One
    small network reads each event, another each pair of events; both are averaged, so no order but the query's counts.

    Args:
        observation_space: That of the env.
        features_dim: How many features come out.
        width: Width of the hidden layers.
    """

    def __init__(self, observation_space: spaces.Dict, features_dim: int = 64, width: int = 32) -> None:
        super().__init__(observation_space, features_dim)
        size = {key: int(space.shape[0]) for key, space in observation_space.spaces.items() if space.shape}
        self.places, self.attributes, self.cases = size["query_events"], size["query_attributes"], size["trials"]
        self.first: Tensor
        self.second: Tensor
        rows = torch.triu_indices(self.places, self.places, 1)
        self.register_buffer("first", rows[0], persistent=False)
        self.register_buffer("second", rows[1], persistent=False)
        self.sharpness = nn.Parameter(torch.tensor(_SHARPNESS))
        inputs = 3 * _STATS + _EFFECTS + 3
        self.event = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        inputs = 2 * (width + _EFFECTS) + 2 * _EFFECTS + 3 * _STATS + 2
        self.pair = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        inputs = 2 * width + 2 * _EFFECTS + 2
        self.head = nn.Sequential(
            nn.Linear(inputs, features_dim), nn.ReLU(), nn.Linear(features_dim, features_dim), nn.ReLU()
        )

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """(B, features_dim) features."""
        with torch.no_grad():
            stats, splits, carrier, base = self._cells(observations)
        events, effects, attention = self._read_events(stats, splits, carrier, base)
        pairs, interplay = self._read_pairs(stats, splits, base, torch.cat([events, effects], dim=2), attention)
        order = 2.0 * observations["options"].view(len(base), -1)[:, -1:].float() - 1.0
        pooled = [events.mean(dim=1), effects.sum(dim=1), pairs.mean(dim=1), interplay.sum(dim=1) / self.places]
        features: Tensor = self.head(torch.cat([*pooled, base[:, None], order], dim=1))
        return features

    def _read_events(
        self, stats: Tensor, splits: Tensor, carrier: Tensor, base: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """For each event, features (B, n, width), its effect at the query's levels, and its attention (B, n, M)."""
        rows, places = torch.arange(len(base), device=base.device)[:, None], torch.arange(self.places)[None]
        # The cell of a pair is stored at (earlier place, later place).
        near, far = torch.minimum(carrier[:, None], places), torch.maximum(carrier[:, None], places)
        change, at_level = splits[rows, _PAIR, near, far][..., :2].unbind(dim=3)
        attention = torch.softmax(self.sharpness * change.abs(), dim=2)
        rate = (attention * at_level).sum(dim=2)
        is_carrier = (places == carrier[:, None]).float()
        effects = _effects(rate, base[:, None]) * (1.0 - is_carrier)[..., None]
        columns = [
            stats[rows, _PAIR, near, far],
            stats[rows, _REVERSED, near, far],
            stats[:, _PAIR, places[0], places[0]],
            effects,
            (attention * change).sum(dim=2)[..., None],
            is_carrier[..., None],
            base[:, None, None].expand(-1, self.places, -1),
        ]
        return self.event(torch.cat(columns, dim=2)), effects, attention

    def _read_pairs(
        self, stats: Tensor, splits: Tensor, base: Tensor, events: Tensor, attention: Tensor
    ) -> tuple[Tensor, Tensor]:
        """For each pair, features (B, P, width), and how its triples differ from the carrier at either's level."""
        first, second = self.first, self.second
        at_level = splits[:, _TRIPLE, first, second][..., 1]
        held = stats[:, _TRIPLE, first, second][..., :1]
        interplay = [
            _effects((attention[:, place] * at_level).sum(dim=2), base[:, None]) * held for place in (first, second)
        ]
        whole = stats[:, :, first, second].permute(0, 2, 1, 3).flatten(2)
        overlap = (attention[:, first] * attention[:, second]).sum(dim=2)[..., None]
        columns = [
            events[:, first],
            events[:, second],
            *interplay,
            whole,
            overlap,
            base[:, None, None].expand(-1, len(first), -1),
        ]
        return self.pair(torch.cat(columns, dim=2)), interplay[0]

    def _cells(self, observations: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The pooled cases.

        Returns:
            stats (B, 3, n, n, 5) and splits (B, 3, n, n, M, 3) of the pairs in order, reversed and within
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
        logs = torch.log(mean.clamp(min=_FEWEST)), torch.log((1.0 - mean).clamp(min=_FEWEST))
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


def _effects(rate: Tensor, base: Tensor) -> Tensor:
    """(..., 3): by how much a rate differs from `base`, and by how much the logarithms of both and their rests do."""
    logs = [
        torch.log(value.clamp(min=_FEWEST)) - torch.log(known.clamp(min=_FEWEST))
        for value, known in ((rate, base), (1.0 - rate, 1.0 - base))
    ]
    return torch.stack([rate - base, *logs], dim=-1)
