"""What is shown of an episode: complete, of one shape, and blind to the hidden half until the submission."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from gymnasium.wrappers import RecordVideo

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.env import CausalCircuitsEnv
from veilgym.envs.causal_circuits.episodes import NO_LIMIT, TRUNCATED, Episodes
from veilgym.envs.causal_circuits.equations import parse_model
from veilgym.envs.causal_circuits.payload import observe
from veilgym.envs.causal_circuits.rendering.circuit_graph import lay_out
from veilgym.envs.causal_circuits.rendering.viewer import (
    equation_text,
    query_text,
    render_episode,
    score_text,
    view_episode,
)
from veilgym.envs.causal_circuits.task import load_task
from veilgym.envs.core.canvas import Box

SHAPE = (720, 1280, 3)
EVERY_MODE = pytest.mark.parametrize("mode", ["ansi", "rgb_array"])


def circuit(model: str, coefficients: str, outputs: list[str], nodes: list[str], **fields: Any) -> dict[str, Any]:
    """A task file with three experiments on each of `nodes`."""
    return {
        "task_id": "custom",
        "version": "1",
        "budget": 40,
        "model": model,
        "prior": f"{coefficients} ~ Uniform(-1,1)",
        "outputs": outputs,
        "noise_std": [0.05] * len(outputs),
        "scoring": {"name": "inverse_normalized_mse", "scale": [0.05] * len(outputs)},
        "experiments": [
            {"id": f"{node}-{i}", "query": {node: value}, "max_replicates": 3}
            for node in nodes
            for i, value in enumerate((-1, 0.5, 1))
        ],
        "prediction_queries": [{nodes[0]: 0.25}, {nodes[0]: -0.5, nodes[-1]: 0.5}],
        **fields,
    }


def cascade() -> dict[str, Any]:
    return circuit(
        "receptor=tanh(b1+a1*ligand+a2*drug), kinase=tanh(b2+a3*receptor), gene=tanh(a4*kinase+a5*receptor),"
        "y=tanh(a6*gene+a7*ligand+a8*kinase)",
        "b1,b2,a1,a2,a3,a4,a5,a6,a7,a8",
        ["receptor", "gene", "y"],
        ["ligand", "drug", "kinase"],
        initial_queries=[{"ligand": 0, "drug": 0}],
    )


def long_chain() -> dict[str, Any]:
    nodes = [f"a_rather_long_name_{i}" for i in range(12)]
    model = ",".join(f"{child}=tanh(w{i}*{parent})" for i, (parent, child) in enumerate(pairwise(nodes)))
    return circuit(model, ",".join(f"w{i}" for i in range(11)), nodes[-5:], nodes[:10], title="Chain " * 40)


def odd_corners() -> dict[str, Any]:
    """No initial query, a query without clamps, noiseless, numbers of every size, and a title to trip over."""
    return circuit(
        "y=tanh(b)",
        "b",
        ["y"],
        ["y"],
        title="$\\frac$ x^2 \x1b[31m \u00e9 \u901f\n100%",
        noise_std=[0.0],
        prediction_queries=[{}, {"y": 1e300}, {"y": -1e-7}],
    )


def many_outputs() -> dict[str, Any]:
    names = [f"o{i}" for i in range(20)]
    model = ",".join(f"{name}=tanh(w{i}*r)" for i, name in enumerate(names))
    experiments = [{"id": f"e{i}", "query": {"r": i / 100}, "max_replicates": 1} for i in range(200)]
    return circuit(model, ",".join(f"w{i}" for i in range(20)), names, ["r"], experiments=experiments)


def fan() -> dict[str, Any]:
    """The straight way from r to y leads over a node."""
    model = (
        ",".join(f"{name}=tanh(w{name}*r)" for name in "abcdef") + ",y=tanh(" + "+".join(f"v{n}*{n}" for n in "abcdefr")
    )
    return circuit(model + ")", ",".join([f"w{n}" for n in "abcdef"] + [f"v{n}" for n in "abcdefr"]), ["y"], ["r"])


TASKS: list[Callable[[], dict[str, Any] | None]] = [lambda: None, cascade, long_chain, odd_corners, many_outputs, fan]
EVERY_TASK = pytest.mark.parametrize(
    "task", TASKS, ids=["default", "cascade", "long_chain", "odd", "many_outputs", "fan"]
)


def request(env: CausalCircuitsEnv, choice: int, value: float = 0.3) -> float:
    prediction = np.full(env.task.prediction_shape, value)
    return env.step({"choice": choice, "prediction": prediction})[1]


def twins(choices: tuple[int, ...] = (0, 0, 5, 9)) -> tuple[Episodes, Episodes]:
    """Two running episodes of different seeds and circuits, made equal in all that is public."""
    pair = []
    for seed in (7, 8):
        env = CausalCircuitsEnv()
        env.reset(seed=seed)
        for choice in choices:
            request(env, choice)
        pair.append(env._episodes)
    one, other = pair
    assert (one.coefficients != other.coefficients).any()
    other.readouts[:] = one.readouts
    assert all(np.array_equal(observe(one.record)[key], array) for key, array in observe(other.record).items())
    return one, other


def submit(episodes: Episodes, prediction: Any = 0.3) -> float:
    matrix = np.broadcast_to(np.float64(prediction), (1, *episodes.task.prediction_shape)).copy()
    return float(episodes.advance(np.array([episodes.task.submit]), matrix)[0][0])


@EVERY_TASK
def test_pictures_have_one_shape_from_the_first_to_the_last(task: Callable[[], dict[str, Any] | None]) -> None:
    env = CausalCircuitsEnv(task(), render_mode="rgb_array")
    env.reset(seed=1)
    frames = [env.render()]
    for choice in (0, 2, 1, env.task.submit):
        request(env, choice, value=1e200)
        frames.append(env.render())
    assert {(frame.shape, frame.dtype) for frame in frames} == {(SHAPE, np.dtype(np.uint8))}
    assert all(frame.flags.owndata and frame.flags.c_contiguous for frame in frames)
    assert all((a != b).any() for a, b in pairwise(frames))


@EVERY_TASK
def test_nothing_touches_the_border(task: Callable[[], dict[str, Any] | None]) -> None:
    env = CausalCircuitsEnv(task(), render_mode="rgb_array")
    env.reset(seed=1)
    for choice in (0, 1, 2, env.task.submit):
        request(env, choice, value=-1e9)
    frame = env.render()
    border = np.concatenate([part.reshape(-1, 3) for part in (frame[:20], frame[-20:], frame[:, :20], frame[:, -20:])])
    assert (border == 255).all()


@EVERY_TASK
def test_text_is_plain_and_names_every_readout(task: Callable[[], dict[str, Any] | None]) -> None:
    env = CausalCircuitsEnv(task(), render_mode="ansi")
    env.reset(seed=3)
    for choice in (0, 0, 2, 1):
        request(env, choice)
    text = env.render()
    assert text.isascii()
    assert all(line.isprintable() and line == line.rstrip() for line in text.splitlines())
    decimals = 6 if env.task.noise_std[0] == 0 else 3
    shown = re.findall(rf"[+-]\d+\.\d{{{decimals}}}(?!\d)", text)
    episodes = env._episodes
    by_replicate = episodes.readouts[0].reshape(len(env.task.measured_queries), env.task.max_replicates, -1)
    measured = [by_replicate[row, j] for row, n in enumerate(episodes.replicates[0]) for j in range(n)]
    assert sorted(shown) == sorted(f"{value:+.{decimals}f}" for values in measured for value in values)
    limit = env.task.experiments[0].max_replicates
    assert (f" 2/{limit} " in text) == (limit > 1)
    assert f"{episodes.credits[0, 0]} of {env.task.budget} left" in text


def test_text_of_the_default_task_fits_eighty_columns() -> None:
    env = CausalCircuitsEnv(render_mode="ansi")
    env.reset(seed=3)
    for choice in (0, 11, 12):
        request(env, choice, value=-123456.789)
    assert max(map(len, env.render().splitlines())) <= 80


def test_text_of_the_start() -> None:
    env = CausalCircuitsEnv(render_mode="ansi")
    env.reset(seed=3)
    x, y = env._episodes.readouts[0, :2]
    assert env.render() == "\n".join(
        [
            "Synthetic causal circuits (causal-circuits 0.2.0)",
            "",
            "Circuit",
            "  x = tanh(bx + wu*u + wv*v)",
            "  y = tanh(by + wx*x + yu*u + yv*v)",
            "  u, v = 0 unless clamped",
            "  clamping a node replaces its equation",
            "Unknown coefficients",
            "  bx, by ~ Uniform(-0.2, 0.2)",
            "  wu, wv, wx, yu, yv ~ Uniform(-0.9, 0.9)",
            "",
            "Credits: 8 of 8 left",
            "",
            "Readouts (sd: standard deviation of the noise)",
            "  experiment  clamped  run         x         y",
            "                            sd 0.035  sd 0.035",
            f"  (initial)   u=v=0    1/1    {x:+.3f}    {y:+.3f}",
        ]
    )


def test_text_shows_targets_and_score_after_the_submission_only() -> None:
    env = CausalCircuitsEnv(render_mode="ansi")
    env.reset(seed=3)
    before = env.render()
    targets = env._episodes.targets(0)
    assert not any(word in before.lower() for word in ("target", "score", "error"))
    assert not any(f"{target:+.3f}" in before for target in targets.flat)
    score = request(env, 12, value=0.25)
    lines = [line for line in env.render().splitlines() if "+0.250" in line]
    assert f"Score: {score:.4f}" in env.render() or score < 5e-5
    assert len(lines) == targets.size
    for line, target in zip(lines, targets.flat, strict=True):
        numbers = [f"{target:+.3f}", f"{0.25 - target:+.3f}", f"{(0.25 - target) / 0.035:+.2f}"]
        assert line.split()[-3:] == numbers


@EVERY_MODE
def test_hidden_half_does_not_show_before_the_submission(mode: str) -> None:
    one, other = twins()
    assert np.array_equal(render_episode(one, 0, mode), render_episode(other, 0, mode))
    submit(one)
    submit(other)
    assert not np.array_equal(render_episode(one, 0, mode), render_episode(other, 0, mode))


@EVERY_MODE
def test_truncated_episode_keeps_its_secret(mode: str) -> None:
    one, other = twins()
    running = render_episode(one, 0, mode)
    for episodes in (one, other):
        episodes.phase[:] = TRUNCATED
    assert np.array_equal(render_episode(one, 0, mode), render_episode(other, 0, mode))
    assert not np.array_equal(render_episode(one, 0, mode), running)


@EVERY_MODE
def test_submitted_prediction_shows(mode: str) -> None:
    one, other = twins()
    other.coefficients[:] = one.coefficients
    targets = one.targets(0)
    assert submit(one, targets + 0.1) == pytest.approx(submit(other, targets - 0.1))
    assert not np.array_equal(render_episode(one, 0, mode), render_episode(other, 0, mode))


@EVERY_MODE
def test_an_episode_of_a_batch_is_shown_by_itself(mode: str) -> None:
    task = load_task(None)
    batch = Episodes(task, 3, "train", NO_LIMIT)
    batch.seed([5, 6, 7])
    batch.begin(np.ones(3, np.bool_))
    single = Episodes(task, 1, "train", NO_LIMIT)
    single.seed([6])
    single.begin(np.ones(1, np.bool_))
    assert np.array_equal(render_episode(batch, 1, mode), render_episode(single, 0, mode))
    assert not np.array_equal(render_episode(batch, 0, mode), render_episode(single, 0, mode))


def test_latest_query_is_marked_where_the_engine_tells_it() -> None:
    episodes = twins()[0]
    episodes.last[:] = -1
    unmarked = render_episode(episodes, 0, "rgb_array")
    frames = []
    for last in (-1, 1, 6):
        episodes.last[:] = last
        assert view_episode(episodes, 0).last == last
        frames.append(render_episode(episodes, 0, "rgb_array"))
    assert (unmarked != frames[1]).any()
    for part in (slice(0, 440), slice(440, None)):
        assert all((a[100:600, part] != b[100:600, part]).any() for a, b in pairwise(frames))


@EVERY_TASK
def test_graph_runs_from_left_to_right_and_its_circles_keep_apart(task: Callable[[], dict[str, Any] | None]) -> None:
    parsed, box = load_task(task()), Box(0, 0, 400, 400)
    graph = lay_out(parsed, box, margin=0.5)
    assert set(graph.nodes) == set(parsed.nodes)
    for (parent, child), points in graph.arrows.items():
        assert graph.nodes[parent][0] < graph.nodes[child][0]
        for node, centre in graph.nodes.items():
            if node not in (parent, child):
                assert min(math.dist(centre, point) for point in points) > graph.radius, (parent, child, node)
    for one, other in combinations(graph.nodes.values(), 2):
        assert math.dist(one, other) > 2 * graph.radius
    assert all(0 < x < 400 and 0 < y < 400 for x, y in graph.nodes.values())


@pytest.mark.parametrize(("score", "text"), [(0.0, "0.0000"), (3e-6, "<0.0001"), (0.5, "0.5000"), (1.0, "1.0000")])
def test_score_text(score: float, text: str) -> None:
    assert score_text(score) == text


def test_equation_and_query_text_say_what_was_meant() -> None:
    model = "x=tanh(bx+wu*u+wv*v),y=tanh(by+wx*x)"
    equations = parse_model(model)
    assert parse_model(",".join(map(equation_text, equations))) == equations
    assert query_text((("u", -0.8), ("v", -0.8), ("x", 1.0))) == "u=v=-0.8, x=1"
    assert query_text(()) == "nothing"


def test_record_video_writes_a_file_for_each_episode(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    env = gym.make("CausalCircuits-v0", render_mode="rgb_array")
    recorder = RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda episode: True, disable_logger=True)
    for seed in (1, 2):
        recorder.reset(seed=seed)
        for choice in (0, 5, 12):
            recorder.step({"choice": choice, "prediction": np.zeros((8, 2))})
    recorder.close()
    videos = sorted(tmp_path.glob("videos/*.mp4"))
    assert len(videos) == 2
    assert all(video.stat().st_size > 1000 for video in videos)


def test_human_mode_shows_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with pytest.warns(UserWarning, match="HumanRendering"):
        env = gym.make("CausalCircuits-v0", render_mode="human")
    env.reset(seed=1)
    env.step({"choice": 3, "prediction": np.zeros((8, 2))})
    assert env.render() is None
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, env.unwrapped.render())
    env.close()


def test_missing_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    env = CausalCircuitsEnv(render_mode="rgb_array")
    env.reset(seed=1)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DependencyNotInstalled, match=re.escape("pip install 'veilgym[plot]'")):
        env.render()
    assert render_episode(env._episodes, 0, "ansi")


def test_matplotlib_is_left_as_it_was_and_does_not_matter() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    episodes = twins()[0]
    submit(episodes)
    plain = render_episode(episodes, 0, "rgb_array")
    loud = {
        "figure.dpi": 31,
        "figure.facecolor": "black",
        "figure.constrained_layout.use": True,
        "savefig.facecolor": "red",
        "font.family": ["serif"],
        "font.size": 30,
        "font.style": "italic",
        "text.color": "red",
        "text.usetex": True,
        "lines.linewidth": 9,
        "lines.antialiased": False,
        "patch.facecolor": "red",
        "patch.linewidth": 9,
        "patch.antialiased": False,
        "path.sketch": (1, 100, 2),
    }
    with matplotlib.rc_context(loud):
        before = dict(matplotlib.rcParams), dict.__getitem__(matplotlib.rcParams, "backend")
        assert np.array_equal(render_episode(episodes, 0, "rgb_array"), plain)
        assert (dict(matplotlib.rcParams), dict.__getitem__(matplotlib.rcParams, "backend")) == before


def test_pyplot_is_not_imported() -> None:
    script = """
import sys
from veilgym.envs.causal_circuits.env import CausalCircuitsEnv
env = CausalCircuitsEnv(render_mode="rgb_array")
env.reset(seed=1)
assert "matplotlib" not in sys.modules, "imported before it is needed"
env.render()
assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
