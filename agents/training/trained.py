"""A trained model as an agent of the ladder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent, Batch, select
from veilgym.agents.training.recipe import EVERYTHING, EXPERIMENTS, Recipe

if TYPE_CHECKING:
    from veilgym.wrappers.discrete_experiments import Estimator

SETTINGS, MODEL = "settings.json", "model.zip"
CHUNK = 512  # observations that go through a network at once


class TrainedAgent(Agent):
    """Takes the best action that would be accepted, by a model of stable-baselines3.

    Args:
        model: The model.
        recipe: What it was trained for.
        name: What tables call it.
        estimator: Who submits instead of the recipe's estimator, where experiments are learned.
    """

    def __init__(self, model: Any, recipe: Recipe, name: str | None = None, estimator: Estimator | None = None) -> None:
        self.model, self.recipe = model, recipe
        self.name = name or f"trained {recipe.algo}"
        self.description = f"{recipe.algo} ({recipe.policy}) that learned {recipe.learn}, {model.num_timesteps:,} steps"
        env = gym.make(recipe.env_id, **recipe.arguments).unwrapped
        self._task = env.task  # type: ignore[attr-defined]
        if recipe.is_recurrent and recipe.learn != "answer":
            raise ValueError(
                f"a model of {recipe.algo} on {recipe.env_id} remembers earlier steps, which an agent may not; allowed "
                "are the other algorithms"
            )
        if recipe.policy == "mlp":
            from veilgym.wrappers.flatten_payload import scales_of

            self._scales = scales_of(env.observation_space)
        if recipe.learn == EXPERIMENTS:
            from veilgym.wrappers.discrete_experiments import EstimatorName, load_estimator

            self._estimate = load_estimator(estimator or cast("EstimatorName", recipe.estimator), self._task)

    def act_batch(self, observations: Batch) -> Batch:
        """Actions for B observations, as the id's own vector env takes them."""
        batch = len(next(iter(observations.values())))
        chunks = [select(observations, np.arange(i, min(i + CHUNK, batch))) for i in range(0, batch, CHUNK)]
        actions = np.concatenate([self._act(chunk, self._masks(chunk)) for chunk in chunks])
        if self.recipe.learn == EXPERIMENTS:
            prediction = np.zeros((batch, *self._task.prediction_shape))
            submits = actions == self._task.submit
            if submits.any():
                prediction[submits] = self._estimate(select(observations, submits))
            return {"choice": actions, "prediction": prediction}
        if self.recipe.learn == EVERYTHING:
            from veilgym.wrappers.flat_box_action import read_flat

            return read_flat(actions, self._masks(observations), self._task)
        return actions

    def _act(self, observations: Batch, masks: NDArray[np.bool_]) -> NDArray[Any]:
        """What the model does, before it is turned into actions of the id."""
        if self.recipe.policy == "mlp":
            from veilgym.wrappers.flatten_payload import flatten

            observations = flatten(observations, self._scales)
        if self.recipe.learn == EVERYTHING or self.recipe.is_recurrent:
            return np.asarray(self.model.predict(observations, deterministic=True)[0])
        return np.asarray(np.where(masks, self._values(observations), -np.inf).argmax(axis=1))

    def _values(self, observations: Batch) -> NDArray[np.float32]:
        """(B, A) how good the model finds each action."""
        import torch

        policy = self.model.policy
        policy.set_training_mode(False)
        with torch.no_grad():
            tensors = policy.obs_to_tensor(observations)[0]
            values = policy.q_net(tensors) if self.recipe.algo == "dqn" else policy.get_distribution(tensors)
            values = values if self.recipe.algo == "dqn" else values.distribution.logits
        return np.asarray(values.cpu().numpy())

    def _masks(self, observations: Batch) -> NDArray[np.bool_]:
        """(B, A) bool, what would be accepted."""
        batch = len(next(iter(observations.values())))
        if self.recipe.learn not in (EXPERIMENTS, EVERYTHING):
            return np.ones((batch, 2), np.bool_)
        from veilgym.agents.causal_circuits.ladder import remaining

        return np.concatenate([remaining(observations, self._task) > 0, np.ones((batch, 1), np.bool_)], axis=1)


def load_trained(folder: Path) -> TrainedAgent:
    """The agent that `veilgym train --out FOLDER` has left.

    Raises:
        ValueError: the folder has no trained model.
    """
    import torch

    settings, model = folder / SETTINGS, folder / MODEL
    if not settings.is_file() or not model.is_file():
        raise ValueError(f"{str(folder)!r} has no {SETTINGS} and {MODEL}; allowed is a folder of `veilgym train --out`")
    torch.set_num_threads(1)
    recipe = Recipe(**json.loads(settings.read_text("utf-8"))["recipe"])
    return TrainedAgent(recipe.algorithm().load(model, device="cpu"), recipe, f"{recipe.algo} ({folder.name})")


def load_agents(folders: list[Path], env_ids: list[str], arguments: dict[str, Any]) -> dict[str, list[TrainedAgent]]:
    """The agents in `folders` for each of `env_ids`, whose envs are made with `arguments`.

    Raises:
        ValueError: a folder has no model, the model is for another id or for other observations, or two agents share a
            name.
    """
    agents: dict[str, list[TrainedAgent]] = {env_id: [] for env_id in env_ids}
    for folder in folders:
        agent = load_trained(folder)
        env_id = agent.recipe.env_id
        if env_id not in agents:
            raise ValueError(f"agents: {str(folder)!r} was trained on {env_id}, allowed is {', '.join(env_ids)}")
        _check_fit(agent, folder, arguments)
        if any(agent.name == other.name for other in agents[env_id]):
            raise ValueError(f"agents: two folders make an agent called {agent.name!r}, allowed is one of each name")
        agents[env_id].append(agent)
    return agents


def _check_fit(agent: TrainedAgent, folder: Path, arguments: dict[str, Any]) -> None:
    learned, asked = (
        gym.make(agent.recipe.env_id, **given).observation_space for given in (agent.recipe.arguments, arguments)
    )
    if learned != asked:
        raise ValueError(
            f"agents: {str(folder)!r} was trained with {agent.recipe.arguments or 'the default arguments'}, whose "
            f"observations differ from those of {arguments or 'the default arguments'}; allowed are the same shapes"
        )
