"""Choices of the prose: a function of payload, skin and purpose, uniform and without repeats."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from veilgym.envs.core.prose import Choices, check_skin
from veilgym.envs.core.records import content_id


class Payload(msgspec.Struct):
    number: int


def test_a_choice_is_a_function_of_payload_skin_and_purpose() -> None:
    draw = Choices(Payload(1), "ward").sample("names", range(1000), 10)
    assert Choices(Payload(1), "ward").sample("names", range(1000), 10) == draw
    others = [(Payload(2), "ward", "names"), (Payload(1), "notebook", "names"), (Payload(1), "ward", "forms")]
    assert all(Choices(payload, skin).sample(what, range(1000), 10) != draw for payload, skin, what in others)


def test_samples_are_permutations_and_every_one_comes_up_as_often() -> None:
    draws = Counter(tuple(Choices(Payload(i), "ward").sample("names", "abc", 3)) for i in range(6000))
    assert {"".join(sorted(draw)) for draw in draws} == {"abc"}
    assert len(draws) == 6
    assert all(abs(count - 1000) < 5 * 30 for count in draws.values())


def test_more_names_than_the_pool_has_are_refused() -> None:
    with pytest.raises(ValueError, match="names must be at most 3, got 4"):
        Choices(Payload(0), "ward").sample("names", "abc", 4)


def test_an_unknown_skin_is_named_beside_those_there_are() -> None:
    assert check_skin("ward", ("ward", "notebook")) == "ward"
    with pytest.raises(ValueError, match="skin must be one of 'ward', 'notebook', got 'attic'"):
        check_skin("attic", ("ward", "notebook"))


def test_an_id_is_a_digest_of_the_public_content() -> None:
    assert content_id(Payload(1)) == content_id(Payload(1)) != content_id(Payload(2))
    assert len(content_id(Payload(1))) == 32
