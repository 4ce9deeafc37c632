"""Keys and seeds come from a hash: neighbours share nothing, and what is no seed is refused by name."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from veilgym.envs.core.seeding import check_seed, check_split, derive_key, spread_seed


def test_derive_key__is_blake2b_of_the_joined_parts():
    expected = hashlib.blake2b(b"Family-v0/train/7", digest_size=8).digest()
    assert derive_key("Family-v0", "train", 7) == int.from_bytes(expected, "little")


def test_derive_key__differs_in_every_part():
    keys = {
        derive_key(f, s, n)
        for f in ("A-v0", "A-v1", "B-v0")
        for s in ("train", "test")
        for n in (*range(500), 2**64, 2**64 + 1)
    }
    assert len(keys) == 3 * 2 * 502
    assert all(0 <= key < 2**64 for key in keys)


def test_derive_key__neighbouring_seeds_are_uncorrelated_bit_by_bit():
    keys = [derive_key("A-v0", "train", n) for n in range(4000)]
    bits = np.array([[key >> i & 1 for i in range(64)] for key in keys])
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(4000)
    assert np.abs((bits[1:] ^ bits[:-1]).mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(4000)


def test_spread_seed__base_seeds_share_nothing():
    seeds = [seed for base in range(100) for seed in spread_seed(base, 64)]
    assert len(set(seeds)) == 6400
    assert all(0 <= seed < 2**63 and type(seed) is int for seed in seeds)


def test_spread_seed__is_not_seed_plus_i_and_does_not_depend_on_the_count():
    seeds = spread_seed(0, 64)
    assert spread_seed(0, 8) == seeds[:8]
    assert min(abs(a - b) for i, a in enumerate(seeds) for b in seeds[:i]) > 2**32
    assert spread_seed(np.int64(5), 3) == spread_seed(5, 3)
    assert spread_seed(5, 0) == []


@pytest.mark.parametrize("seed", [0, 1, 2**32 + 5, 2**63 + 5, 2**200, np.int64(5), np.uint64(2**64 - 1), np.array(3)])
def test_check_seed__gives_the_python_integer(seed):
    assert type(check_seed(seed)) is int
    assert check_seed(seed) == int(seed)


@pytest.mark.parametrize(
    "seed", [-1, -(2**70), True, False, np.True_, 5.0, np.float64(5), "5", b"5", None, [5], (5,), {}, np.nan, 5j]
)
def test_check_seed__refuses_what_is_no_seed_and_names_value_type_and_range(seed):
    with pytest.raises(ValueError, match="seed must be a non-negative integer") as error:
        check_seed(seed)
    assert repr(seed) in str(error.value)
    assert type(seed).__name__ in str(error.value)


def test_check_split__takes_train_and_test():
    assert [check_split(split) for split in ("train", "test")] == ["train", "test"]


@pytest.mark.parametrize("split", ["validation", "", "Train", None, 0, True, ["train"], b"train"])
def test_check_split__refuses_others_and_names_what_is_allowed(split):
    with pytest.raises(ValueError, match="split must be one of 'train', 'test'") as error:
        check_split(split)
    assert repr(split) in str(error.value)
