"""Many dynamic worlds at once, natively."""

from __future__ import annotations

from gymnasium.vector import AutoresetMode

from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.query_vector_env import QueryVectorEnv
from veilgym.envs.dynamic_world.questions import WorldQuestions
from veilgym.envs.dynamic_world.task_file import TaskSource, load_task


class DynamicWorldVectorEnv(QueryVectorEnv):
    """`DynamicWorldEnv` times `num_envs`; see `QueryVectorEnv` for what all vector envs of queries do.

    Arguments are those of `DynamicWorldEnv`, and:
        num_envs: B, at least 1.
        autoreset_mode: "SameStep" (default: with "NextStep" every second step of a one-step episode would be wasted),
            "NextStep" or "Disabled", or the member of `AutoresetMode`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        length: str | int | None = None,
        entity_count: int | None = None,
        simulation_steps: int | None = None,
        split: str = "train",
        task: TaskSource = None,
        reward: str = "accuracy",
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
    ) -> None:
        loaded = load_task(task, length=length, entity_count=entity_count, simulation_steps=simulation_steps)
        questions = WorldQuestions(loaded, check_count("num_envs", num_envs), split)
        super().__init__(questions, reward, render_mode, autoreset_mode)
