"""Circuits for agents that learn which experiments to run and leave the inference to an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from veilgym.agents.causal_circuits.prediction import Predictor
from veilgym.envs.causal_circuits.payload import Observation
from veilgym.envs.causal_circuits.task import Task

EstimatorName = Literal["mode", "mean", "best"]
ESTIMATORS: tuple[str, ...] = get_args(EstimatorName)

Estimator = Callable[[dict[str, NDArray[Any]]], NDArray[np.float64]]
"""From observations batched over B episodes to predictions (B, Q, O)."""


class DiscreteExperiments(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Choose experiments by number; the submission is made by an estimator.

    The observation space is that of the env.

    | | before | after |
    |---|---|---|
    | action | `Dict(choice=Discrete(13), prediction=Box(-1, 1, (8, 2)))` | `Discrete(13)` |

    0 to 11 run the experiment of that index, 12 submits what the estimator makes of the readouts so far.
    `action_masks()` and `info["action_mask"]` are the env's.

    Args:
        env: `CausalCircuits-v0`.
        estimator: "mode" (the posterior mode, least squares within the prior's bounds; 0.02 ms a submission), "mean"
            (the posterior mean) or "best" (the matrix of the highest expected score; both about 1 ms), or a function
            from observations batched over B episodes to (B, 8, 2) predictions.

    Raises:
        ValueError: the env has no such actions, or there is no such estimator.

    Example:
        >>> import gymnasium as gym
        >>> import veilgym
        >>> from veilgym.wrappers.discrete_experiments import DiscreteExperiments
        >>> env = DiscreteExperiments(gym.make("CausalCircuits-v0"))
        >>> env.action_space
        Discrete(13)
        >>> observation, info = env.reset(seed=0)
        >>> for experiment in (0, 3, 3, 4, 7, 8, 11):
        ...     observation, reward, terminated, truncated, info = env.step(experiment)
        >>> observation, score, terminated, truncated, info = env.step(12)
        >>> terminated, 0.0 < score < 1.0
        (True, True)
    """

    def __init__(
        self, env: gym.Env[Observation, dict[str, Any]], estimator: EstimatorName | Estimator = "mode"
    ) -> None:
        RecordConstructorArgs.__init__(self, estimator=estimator)
        gym.Wrapper.__init__(self, env)
        self._task = circuit_task(env)
        self._estimate = load_estimator(estimator, self._task)
        self.action_space = gym.spaces.Discrete(self._task.submit + 1)
        self._observation: Observation = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """As the env's."""
        self._observation, info = self.env.reset(seed=seed, options=options)
        return self._observation, info

    def step(self, action: np.int64) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Run the experiment of that number, or submit."""
        prediction = np.zeros(self._task.prediction_shape)
        if action == self._task.submit and self._observation:
            prediction = self._estimate({key: value[None] for key, value in self._observation.items()})[0]
        self._observation, *rest = self.env.step({"choice": action, "prediction": prediction})
        return self._observation, *rest  # type: ignore[return-value]


class VectorDiscreteExperiments(VectorWrapper[Any, Any, Any, Any, Any]):
    """`DiscreteExperiments` of a native vector env: equal to it element by element.

    Args:
        envs: A vector env of `CausalCircuits-v0`.
        estimator: As for `DiscreteExperiments`.

    Example:
        >>> import gymnasium as gym
        >>> import numpy as np
        >>> import veilgym
        >>> from veilgym.wrappers.discrete_experiments import VectorDiscreteExperiments
        >>> envs = VectorDiscreteExperiments(gym.make_vec("CausalCircuits-v0", num_envs=4, autoreset_mode="SameStep"))
        >>> envs.action_space
        MultiDiscrete([13 13 13 13])
        >>> observations, infos = envs.reset(seed=0)
        >>> envs.step(np.array([0, 3, 12, 12]))[2].tolist()
        [False, False, True, True]
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any], estimator: EstimatorName | Estimator = "mode") -> None:
        super().__init__(envs)
        self._task = circuit_task(envs)
        self._estimate = load_estimator(estimator, self._task)
        self.single_action_space = gym.spaces.Discrete(self._task.submit + 1)
        self.action_space = batch_space(self.single_action_space, envs.num_envs)
        self._observations: dict[str, NDArray[Any]] = {}

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As the vector env's."""
        self._observations, infos = self.env.reset(seed=seed, options=options)
        return self._observations, infos

    def step(self, actions: NDArray[np.integer]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Run the experiments of these numbers (B,), or submit."""
        prediction = np.zeros((self.num_envs, *self._task.prediction_shape))
        submits = np.asarray(actions) == self._task.submit
        if submits.any() and self._observations:
            chosen = {key: value[submits] for key, value in self._observations.items()}
            prediction[submits] = self._estimate(chosen)
        self._observations, *rest = self.env.step({"choice": actions, "prediction": prediction})
        return self._observations, *rest

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, 13) bool, true where a request would be accepted."""
        masks: NDArray[np.bool_] = self.unwrapped.action_masks()  # type: ignore[attr-defined]
        return masks


def load_estimator(estimator: EstimatorName | Estimator, task: Task) -> Estimator:
    """The function that a name stands for; a function is returned as it is."""
    if callable(estimator):
        return estimator
    predictor = Predictor(task)
    methods = {"mode": predictor.least_squares, "mean": predictor.posterior_mean, "best": predictor.best_submission}
    if estimator not in methods:
        raise ValueError(f"estimator must be one of {', '.join(map(repr, methods))} or a function, got {estimator!r}")
    return methods[estimator]


def circuit_task(env: Any) -> Task:
    """The task of an env or vector env of circuits; a ValueError for another env."""
    task = getattr(env.unwrapped, "task", None)
    if not isinstance(task, Task):
        raise ValueError(f"env must be one of CausalCircuits-v0, got {env.unwrapped!r}")
    return task
