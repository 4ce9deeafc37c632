"""Many causal circuits at once, natively."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.env import CausalCircuitsEnv
from veilgym.envs.causal_circuits.episodes import AUTORESET, NO_LIMIT, REFUSE, UNSTARTED, Episodes
from veilgym.envs.causal_circuits.payload import Observation, action_space, observation_space, observe
from veilgym.envs.causal_circuits.rendering.viewer import render_episode
from veilgym.envs.causal_circuits.request import explain, read_requests
from veilgym.envs.causal_circuits.task import TaskSource, load_task
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.batch import Infos, check_autoreset_mode, only, read_reset_mask, read_seeds, rows
from veilgym.envs.core.rendering import check_render_mode, warn_of_no_mode
from veilgym.envs.core.seeding import check_split


class CausalCircuitsVectorEnv(VectorEnv[Observation, dict[str, NDArray[Any]], NDArray[Any]]):
    """`CausalCircuitsEnv` times `num_envs`: equal, element by element, to `SyncVectorEnv` for the same list of seeds.

    Arguments (those of `CausalCircuitsEnv`, and):
        num_envs: B, at least 1.
        autoreset_mode: "NextStep" (default), "SameStep" or "Disabled", or the member of `AutoresetMode`.
        max_episode_steps: truncate an episode after so many steps; None for no limit. `make_vec` passes 64.

    `reset(seed=...)` takes a list of seeds, or one integer, which `spread_seed` spreads over the envs (SyncVectorEnv's
    seed + i would let neighbouring seeds share episodes). `options={"reset_mask": mask}` resets only the envs in it.
    With autoreset disabled, a step of an env that is over is refused (`Refusal.EPISODE_OVER`) and repeats its flags.
    All returned arrays are copies.
    """

    def __init__(
        self,
        num_envs: int = 1,
        task: TaskSource = None,
        split: str = "train",
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
    ) -> None:
        self.num_envs = check_count("num_envs", num_envs)
        self.task = load_task(task)
        self.split = check_split(split)
        self.render_mode = check_render_mode(render_mode)
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        self.metadata = {**CausalCircuitsEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.task)
        self.single_action_space = action_space(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        limit = NO_LIMIT if max_episode_steps is None else check_count("max_episode_steps", max_episode_steps)
        self._episodes = Episodes(self.task, num_envs, self.split, limit)
        self._policy = AUTORESET if self.autoreset_mode is AutoresetMode.NEXT_STEP else REFUSE
        self._is_same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._has_begun = False
        self._prediction_shape = (num_envs, *self.task.prediction_shape)
        self._everywhere = np.ones(num_envs, np.bool_)
        self._no_reason = np.full(num_envs, "", object)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Infos]:
        """Begin the next episode of each env, or of those in `options["reset_mask"]`, a (B,) bool array."""
        mask = read_reset_mask(options, self.num_envs)
        self._episodes.seed(read_seeds(seed, mask, self._episodes.phase == UNSTARTED, self.np_random))
        record = self._episodes.begin(mask)
        self._has_begun = bool(np.all(self._episodes.phase != UNSTARTED))
        action_mask = record[3]
        action_mask[~mask] = 0
        infos = _infos(mask, action_mask, np.zeros(self.num_envs, np.int64), only(mask, self._no_reason))
        return observe(record), infos

    def step(
        self, actions: dict[str, NDArray[Any]]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Serve one request per env.

        Args:
            actions: `choice`, integers of shape (B,), and `prediction`, numbers of shape (B, Q, O).

        Returns:
            observation, rewards (B,) float64, terminated (B,) bool, truncated (B,) bool, infos.
        """
        self._require_reset("step")
        episodes = self._episodes
        choice, prediction, faults = read_requests(actions, self._prediction_shape)
        reward, terminated, truncated, refusal, record = episodes.advance(choice, prediction, faults, self._policy)
        reason = self._reasons(refusal, actions) if episodes.num_refused else self._no_reason.copy()
        observation, infos = observe(record), _infos(self._everywhere, record[3], refusal, reason)
        if self._is_same_step:
            observation, infos = self._restart(terminated | truncated, observation, infos)
        return observation, reward, terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, E + 1) bool, true where a request would be accepted."""
        self._require_reset("action_masks")
        return self._episodes.action_mask.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """A frame per env; None without a render mode."""
        if self.render_mode is None:
            warn_of_no_mode()
            return None
        self._require_reset("render")
        return tuple(render_episode(self._episodes, i, self.render_mode) for i in range(self.num_envs))

    def _restart(self, done: NDArray[np.bool_], observation: Observation, infos: Infos) -> tuple[Observation, Infos]:
        """Begin the next episode where `done`; what belongs to the last step of the old one goes to `final_info`."""
        if not done.any():
            return observation, infos
        final_obs = rows(observation, done)
        final_mask, final_refusal = infos["action_mask"], np.where(done, infos["refusal"], 0)
        final_mask[~done] = 0
        final_info = _infos(done, final_mask, final_refusal, only(done, infos["reason"]))
        record = self._episodes.begin(done)
        refusal, reason = np.where(done, 0, infos["refusal"]), np.where(done, "", infos["reason"])
        infos = _infos(self._everywhere, record[3], refusal, reason)
        final = {"final_obs": final_obs, "_final_obs": done, "final_info": final_info, "_final_info": done.copy()}
        return observe(record), {**infos, **final}

    def _reasons(self, refusal: NDArray[np.int64], actions: dict[str, NDArray[Any]]) -> NDArray[np.object_]:
        reasons = self._no_reason.copy()
        choices, predictions = actions["choice"], actions.get("prediction")
        credits_left = self._episodes.credits[:, 0]
        for i in np.flatnonzero(refusal):
            prediction = None if predictions is None else predictions[i]
            reasons[i] = explain(int(refusal[i]), self.task, choices[i], prediction, credits_left[i])
        return reasons

    def _require_reset(self, method: str) -> None:
        if not self._has_begun:
            raise ResetNeeded(f"Cannot call envs.{method}() before calling envs.reset()")


def _infos(
    where: NDArray[np.bool_], action_mask: NDArray[np.int8], refusal: NDArray[np.int64], reason: NDArray[np.object_]
) -> Infos:
    return {
        "action_mask": action_mask,
        "_action_mask": where.copy(),
        "refusal": refusal,
        "_refusal": where.copy(),
        "reason": reason,
        "_reason": where.copy(),
    }
