"""The observation as a problem in natural language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from veilgym.envs.core.family import load_family
from veilgym.envs.core.prose import check_skin
from veilgym.registry import ENTRIES, Entry
from veilgym.wrappers.text_space import PRINTABLE, PromptSpace


@dataclass(frozen=True)
class Telling:
    """How the observations of a family's envs are told.

    Attributes:
        tell: `tell(env, observation, skin)` is the text.
        longest: The most characters that a text of `env` has.
        characters: Those that a text of `env` may have.
    """

    tell: Callable[[Any, Any, str], str]
    longest: Callable[[Any], int]
    characters: Callable[[Any], frozenset[str]] = lambda env: PRINTABLE


class TextObservation(gym.ObservationWrapper[str, Any, Any], RecordConstructorArgs):
    """Shows the text of a problem in place of its arrays: the observation alone says all there is to know.

    For circuits it is the whole prompt with the readings and credits so far; see `veilgym.wrappers.text_action` for
    what a turn brings.

    Args:
        env: An env of this package, wrapped or not, whose observation is still its own.
        skin: The surface in which it is told; the family's first one if None.

    Raises:
        ValueError: `env` is none of this package, or has no such skin.
    """

    def __init__(self, env: gym.Env[Any, Any], skin: str | None = None) -> None:
        RecordConstructorArgs.__init__(self, skin=skin)
        gym.ObservationWrapper.__init__(self, env)
        family = entry_of_env(env).family
        skins = load_family(family).skins
        self.skin = skins[0] if skin is None else check_skin(skin, skins)
        self._telling = _TELLINGS[family]
        longest, characters = self._telling.longest(env.unwrapped), self._telling.characters(env.unwrapped)
        self.observation_space = PromptSpace(longest, characters)

    def observation(self, observation: Any) -> str:
        """The text of an observation."""
        return self._telling.tell(self.env.unwrapped, observation, self.skin)


def entry_of_env(env: gym.Env[Any, Any]) -> Entry:
    """The registry's entry of an env; a `ValueError` says which ids there are."""
    kind = type(env.unwrapped)
    for entry in ENTRIES:
        if entry.entry_point == f"{kind.__module__}:{kind.__qualname__}":
            return entry
    raise ValueError(f"env must be one of {', '.join(entry.id for entry in ENTRIES)}, got {env}")


def _tell_circuit(env: Any, observation: Any, skin: str) -> str:
    from veilgym.envs.causal_circuits.prose import render
    from veilgym.envs.causal_circuits.records import payload_of

    return render(payload_of(observation, env.task), skin, is_interactive=True).text


def _longest_of_circuit(env: Any) -> int:
    task = env.task
    names = max(len(experiment.id) for experiment in task.experiments)
    line = 6 * names + 32 + sum(len(node) + 20 for node in task.outputs)  # a character in JSON has up to six
    return int(len(_blank_circuit(env)) + (len(task.initial_queries) + task.longest_episode) * line)


def _blank_circuit(env: Any) -> str:
    """The text of an episode whose readings are all 0."""
    observation = {key: np.zeros(space.shape, space.dtype) for key, space in env.observation_space.spaces.items()}
    observation["replicates"][: len(env.task.initial_queries)] = 1
    observation["credits"][0] = env.task.budget
    return _tell_circuit(env, observation, "plain")


def _tell_system(env: Any, observation: Any, skin: str) -> str:
    from veilgym.envs.hidden_system.payload import decode
    from veilgym.envs.hidden_system.prose import render

    return render(decode(observation, env.layout), skin).text


def _tell_world(env: Any, observation: Any, skin: str) -> str:
    from veilgym.envs.dynamic_world.observation import decode
    from veilgym.envs.dynamic_world.prose import render

    return render(decode(observation, env.task), skin).text


# A case takes up to about 60 characters for each event and attribute, an event of a world up to 200, a name up to 60.
_TELLINGS = {
    "causal-circuits": Telling(_tell_circuit, _longest_of_circuit, lambda env: PRINTABLE | set(_blank_circuit(env))),
    "hidden-system": Telling(
        _tell_system,
        lambda env: (
            8000
            + 100 * env.layout.cases * (env.layout.width + len(env.layout.attributes) + 2)
            + 100 * (env.layout.query_width + len(env.layout.events) + len(env.layout.attributes) * env.layout.levels)
        ),
    ),
    "dynamic-world": Telling(
        _tell_world, lambda env: 8000 + 300 * env.task.simulation_steps + 200 * env.task.allocation.total
    ),
}
