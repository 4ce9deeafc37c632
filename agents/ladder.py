"""The ladder of an id: its agents from chance to the ideal observer, and the two ends of its scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from veilgym.agents.agent import Agent, Batch
from veilgym.registry import entry_of


@dataclass(frozen=True)
class Ladder:
    """Agents for one id.

    Attributes:
        agents: Weakest first.
        floor: Name of the agent that uses no evidence; its score is 0 on the normalised scale.
        ideal: Name of the ideal observer; its score is 1 on the normalised scale.
        floor_score: The floor's expected score where it is known exactly, so that the scale does not hang on its luck.
        infer: For ids with experiments, the ideal observer's final action on data that another agent has gathered.
    """

    agents: tuple[Agent, ...]
    floor: str
    ideal: str
    infer: Callable[[Batch], Batch] | None = None
    floor_score: float | None = None

    def __iter__(self) -> Iterator[Agent]:
        """The agents, weakest first."""
        return iter(self.agents)

    def __getitem__(self, name: str) -> Agent:
        """The agent called `name`; a ValueError lists the names there are."""
        for agent in self.agents:
            if agent.name == name:
                return agent
        raise ValueError(f"agent must be one of {', '.join(repr(agent.name) for agent in self.agents)}, got {name!r}")


def load_ladder(env_id: str, **kwargs: Any) -> Ladder:
    """The ladder of a registered id.

    Args:
        env_id: An id of `veilgym.registry.ENTRIES`, with or without "veilgym:" before it.
        **kwargs: What `gymnasium.make` would be given, `task` for instance.

    Raises:
        ValueError: the id is unknown, or an argument is wrong.
    """
    entry = entry_of(env_id)
    for name, allowed in (("reward", ("accuracy", None)), ("skeletons", (None,))):
        if kwargs.get(name) not in allowed:
            raise ValueError(f"the ladder of {entry.id} needs {name} to be {allowed[0]!r}, got {kwargs[name]!r}")
    env = gym.make(entry.id, **kwargs).unwrapped
    create = cast("Callable[[Any], Ladder]", load_env_creator(entry.ladder))
    return create(env.task)  # type: ignore[attr-defined]
