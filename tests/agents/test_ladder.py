"""The agents of every ladder: pure functions of observations, in order, at the figures of the design."""

import gymnasium as gym
import numpy as np
import pytest

from veilgym.agents.agent import select
from veilgym.agents.bench import bench
from veilgym.agents.causal_circuits.bound import design_bound
from veilgym.agents.evaluation import evaluate
from veilgym.agents.ladder import load_ladder
from veilgym.envs.causal_circuits.task import load_task, read_document
from veilgym.registry import ENTRIES

IDS = [entry.id for entry in ENTRIES]
CIRCUITS = "CausalCircuits-v0"


def equal(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)
    return np.array_equal(a, b)


@pytest.fixture(scope="module", params=IDS)
def ladder(request):
    return request.param, load_ladder(request.param)


def test_agents__act_alike_alone_and_in_any_batch(ladder):
    env_id, agents = ladder
    for agent in agents.agents:
        envs = gym.make_vec(env_id, num_envs=5)
        observations, _ = envs.reset(seed=1)
        for _ in range(9):
            actions = agent.act_batch(observations)
            backwards = agent.act_batch({key: value[::-1] for key, value in observations.items()})
            for i in range(5):
                assert equal(agent.act(select(observations, i)), select(actions, i)), agent.name
                assert equal(select(backwards, 4 - i), select(actions, i)), agent.name
            observations, *_ = envs.step(actions)


def test_agents__actions_are_accepted_until_the_end(ladder):
    env_id, agents = ladder
    for agent in agents.agents:
        env = gym.make(env_id)
        observation, _ = env.reset(seed=3)
        over = False
        while not over:
            observation, _, over, truncated, info = env.step(agent.act(observation))
            assert info.get("refusal", 0) == 0, (agent.name, info)
            assert not truncated


def test_agents__do_not_change_what_they_see(ladder):
    env_id, agents = ladder
    observations, _ = gym.make_vec(env_id, num_envs=3).reset(seed=0)
    before = {key: value.copy() for key, value in observations.items()}
    for agent in agents.agents:
        agent.act_batch(observations)
        assert equal(observations, before), agent.name


def test_ladder__names(ladder):
    _, agents = ladder
    names = [agent.name for agent in agents.agents]
    assert len(set(names)) == len(names)
    assert {agents.floor, agents.ideal} <= set(names)
    assert agents[agents.ideal].name == agents.ideal
    assert all(agent.description for agent in agents.agents)
    with pytest.raises(ValueError, match="agent must be one of"):
        agents["nobody"]


def test_load_ladder__unknown_id():
    with pytest.raises(ValueError, match="id must be one of"):
        load_ladder("CartPole-v1")


@pytest.fixture(scope="module")
def circuits():
    return {standing.agent: standing for standing in bench(CIRCUITS, episodes=1500).standings}


@pytest.mark.parametrize(
    ("agent", "figure", "tolerance"),
    [
        ("random", 0.002, 0.001),
        ("prior mean", 0.008, 0.001),
        ("random experiments", 0.54, 0.03),
        ("best fixed design", 0.71, 0.02),
    ],
)
def test_circuits__figures_of_the_design(circuits, agent, figure, tolerance):
    assert circuits[agent].score == pytest.approx(figure, abs=tolerance)


def test_circuits__order(circuits):
    scores = [standing.score for standing in circuits.values()]
    assert scores == sorted(scores)
    assert circuits["best fixed design"].regret.interval[0] > 0.0  # the ideal observer is better on the same instances
    assert circuits["ideal observer"].score < 0.75


def test_circuits__regret_splits_exactly(circuits):
    for standing in circuits.values():
        regret = standing.regret
        assert regret.experiments + regret.inference == pytest.approx(regret.total, abs=1e-12)
    assert circuits["ideal observer"].regret.total == 0.0
    assert circuits["best fixed design"].regret.inference == pytest.approx(0.0, abs=1e-3)
    assert circuits["best fixed design"].regret.experiments > 0.0
    assert circuits["least squares"].regret.inference > 0.002
    assert circuits["prior mean"].regret.experiments > 0.6
    assert circuits["random"].regret.inference > 0.1


def test_circuits__normalised_scale(circuits):
    assert circuits["prior mean"].normalised == 0.0
    assert circuits["ideal observer"].normalised == 1.0
    assert circuits["random"].normalised < 0.0


def test_circuits__experiments_used(circuits):
    assert circuits["prior mean"].experiments == 0.0
    assert circuits["ideal observer"].experiments == 8.0
    assert 3.0 < circuits["random"].experiments < 8.0


def chain_task():
    """Another circuit: a chain of three nodes and a fork, one node unseen, unequal costs, three replicates."""
    document = read_document()
    del document["prediction_shape"], document["action_schema"]
    return document | {
        "model": "m=tanh(b+a*s), x=tanh(c*m+d*t), y=tanh(e*m+f*x)",
        "prior": "a,c,d,e,f ~ Uniform(-1.5,1.5); b ~ Uniform(0,0.3)",
        "outputs": ["x", "y"],
        "noise_std": [0.05, 0.1],
        "scoring": {"name": "inverse_normalized_mse", "scale": [0.05, 0.1]},
        "budget": 12,
        "initial_queries": [{}, {"s": 1.0, "t": 1.0}],
        "experiments": [
            {"id": "s", "query": {"s": 1.0}, "cost": 1, "max_replicates": 3},
            {"id": "t", "query": {"t": -1.0}, "cost": 2, "max_replicates": 3},
            {"id": "m", "query": {"m": 0.8, "t": 0.5}, "cost": 3, "max_replicates": 2},
            {"id": "x", "query": {"x": 0.7}, "cost": 1, "max_replicates": 1},
        ],
        "prediction_queries": [{"s": -1.0, "t": -1.0}, {"s": 0.5, "x": -0.5}, {"m": -1.0}],
    }


def test_circuits__another_task():
    standings = {s.agent: s for s in bench(CIRCUITS, episodes=300, task=chain_task()).standings}
    assert standings["ideal observer"].score > standings["random experiments"].score > standings["prior mean"].score
    assert standings["ideal observer"].score >= standings["best fixed design"].score - 0.01
    assert standings["random"].score < 0.2


def test_circuits__more_experiments_than_the_step_limit_of_the_id():
    document = read_document()
    document["budget"] = 70
    for experiment in document["experiments"]:
        experiment["max_replicates"] = 10
    for standing in bench(CIRCUITS, episodes=2, task=document).standings:
        assert standing.truncated == 0
        assert standing.experiments in (0.0, 70.0) or standing.agent == "random"
        assert min(standing.scores) > 0.0


def test_circuits__unequal_costs_are_planned_for():
    # Two cheap experiments teach less than one dear one: comparing gains per credit alone would choose the cheap ones.
    document = read_document()
    document["budget"] = 8
    document["experiments"] = [
        {"id": "cheap", "query": {"u": 0.4}, "cost": 1, "max_replicates": 1},
        {"id": "dear", "query": {"u": 1.0, "v": 1.0}, "cost": 7, "max_replicates": 1},
        {"id": "u", "query": {"u": 1.0}, "cost": 4, "max_replicates": 2},
        {"id": "v", "query": {"v": 1.0}, "cost": 4, "max_replicates": 2},
    ]
    del document["action_schema"]
    standings = {s.agent: s for s in bench(CIRCUITS, episodes=400, task=document).standings}
    best = design_bound(load_task(document), circuits=64).best_fixed
    assert tuple(load_ladder(CIRCUITS, task=document)["best fixed design"].design) == best
    assert standings["ideal observer"].score > standings["best fixed design"].score - 0.01


def test_circuits__without_noise_the_ideal_observer_is_nearly_exact():
    document = read_document()
    document["noise_std"] = [0.0, 0.0]
    ideal = load_ladder(CIRCUITS, task=document)["ideal observer"]
    assert evaluate(ideal, CIRCUITS, episodes=50, task=document).scores.mean() > 0.99
