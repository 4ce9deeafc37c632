"""A torch network that reads the events of a world as a graph; needs the extra `train`.

Letters: B worlds, T rows of events, N symbols, E edges in all worlds, S states.
"""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from veilgym.envs.dynamic_world.grammar import EVENT_FORMS
from veilgym.envs.dynamic_world.simulation import EVENT_COLUMNS

_RELATED = tuple(index for index, form in enumerate(EVENT_FORMS) if form.relation is not None)


class WorldEncoder(BaseFeaturesExtractor):
    """Features of an observation of `DynamicWorld-v0`: what reaches one argument of the query from the other.

    Every event that relates two symbols is an edge, to be followed in either direction. A mark starts at the query's
    first argument, in S states, and moves in rounds along the edges; which relations and directions a state follows,
    and which states it passes into, is learned. So the network can learn a rule of inference as a path, but is told
    none. Symbols have no names: worlds that differ in them alone look the same.

    Args:
        observation_space: That of the env.
        rounds: How many edges the mark follows, at least the number of events in a proof.
        states: S.
        features_dim: How many features come out.
    """

    def __init__(
        self, observation_space: spaces.Dict, rounds: int = 8, states: int = 16, features_dim: int = 64
    ) -> None:
        super().__init__(observation_space, features_dim)
        shape = observation_space["entity_types"].shape
        self.symbols, self.rounds, self.states = int(shape[0]) if shape else 0, rounds, states
        self.number: Tensor
        number = torch.full((len(EVENT_FORMS),), -1)
        number[list(_RELATED)] = torch.arange(len(_RELATED))
        self.register_buffer("number", number, persistent=False)
        self.start = nn.Parameter(torch.rand(2, states))
        self.follow = nn.Parameter(torch.randn(2 * len(_RELATED), states))
        self.passing = nn.Parameter(0.3 * torch.randn(states, states))
        self.head = nn.Sequential(nn.Linear(rounds * states + 1, features_dim), nn.ReLU())

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """(B, features_dim) features."""
        query = observations["query"].long()
        batch = len(query)
        with torch.no_grad():
            source, target, kind = self._edges(observations)
            offset = torch.arange(batch, device=query.device) * self.symbols
        family = query[:, 0]
        marks = torch.zeros(batch * self.symbols, self.states, device=query.device)
        marks = marks.index_add(0, offset + query[:, 1], torch.sigmoid(self.start).index_select(0, family))
        strength = torch.sigmoid(self.follow).index_select(0, kind)
        passing = torch.relu(self.passing)
        seen = []
        for _ in range(self.rounds):
            moved = torch.zeros_like(marks).index_add(0, target, marks.index_select(0, source) * strength)
            marks = torch.tanh(moved + moved @ passing)
            seen.append(marks.index_select(0, offset + query[:, 2]))
        features: Tensor = self.head(torch.cat([*seen, family[:, None].float()], dim=1))
        return features

    def _edges(self, observations: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Where each edge starts and ends, (E,) symbols numbered through all worlds, and its relation and direction."""
        batch = len(observations["query"])
        events = observations["events"].view(batch, -1, EVENT_COLUMNS).long()
        rows = torch.arange(events.shape[1], device=events.device)[None]
        is_event = (rows < observations["event_count"].view(batch, 1)) & (
            events[:, :, 0] <= observations["query"].view(batch, 4)[:, 3:].long()
        )
        number = self.number[events[:, :, 1]]
        world, row = torch.nonzero(is_event & (number >= 0), as_tuple=True)
        one, other = (world * self.symbols + events[world, row, 2 + side] for side in (0, 1))
        kind = number[world, row]
        return torch.cat([one, other]), torch.cat([other, one]), torch.cat([kind, kind + len(_RELATED)])
