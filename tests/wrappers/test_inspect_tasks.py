"""The tasks for inspect-ai, with its mock model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import eval as evaluate
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model

import veilgym
from veilgym.envs.causal_circuits.records import CircuitSkeleton
from veilgym.envs.core.family import load_family
from veilgym.wrappers import inspect_tasks

# inspect-ai leaves files to the collector and calls deprecated parameters.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

Say = Callable[[list[ChatMessage]], "str | ModelOutput"]


def model(say: Say) -> Any:
    def output(messages: list[ChatMessage], tools: Any, choice: Any, config: Any) -> ModelOutput:
        said = say(messages)
        found = said if isinstance(said, ModelOutput) else ModelOutput.from_content("mockllm/model", said)
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return found

    return get_model("mockllm/model", memoize=False, custom_outputs=output)


def run(task: Any, say: Say, folder: Path) -> Any:
    (log,) = evaluate(task, model=model(say), log_dir=str(folder), display="none", log_realtime=False)
    assert log.status == "success", log.error
    return log


def metrics(log: Any) -> dict[str, float]:
    return {name: found.value for name, found in log.results.scores[0].metrics.items()}


SMALL = {
    "hidden_system": {"count": 8},
    "dynamic_world": {"count": 4, "length": 3, "entity_count": 40, "simulation_steps": 120},
}


@pytest.mark.parametrize("name", SMALL)
def test_an_oracle_a_fool_and_a_babbler(name: str, tmp_path: Path) -> None:
    task = getattr(inspect_tasks, name)(**SMALL[name])
    answers = {sample.input: sample.target for sample in task.dataset}
    other = {"PRESENT": "ABSENT", "ABSENT": "PRESENT", "YES": "NO", "NO": "YES"}
    right = run(task, lambda messages: f"I think so.\n\nAnswer: {answers[messages[-1].text]}", tmp_path)
    assert metrics(right) == {"accuracy": 1.0, "stderr": 0.0, "unparsed": 0.0}
    wrong = run(task, lambda messages: other[answers[messages[-1].text]], tmp_path)
    assert metrics(wrong) == {"accuracy": 0.0, "stderr": 0.0, "unparsed": 0.0}
    silent = run(task, lambda messages: "It could be PRESENT or ABSENT, YES or NO.", tmp_path)
    assert metrics(silent) == {"accuracy": 0.0, "stderr": 0.0, "unparsed": 1.0}
    assert silent.samples[0].scores["choice"].metadata["reason"] == "options echoed"
    assert silent.samples[0].scores["choice"].explanation


@pytest.mark.parametrize("name", SMALL)
def test_the_model_is_shown_the_prompt_alone(name: str, tmp_path: Path) -> None:
    seen = []

    def say(messages: list[ChatMessage]) -> str:
        seen.append([message.text for message in messages])
        return "?"

    task = getattr(inspect_tasks, name)(**SMALL[name])
    run(task, say, tmp_path)
    assert sorted(seen) == sorted([sample.input] for sample in task.dataset)
    for sample in task.dataset:
        assert set(sample.metadata) == {"skin", "options"}
        assert re.fullmatch("[0-9a-f]{32}", sample.id)


def test_problems_are_those_of_the_family() -> None:
    family = load_family("hidden-system")
    task = inspect_tasks.hidden_system(count=3, length="medium", skin="ward", seed=9, split="train")
    skeletons = list(family.generate(0, 3, "medium", 9, "train"))
    assert [sample.target for sample in task.dataset] == [skeleton.gold_answer for skeleton in skeletons]
    prompts = [family.render(family.payload(skeleton), "ward").text for skeleton in skeletons]
    assert [sample.input for sample in task.dataset] == prompts
    with pytest.raises(ValueError, match="skin must be one of"):
        inspect_tasks.hidden_system(count=1, skin="opera")
    with pytest.raises(ValueError, match="protocol must be"):
        inspect_tasks.causal_circuits(count=1, protocol="shout")  # type: ignore[arg-type]


def skeletons_of(task: Any) -> dict[str, CircuitSkeleton]:
    import msgspec

    return {sample.input: msgspec.json.decode(sample.target, type=CircuitSkeleton) for sample in task.dataset}


def first_text(messages: list[ChatMessage]) -> str:
    return next(message.text for message in messages if message.role == "user")


def test_circuits_by_json(tmp_path: Path) -> None:
    task = inspect_tasks.causal_circuits(count=3)
    records = skeletons_of(task)
    said: list[str] = []

    def say(messages: list[ChatMessage]) -> str:
        record = records[first_text(messages)]
        turn = sum(message.role == "assistant" for message in messages)
        said.append(messages[-1].text)
        return [
            '{"action_id": "observe_initial"}',
            'I will run this.\n```json\n{"action_id": "clamp-u-0"}\n```',
            '{"action_id": "clamp-u-0"}',
            '{"action_id": "clamp-u-0"}',
            '{"action_id": "clamp-w-9"}',
            "no idea",
            json.dumps({"prediction": record.targets}),
        ][turn]

    log = run(task, say, tmp_path)
    assert metrics(log) == {"mean": pytest.approx(1.0), "stderr": pytest.approx(0.0), "unparsed": 0.0}
    record = records[log.samples[0].input]
    first = record.potential_readouts["clamp-u-0"][0]
    texts = [message.text for message in log.samples[0].messages if message.role == "user"]
    assert texts[1].startswith("the initial reading is x = ")
    assert texts[2] == f"clamp-u-0 read x = {first[0]:.8g}, y = {first[1]:.8g}. Credits left: 7 of 8."
    assert texts[4].startswith("Refused at no cost: experiments[2]: 'clamp-u-0' may be run 2 times")
    assert "allowed are clamp-u-0" in texts[5]
    assert "has no JSON object" in texts[6]
    # What may be known of a circuit is in the messages; what may not is in none.
    hidden = [repr(value) for value in (*record.coefficients.values(), *sum(record.targets, ()))]
    assert not any(number in text for number in hidden if len(number) > 6 for text in said)


def test_circuits_by_tools(tmp_path: Path) -> None:
    task = inspect_tasks.causal_circuits(count=2, protocol="tools")
    records = skeletons_of(task)

    def say(messages: list[ChatMessage]) -> str | ModelOutput:
        record = records[first_text(messages)]
        turn = sum(message.role == "assistant" for message in messages)
        if turn == 0:
            return ModelOutput.for_tool_call("mockllm/model", "run_experiment", {"action_id": "clamp-v-3"})
        if turn == 1:
            return "Let me think."
        rows = [list(row) for row in record.targets]
        return ModelOutput.for_tool_call("mockllm/model", "submit", {"prediction": rows[: 8 if turn > 2 else 3]})

    log = run(task, say, tmp_path)
    assert metrics(log)["mean"] == pytest.approx(1.0)
    answers = [message.text for message in log.samples[0].messages if message.role == "tool"]
    assert answers[0].startswith("clamp-v-3 read x = ")
    assert "8 rows" in answers[1]
    assert answers[2] == "The prediction is submitted; the episode is over."


@pytest.mark.parametrize(
    ("reply", "reason"), [("no idea", "no answer"), ('{"action_id": "observe_initial"}', "not submitted")]
)
def test_an_episode_without_submission_scores_nothing(reply: str, reason: str, tmp_path: Path) -> None:
    log = run(inspect_tasks.causal_circuits(count=2, turns=3), lambda messages: reply, tmp_path)
    assert metrics(log) == {"mean": 0.0, "stderr": 0.0, "unparsed": 1.0}
    assert log.samples[0].scores["prediction"].metadata["reason"] == reason
    assert sum(message.role == "assistant" for message in log.samples[0].messages) == 3


def test_inspect_finds_the_tasks(tmp_path: Path) -> None:
    """An installation is imitated by a link and metadata: the suite need not run from one."""
    root = Path(veilgym.__file__).parent
    project = (root / "pyproject.toml").read_text()
    assert '[project.entry-points.inspect_ai]\nveilgym = "veilgym.wrappers.inspect_tasks"' in project
    site = tmp_path / "site-packages"
    metadata = site / "veilgym-99.dist-info"
    metadata.mkdir(parents=True)
    (site / "veilgym").symlink_to(root, target_is_directory=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: veilgym\nVersion: 99\n")
    (metadata / "entry_points.txt").write_text("[inspect_ai]\nveilgym = veilgym.wrappers.inspect_tasks\n")
    code = (
        "from inspect_ai import eval\n"
        "from inspect_ai.model import ModelOutput, ModelUsage, get_model\n"
        "def say(*_):\n"
        "    found = ModelOutput.from_content('m', 'Answer: PRESENT')\n"
        "    found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)\n"
        "    return found\n"
        "model = get_model('mockllm/model', custom_outputs=say)\n"
        "(log,) = eval('veilgym/hidden_system', model=model, task_args={'count': 2}, display='none', log_dir='logs')\n"
        "print(log.status, log.eval.task, len(log.samples))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split()[:1] == ["success"], done.stderr
    assert "hidden_system 2" in done.stdout
