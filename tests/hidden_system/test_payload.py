"""The public half: exactly the listed fields, nothing of the hidden half, and the same thing as the observation."""

from __future__ import annotations

import itertools
import json

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from veilgym.envs.core.records import convert, to_json
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.generator import generated_layout
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload
from veilgym.envs.hidden_system.layout import layout_of
from veilgym.envs.hidden_system.payload import decode, encode, observation_space, select
from veilgym.envs.hidden_system.skeletons import SystemFile, run_system
from veilgym.envs.hidden_system.task import load_task

PUBLIC_FIELDS = {
    "family", "complexity", "event_vocabulary", "attribute_vocabulary", "observation_protocol", "support_cases",
    "query_case", "answer_options",
}  # fmt: skip
often = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def generated():
    return {length: generate_skeletons(8, length, seed=length) for length in range(4, 11)}


def draw_written(data, system_documents):
    """A skeleton of a hand-written system, if its query may be asked."""
    try:
        return run_system(convert(data.draw(system_documents), SystemFile, "system field"))
    except ValueError as error:
        assume("query" not in str(error))  # among the support cases, or exactly one half
        raise


def without_ids(payload):
    """The payload with cases numbered as `decode` numbers them."""
    cases = [msgspec.structs.replace(case, id=f"C{i + 1}") for i, case in enumerate(payload.support_cases)]
    query = msgspec.structs.replace(payload.query_case, id="Q")
    return msgspec.structs.replace(payload, support_cases=tuple(cases), query_case=query)


def same_arrays(a, b):
    return a.keys() == b.keys() and all(
        (a[key].dtype, a[key].shape, a[key].tobytes()) == (b[key].dtype, b[key].shape, b[key].tobytes()) for key in a
    )


def check_round_trip(skeleton, layout):
    payload = renderer_payload(skeleton)
    observation = encode(payload, layout)
    assert observation_space(layout).contains(observation)
    again = decode(observation, layout)
    assert again == without_ids(payload)
    assert same_arrays(encode(again, layout), observation)
    assert same_arrays(encode(skeleton, layout), observation)
    return observation


@pytest.mark.parametrize("length", range(4, 11))
def test_decode__inverts_encode_for_generated_systems(generated, length):
    layout = generated_layout(load_task(length=length))
    for skeleton in generated[length]:
        check_round_trip(skeleton, layout)
        check_round_trip(skeleton, layout_of([skeleton]))


@often
@given(data=st.data())
def test_decode__inverts_encode_for_written_systems(data, system_documents):
    skeletons = [draw_written(data, system_documents)]
    check_round_trip(skeletons[0], layout_of(skeletons))
    other = draw_written(data, system_documents)
    if list(other.attribute_vocabulary) == list(skeletons[0].attribute_vocabulary):
        shared = layout_of([skeletons[0], other])  # one of the two is padded
        first, second = check_round_trip(skeletons[0], shared), check_round_trip(other, shared)
        stacked = {key: np.stack([first[key], second[key]]) for key in first}
        assert decode(select(stacked, 1), shared) == without_ids(renderer_payload(other))


def test_decode__keeps_the_order_of_options_and_of_every_event(written):
    file = written_file(written)
    skeleton = run_system(file)
    for options in (("PRESENT", "ABSENT"), ("ABSENT", "PRESENT")):
        changed = msgspec.structs.replace(skeleton, answer_options=options)
        observation = check_round_trip(changed, layout_of([changed]))
        assert observation["options"] == [options[0] == "ABSENT"]


def written_file(written, **changes):
    fields = {
        "id": "w",
        "event_vocabulary": ["a", "v", "s"],
        "attribute_vocabulary": {"dose": [-7, 0, 300], "age": [4]},
        "hidden_system": written(("a", "ADD", 0.9), ("v", "VETO", 0.6), ("s", "x", 0.5)),
        "support_cases": [
            {"attributes": {"dose": 0, "age": 4}, "events": ["a"]},
            {"attributes": {"dose": 300, "age": 4}, "events": ["v", "a", "v", "s"]},
        ],
        "query_case": {"attributes": {"dose": -7, "age": 4}, "events": ["s", "a"]},
        "trials": 9,
    }
    return convert({**fields, **changes}, SystemFile, "system field")


def test_encode__of_a_written_system_puts_everything_in_its_place(written):
    skeleton = run_system(written_file(written))
    counts = [case.observed_present for case in skeleton.support_cases]
    observation = encode(skeleton, layout_of([skeleton]))
    assert {key: array.tolist() for key, array in observation.items()} == {
        "events": [1, 0, 0, 0, 2, 1, 2, 3],
        "attributes": [4, 0, 4, 300],  # by name: age before dose
        "trials": [9, 9],
        "present": counts,
        "query_events": [3, 1],
        "query_attributes": [4, -7],
        "levels": [4, 4, 4, -7, 0, 300],
        "options": [0],
    }


def test_written_system__without_attributes_can_be_observed(written):
    case = {"attributes": {}, "events": ["a"]}
    file = written_file(
        written, attribute_vocabulary={}, support_cases=[case], query_case={**case, "events": ["s", "a"]}
    )
    skeleton = run_system(file)
    check_round_trip(skeleton, layout_of([skeleton]))


def test_written_system__with_very_many_events_can_be_observed_or_is_refused_by_name(written):
    document = {"event_vocabulary": ["a", "v", "s", *(f"e{i}" for i in range(200))]}
    try:
        skeleton = run_system(written_file(written, **document))
        check_round_trip(skeleton, layout_of([skeleton]))
    except ValueError as error:
        assert "event_vocabulary" in str(error)  # noqa: PT017


def test_observation__does_not_depend_on_a_detour_through_json(written):
    """Equal skeletons give equal observations: JSON sorts the keys of a mapping."""
    skeleton = run_system(written_file(written))
    again = convert(json.loads(to_json(skeleton)), type(skeleton), "line field")
    assert again == skeleton
    assert same_arrays(encode(again, layout_of([again])), encode(skeleton, layout_of([skeleton])))


def test_space__bounds_are_reached_and_not_left(generated):
    for length in (4, 10):
        layout = generated_layout(load_task(length=length))
        space = observation_space(layout)
        arrays = layout.public(1)
        assert {key: (box.shape, box.dtype) for key, box in space.items()} == {
            key: (array.shape[1:], array.dtype) for key, array in arrays.items()
        }
        top = {key: np.stack([encode(s, layout)[key] for s in generated[length]]).max() for key in arrays}
        assert (top["events"], top["query_events"], top["levels"]) == (length, length, 9)
        assert space["events"].high.max() == space["query_events"].high.max() == length
        assert space["present"].high.max() == space["trials"].high.max() == top["trials"] == (48, 64)[length > 4]
        assert (space["levels"].low.min(), space["levels"].high.max()) == (0, 9)


@often
@given(data=st.data())
def test_payload__says_nothing_of_the_hidden_half(data, system_documents):
    """Two skeletons with the same public and another hidden half have the same payload bytes and observation."""
    one = draw_written(data, system_documents)
    rules = [
        msgspec.structs.replace(rule, id=f"other {rule.id}", probability=1 - rule.probability, conditions=())
        for rule in reversed(one.hidden_system.rules)
    ]
    mixed = msgspec.structs.replace(
        one,
        id="another",
        hidden_system=msgspec.structs.replace(one.hidden_system, rules=tuple(rules)),
        gold_answer="ABSENT" if one.gold_answer == "PRESENT" else "PRESENT",
        gold_present_probability=1 - one.gold_present_probability,
        latent_trace=one.latent_trace[:1],
    )
    assert to_json(renderer_payload(mixed)) == to_json(renderer_payload(one))
    assert repr(renderer_payload(mixed)) == repr(renderer_payload(one))
    layout = layout_of([one])
    assert layout_of([mixed]) == layout
    assert same_arrays(encode(mixed, layout), encode(one, layout))


def test_payload__says_nothing_of_the_hidden_half_of_generated_systems(generated):
    for skeletons in generated.values():
        for one, other in itertools.pairwise(skeletons):
            public = {field: getattr(one, field) for field in PUBLIC_FIELDS}
            hidden = {field: getattr(other, field) for field in set(other.__struct_fields__) - PUBLIC_FIELDS}
            mixed = type(one)(**public, **hidden)
            assert to_json(renderer_payload(mixed)) == to_json(renderer_payload(one))


def test_payload__has_exactly_the_public_fields(generated):
    assert set(BehaviorPayload.__struct_fields__) == PUBLIC_FIELDS
    for skeletons in generated.values():
        for skeleton in skeletons:
            plain = msgspec.to_builtins(renderer_payload(skeleton))
            assert set(plain) == PUBLIC_FIELDS
            whole = msgspec.to_builtins(skeleton)
            assert plain == {field: whole[field] for field in PUBLIC_FIELDS}
            text = to_json(renderer_payload(skeleton)).decode().lower()
            hidden = ("flag", "rule", "probability", "gold", "invalid", "veto", "seed", "index", "train")
            assert not any(word in text for word in hidden)


def test_payload__names_of_cases_say_nothing(generated):
    for skeletons in generated.values():
        for skeleton in skeletons:
            names = [case.id for case in skeleton.support_cases]
            assert names == [f"C{i + 1}" for i in range(len(names))]
            assert skeleton.query_case.id == "Q"


def test_layout_of__refuses_none_and_other_names(written, generated):
    with pytest.raises(ValueError, match="at least one"):
        layout_of([])
    other = run_system(written_file(written))
    with pytest.raises(ValueError, match=r"skeletons\[1\]: got the names"):
        layout_of([generated[4][0], other])
    with pytest.raises(ValueError, match=r"skeletons\[1\]: got the names"):
        layout_of([generated[4][0], generated[5][0]])


def test_decode__gives_plain_numbers(generated):
    skeleton = generated[4][0]
    layout = layout_of([skeleton])
    payload = decode(encode(skeleton, layout), layout)
    case = payload.support_cases[0]
    numbers = (case.trials, case.observed_present, case.observed_absent, *case.attributes.values())
    assert all(type(number) is int for number in numbers)
    assert isinstance(case, BehaviorCase)
