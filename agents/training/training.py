"""Training a model on an id, with an evaluation on test instances along the way; needs the extra `train`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from veilgym import __version__
from veilgym.agents.evaluation import evaluate, instance_seeds
from veilgym.agents.ladder import load_ladder
from veilgym.agents.statistics import score_interval
from veilgym.agents.training.curve import CURVE, Curve, Point
from veilgym.agents.training.recipe import Recipe, falling, make_envs
from veilgym.agents.training.trained import MODEL, SETTINGS, TrainedAgent
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.seeding import check_seed, derive_key

CHECKPOINTS, TENSORBOARD = "checkpoints", "tensorboard"

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Plan:
    """How a recipe is trained.

    Attributes:
        steps: Environment steps in all, rounded up to whole rollouts.
        seed: Names the training instances and the initial weights.
        evaluations: How often the model is evaluated and kept, at even distances; once more before the first step.
        episodes: Test instances of an evaluation; a run that goes on keeps its own number.
        settings: Replace hyperparameters of the recipe, `num_envs` and `learning_rate` for instance. The
            learning rate falls to 0 in the second half, except for DQN and SAC.
        with_ladder: Whether the floor and the ideal observer are measured on the same instances.
    """

    steps: int
    seed: int = 0
    evaluations: int = 20
    episodes: int = 500
    settings: dict[str, Any] | None = None
    with_ladder: bool = True

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name in ("steps", "evaluations", "episodes"):
            check_count(name, getattr(self, name))


def train(recipe: Recipe, plan: Plan, folder: Path, resume: bool = False, progress: Progress | None = None) -> Curve:
    """Train, and leave in `folder` the model, its settings, checkpoints, the learning curve and a TensorBoard log.

    Args:
        recipe, plan: What is trained, and how.
        folder: Made if it is not there.
        resume: Go on from the last checkpoint in `folder`, or begin anew if the run has not come to one. The steps that
            are left use new instances; what DQN and SAC remember is gathered anew.
        progress: Called with how many steps have just been made.

    Raises:
        ValueError: `folder` holds a run and `resume` is false; or it holds another run, or one of another version, and
            `resume` is true.
    """
    torch.set_num_threads(1)  # more are slower for networks of this size
    settings = {**recipe.settings(), **(plan.settings or {})}
    document = {"veilgym": __version__, "recipe": recipe.to_json(), "seed": plan.seed, "settings": dict(settings)}
    done = _open_folder(folder, document, resume)
    envs = VecMonitor(make_envs(recipe, settings.pop("num_envs")))
    model = _make_model(recipe, plan, settings, envs, folder, done)
    curve = Curve.load(folder / CURVE).until(model.num_timesteps) if done else _new_curve(recipe, plan)
    if not done:  # last, so that a folder whose run could not begin holds none
        (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
        (folder / SETTINGS).write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    callback = _Evaluation(recipe, plan, folder, curve, progress)
    left = plan.steps - model.num_timesteps
    if left > 0:
        model.learn(left, callback=callback, reset_num_timesteps=not done, tb_log_name=recipe.algo)
        callback.evaluate()
    envs.close()
    model.save(folder / MODEL)
    return callback.curve


def _open_folder(folder: Path, document: dict[str, Any], resume: bool) -> Path | None:
    """The last checkpoint of the run in the folder; None for a new run, and for one that has not come to any."""
    settings = folder / SETTINGS
    if settings.exists() and not resume:
        raise ValueError(f"out: {str(folder)!r} holds a run; allowed is another folder, or to resume that run")
    if resume and not settings.exists():
        raise ValueError(f"out: {str(folder)!r} holds no run to resume; allowed is the folder of a run")
    if not resume:
        folder.mkdir(parents=True, exist_ok=True)
        return None
    before, now = json.loads(settings.read_text("utf-8")), json.loads(json.dumps(document))
    for name in ("veilgym", "recipe", "seed", "settings"):
        _check_same(name, before[name], now[name], folder)
    return max((folder / CHECKPOINTS).glob("*.zip"), default=None)


def _check_same(name: str, before: Any, now: Any, folder: Path) -> None:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before | now:
            _check_same(key, before.get(key), now.get(key), folder)
    elif before != now:
        raise ValueError(f"{name}: got {now!r}, allowed is that of the run in {str(folder)!r}: {before!r}")


def _make_model(
    recipe: Recipe, plan: Plan, settings: dict[str, Any], envs: VecMonitor, folder: Path, checkpoint: Path | None
) -> Any:
    if checkpoint is not None:
        model = recipe.algorithm().load(checkpoint, env=envs, device="cpu")
        envs.seed(derive_key("resume", plan.seed, model.num_timesteps) >> 1)
        return model
    if "n_steps" in settings:
        settings["learning_rate"] = falling(settings["learning_rate"])
    return recipe.algorithm()(
        recipe.policy_name(),
        envs,
        policy_kwargs=recipe.policy_arguments(),
        seed=plan.seed % 2**32,
        device="cpu",
        tensorboard_log=str(folder / TENSORBOARD) if find_spec("tensorboard") else None,
        **settings,
    )


def _new_curve(recipe: Recipe, plan: Plan) -> Curve:
    references: dict[str, float] = {}
    if plan.with_ladder:
        ladder = load_ladder(recipe.env_id, **recipe.arguments)
        for end, name, known in (("floor", ladder.floor, ladder.floor_score), ("ideal", ladder.ideal, None)):
            if known is None:
                scores = evaluate(ladder[name], recipe.env_id, plan.episodes, **recipe.arguments).scores
                known = float(scores.mean())
            references[end] = known
    return Curve(recipe.to_json(), plan.seed, plan.episodes, references, ())


class _Evaluation(BaseCallback):
    """Evaluates the model on test instances at even distances, and keeps it."""

    def __init__(self, recipe: Recipe, plan: Plan, folder: Path, curve: Curve, progress: Progress | None) -> None:
        super().__init__()
        self.recipe, self.plan, self.folder, self.curve, self.progress = recipe, plan, folder, curve, progress
        before = curve.points[-1] if curve.points else Point(-1, 0.0, None, 0.0, 0.0)
        self._seconds, self._process_seconds = before.seconds, before.process_seconds
        self._clock = self._now()
        self._reported = 0

    def evaluate(self) -> None:
        """Add a point to the curve and write everything that a later run or a reader needs."""
        if self.curve.points and self.curve.points[-1].steps == self.num_timesteps:
            return
        self._lap()  # the time of an evaluation is not counted
        scores = _scores(self.model, self.recipe, self.curve.episodes)
        self._clock = self._now()
        score = float(scores.mean())
        point = Point(
            self.num_timesteps, score, score_interval(scores), round(self._seconds, 2), round(self._process_seconds, 2)
        )
        self.curve = self.curve.plus(point)
        # Whenever it is killed: no checkpoint is half written, and the curve has the points of all that there are.
        partial = self.folder / CHECKPOINTS / f"{self.num_timesteps:012d}.part"
        self.model.save(partial)
        self.curve.save(self.folder / CURVE)
        partial.replace(partial.with_suffix(".zip"))
        self.logger.record("eval/score", score)
        self.logger.dump(self.num_timesteps)  # otherwise it is written at the next rollout, and the last one never

    def _on_training_start(self) -> None:
        self._reported = self.num_timesteps

    def _on_rollout_start(self) -> None:  # the model has just learned from the rollout before
        before = self.curve.points[-1].steps if self.curve.points else -np.inf
        if self.num_timesteps - before >= self.plan.steps / self.plan.evaluations:
            self.evaluate()

    def _on_step(self) -> bool:
        if self.progress is not None:
            self.progress(self.num_timesteps - self._reported)
        self._reported = self.num_timesteps
        return True

    def _now(self) -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    def _lap(self) -> None:
        wall, process = self._now()
        self._seconds += wall - self._clock[0]
        self._process_seconds += process - self._clock[1]


def _scores(model: Any, recipe: Recipe, episodes: int) -> Any:
    """One score for each of the first `episodes` instances of the test split."""
    if not (recipe.is_recurrent and recipe.learn != "answer"):
        return evaluate(TrainedAgent(model, recipe), recipe.env_id, episodes, **recipe.arguments).scores
    envs = VecMonitor(make_envs(recipe, episodes, "test"))
    envs.unwrapped._seeds = list(instance_seeds(0, episodes))
    returns, _ = evaluate_policy(model, envs, episodes, return_episode_rewards=True)
    return np.array(returns)
