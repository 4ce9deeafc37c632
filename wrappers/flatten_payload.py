"""Observations as one flat, scaled Box, for consumers that take nothing else."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

Flat = NDArray[np.float32]


class FlattenPayload(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """All arrays of an observation in one vector of numbers in [-1, 1], for CleanRL and RLlib.

    The action space is that of the env.

    | | before | after |
    |---|---|---|
    | observation of `HiddenSystem-v0`, short | `Dict` of 8 integer arrays | `Box(-1, 1, (377,), float32)` |
    | observation of `CausalCircuits-v0` | `Dict` of 3 arrays | `Box(-1, 1, (66,), float32)` |

    The keys follow each other in the order of the `Dict` space, and every number is divided by the greatest absolute
    value that its place may have, so nothing is lost.

    Args:
        env: Its observation space is a `Dict` of bounded `Box`es.

    Raises:
        ValueError: it is not.

    Example:
        >>> import gymnasium as gym
        >>> import veilgym
        >>> from veilgym.wrappers.flatten_payload import FlattenPayload
        >>> env = FlattenPayload(gym.make("HiddenSystem-v0", length="short"))
        >>> env.observation_space
        Box(-1.0, 1.0, (377,), float32)
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, env.observation_space.contains(observation)
        ((377,), True)
    """

    def __init__(self, env: gym.Env[dict[str, NDArray[Any]], Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self._scales = scales_of(env.observation_space)
        self.observation_space = flat_space(self._scales)

    def observation(self, observation: dict[str, NDArray[Any]]) -> Flat:
        """(P,) the flat form of an observation."""
        flat: Flat = flatten({key: value[None] for key, value in observation.items()}, self._scales)[0]
        return flat


class VectorFlattenPayload(VectorWrapper[Any, Any, Any, Any, Any]):
    """`FlattenPayload` of a vector env: equal to it element by element, `final_obs` included.

    Args:
        envs: A vector env.

    Example:
        >>> import gymnasium as gym
        >>> import veilgym
        >>> from veilgym.wrappers.flatten_payload import VectorFlattenPayload
        >>> envs = VectorFlattenPayload(gym.make_vec("HiddenSystem-v0", num_envs=4))
        >>> envs.reset(seed=0)[0].shape
        (4, 377)
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(envs)
        self._scales = scales_of(envs.single_observation_space)
        self.single_observation_space = flat_space(self._scales)
        self.observation_space = batch_space(self.single_observation_space, envs.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Flat, dict[str, Any]]:
        """As the vector env's, flat."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return flatten(observations, self._scales), infos

    def step(self, actions: Any) -> tuple[Flat, Any, Any, Any, dict[str, Any]]:
        """As the vector env's, flat."""
        observations, reward, terminated, truncated, infos = self.env.step(actions)
        if "final_obs" in infos:
            infos = {**infos, "final_obs": self._flatten_final(infos["final_obs"], infos["_final_obs"])}
        return flatten(observations, self._scales), reward, terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, A) bool, true where an action would be accepted."""
        masks: NDArray[np.bool_] = self.unwrapped.action_masks()  # type: ignore[attr-defined]
        return masks

    def _flatten_final(self, final: NDArray[np.object_], where: NDArray[np.bool_]) -> NDArray[np.object_]:
        ended = np.flatnonzero(where)
        batch = {key: np.stack([final[i][key] for i in ended]) for key in self._scales}
        out = np.full(len(final), None, object)
        for i, row in zip(ended, flatten(batch, self._scales), strict=True):
            out[i] = row
        return out


def scales_of(space: gym.Space[Any]) -> dict[str, Flat]:
    """For each key of a `Dict` of bounded `Box`es, the greatest absolute value in each of its places, 1 at least."""
    boxes = space.spaces if isinstance(space, gym.spaces.Dict) else {}
    if not boxes or not all(isinstance(box, gym.spaces.Box) and box.is_bounded() for box in boxes.values()):
        raise ValueError(f"env must have observations in a Dict of bounded Boxes, got {space!r}")
    return {
        key: np.maximum(1.0, np.maximum(np.abs(box.low.ravel()), np.abs(box.high.ravel()))).astype(np.float32)  # type: ignore[attr-defined]
        for key, box in boxes.items()
    }


def flat_space(scales: dict[str, Flat]) -> gym.spaces.Box:
    """The space of the flat form."""
    return gym.spaces.Box(-1.0, 1.0, (sum(map(len, scales.values())),), np.float32)


def flatten(observations: dict[str, NDArray[Any]], scales: dict[str, Flat]) -> Flat:
    """(B, P) float32, the scaled arrays of B observations one after another."""
    batch = len(next(iter(observations.values())))
    parts = [observations[key].reshape(batch, -1).astype(np.float32) / scale for key, scale in scales.items()]
    return np.concatenate(parts, axis=1)
