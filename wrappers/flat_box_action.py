"""Circuits for agents that learn everything at once, with actions in one flat Box."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.payload import Observation
from veilgym.envs.causal_circuits.task import Task
from veilgym.wrappers.discrete_experiments import circuit_task


class FlatBoxAction(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Experiments and prediction in one vector of numbers, for SAC, TD3 and PPO.

    The observation space is that of the env.

    | | before | after |
    |---|---|---|
    | action | `Dict(choice=Discrete(13), prediction=Box(-1, 1, (8, 2)))` | `Box(-1, 1, (29,), float32)` |

    The first 13 numbers are preferences: the accepted choice of the highest one is made, the lowest index among equals.
    The other 16 are the prediction, row by row.

    Args:
        env: `CausalCircuits-v0`.

    Raises:
        ValueError: the env is another.

    Example:
        >>> import gymnasium as gym
        >>> import numpy as np
        >>> import veilgym
        >>> from veilgym.wrappers.flat_box_action import FlatBoxAction
        >>> env = FlatBoxAction(gym.make("CausalCircuits-v0"))
        >>> env.action_space
        Box(-1.0, 1.0, (29,), float32)
        >>> observation, info = env.reset(seed=0)
        >>> action = np.zeros(29, np.float32)
        >>> action[3] = 1.0  # the experiment of index 3
        >>> int(env.step(action)[0]["replicates"][1 + 3])
        1
    """

    def __init__(self, env: gym.Env[Observation, dict[str, Any]]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._task = circuit_task(env)
        self.action_space = flat_box(self._task)

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Make the preferred choice; see the class docstring."""
        masks = self.get_wrapper_attr("action_masks")()
        actions = read_flat(np.asarray(action)[None], masks[None], self._task)
        return self.env.step({key: value[0] for key, value in actions.items()})


class VectorFlatBoxAction(VectorWrapper[Any, Any, Any, Any, Any]):
    """`FlatBoxAction` of a native vector env: equal to it element by element.

    Args:
        envs: A vector env of `CausalCircuits-v0`.

    Example:
        >>> import gymnasium as gym
        >>> import veilgym
        >>> from veilgym.wrappers.flat_box_action import VectorFlatBoxAction
        >>> envs = VectorFlatBoxAction(gym.make_vec("CausalCircuits-v0", num_envs=4, autoreset_mode="SameStep"))
        >>> envs.action_space.shape
        (4, 29)
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(envs)
        self._task = circuit_task(envs)
        self.single_action_space = flat_box(self._task)
        self.action_space = batch_space(self.single_action_space, envs.num_envs)

    def step(self, actions: NDArray[np.float32]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Make the preferred choice in each env (B, 29)."""
        return self.env.step(read_flat(np.asarray(actions), self.action_masks(), self._task))

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, 13) bool, true where a choice would be accepted."""
        masks: NDArray[np.bool_] = self.unwrapped.action_masks()  # type: ignore[attr-defined]
        return masks


def flat_box(task: Task) -> gym.spaces.Box:
    """The space of preferences and prediction, (E + 1 + Q O,)."""
    return gym.spaces.Box(-1.0, 1.0, (task.submit + 1 + int(np.prod(task.prediction_shape)),), np.float32)


def read_flat(actions: NDArray[Any], masks: NDArray[np.bool_], task: Task) -> dict[str, NDArray[Any]]:
    """The native actions that B flat ones stand for.

    Args:
        actions: (B, E + 1 + Q O).
        masks: (B, E + 1) bool, what would be accepted.
    """
    preferences, prediction = np.split(actions, [task.submit + 1], axis=1)
    choice = np.where(masks, preferences, -np.inf).argmax(axis=1)
    return {"choice": choice, "prediction": prediction.reshape(-1, *task.prediction_shape).astype(np.float64)}
