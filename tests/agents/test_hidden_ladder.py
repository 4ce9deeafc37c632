"""The agents for hidden systems: what each reads, on tables written by hand, and how they stand to each other."""

import numpy as np
import pytest

from veilgym.agents.agent import select, stack
from veilgym.agents.bench import bench
from veilgym.agents.evaluation import evaluate, score_actions
from veilgym.agents.hidden_system import ladder as rungs
from veilgym.agents.ladder import load_ladder
from veilgym.envs.hidden_system.generator import generated_layout
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload, ObservationProtocol
from veilgym.envs.hidden_system.payload import encode
from veilgym.envs.hidden_system.task import load_task

ID = "HiddenSystem-v0"
TASK = load_task(length=4)
LAYOUT = generated_layout(TASK)
EVENTS, ATTRIBUTES = LAYOUT.events, LAYOUT.attributes
QUERY = (1, 2, 3, 4)
AGENTS = [agent.name for agent in load_ladder(ID).agents]
TRIALS = 48
LOW, HIGH = 2, 7


def observe(cases, query=QUERY, options=("PRESENT", "ABSENT")):
    """The observation of a written table.

    Args:
        cases: (event numbers, a sign for each attribute: + for the query's level, how often the record was present).
    """
    support = tuple(
        BehaviorCase(
            f"C{i}",
            {name: HIGH if sign == "+" else LOW for name, sign in zip(ATTRIBUTES, signs, strict=True)},
            tuple(EVENTS[event - 1] for event in events),
            TRIALS,
            present,
            TRIALS - present,
        )
        for i, (events, signs, present) in enumerate(cases)
    )
    payload = BehaviorPayload(
        family="hidden_system",
        complexity=len(query),
        event_vocabulary=EVENTS,
        attribute_vocabulary=dict.fromkeys(ATTRIBUTES, (LOW, HIGH)),
        observation_protocol=ObservationProtocol(),
        support_cases=support,
        query_case=BehaviorCase("Q", dict.fromkeys(ATTRIBUTES, HIGH), tuple(EVENTS[event - 1] for event in query)),
        answer_options=options,
    )
    return encode(payload, LAYOUT)


def says_present(agent, cases, query=QUERY):
    """Whether the agent chooses PRESENT, the same for either order of the options."""
    answers = {
        options[agent.act(observe(cases, query, options))] for options in (("PRESENT", "ABSENT"), ("ABSENT", "PRESENT"))
    }
    assert len(answers) == 1
    return answers == {"PRESENT"}


def test_random__either_option_as_often():
    observations = stack(
        [observe([((1,), "++--", present), ((2,), "++--", other)]) for present in range(20) for other in range(40)]
    )
    actions = rungs.RandomAgent().act_batch(observations)
    assert set(actions) == {0, 1}
    assert actions.mean() == pytest.approx(0.5, abs=3.5 * 0.5 / np.sqrt(800))
    np.testing.assert_array_equal(actions, rungs.RandomAgent().act_batch(observations))


@pytest.mark.parametrize("present", [0, TRIALS])
def test_majority_class__says_present_whatever_is_seen(present):
    assert says_present(rungs.MajorityClass(TASK), [((1,), "++--", present)])


def test_last_pair__reads_the_last_two_events_in_their_order():
    agent = rungs.LastPair(TASK)
    rest = [((1, 2), "++--", TRIALS), ((1,), "++--", TRIALS), ((3, 4, 2), "++--", TRIALS)]
    assert says_present(agent, [((3, 4), "++--", 25), ((4, 3), "++--", 0)])
    assert not says_present(agent, [((3, 4), "++--", 24), ((4, 3), "++--", TRIALS), *rest])
    assert not says_present(agent, rest)
    assert says_present(agent, [((3, 4), "++--", 0), ((2, 1), "++--", TRIALS)], query=(4, 3, 2, 1))
    assert not says_present(agent, [((3, 4), "++--", TRIALS), ((2, 1), "++--", 0)], query=(4, 3, 2, 1))


def test_last_pair__takes_the_mean_of_its_cases():
    agent = rungs.LastPair(TASK)
    assert says_present(agent, [((3, 4), "++--", 40), ((3, 4), "--++", 9)])
    assert not says_present(agent, [((3, 4), "++--", 40), ((3, 4), "--++", 7)])


def test_maximum_pair_rate__reads_cases_of_two_events_only():
    agent = rungs.MaximumPairRate(TASK)
    others = [((1,), "++--", TRIALS), ((1, 2, 3), "++--", TRIALS)]
    assert not says_present(agent, [((1, 2), "++--", 24), ((2, 1), "++--", 0), *others])
    assert says_present(agent, [((1, 2), "++--", 25), ((2, 1), "++--", 0), ((3, 4), "++--", 0)])


def test_mean_rate__means_over_the_cases_there_are():
    agent = rungs.MeanRate(TASK)
    assert says_present(agent, [((1,), "++--", 10), ((1, 2), "++--", 40), ((1, 2, 3), "++--", 23)])
    assert not says_present(agent, [((1,), "++--", 10), ((1, 2), "++--", 40), ((1, 2, 3), "++--", 22)])


def test_noisy_or__combines_single_events():
    agent = rungs.NoisyOr(TASK)
    pairs = [((1, 2), "++--", TRIALS), ((1, 2, 3), "++--", TRIALS)]
    assert says_present(agent, [((1,), "++--", 15), ((2,), "++--", 14)])  # 1 - (33/48) (34/48) = 0.513
    assert not says_present(agent, [((1,), "++--", 14), ((2,), "++--", 14), *pairs])  # 0.498


def test_nearest_case__most_events_then_most_levels_then_the_mean():
    agent = rungs.NearestCase(TASK)
    assert says_present(agent, [((1, 2, 3), "----", TRIALS), ((1, 2), "++++", 0), ((1,), "++++", 0)])
    assert not says_present(agent, [((1, 2, 3), "+---", 0), ((2, 3, 4), "----", TRIALS)])
    two = [((1, 2, 3), "++--", 40), ((1, 2, 4), "--++", 9), ((2, 3, 4), "+---", 0)]
    assert says_present(agent, two)
    assert not says_present(agent, [*two, ((1, 3, 4), "-++-", 0)])


@pytest.mark.parametrize("strongest", range(4))
def test_strongest_attribute__reads_the_attribute_that_matters_most(strongest):
    observations = evaluate(rungs.MajorityClass(TASK), ID, 30, seed=1).observations
    levels = observations["attributes"].reshape(30, -1, 4) == observations["query_attributes"][:, None]
    signs = np.where(levels, 1, -1)
    agent = rungs.StrongestAttribute(TASK)
    for better in (1, -1):
        other = -better * signs[:, :, (strongest + 1) % 4]
        present = 24 + 16 * better * signs[:, :, strongest] + 5 * other
        altered = observations | {"present": present.astype(np.int16)}
        np.testing.assert_array_equal(agent.act_batch(altered), 0 if better == 1 else 1)


def composed(base, gated, flagged=(24, 24)):
    """A complete table: event 1 adds at `base`, 2 has the rates `gated` if its gate (X3) is open in the query or not.

    Events 3 and 4 do nothing with the carrier, and `flagged` in the case of all three and of the two.
    """
    cases = [((1,), "++--", base), ((2,), "++--", 0), ((3,), "++--", 0), ((4,), "++--", 0)]
    for signs in ("++--", "--++", "+-+-", "-+-+", "+--+", "-++-"):
        cases.append(((1, 2), signs, gated[0] if signs[2] == "+" else gated[1]))
        cases += [((1, 3), signs, base), ((1, 4), signs, base)]
    return [
        *cases,
        ((1, 2, 3), "++--", base),
        ((1, 2, 4), "++--", base),
        ((1, 3, 4), "++--", flagged[0]),
        ((3, 4), "++--", flagged[1]),
    ]


def test_greedy_composer__finds_gates():
    agent = rungs.GreedyComposer(TASK)
    assert not says_present(agent, composed(40, (8, 40)))  # a veto that the query turns on
    assert says_present(agent, composed(40, (40, 8)))  # one that it turns off
    assert says_present(agent, composed(12, (40, 12)))  # an event that adds
    assert not says_present(agent, composed(12, (12, 40)))


def test_greedy_composer__multiplies_effects():
    agent = rungs.GreedyComposer(TASK)
    cases = composed(36, (28, 36))
    assert says_present(agent, cases)  # one veto leaves 28/48 of the trials
    twice = [(events, signs, 28 if events == (1, 3) else present) for events, signs, present in cases]
    assert not says_present(agent, twice)  # two leave 28/48 * 28/36 = 0.45


def test_greedy_composer__is_blind_to_the_flag():
    agent = rungs.GreedyComposer(TASK)
    for flagged in ((0, 0), (TRIALS, TRIALS)):
        assert says_present(agent, composed(40, (40, 8), flagged))
        assert not says_present(agent, composed(12, (12, 40), flagged))


def test_greedy_composer__finds_the_carrier():
    def renamed(cases):
        codes = {1: 4, 2: 1, 3: 2, 4: 3}
        return [(tuple(codes[event] for event in events), signs, present) for events, signs, present in cases]

    agent = rungs.GreedyComposer(TASK)
    assert not says_present(agent, renamed(composed(40, (8, 40))), query=(4, 1, 2, 3))
    assert says_present(agent, renamed(composed(12, (40, 12))), query=(4, 1, 2, 3))


@pytest.fixture(scope="module")
def standings():
    result = bench(ID, episodes=150, length=4)
    return result, {standing.agent: standing for standing in result.standings}


def test_bench__floor_and_ideal(standings):
    result, by_agent = standings
    assert (result.floor, result.ideal, result.arguments) == ("random", "ideal observer", {"length": "short"})
    assert list(by_agent) == AGENTS
    assert by_agent["random"].score == pytest.approx(0.5, abs=0.15)
    scores = [standing.score for standing in by_agent.values()]
    assert scores[-1] == max(scores) > 0.92
    assert all(score < 0.75 for name, score in zip(AGENTS, scores, strict=True) if name not in AGENTS[-2:])
    assert 0.6 < by_agent["greedy composer"].score < scores[-1] - 0.05


def test_bench__normalised_scale(standings):
    _, by_agent = standings
    low, high = (
        0.5,
        by_agent["ideal observer"].score,
    )  # a coin is right in half of the instances, whatever its luck here
    assert by_agent["ideal observer"].normalised == 1.0
    for standing in by_agent.values():
        assert standing.normalised == pytest.approx((standing.score - low) / (high - low))
        assert standing.regret.total == pytest.approx(high - standing.score)
        assert (standing.truncated, standing.refused, standing.experiments) == (0, 0.0, 0.0)


@pytest.mark.parametrize("name", AGENTS)
def test_evaluate__does_not_depend_on_the_width(name):
    agent = load_ladder(ID)[name]
    one, other = (evaluate(agent, ID, 40, num_envs=width, seed=2) for width in (7, 64))
    np.testing.assert_array_equal(one.scores, other.scores)
    assert set(one.scores) <= {0.0, 1.0}


@pytest.mark.parametrize("name", AGENTS[1:])
def test_evaluate__options_in_either_order(name):
    agent = load_ladder(ID)[name]
    plain, shuffled = (evaluate(agent, ID, 40, seed=4, shuffle_options=flag) for flag in (False, True))
    is_swapped = shuffled.observations["options"][:, 0] == 1
    assert 8 < is_swapped.sum() < 32
    # The ideal observer's chains differ with the observation, so doubtful instances may be answered otherwise.
    assert (plain.scores != shuffled.scores).sum() <= (1 if name == "ideal observer" else 0)
    answers = agent.act_batch(plain.observations), agent.act_batch(shuffled.observations)
    assert ((answers[0] != answers[1]) != is_swapped).sum() <= (1 if name == "ideal observer" else 0)


@pytest.fixture(scope="module")
def forecasts():
    evaluation = evaluate(rungs.Forecaster(TASK), ID, 150, seed=6, reward="brier")
    return evaluation, rungs.Forecaster(TASK).act_batch(evaluation.observations)


@pytest.mark.parametrize("reward", ["brier", "log"])
def test_forecaster__proper_scores(forecasts, reward):
    evaluation, p = forecasts

    def score(forecast):
        return score_actions(ID, list(evaluation.seeds), forecast.astype(np.float32), "test", reward=reward)

    own, constant, answers, shy = map(score, (p, np.full_like(p, 0.5), p > 0.5, 0.5 + 0.5 * (p - 0.5)))
    if reward == "brier":
        np.testing.assert_array_equal(own, evaluation.scores)
    for other in (constant, answers, shy):
        assert own.mean() > other.mean()
    assert (own >= constant).mean() > 0.9


def test_forecaster__one_probability_of_present_for_each():
    observations = evaluate(rungs.Forecaster(TASK), ID, 12, reward="brier", shuffle_options=True).observations
    forecaster = rungs.Forecaster(TASK)
    forecasts = forecaster.act_batch(observations)
    assert (forecasts.shape, forecasts.dtype) == ((12, 1), np.float32)
    found = forecaster.observer.infer(observations)
    np.testing.assert_allclose(forecasts[:, 0], found.present, rtol=1e-6)
    assert forecaster.act(select(observations, 3)) == forecasts[3]
