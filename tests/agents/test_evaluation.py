"""Evaluation: exactly the instances that were asked for, the same for all agents at any width."""

import gymnasium as gym
import numpy as np
import pytest

from veilgym.agents.agent import Agent
from veilgym.agents.bench import bench
from veilgym.agents.evaluation import evaluate, instance_seeds, score_actions
from veilgym.agents.ladder import load_ladder
from veilgym.registry import ENTRIES

IDS = [entry.id for entry in ENTRIES]
CIRCUITS = "CausalCircuits-v0"


class Stubborn(Agent):
    """Asks for what does not exist, for ever."""

    name = "stubborn"
    description = "never submits"

    def act_batch(self, observations):
        batch = len(observations["credits"])
        return {"choice": np.full(batch, 99), "prediction": np.zeros((batch, 8, 2))}


class Uneven(Agent):
    """Submits after a number of experiments that differs between episodes."""

    name = "uneven"
    description = "submits zeros, early or late"

    def act_batch(self, observations):
        used = observations["replicates"][:, 1:].sum(axis=1)
        patience = (np.abs(observations["readouts"][:, 0]) * 1e4).astype(int) % 7
        choice = np.where(used < patience, used, 12)
        return {"choice": choice, "prediction": np.zeros((len(used), 8, 2))}


@pytest.mark.parametrize("env_id", IDS)
def test_evaluate__width_does_not_matter(env_id):
    agent = load_ladder(env_id).agents[0]
    wide, narrow = (evaluate(agent, env_id, episodes=23, num_envs=width) for width in (64, 5))
    assert wide.seeds == narrow.seeds
    np.testing.assert_array_equal(wide.scores, narrow.scores)
    np.testing.assert_array_equal(wide.experiments, narrow.experiments)
    assert len(wide.scores) == 23


@pytest.mark.parametrize("env_id", IDS)
def test_evaluate__equals_a_plain_loop(env_id):
    agent = load_ladder(env_id).agents[0]
    expected = []
    env = gym.make(env_id, split="test")
    for seed in instance_seeds(5, 12):
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
            total, over = total + reward, terminated or truncated
        expected.append(total)
    np.testing.assert_array_equal(evaluate(agent, env_id, episodes=12, seed=5).scores, expected)


def test_evaluate__episodes_of_different_length_are_all_counted_once():
    found = evaluate(Uneven(), CIRCUITS, episodes=50, num_envs=16)
    assert len(set(found.experiments.tolist())) > 3
    assert (found.scores > 0.0).all()
    np.testing.assert_array_equal(found.observations["replicates"][:, 1:].sum(axis=1), found.experiments)


def test_evaluate__an_agent_that_never_submits_scores_0():
    with pytest.warns(RuntimeWarning, match="step limit in 3 of 3 episodes; the first refusal: choice 99 is unknown"):
        found = evaluate(Stubborn(), CIRCUITS, episodes=3)
    assert found.scores.tolist() == [0.0, 0.0, 0.0]
    assert found.experiments.tolist() == [0, 0, 0]
    assert found.refused.tolist() == [64, 64, 64]
    assert found.truncated.all()


def test_evaluate__reports_progress_for_every_episode():
    ended = []
    evaluate(Uneven(), CIRCUITS, episodes=10, num_envs=4, progress=ended.append)
    assert ended == [4, 4, 2]


def test_instance_seeds__prefixes_and_disjointness():
    assert instance_seeds(0, 10) == instance_seeds(0, 100)[:10]
    assert not set(instance_seeds(0, 1000)) & set(instance_seeds(1, 1000))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"episodes": 0}, "episodes must be"),
        ({"episodes": 2.5}, "episodes must be"),
        ({"episodes": True}, "episodes must be"),
        ({"num_envs": 0}, "num_envs must be"),
        ({"seed": -1}, "seed must be"),
        ({"split": "validation"}, "split must be"),
        ({"task": "nowhere.json"}, "nowhere.json"),
    ],
)
def test_evaluate__bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(Uneven(), CIRCUITS, **({"episodes": 1} | arguments))


def test_score_actions__the_same_instances_as_the_evaluation():
    found = evaluate(Uneven(), CIRCUITS, episodes=20)
    actions = {"choice": np.full(20, 12), "prediction": np.zeros((20, 8, 2))}
    np.testing.assert_array_equal(score_actions(CIRCUITS, list(found.seeds), actions, "test"), found.scores)


@pytest.mark.parametrize("env_id", IDS)
def test_bench__one_episode(env_id):
    found = bench(env_id, episodes=1)
    assert all(standing.interval is None for standing in found.standings)
    assert [len(standing.scores) for standing in found.standings] == [1] * len(found.standings)


@pytest.mark.parametrize("env_id", IDS)
def test_bench__same_arguments_same_scores(env_id):
    first, second = (bench(env_id, episodes=8, num_envs=width) for width in (8, 3))
    assert [s.scores for s in first.standings] == [s.scores for s in second.standings]
    assert [s.regret for s in first.standings] == [s.regret for s in second.standings]


class Short(Uneven):
    """Returns too few actions."""

    def act_batch(self, observations):
        return {key: value[:-1] for key, value in super().act_batch(observations).items()}


@pytest.mark.parametrize(
    ("agent", "message"), [(Short(), "one action for each"), (Uneven, "agent must be"), (len, "agent must be")]
)
def test_evaluate__what_is_no_agent(agent, message):
    with pytest.raises(ValueError, match=message):
        evaluate(agent, CIRCUITS, episodes=2)


class Undecided(Agent):
    name = "undecided"
    description = "an option that there is not"

    def act_batch(self, observations):
        return np.full(len(observations["events"]), 7)


def test_evaluate__ends_an_episode_in_which_every_answer_is_refused():
    with pytest.warns(RuntimeWarning, match="answer 7 is unknown"):
        result = evaluate(Undecided(), "HiddenSystem-v0", episodes=3, num_envs=2)
    assert result.truncated.all()
    assert result.refused.tolist() == [64, 64, 64]
    assert not result.scores.any()


@pytest.mark.parametrize("arguments", [{"reward": "log"}, {"skeletons": []}])
def test_load_ladder__refuses_what_its_agents_cannot_answer(arguments):
    with pytest.raises(ValueError, match=f"needs {next(iter(arguments))}"):
        load_ladder("HiddenSystem-v0", **arguments)
