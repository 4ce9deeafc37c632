"""Each script of `examples/` runs, at a tiny size; those whose library is not installed are skipped."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS = {
    "stable_baselines3_ppo": ["sb3_contrib"],
    "cleanrl_ppo": ["torch"],
    "torchrl_rollout": ["torchrl"],
    "rllib_ppo": ["ray.rllib"],
    "minari_dataset": ["minari", "h5py", "jax"],
}
TINY = {
    "stable_baselines3_ppo": ["--steps", "144", "--num-envs", "4", "--episodes", "8"],
    "cleanrl_ppo": ["--steps", "64", "--num-envs", "16"],
    "torchrl_rollout": ["--steps", "5"],
    "rllib_ppo": ["--iterations", "1", "--batch", "64"],
    "minari_dataset": ["--episodes", "2"],
}
ELSEWHERE = {"real_model"}  # needs a language model that answers
# What other people's packages warn of is not for us to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_examples__are_all_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} - ELSEWHERE == set(NEEDS) == set(TINY)


@pytest.mark.parametrize("name", list(NEEDS))
def test_example__runs(name, tmp_path, monkeypatch, capsys):
    for module in NEEDS[name]:
        pytest.importorskip(module, exc_type=ImportError)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.main(TINY[name])
    assert result == 2 if name == "minari_dataset" else 0.0 <= result <= 1.0
    assert len(capsys.readouterr().out.splitlines()) >= 1
