"""The native vector envs as vector envs of stable-baselines3 (the extra `train`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from veilgym.envs.core.seeding import check_seed, spread_seed

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    needed = "NativeVecEnv needs stable_baselines3, which the extra train installs: pip install 'veilgym[train]'"
    raise ModuleNotFoundError(needed, name=error.name) from None

Observations = Any


class NativeVecEnv(VecEnv):
    """A `VecEnv` whose envs are stepped all at once: equal, step for step, to `DummyVecEnv` of the scalar envs.

    Spaces and rewards are those of the vector env; autoreset, `terminal_observation`, `TimeLimit.truncated` and
    `env_method("action_masks")` are as stable-baselines3 and sb3-contrib expect them.

    | | before | after |
    |---|---|---|
    | class | `gymnasium.vector.VectorEnv` | `stable_baselines3.common.vec_env.VecEnv` |
    | `step` | five values, infos as arrays | four values, infos as a list of dictionaries |

    `seed(s)` spreads `s` over the envs as `reset(seed=s)` of the vector env does, for the next `reset`.

    Args:
        envs: A native vector env, wrapped or not, with autoreset mode "SameStep".

    Raises:
        ValueError: the autoreset mode is another.

    Example:
        >>> import gymnasium as gym
        >>> import numpy as np
        >>> import veilgym
        >>> from veilgym.wrappers.stable_baselines import NativeVecEnv
        >>> envs = NativeVecEnv(gym.make_vec("HiddenSystem-v0", num_envs=4))
        >>> seeds = envs.seed(0)
        >>> envs.reset()["present"].shape
        (4, 40)
        >>> observations, rewards, dones, infos = envs.step(np.zeros(4, np.int64))
        >>> dones.tolist(), infos[0]["TimeLimit.truncated"], infos[0]["terminal_observation"]["present"].shape
        ([True, True, True, True], False, (40,))
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f"envs must have autoreset_mode 'SameStep', got {getattr(mode, 'value', mode)!r}")
        self.envs = envs
        self._actions: Any = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The seeds that the next `reset` gives to the envs."""
        self._seeds = [None] * self.num_envs if seed is None else list(spread_seed(check_seed(seed), self.num_envs))
        return self._seeds

    def reset(self) -> Observations:
        """Begin the next episode of every env."""
        observations, infos = self.envs.reset(seed=list(self._seeds))  # type: ignore[arg-type]
        self.reset_infos = _split(infos, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Observations, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all envs; those that are done begin their next episode."""
        observations, rewards, terminated, truncated, batched = self.envs.step(self._actions)
        infos = _split(batched, self.num_envs)
        dones = terminated | truncated
        for info, is_cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            info["TimeLimit.truncated"] = is_cut
        if dones.any():
            self._finish(infos, dones, truncated & ~terminated, batched)
        return observations, rewards.astype(np.float32), dones, infos

    def _finish(
        self, infos: list[dict[str, Any]], dones: NDArray[np.bool_], cut: NDArray[np.bool_], batched: dict[str, Any]
    ) -> None:
        """Give the envs that are done the infos of their last step; those of the new episode go to `reset_infos`."""
        last = _split(batched["final_info"], self.num_envs)
        for i in np.flatnonzero(dones).tolist():
            del infos[i]["TimeLimit.truncated"]
            self.reset_infos[i] = infos[i]
            infos[i] = {
                **last[i],
                "TimeLimit.truncated": bool(cut[i]),
                "terminal_observation": batched["final_obs"][i],
            }

    def close(self) -> None:
        """Close the vector env."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of the vector env, once for each index; an `AttributeError` if it has none of that name."""
        value = self._attribute(attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the envs share their attributes."""
        raise NotImplementedError(f"{attr_name} cannot be set: the envs of a native vector env share their attributes")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """The results of `action_masks` or `render`, one for each index."""
        if method_name not in ("action_masks", "render"):
            raise AttributeError(f"env_method must be 'action_masks' or 'render', got {method_name!r}")
        results = self._attribute(method_name)(*method_args, **method_kwargs)
        return [None if results is None else results[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        """Never: there are no scalar envs."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of each env, if the render mode is "rgb_array"."""
        return self.env_method("render")

    def _attribute(self, name: str) -> Any:
        return getattr(self.envs if hasattr(self.envs, name) else self.envs.unwrapped, name)


def _split(infos: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """A dictionary for each env of what it has in the infos of a vector env, what is final left out."""
    keys = [key for key in infos if not key.startswith("_") and key not in ("final_obs", "final_info")]
    columns = [_column(infos[key]) for key in keys]
    if all(infos[f"_{key}"].all() for key in keys):
        return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)] or [{} for _ in range(count)]
    given = [infos[f"_{key}"].tolist() for key in keys]
    return [
        {key: column[i] for key, column, mask in zip(keys, columns, given, strict=True) if mask[i]}
        for i in range(count)
    ]


def _column(values: NDArray[Any]) -> list[Any]:
    """Plain Python values of a vector, rows of a matrix."""
    return values.tolist() if values.ndim == 1 else list(values)
