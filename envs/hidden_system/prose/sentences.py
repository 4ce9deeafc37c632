"""Sentences of a skin taken apart: the inverse of `Form.fill`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

from veilgym.envs.hidden_system.grammar import MOST_TRIALS, BehaviorCase
from veilgym.envs.hidden_system.prose.skin import Form, Skin
from veilgym.envs.hidden_system.prose.skins import BY_NAME

Counts = tuple[int, int | None, int | None]

_COUNT: Final = r"\{(?:present|absent|trials)\}"
# What comes between the fixed words of a form: a clause, or a telling: counts and the words between them.
_HOLE: Final = re.compile(rf"({_COUNT}(?:[^{{]*{_COUNT})*|\{{\w+\}})")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,7}")
_REMEMBERED: Final = 1024


class SentenceReader:
    """Takes sentences of one form apart.

    The counts of an instance add up to one number of trials, most often to the same in all instances. So few tellings
    of counts are different, and what they say is remembered.

    Attributes:
        styles: Those of the form.
    """

    def __init__(self, form: Form, skin: Skin) -> None:
        holes = ["", *_HOLE.findall(form.template)]  # first what stands for all that the form lacks
        events, attributes = form.styles
        tellings = [i for i, hole in enumerate(holes) if re.match(_COUNT, hole)]
        self.styles = form.styles
        self._start, *self._between, self._end = _HOLE.split(form.template)[::2]
        self._events = holes.index(f"{{{events}}}")
        self._attributes = holes.index(f"{{{attributes}}}") if attributes else 0
        self._told: Callable[[list[str]], str | tuple[str, ...]] = itemgetter(*tellings or [0])
        self._telling, self._noun = "\n".join([holes[i] for i in tellings]), skin.noun
        self._counts = lru_cache(_REMEMBERED)(self._read_counts)

    def for_clauses(
        self, events: Mapping[str, tuple[str, ...]], attributes: Mapping[str, dict[str, int]]
    ) -> Callable[[str, str], BehaviorCase]:
        """What makes a case of its id and its sentence, if the clauses mean this."""
        start, between, end = self._start, self._between, self._end
        inside = slice(len(start), -len(end))
        events_at, attributes_at, told, counts = self._events, self._attributes, self._told, self._counts

        def read(name: str, sentence: str) -> BehaviorCase:
            if not sentence.startswith(start) or not sentence.endswith(end):
                raise no_form(sentence)
            found = rest = sentence[inside]
            said = [""]
            for words in between:
                item, found, rest = rest.partition(words)
                said.append(item)
            if not found:  # nothing is found after words that are missing, so the last tell of all
                raise no_form(sentence)
            said.append(rest)
            trials, present, absent = counts(told(said))
            levels = attributes[said[attributes_at]].copy()  # one for each case, as it could be changed
            return BehaviorCase(name, levels, events[said[events_at]], trials, present, absent)

        return read

    def _read_counts(self, told: str | tuple[str, ...]) -> Counts:
        """The trials, and the counts present and absent; 0 and two None in a form of the query."""
        if not self._telling:
            return 0, None, None
        text = told if isinstance(told, str) else "\n".join(told)
        said = re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*?)", re.escape(self._telling)), text)
        if not said:
            raise ValueError(f"got {text!r}, wanted {self._telling!r}")
        return self._read_trials(said["trials"]), read_count(said["present"]), read_count(said["absent"])

    def _read_trials(self, said: str) -> int:
        """The number in a number of trials with its noun."""
        digits, _, noun = said.partition(" ")
        trials = read_count(digits)
        if noun != self._noun(trials):
            raise ValueError(f"got {said!r}, wanted the noun {self._noun(trials)!r}")
        return trials


@cache
def sentence_readers(skin: str, has_attributes: bool, is_query: bool) -> dict[str, SentenceReader]:
    """What reads the lines of the support cases, or the query, in a skin: by the first word of a sentence."""
    words = BY_NAME[skin]
    forms = words.asking_forms(has_attributes) if is_query else words.case_forms(has_attributes)
    return {form.first: SentenceReader(form, words) for form in forms}


def no_form(sentence: str) -> ValueError:
    """The error for a sentence that none of the forms has."""
    return ValueError(f"{sentence!r} has none of the sentence forms of the skin")


@lru_cache(_REMEMBERED)
def read_integer(digits: str) -> int:
    """An integer in its only spelling."""
    if not _INTEGER.fullmatch(digits):
        raise ValueError(f"got {digits!r}, wanted an integer")
    return int(digits)


def read_count(digits: str) -> int:
    """An integer that a number of trials can be."""
    count = read_integer(digits)
    if not 0 <= count <= MOST_TRIALS:
        raise ValueError(f"got {digits!r}, wanted an integer in 0..{MOST_TRIALS}")
    return count
