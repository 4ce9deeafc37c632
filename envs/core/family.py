"""A family as language and data: records, their public half, their prose, and what an answer to one is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec

from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.prose import Rendering
from veilgym.envs.core.replies import Unparsed, read_choice
from veilgym.envs.core.seeding import check_seed, check_split
from veilgym.registry import ENTRIES, Entry, entry_of

S = TypeVar("S", bound=msgspec.Struct)
P = TypeVar("P", bound=msgspec.Struct)


class Prose(Protocol):
    """What the module of a family's prose has."""

    SKINS: tuple[str, ...]

    def render(self, payload: Any, skin: str) -> Rendering:
        """The payload as a problem in natural language; a function of its arguments alone."""

    def parse(self, text: str, skin: str, names: Mapping[str, str]) -> Any:
        """The inverse of `render`."""


@dataclass(frozen=True)
class Family(Generic[S, P]):
    """One family of problems, without its envs. S is the type of a complete record, P that of its public half.

    On the normalised scale, (score - floor) / (ideal - floor), 0 is what an answer without any evidence scores on
    average, and 1 the score named by `ideal`. These two are constants, unlike the measured ends of a ladder's scale:
    so a score can be normalised without playing anything, and stays the same when it is recomputed. For a query family
    they are 0.5 and 1, whatever the task; for a graded one they have been measured on the default task and say nothing
    of others.

    Attributes:
        slug: What commands call it.
        skeleton_type, payload_type: S and P, msgspec structs.
        parameters: Names of what `document` takes beyond `length`.
        document: `document(length=None, **parameters)` is the whole task as plain data, defaults included; giving it
            back as the parameter `task` makes the same task. A `ValueError` names a wrong parameter.
        records: `records(document, seed, split, indices)` makes the records at any places of a seed's sequence.
        payload: The public half of a record, from an allow-list.
        prose: Name of the module with `SKINS`, `render` and `parse`; imported when used.
        read_answer: The answer in the reply of a person or a language model to a payload, in the form that `score`
            takes, or an `Unparsed` of `veilgym.envs.core.replies`.
        score: What an answer to a record is worth, from 0 to 1.
        is_graded: Whether an answer may be right in part; otherwise scores are 0 or 1.
        floor, ideal: The scores that are 0 and 1 on the normalised scale.
    """

    slug: str
    skeleton_type: type[S]
    payload_type: type[P]
    parameters: tuple[str, ...]
    document: Callable[..., dict[str, Any]]
    records: Callable[[Mapping[str, Any], int, str, Sequence[int]], Iterator[S]]
    payload: Callable[[S], P]
    prose: str
    read_answer: Callable[[Any, P], Any]
    score: Callable[[S, Any], float]
    floor: float
    ideal: float
    is_graded: bool = False

    def generate(
        self,
        first: int,
        count: int,
        length: str | int | None = None,
        seed: int = 0,
        split: str = "train",
        **parameters: Any,
    ) -> Iterator[S]:
        """The records `first` to `first + count - 1` of a seed's sequence.

        Args:
            first: At least 0.
            count: At least 1.
            length: For families that have one, as for the env; None for the task's own.
            seed: Names the sequence.
            split: "train" or "test", independent draws from the same distribution.
            **parameters: Out of `self.parameters`.

        Raises:
            ValueError: an argument is wrong.
        """
        if isinstance(first, bool) or not isinstance(first, int) or first < 0:
            raise ValueError(f"first must be a non-negative integer, got {first!r}")
        places = range(first, first + check_count("count", count))
        return self.records(self.resolve(length, **parameters), check_seed(seed), check_split(split), places)

    def resolve(self, length: str | int | None = None, **parameters: Any) -> dict[str, Any]:
        """`document`, for parameters that may be None (as if not given) or unknown (a `ValueError`)."""
        given = {name: value for name, value in parameters.items() if value is not None}
        for name, value in given.items():
            if name not in self.parameters:
                allowed = ", ".join(("length", *self.parameters))
                raise ValueError(f"{name}: got {value!r}, but {self.slug} takes only {allowed}")
        return self.document(length, **given)

    @property
    def skins(self) -> tuple[str, ...]:
        """The surfaces in which a payload can be told."""
        return self._prose.SKINS

    def render(self, payload: P, skin: str) -> Rendering:
        """A payload in natural language; a `ValueError` names the skins there are."""
        return self._prose.render(payload, skin)

    def parse(self, text: str, skin: str, names: Mapping[str, str]) -> P:
        """The payload that a text of `render` tells; a `ValueError` says what is not understood."""
        return cast("P", self._prose.parse(text, skin, names))

    def normalise(self, score: float) -> float:
        """A mean score on the scale from `floor` (0) to `ideal` (1)."""
        return (score - self.floor) / (self.ideal - self.floor)

    def has_scale(self, document: Mapping[str, Any]) -> bool:
        """Whether the normalised scale is known for a task, given as `document` makes it."""
        return not self.is_graded or plain(document) == plain(self.document())

    @property
    def _prose(self) -> Prose:
        return cast("Prose", import_module(self.prose))


def plain(document: Mapping[str, Any]) -> Any:
    """A document as JSON gives it back."""
    return msgspec.json.decode(msgspec.json.encode(document))


def read_option(reply: Any, payload: Any) -> str | Unparsed:
    """`Family.read_answer` of the query families: one of the payload's `answer_options`."""
    found = read_choice(reply, payload.answer_options)
    return found if isinstance(found, Unparsed) else found.option


def score_option(skeleton: Any, answer: str) -> float:
    """`Family.score` of the query families: 1 for the record's `gold_answer`, 0 for anything else."""
    return float(answer == skeleton.gold_answer)


def load_family(name: str) -> Family[Any, Any]:
    """The family called `name` by its slug, or by the id of its env; a `ValueError` lists the slugs there are."""
    return cast("Family[Any, Any]", import_module(_entry(name).problems).FAMILY)


def _entry(name: str) -> Entry:
    for entry in ENTRIES:
        if name == entry.family:
            return entry
    try:
        return entry_of(name)
    except ValueError:
        allowed = ", ".join(entry.family for entry in ENTRIES)
        raise ValueError(f"family must be one of {allowed}, got {name!r}") from None
