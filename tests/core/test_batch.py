"""What native vector envs share: autoreset modes, seeds, reset masks, and rows of their infos."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from veilgym.envs.core.batch import check_autoreset_mode, only, read_reset_mask, read_seeds, rows
from veilgym.envs.core.seeding import spread_seed

ALL, NONE = np.ones(3, bool), np.zeros(3, bool)


def seeds_of(seed, mask=ALL, fresh=NONE, rng_seed=0):
    return read_seeds(seed, mask, fresh, np.random.default_rng(rng_seed))


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_check_autoreset_mode__takes_a_member_or_its_string(mode):
    assert check_autoreset_mode(mode) is mode
    assert check_autoreset_mode(mode.value) is mode


@pytest.mark.parametrize("mode", ["Never", "same_step", "SAME_STEP", "", None, 0, True, ["SameStep"]], ids=repr)
def test_check_autoreset_mode__names_the_value_and_what_is_allowed(mode):
    with pytest.raises(ValueError, match="autoreset_mode") as error:
        check_autoreset_mode(mode)
    assert all(word in str(error.value) for word in ("'NextStep'", "'SameStep'", "'Disabled'", repr(mode)))


def test_read_reset_mask__is_all_true_without_one():
    for options in (None, {}, {"other": 1}):
        mask = read_reset_mask(options, 3)
        assert (mask.dtype, mask.tolist()) == (np.bool_, [True] * 3)


def test_read_reset_mask__takes_a_bool_array_with_a_true_entry():
    options = {"reset_mask": np.array([False, True, False])}
    assert read_reset_mask(options, 3).tolist() == [False, True, False]
    assert list(options) == ["reset_mask"]


@pytest.mark.parametrize(
    "mask",
    [None, True, [True] * 3, *(np.ones(n, bool) for n in (2, 4, (3, 1))), np.ones(3, int), NONE, np.True_],
    ids=repr,
)
def test_read_reset_mask__names_the_value_and_what_is_allowed(mask):
    with pytest.raises(ValueError, match="reset_mask") as error:
        read_reset_mask({"reset_mask": mask}, 3)
    assert repr(mask) in str(error.value)
    assert "bool array of shape (3,) with a true entry" in str(error.value)


def test_read_seeds__takes_one_for_each():
    for seed in ([5, 0, 2**70], (5, 0, 2**70), np.array([5, 0, 2**70], object)):
        assert seeds_of(seed) == [5, 0, 2**70]
    assert seeds_of(np.array([5, 6, 7], np.uint8)) == [5, 6, 7]
    assert all(type(seed) is int for seed in seeds_of(np.array([5, 6, 7], np.uint8)))


def test_read_seeds__spreads_one_integer():
    assert seeds_of(3) == seeds_of(np.int64(3)) == spread_seed(3, 3)
    assert not set(seeds_of(0)) & set(seeds_of(1))


def test_read_seeds__gives_none_where_the_sequence_goes_on():
    assert seeds_of(None) == [None] * 3
    assert seeds_of([None, 4, None]) == [None, 4, None]


def test_read_seeds__gives_none_outside_the_mask():
    mask = np.array([True, False, True])
    assert seeds_of([1, 2, 3], mask) == [1, None, 3]
    assert seeds_of(3, mask) == [spread_seed(3, 3)[0], None, spread_seed(3, 3)[2]]
    assert seeds_of(None, mask, fresh=ALL)[1] is None


def test_read_seeds__draws_one_for_each_fresh_sequence_without():
    drawn = seeds_of(None, fresh=ALL)
    assert len(set(drawn)) == 3
    assert all(type(seed) is int and 0 <= seed < 2**63 for seed in drawn)
    assert drawn == seeds_of(None, fresh=ALL)  # from the given generator alone
    assert drawn != seeds_of(None, fresh=ALL, rng_seed=1)
    some = seeds_of([None, 4, None], fresh=np.array([True, True, False]))
    assert some[1:] == [4, None]
    assert some[0] is not None


@pytest.mark.parametrize("seed", [-1, True, 5.0, "555", {1, 2, 3}, range(3), np.float64(3)], ids=repr)
def test_read_seeds__refuses_what_is_no_seed(seed):
    with pytest.raises(ValueError, match="seed must be") as error:
        seeds_of(seed)
    assert repr(seed) in str(error.value)


@pytest.mark.parametrize("seed", [[], [1, 2], [1, 2, 3, 4], np.arange(4)], ids=repr)
def test_read_seeds__refuses_a_list_of_another_length(seed):
    with pytest.raises(ValueError, match=f"seed must be a list of 3 seeds, one per env, got {len(seed)}"):
        seeds_of(seed)


@pytest.mark.parametrize("bad", [-1, True, 2.0, "3", [3]], ids=repr)
def test_read_seeds__refuses_a_list_with_what_is_no_seed_also_outside_the_mask(bad):
    for mask in (ALL, np.array([True, True, False])):
        with pytest.raises(ValueError, match="seed must be") as error:
            seeds_of([1, None, bad], mask)
        assert repr(bad) in str(error.value)


def test_read_seeds__refuses_an_array_without_axes_or_of_two():
    for seed in (np.array(5.0), np.arange(9).reshape(3, 3)):
        with pytest.raises(ValueError, match="seed must be"):
            seeds_of(seed)


def test_only__is_a_copy_with_none_elsewhere():
    values = np.array(["a", "b", "c"], object)
    kept = only(np.array([True, False, True]), values)
    assert kept.tolist() == ["a", None, "c"]
    assert values.tolist() == ["a", "b", "c"]


def test_rows__are_dictionaries_where_wanted_and_none_elsewhere():
    batch = {"x": np.arange(6).reshape(3, 2), "y": np.array([7.0, 8.0, 9.0])}
    out = rows(batch, np.array([True, False, True]))
    assert out.dtype == object
    assert out.shape == (3,)
    assert [row and {key: value.tolist() for key, value in row.items()} for row in out] == [
        {"x": [0, 1], "y": 7.0},
        None,
        {"x": [4, 5], "y": 9.0},
    ]
