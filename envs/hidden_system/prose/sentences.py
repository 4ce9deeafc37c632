"""Sentences of a skin taken apart: the inverse of `Form.fill`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

from veilgym.envs.hidden_system.grammar import MOST_TRIALS, BehaviorCase
from veilgym.envs.hidden_system.prose.clauses import AttributeClauses, EventClauses
from veilgym.envs.hidden_system.prose.skin import Form, Skin
from veilgym.envs.hidden_system.prose.skins import BY_NAME

CaseReader = Callable[[str, str], BehaviorCase | None]

# Trials, present and absent; 0 and two None of the query.
_Counts = tuple[int, int | None, int | None]

_COUNT: Final = r"\{(?:present|absent|trials)\}"
# A hole in the fixed words of a form: a clause, or a telling, which is counts that no clause parts, with the words
# between them, and with those up to an end of the sentence.
_HOLE: Final = re.compile(rf"((?:^[^{{]*)?{_COUNT}(?:[^{{]*{_COUNT})*(?:[^{{]*$)?|\{{\w+\}})")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,7}")
_MOST_BETWEEN: Final = 3
_REMEMBERED: Final = 1024


class SentenceReader:
    """Takes sentences of one form apart.

    The counts of an instance add up to one number of trials, most often to the same in all instances. So few tellings
    of counts are different, and what they say is remembered from instance to instance.

    Attributes:
        styles: Those of the form.
    """

    def __init__(self, form: Form, skin: Skin) -> None:
        template = form.template.removeprefix(f"{form.first} ")
        holes = ["", *_HOLE.findall(template)]  # first what stands for all that the form lacks
        tellings = [i for i, hole in enumerate(holes) if re.search(_COUNT, hole)]
        events, attributes = form.styles
        self.styles = form.styles
        self._start, *between, self._end = _HOLE.split(template)[::2]
        self._between = (*between, *[""] * (_MOST_BETWEEN - len(between)))
        self._inside = slice(len(self._start), -len(self._end) or None)
        self._events = holes.index(f"{{{events}}}")
        self._attributes = holes.index(f"{{{attributes}}}") if attributes else 0
        self._told: Callable[[Sequence[str]], str | tuple[str, ...]] = itemgetter(*tellings or [0])
        self._telling, self._noun = "\n".join([holes[i] for i in tellings]), skin.noun
        self._counts = lru_cache(_REMEMBERED)(self._read_counts)

    def for_clauses(self, events: EventClauses, attributes: AttributeClauses) -> CaseReader:
        """What makes a case of its id and its sentence without the first word, if the clauses mean this.

        It returns None if the sentence does not have the form, and raises a `ValueError` if its clauses and counts are
        not those of a case.
        """
        start, end, inside, (one, two, three) = self._start, self._end, self._inside, self._between
        events_at, attributes_at, told, counts = self._events, self._attributes, self._told, self._counts
        known_events, known_attributes = events.known, attributes.known

        def read(name: str, sentence: str) -> BehaviorCase | None:
            if (start and not sentence.startswith(start)) or (end and not sentence.endswith(end)):
                return None
            holes = sentence[inside]
            # Nothing is found after words that are missing, so the last words tell of all. Not a loop, for speed.
            first, found, rest = holes.partition(one) if one else (holes, holes, "")
            said: tuple[str, ...]
            if three:
                second, found, rest = rest.partition(two)
                third, found, rest = rest.partition(three)
                said = ("", first, second, third, rest)
            elif two:
                second, found, rest = rest.partition(two)
                said = ("", first, second, rest)
            else:
                said = ("", first, rest)
            if not found:
                return None
            clause = said[events_at]
            steps = known_events.get(clause) or events.read(clause)
            clause = said[attributes_at]
            levels = known_attributes.get(clause)
            if levels is None:
                levels = attributes.read(clause)
            read_counts = counts(told(said))
            if not read_counts:
                return None
            trials, present, absent = read_counts
            return BehaviorCase(name, levels.copy(), steps, trials, present, absent)  # a copy, as it could be changed

        return read

    def _read_counts(self, told: str | tuple[str, ...]) -> _Counts | None:
        """The counts in one telling or several; None if they have other words than the form."""
        if not self._telling:
            return 0, None, None
        text = told if isinstance(told, str) else "\n".join(told)
        said = re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*?)", re.escape(self._telling)), text)
        if not said:
            return None
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
    """What reads the sentences of the support cases, or of the query, by their first word."""
    words = BY_NAME[skin]
    forms = words.asking_forms(has_attributes) if is_query else words.case_forms(has_attributes)
    return {form.first: SentenceReader(form, words) for form in forms}


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
