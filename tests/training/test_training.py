"""Training: the right parts for an id, tiny runs that leave what they should, resuming, and the ladder."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("sb3_contrib")

from veilgym.agents.evaluation import evaluate
from veilgym.agents.training import training
from veilgym.agents.training.curve import Curve, Point, draw_curves
from veilgym.agents.training.recipe import ALGORITHMS, Recipe
from veilgym.agents.training.trained import load_agents, load_trained
from veilgym.agents.training.training import Plan, train
from veilgym.cli import app

CIRCUITS, SYSTEMS, WORLDS = "CausalCircuits-v0", "HiddenSystem-v0", "DynamicWorld-v0"
TINY = {"num_envs": 4, "n_steps": 4, "batch_size": 8, "n_epochs": 1}
TINY_OFF = {"num_envs": 4, "learning_starts": 8, "batch_size": 8, "gradient_steps": 1, "buffer_size": 64}
pytestmark = pytest.mark.filterwarnings("ignore:.*tensorboard.*:DeprecationWarning", "ignore:.*pkg_resources.*")


def tiny_plan(recipe, steps=32, **kwargs):
    settings = TINY if "n_steps" in recipe.settings() else TINY_OFF
    return Plan(steps, 3, 2, 12, settings, with_ladder=False, **kwargs)


@pytest.mark.parametrize(
    ("env_id", "algo", "learn", "sentence"),
    [
        (SYSTEMS, "sac", None, "allowed are ppo, dqn, maskable-ppo, recurrent-ppo"),
        (CIRCUITS, "sac", "experiments", "allowed are ppo, dqn, maskable-ppo, recurrent-ppo"),
        (CIRCUITS, "dqn", "everything", "allowed are ppo, recurrent-ppo, sac"),
        (CIRCUITS, "maskable-ppo", "everything", "allowed are ppo, recurrent-ppo, sac"),
        (SYSTEMS, "ppo", "everything", "learn must be one of 'answer', got 'everything'"),
        (WORLDS, "a2c", None, "algo must be one of 'ppo', 'dqn', 'maskable-ppo', 'recurrent-ppo', 'sac', got 'a2c'"),
    ],
)
def test_recipe__says_what_is_allowed(env_id, algo, learn, sentence):
    with pytest.raises(ValueError, match=sentence):
        Recipe(env_id, algo, learn)


def test_recipe__chooses_what_is_learned():
    assert Recipe(f"veilgym:{CIRCUITS}", "sac").learn == "everything"
    assert Recipe(CIRCUITS, "dqn").learn == "experiments"
    assert Recipe(WORLDS, "ppo").learn == "answer"
    assert Recipe(**json.loads(json.dumps(Recipe(CIRCUITS, "ppo").to_json()))) == Recipe(CIRCUITS, "ppo")


@pytest.mark.parametrize(
    ("env_id", "algo", "options"),
    [
        *((CIRCUITS, algo, {}) for algo in ALGORITHMS),
        (CIRCUITS, "ppo", {"learn": "everything"}),
        (SYSTEMS, "ppo", {"arguments": {"length": 5}}),
        (SYSTEMS, "ppo", {"policy": "mlp"}),
        (SYSTEMS, "dqn", {}),
        (WORLDS, "maskable-ppo", {}),
        (SYSTEMS, "recurrent-ppo", {"policy": "mlp"}),
    ],
)
def test_train__leaves_an_agent_and_its_curve(tmp_path, env_id, algo, options):
    recipe = Recipe(env_id, algo, **options)
    curve = train(recipe, tiny_plan(recipe), tmp_path / "run")
    assert Curve.load(tmp_path / "run" / "curve.json") == curve
    assert [point.steps for point in curve.points] == [0, 16, 32]
    assert all(0.0 <= point.score <= 1.0 for point in curve.points)
    if algo == "recurrent-ppo" and env_id == CIRCUITS:
        with pytest.raises(ValueError, match="remembers earlier steps"):
            load_trained(tmp_path / "run")
        return
    agent = load_trained(tmp_path / "run")
    again = evaluate(agent, env_id, 12, num_envs=5, **recipe.arguments)
    assert again.scores.mean() == pytest.approx(curve.points[-1].score)
    assert again.refused.sum() == 0


def test_train__is_determined_by_its_seed(tmp_path):
    recipe = Recipe(SYSTEMS, "ppo")
    weights = []
    for name in "ab":
        train(recipe, tiny_plan(recipe), tmp_path / name)
        weights.append(load_trained(tmp_path / name).model.policy.state_dict())
    for key, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][key])


def test_train__resumes(tmp_path):
    recipe = Recipe(SYSTEMS, "ppo")
    folder = tmp_path / "run"
    first = train(recipe, tiny_plan(recipe), folder)
    made = []
    curve = train(recipe, tiny_plan(recipe, 64), folder, resume=True, progress=made.append)
    assert curve.points[: len(first.points)] == first.points
    assert curve.points[-1].steps == 64
    assert sum(made) == 32
    assert curve.points[-1].seconds > first.points[-1].seconds
    assert load_trained(folder).model.num_timesteps == 64
    with pytest.raises(ValueError, match="holds a run; allowed is another folder, or to resume"):
        train(recipe, tiny_plan(recipe), folder)
    with pytest.raises(ValueError, match=r"algo: got 'dqn', allowed is .*: 'ppo'"):
        train(Recipe(SYSTEMS, "dqn"), tiny_plan(recipe), folder, resume=True)
    with pytest.raises(ValueError, match="holds no run to resume"):
        train(recipe, tiny_plan(recipe), tmp_path / "other", resume=True)


@pytest.mark.parametrize("moment", [1, 2, 3, 4])
def test_train__killed_at_an_evaluation_resumes(tmp_path, monkeypatch, moment):
    """Right before a file gets its name: the curve or the checkpoint, of the first evaluation or of the second."""
    recipe, folder, names, before = Recipe(SYSTEMS, "ppo"), tmp_path / "run", [], Path.replace

    def replace_or_die(path, target):
        names.append(target.suffix)
        if len(names) == moment:
            raise KeyboardInterrupt
        return before(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_or_die)
        with pytest.raises(KeyboardInterrupt):
            train(recipe, tiny_plan(recipe), folder)
    assert names == [".json", ".zip", ".json", ".zip"][:moment]
    curve = train(recipe, tiny_plan(recipe), folder, resume=True)
    whole = train(recipe, tiny_plan(recipe), tmp_path / "whole")
    assert [point.steps for point in curve.points] == [point.steps for point in whole.points]
    assert Curve.load(folder / "curve.json") == curve


def test_train__resumes_no_run_of_another_version(tmp_path, monkeypatch):
    recipe = Recipe(SYSTEMS, "ppo")
    train(recipe, tiny_plan(recipe), tmp_path / "run")
    monkeypatch.setattr(training, "__version__", "7.0")
    with pytest.raises(ValueError, match=r"veilgym: got '7\.0', allowed is that of the run"):
        train(recipe, tiny_plan(recipe, 64), tmp_path / "run", resume=True)


def test_train__evaluates_on_the_same_instances_after_a_pause(tmp_path, monkeypatch):
    recipe, counts = Recipe(SYSTEMS, "ppo"), []
    plan = tiny_plan(recipe)
    train(recipe, plan, tmp_path / "run")
    before = training._scores
    monkeypatch.setattr(training, "_scores", lambda *given: counts.append(given[2]) or before(*given))
    train(recipe, replace(tiny_plan(recipe, 64), episodes=plan.episodes + 5), tmp_path / "run", resume=True)
    assert set(counts) == {plan.episodes}


def test_train__that_cannot_begin_leaves_no_run(tmp_path):
    for length, fails in (("banana", True), ("short", False)):
        recipe = Recipe(SYSTEMS, "ppo", arguments={"length": length})
        with pytest.raises(ValueError, match="length: got 'banana'") if fails else nullcontext():
            train(recipe, tiny_plan(recipe), tmp_path / "run")


@pytest.mark.parametrize("text", ["[]", '{"recipe": 3', "{}", '{"recipe": {"env_id": "HiddenSystem-v0", "foo": 1}}'])
def test_load_trained__says_that_settings_are_damaged(tmp_path, text):
    (tmp_path / "model.zip").touch()
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(ValueError, match=r"settings.json' is not as `veilgym train` has written it"):
        load_trained(tmp_path)


def test_command__trains_and_joins_the_ladder(tmp_path):
    folder, runner = tmp_path / "run", CliRunner()
    options = ["--steps", "4096", "--episodes", "20", "--evaluations", "1", "--num-envs", "64", "--no-ladder"]
    done = runner.invoke(app, ["train", SYSTEMS, *options, "--length", "short", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    assert "mean score" in done.output
    assert (folder / "curve.png").stat().st_size > 10_000
    assert list((folder / "tensorboard").rglob("events*"))
    bench = ["bench", SYSTEMS, "--episodes", "12", "--length", "short", "--out", str(tmp_path / "results.json")]
    done = runner.invoke(app, [*bench, "--agents", str(folder)])
    assert done.exit_code == 0, done.output
    runs = json.loads((tmp_path / "results.json").read_text())["benches"][0]["runs"]
    assert runs[-1]["agent"] == "ppo (run)"
    assert "4,096 steps" in runs[-1]["description"]
    for length, agents, sentence in (
        ("long", [folder], "allowed are the same shapes"),
        ("short", [folder, folder], "two folders make an agent called"),
        ("short", [tmp_path], "allowed is a folder of"),
    ):
        arguments = [part for agent in agents for part in ("--agents", str(agent))]
        done = runner.invoke(app, ["bench", SYSTEMS, "--length", length, "--episodes", "12", *arguments])
        assert done.exit_code == 2
        assert sentence in done.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([SYSTEMS, "--algo", "sac"], "allowed are ppo, dqn, maskable-ppo, recurrent-ppo"),
        ([CIRCUITS, "--length", "short"], "--length needs an id that has one"),
        (["Nothing-v0"], "id must be one of"),
    ],
)
def test_command__mistakes_get_one_sentence(tmp_path, arguments, sentence):
    done = CliRunner().invoke(app, ["train", *arguments, "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert sentence in done.output
    assert not (tmp_path / "run").exists()


def test_draw_curves__draws(tmp_path):
    curve = Curve(Recipe(SYSTEMS, "ppo").to_json(), 0, 500, {"floor": 0.5, "ideal": 0.99}, ())
    for step in range(4):
        curve = curve.plus(Point(step * 1000, 0.5 + 0.1 * step, (0.45 + 0.1 * step, 0.55 + 0.1 * step), 1.0, 1.0))
    draw_curves({"ppo": curve, "again": curve.until(1000)}, tmp_path / "c.png", "A title", {"target": 0.88})
    assert (tmp_path / "c.png").stat().st_size > 10_000


def test_load_agents__asks_for_the_right_id(tmp_path):
    recipe = Recipe(SYSTEMS, "ppo")
    train(recipe, tiny_plan(recipe), tmp_path / "run")
    with pytest.raises(ValueError, match=f"was trained on {SYSTEMS}, allowed is {CIRCUITS}"):
        load_agents([tmp_path / "run"], [CIRCUITS], {})
    assert gym.make(SYSTEMS).observation_space == load_trained(tmp_path / "run").model.observation_space
