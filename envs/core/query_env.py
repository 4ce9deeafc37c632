"""The Gymnasium env of a family that asks one question per episode."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from veilgym.envs.core.answers import Refusal, read_answer, scoring_of
from veilgym.envs.core.questions import ANSWERED, ASKED, UNSTARTED, Questions
from veilgym.envs.core.rendering import RENDER_FPS, RENDER_MODES, check_render_mode, warn_of_no_mode
from veilgym.envs.core.seeding import check_seed

Observation = dict[str, NDArray[Any]]


class QueryEnv(gym.Env[Observation, Any]):
    """Shows a question and takes one answer. A family adds its engine, its rendering and the sheet of its spaces.

    Args:
        questions: The family's engine, with a batch of one.
        reward: "accuracy", "brier" or "log"; see `veilgym.envs.core.answers`.
        render_mode: None, "ansi" or "rgb_array".
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(self, questions: Questions, reward: str, render_mode: str | None) -> None:
        self.task = questions.task
        self.split = questions.split
        self.render_mode = check_render_mode(render_mode)
        self.observation_space = questions.space  # type: ignore[assignment]
        self._scoring = scoring_of(reward)
        self.action_space = self._scoring.single_space
        self._questions = questions
        self._answer: Any = None
        self._reward = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Ask the question of index 0 of `seed`, or the next one of the current sequence; `options` are not used."""
        seed = None if seed is None else check_seed(seed)
        super().reset(seed=seed)
        if seed is None and self._phase == UNSTARTED:
            seed = int(self.np_random.integers(2**63))
        self._questions.seed([seed])
        self._questions.begin(np.ones(1, np.bool_))
        self._answer, self._reward = None, 0.0
        return self._observation(), self._info(Refusal.NONE, "")

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an answer; see the class docstring of the family."""
        self._require_reset("step")
        if self._phase != ASKED:
            raise ResetNeeded("The episode is over; call env.reset() before the next env.step()")
        answers, refusal = read_answer(self._scoring, action)
        if refusal[0] != Refusal.NONE:
            code = int(refusal[0])
            return self._observation(), 0.0, False, False, self._info(code, self._scoring.explain(code, action))
        questions = self._questions
        self._answer = answers[0].copy()
        self._reward = float(self._scoring.reward(answers, questions.probability, questions.swapped)[0])
        questions.phase[0] = ANSWERED
        return self._observation(), self._reward, True, False, self._info(Refusal.NONE, "")

    def action_masks(self) -> NDArray[np.bool_]:
        """(2,) bool, all true: either option is accepted. (0,) for a proper score."""
        self._require_reset("action_masks")
        return np.ones(self._scoring.entries, np.bool_)

    @property
    def answer_options(self) -> tuple[str, str]:
        """The two options of the current question, in the order of its payload."""
        self._require_reset("answer_options")
        first, second = self._questions.options
        return (second, first) if self._questions.swapped[0] else (first, second)

    def render(self) -> Any:
        """The question as text or as an image (H, W, 3) uint8; after the answer also the verdict."""
        if self.render_mode is None:
            warn_of_no_mode()
            return None
        self._require_reset("render")
        return self._questions.render(0, self.render_mode, self._answer, self._reward)

    @property
    def _phase(self) -> int:
        return int(self._questions.phase[0])

    def _observation(self) -> Observation:
        return {key: batch[0] for key, batch in self._questions.observe().items()}

    def _info(self, refusal: int, reason: str) -> dict[str, Any]:
        info: dict[str, Any] = {"refusal": int(refusal), "reason": reason}
        if self._scoring.entries:
            info["action_mask"] = np.ones(self._scoring.entries, np.int8)
        return info

    def _require_reset(self, method: str) -> None:
        if self._phase == UNSTARTED:
            raise ResetNeeded(f"Cannot call env.{method}() before calling env.reset()")
