"""Problems for other frameworks, as plain dictionaries: a prompt without its answer, and the score of a reply.

An entry does not hold its answer, but its metadata hold what is needed to make it again: that suits training, where
whoever trains may know the answers, and no blind test, for which see `veilgym generate`. Entries come in an order of
their own: the index, by whose parity a family may balance its labels, tells nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from veilgym.envs.core.family import Family, load_family
from veilgym.envs.core.prose import check_skin
from veilgym.envs.core.records import content_id
from veilgym.envs.core.replies import Unparsed
from veilgym.envs.core.seeding import check_seed, derive_key, shuffled

Entry = dict[str, Any]

_ENTRIES = 2**40
_METADATA = ("family", "seed", "index", "split", "length", "skin", "parameters")


def entry(
    family: str,
    index: int,
    split: str = "train",
    seed: int = 0,
    length: str | int | None = None,
    skin: str | None = None,
    **parameters: Any,
) -> Entry:
    """One problem.

    Args:
        family: A slug ("causal-circuits", "hidden-system", "dynamic-world") or the id of an env.
        index: Which of the problems of `seed`, from 0 to 2**40 - 1.
        split: "train" or "test", independent draws from the same distributions.
        seed: Names the sequence.
        length: For families that have one, as for the env.
        skin: The surface in which it is told; the family's first one if None.
        **parameters: More parameters of the family, such as `task`. Circuits take `experiments`, the ids of those run
            beforehand, an id twice for two runs: an entry is answered at once, and hardly can be from the readings that
            are free of charge.

    Returns:
        `id`, a digest of the public half; `prompt`; and `metadata`, from which `score` makes the problem again.

    Raises:
        ValueError: an argument is wrong.
    """
    found = load_family(family)
    metadata = {
        "family": found.slug,
        "seed": seed,
        "index": index,
        "split": split,
        "length": length,
        "skin": found.skins[0] if skin is None else check_skin(skin, found.skins),
        "parameters": {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()},
    }
    _, payload = _problem(found, metadata)
    return {
        "id": content_id(payload),
        "prompt": found.render(payload, str(metadata["skin"])).text,
        "metadata": metadata,
    }


def score(reply: Any, entry: Mapping[str, Any]) -> float:
    """What a reply to the prompt of an entry is worth, from 0 to 1; 0 if it has no answer.

    Raises:
        ValueError: `entry` is none that `entry` makes.
    """
    return read(reply, entry)[0]


def read(reply: Any, entry: Mapping[str, Any]) -> tuple[float, str]:
    """The `score`, and why the reply is unparsed; "" if it has an answer."""
    metadata = entry.get("metadata") if isinstance(entry, Mapping) else None
    if not isinstance(metadata, Mapping) or not set(_METADATA) <= set(metadata):
        raise ValueError(f"entry must have metadata with {', '.join(_METADATA)}, got {metadata!r}")
    family = load_family(metadata["family"])
    skeleton, payload = _problem(family, metadata)
    answer = family.read_answer(reply, payload)
    if isinstance(answer, Unparsed):
        return 0.0, f"{answer.reason.value}: {answer.sentence}"
    return family.score(skeleton, answer), ""


def _problem(family: Family[Any, Any], metadata: Mapping[str, Any]) -> tuple[Any, Any]:
    """The complete record of a problem and its public half."""
    wanted = {name: metadata[name] for name in ("length", "seed", "split")}
    (skeleton,) = family.generate(_place(metadata), 1, **wanted, **metadata["parameters"])
    return skeleton, family.payload(skeleton)


def _place(metadata: Mapping[str, Any]) -> int:
    """The place of an entry in the sequence of its seed: a permutation of the indices, for each setting anew."""
    index = metadata["index"]
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < _ENTRIES:
        raise ValueError(f"index must be an integer from 0 to {_ENTRIES - 1}, got {index!r}")
    setting = msgspec.json.encode([metadata["length"], metadata["parameters"]], order="deterministic", enc_hook=str)
    digest = hashlib.blake2b(setting, digest_size=16).hexdigest()
    key = derive_key("entries", metadata["family"], metadata["split"], check_seed(metadata["seed"]), digest)
    return shuffled(index, _ENTRIES, key)
