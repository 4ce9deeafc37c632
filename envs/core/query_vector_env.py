"""The native vector env of a family that asks one question per episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from veilgym.envs.core.answers import Refusal, scoring_of
from veilgym.envs.core.batch import Infos, check_autoreset_mode, only, read_reset_mask, read_seeds, rows
from veilgym.envs.core.query_env import QueryEnv
from veilgym.envs.core.questions import ANSWERED, UNSTARTED, Questions
from veilgym.envs.core.rendering import check_render_mode, warn_of_no_mode

Observation = dict[str, NDArray[Any]]


class QueryVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """`QueryEnv` times B: equal, element by element, to `SyncVectorEnv` for the same list of seeds.

    Args:
        questions: The family's engine, with a batch of B.
        reward: "accuracy", "brier" or "log".
        render_mode: None, "ansi" or "rgb_array".
        autoreset_mode: "SameStep", "NextStep" or "Disabled", or the member of `AutoresetMode`.

    `reset(seed=...)` takes a list of seeds, or one integer, which `spread_seed` spreads over the envs.
    `options={"reset_mask": mask}` resets only the envs in it. With autoreset disabled, an answer to a question that has
    been answered is refused (`Refusal.EPISODE_OVER`) and the flags are repeated. All returned arrays are copies.
    """

    def __init__(
        self, questions: Questions, reward: str, render_mode: str | None, autoreset_mode: str | AutoresetMode
    ) -> None:
        self.num_envs = len(questions.phase)
        self.task = questions.task
        self.split = questions.split
        self.render_mode = check_render_mode(render_mode)
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        self.metadata = {**QueryEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self._scoring = scoring_of(reward)
        self.single_observation_space = questions.space
        self.single_action_space = self._scoring.single_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._questions = questions
        self._everywhere = np.ones(self.num_envs, np.bool_)
        self._has_begun = False
        self._answers = np.zeros((self.num_envs, *self._scoring.shape), self._scoring.dtype)
        self._rewards = np.zeros(self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Infos]:
        """Ask the next question of each env, or of those in `options["reset_mask"]`, a (B,) bool array."""
        questions = self._questions
        mask = read_reset_mask(options, self.num_envs)
        questions.seed(read_seeds(seed, mask, questions.phase == UNSTARTED, self.np_random))
        questions.begin(mask)
        self._has_begun = bool((questions.phase != UNSTARTED).all())
        return questions.observe(), self._infos(mask, np.zeros(self.num_envs, np.int64), only(mask, self._no_reason()))

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Take one answer per env.

        Args:
            actions: (B,) integers, or (B, 1) numbers for a proper score.

        Returns:
            observation, rewards (B,) float64, terminated (B,) bool, truncated (B,) bool, infos.
        """
        self._require_reset("step")
        questions = self._questions
        answers, refusal = self._scoring.read(actions, self.num_envs)
        is_over = questions.phase == ANSWERED
        starting = is_over & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        refusal = np.where(is_over, np.where(starting, int(Refusal.NONE), int(Refusal.EPISODE_OVER)), refusal)
        accepted = (refusal == Refusal.NONE) & ~is_over
        reward = np.where(accepted, self._scoring.reward(answers, questions.probability, questions.swapped), 0.0)
        self._answers[accepted], self._rewards[accepted] = answers[accepted], reward[accepted]
        questions.phase[accepted] = ANSWERED
        terminated = (questions.phase == ANSWERED) & ~starting
        if starting.any():
            questions.begin(starting)
        infos = self._infos(self._everywhere, refusal, self._reasons(refusal, actions))
        if self.autoreset_mode is AutoresetMode.SAME_STEP and terminated.any():
            infos = self._restart(terminated, infos)
        return questions.observe(), reward, terminated, np.zeros(self.num_envs, np.bool_), infos

    def render(self) -> tuple[Any, ...] | None:
        """A frame per env; None without a render mode."""
        if self.render_mode is None:
            warn_of_no_mode()
            return None
        self._require_reset("render")
        return tuple(self._render(i, self.render_mode) for i in range(self.num_envs))

    def _render(self, i: int, mode: str) -> Any:
        answer = self._answers[i] if self._questions.phase[i] == ANSWERED else None
        return self._questions.render(i, mode, answer, float(self._rewards[i]))

    def _restart(self, done: NDArray[np.bool_], infos: Infos) -> Infos:
        """Ask the next question where `done`; what belongs to the answered one goes to `final_obs` and `final_info`."""
        final_obs = rows(self._questions.observe(), done)
        final_info = self._infos(done, np.where(done, infos["refusal"], 0), only(done, infos["reason"]))
        self._questions.begin(done)
        infos = self._infos(
            self._everywhere, np.where(done, 0, infos["refusal"]), np.where(done, "", infos["reason"]).astype(object)
        )
        final = {
            "final_obs": final_obs,
            "_final_obs": done.copy(),
            "final_info": final_info,
            "_final_info": done.copy(),
        }
        return {**infos, **final}

    def _infos(self, where: NDArray[np.bool_], refusal: NDArray[np.int64], reason: NDArray[np.object_]) -> Infos:
        infos: Infos = {"refusal": refusal, "_refusal": where.copy(), "reason": reason, "_reason": where.copy()}
        if self._scoring.entries:
            infos["action_mask"] = np.repeat(where[:, None], self._scoring.entries, axis=1).astype(np.int8)
            infos["_action_mask"] = where.copy()
        return infos

    def action_masks(self) -> NDArray[np.bool_]:
        """(B, 2) bool, all true: either option is accepted. (B, 0) for a proper score."""
        self._require_reset("action_masks")
        return np.ones((self.num_envs, self._scoring.entries), np.bool_)

    def _no_reason(self) -> NDArray[np.object_]:
        return np.full(self.num_envs, "", object)

    def _reasons(self, refusal: NDArray[np.int64], actions: Any) -> NDArray[np.object_]:
        reasons = self._no_reason()
        for i in np.flatnonzero(refusal):
            reasons[i] = self._scoring.explain(int(refusal[i]), actions[i])
        return reasons

    def _require_reset(self, method: str) -> None:
        if not self._has_begun:
            raise ResetNeeded(f"Cannot call envs.{method}() before calling envs.reset()")
