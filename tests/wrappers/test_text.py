"""Text in, text out: the prompt says what the arrays say, a reply does what the action does, refusals cost nothing."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.wrappers import FlattenObservation

from veilgym.envs.causal_circuits.records import payload_of
from veilgym.envs.core.family import load_family
from veilgym.envs.dynamic_world.observation import decode as decode_world
from veilgym.envs.hidden_system.payload import decode as decode_system
from veilgym.registry import ENTRIES
from veilgym.wrappers.text_action import TextAction
from veilgym.wrappers.text_observation import TextObservation
from veilgym.wrappers.text_space import PRINTABLE, PromptSpace, ReplySpace

SMALL: dict[str, dict[str, Any]] = {"DynamicWorld-v0": {"entity_count": 64, "simulation_steps": 300}}
every_id = pytest.mark.parametrize("name", [entry.id for entry in ENTRIES])
PREDICTION = json.dumps({"prediction": [[0.1, -0.1]] * 8})


def make(name: str, **arguments: Any) -> gym.Env[Any, Any]:
    return gym.make(name, **{**SMALL.get(name, {}), **arguments})


def in_words(name: str, skin: str | None = None, **arguments: Any) -> Any:
    return TextAction(TextObservation(make(name, **arguments), skin))


def skins_of(name: str) -> tuple[str, ...]:
    return load_family(name).skins


@every_id
def test_the_prompt_is_the_payload_in_every_skin(name: str) -> None:
    for skin in skins_of(name):
        arrays, words = make(name), TextObservation(make(name), skin)
        for _ in range(3):
            observation, text = arrays.reset(seed=5)[0], words.reset(seed=5)[0]
            assert text in words.observation_space
            payload = payload_by_hand(name, observation, arrays.unwrapped)
            told = render(name, payload, skin)
            assert told.text == text
            assert load_family(name).parse(text, skin, told.names) == payload


def payload_by_hand(name: str, observation: Any, env: Any) -> Any:
    if name.startswith("Circuits") or "Causal" in name:
        return payload_of(observation, env.task)
    return decode_system(observation, env.layout) if "Hidden" in name else decode_world(observation, env.task)


def render(name: str, payload: Any, skin: str) -> Any:
    if "Causal" in name:
        from veilgym.envs.causal_circuits.prose import render as render_circuit

        return render_circuit(payload, skin, is_interactive=True)
    return load_family(name).render(payload, skin)


@every_id
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version.*")
def test_the_wrapped_env_keeps_gymnasiums_contract(name: str) -> None:
    env = TextObservation(make(name, render_mode=None))
    check_env(env, skip_render_check=True)
    spec = in_words(name).spec
    assert (
        gym.make(gym.envs.registration.EnvSpec.from_json(spec.to_json())).reset(seed=1)[0]
        == in_words(name).reset(seed=1)[0]
    )


@every_id
def test_vector_envs_of_wrapped_envs(name: str) -> None:
    envs = gym.vector.SyncVectorEnv([lambda: in_words(name)] * 2)
    texts, _ = envs.reset(seed=[1, 2])
    assert texts == tuple(in_words(name).reset(seed=seed)[0] for seed in (1, 2))
    _, rewards, _, _, infos = envs.step(["what?", "who?"])
    assert rewards.tolist() == [0.0, 0.0]
    assert all(reply.startswith("Refused, at no cost: ") for reply in infos["reply"])


@pytest.mark.parametrize("name", ["HiddenSystem-v0", "DynamicWorld-v0"])
@pytest.mark.parametrize("choice", [0, 1])
def test_a_reply_earns_what_the_action_earns(name: str, choice: int) -> None:
    arrays, words = make(name), in_words(name)
    for seed in range(12):
        arrays.reset(seed=seed)
        words.reset(seed=seed)
        option = words.unwrapped.answer_options[choice]
        expected = arrays.step(choice)
        observation, reward, terminated, truncated, info = words.step(
            f"Some reasoning.\n\n**Answer:** {option.lower()}."
        )
        assert (reward, terminated, truncated) == expected[1:4]
        assert (info["refusal"], info["reason"]) == (0, "")
        assert info["reply"] == f"The answer {option} is accepted. It is {'right' if reward else 'wrong'}."
        assert isinstance(observation, str)


def test_options_have_the_order_of_the_question() -> None:
    words, arrays = in_words("HiddenSystem-v0", shuffle_options=True), make("HiddenSystem-v0", shuffle_options=True)
    seen = set()
    for seed in range(10):
        text, _ = words.reset(seed=seed)
        observation, _ = arrays.reset(seed=seed)
        options = decode_system(observation, arrays.unwrapped.layout).answer_options
        assert words.unwrapped.answer_options == options
        assert text.rindex(f"{options[0]}:") < text.rindex(f"{options[1]}:")
        assert words.step("PRESENT")[1] == arrays.step(options.index("PRESENT"))[1]
        seen.add(options)
    assert len(seen) == 2


@pytest.mark.parametrize("name", ["HiddenSystem-v0", "DynamicWorld-v0"])
def test_an_unparsed_reply_is_refused_and_changes_nothing(name: str) -> None:
    words = in_words(name)
    text, _ = words.reset(seed=3)
    first, second = words.unwrapped.answer_options
    for reply in ("", "Hm.", f"{first} or {second}", f"not {first}", None, 7, "\x00", "x" * 10_000):
        observation, reward, terminated, truncated, info = words.step(reply)
        assert (observation, reward, terminated, truncated) == (text, 0.0, False, False)
        assert info["refusal"] > 0
        assert "allowed is" in info["reason"]
        assert info["reply"] == f"Refused, at no cost: {info['reason']}."
    assert words.step(first)[2]


def test_circuits_play_as_with_arrays() -> None:
    arrays, words = make("CausalCircuits-v0"), in_words("CausalCircuits-v0")
    arrays.reset(seed=4)
    text, info = words.reset(seed=4)
    assert info["reply"] == ""
    for choice, name in ((0, "clamp-u-0"), (0, "clamp-u-0"), (11, "clamp-x-3")):
        observation, reward, _, _, expected = arrays.step({"choice": choice, "prediction": np.zeros((8, 2))})
        text, got, terminated, _, info = words.step(f'I run {{"action_id": "{name}"}}')
        assert (got, terminated) == (reward, False)
        assert text == render("CausalCircuits-v0", payload_of(observation, arrays.unwrapped.task), "plain").text
        assert data_equivalence({key: info[key] for key in expected}, expected)
        new = info["reply"].split("\n")[0]
        assert new.startswith(f"{name}, run ")
        assert f"- {new}\n" in text
    assert "Credits left: 5 of 8. Experiments that can still be run: clamp-u-1," in info["reply"]
    score = arrays.step({"choice": 12, "prediction": np.full((8, 2), [0.1, -0.1])})[1]
    _, reward, terminated, _, info = words.step(PREDICTION)
    assert (reward, terminated) == (score, True)
    assert info["reply"] == f"The prediction is accepted. Its score is {score:.4f}."


def test_circuits_refuse_at_no_cost_and_say_what_is_allowed() -> None:
    words = in_words("CausalCircuits-v0")
    text, _ = words.reset(seed=4)
    cases = [
        ("hello", 6, "no JSON object"),
        ('{"action_id": "clamp-w-0"}', 1, "allowed are clamp-u-0"),
        ('{"prediction": [[1, 2]]}', 5, "8 rows of 2 numbers"),
        ('{"prediction": [[NaN, 2]]}', 4, "finite"),
        ("", 6, "empty"),
        (None, 6, "text"),
    ]
    for reply, code, said in cases:
        observation, reward, terminated, truncated, info = words.step(reply)
        assert (observation, reward, terminated, truncated) == (text, 0.0, False, False)
        assert (info["refusal"], said in info["reason"]) == (code, True)
        assert info["reply"].startswith(f"Refused, at no cost: {info['reason']}.\nCredits left: 8 of 8.")
    for reply in ['{"action_id": "clamp-u-0"}'] * 2:
        words.step(reply)
    *_, info = words.step('{"action_id": "clamp-u-0"}')
    assert info["refusal"] == 2
    assert "already been run 2 times" in info["reply"]
    for node in ("clamp-u-1", "clamp-v-0", "clamp-v-1"):
        for _ in range(2):
            words.step(json.dumps({"action_id": node}))
    *_, info = words.step('{"action_id": "clamp-x-0"}')
    assert info["refusal"] == 3
    assert info["reply"].endswith("Credits left: 0 of 8. No experiment can be run any more: submit your prediction.")


def test_observe_initial_is_idempotent_and_free() -> None:
    words = in_words("CausalCircuits-v0")
    text, _ = words.reset(seed=4)
    replies = set()
    for _ in range(3):
        observation, reward, terminated, _, info = words.step('{"action_id": "observe_initial"}')
        assert (observation, reward, terminated, info["refusal"], info["reason"]) == (text, 0.0, False, 0, "")
        replies.add(info["reply"])
    (reply,) = replies
    assert f"- {reply.splitlines()[0]}\n" in text


@pytest.mark.parametrize("reply", ["hm", '{"action_id": "observe_initial"}', '{"action_id": "clamp-w-0"}'])
def test_the_limit_of_steps_counts_every_turn(reply: str) -> None:
    words = in_words("CausalCircuits-v0")
    words.reset(seed=0)
    for turn in range(64):
        _, reward, terminated, truncated, info = words.step(reply)
        assert (reward, terminated, truncated) == (0.0, False, turn == 63)
    assert info["reply"].endswith("The limit of steps is reached: the episode is over, without an answer.")


def test_the_longest_texts_fit_into_their_spaces() -> None:
    for name in [entry.id for entry in ENTRIES]:
        for skin in skins_of(name):
            words = in_words(name, skin)
            texts = [words.reset(seed=seed)[0] for seed in range(4)]
            if "Causal" in name:
                texts += [words.step(json.dumps({"action_id": f"clamp-{n}-{i}"}))[0] for n in "uv" for i in range(4)]
            for text in texts:
                assert text in words.observation_space
                assert len(text) > words.observation_space.max_length / 20


def test_circuits_with_names_of_other_alphabets(chain_document: dict[str, Any]) -> None:
    env = in_words("CausalCircuits-v0", task=chain_document)
    text, _ = env.reset(seed=0)
    assert text in env.observation_space
    text, *_ = env.step('{"action_id": "Schl\u00fcssel \u2603"}')
    assert text in env.observation_space
    assert "r\u00e9" in text


@pytest.fixture
def chain_document() -> dict[str, Any]:
    from veilgym.envs.causal_circuits.task import read_document

    document = read_document()
    for field in ("prediction_shape", "action_schema"):
        del document[field]
    return document | {
        "model": "r\u00e9=tanh(b+a*s)",
        "prior": "a,b ~ Uniform(-1,1)",
        "title": "T\u00eatu \u2603",
        "outputs": ["r\u00e9"],
        "noise_std": [0.1],
        "scoring": {"name": "inverse_normalized_mse", "scale": [0.1]},
        "initial_queries": [],
        "experiments": [{"id": "Schl\u00fcssel \u2603", "query": {"s": 1.0}}],
        "prediction_queries": [{"s": 0.5}],
    }


def test_what_cannot_be_wrapped_is_named() -> None:
    for wrapper in (TextObservation, TextAction):
        with pytest.raises(ValueError, match="env must be one of CausalCircuits-v0, "):
            wrapper(gym.make("CartPole-v1"))
    with pytest.raises(ValueError, match="reward 'accuracy'"):
        TextAction(make("HiddenSystem-v0", reward="brier"))
    with pytest.raises(ValueError, match="skin must be one of"):
        TextObservation(make("HiddenSystem-v0"), "attic")


def test_actions_in_words_go_with_any_view_of_the_observation() -> None:
    env = TextAction(FlattenObservation(make("CausalCircuits-v0")))
    env.reset(seed=0)
    observation, *_, info = env.step('{"action_id": "clamp-u-0"}')
    assert observation.ndim == 1
    assert info["reply"].startswith("clamp-u-0, run 1: x = ")


def test_spaces_of_text() -> None:
    space = PromptSpace(10)
    assert "a {b}\n" in space
    for wrong in ("\t", "\u2603", "x" * 11, 1, None, b"a"):
        assert wrong not in space
    assert space == PromptSpace(10) != PromptSpace(11)
    replies = ReplySpace()
    replies.seed(0)
    assert "\u2603\x00" in replies
    assert 1 not in replies
    assert "x" * (2**20 + 1) not in replies
    samples = [replies.sample() for _ in range(50)]
    assert len(set(samples)) == 50
    assert set("".join(samples)) <= PRINTABLE
