"""Many hidden systems at once, natively."""

from __future__ import annotations

from gymnasium.vector import AutoresetMode

from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.query_vector_env import QueryVectorEnv
from veilgym.envs.hidden_system.questions import Skeletons, questions_of
from veilgym.envs.hidden_system.task import TaskSource


class HiddenSystemVectorEnv(QueryVectorEnv):
    """`HiddenSystemEnv` times `num_envs`; see `QueryVectorEnv` for what both vector envs of queries do.

    Arguments are those of `HiddenSystemEnv`, and:
        num_envs: B, at least 1.
        autoreset_mode: "SameStep" (default: with "NextStep" every second step of a one-step episode would be wasted),
            "NextStep" or "Disabled", or the member of `AutoresetMode`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        length: str | int | None = None,
        split: str = "train",
        task: TaskSource = None,
        trials: int | None = None,
        margin: float | None = None,
        shuffle_options: bool = False,
        reward: str = "accuracy",
        skeletons: Skeletons | None = None,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
    ) -> None:
        overrides = {"length": length, "trials": trials, "margin": margin}
        questions = questions_of(skeletons, task, overrides, check_count("num_envs", num_envs), split, shuffle_options)
        super().__init__(questions, reward, render_mode, autoreset_mode)
        self.layout = questions.layout
