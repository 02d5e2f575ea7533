"""Splits of nodes: one or several, from masks or a column."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune.errors import FormatError, OptionError
from lsprune.lab.node_splits import MASKS, chosen_split, masks_of_column, splits_of_masks

ONE = np.array([True, False, False])
TWO = np.array([[1, 0], [0, 1], [0, 0]])


def test_one_mask_belongs_to_all_splits_of_the_others() -> None:
    splits = splits_of_masks((TWO, TWO[::-1], ONE), MASKS, 3)
    assert len(splits) == 2
    np.testing.assert_array_equal(splits[1][0], [False, True, False])
    np.testing.assert_array_equal(splits[1][1], [False, True, False])
    np.testing.assert_array_equal(splits[1][2], ONE)
    assert all(mask.flags.c_contiguous and mask.dtype == bool for split in splits for mask in split)


def test_masks_that_do_not_go_together_are_refused() -> None:
    three = np.zeros((3, 3), bool)
    with pytest.raises(FormatError, match=r"same number of splits, got train_mask \[3, 2\], val_mask \[3, 3\]"):
        splits_of_masks((TWO, three, ONE), MASKS, 3)
    for wrong in (np.zeros(2, bool), np.array([0, 1, 2]), np.zeros((3, 1, 1), bool)):
        with pytest.raises(FormatError, match=r"split train_mask must be booleans of shape \[3\] or \[3, splits\]"):
            splits_of_masks((wrong, ONE, ONE), MASKS, 3)


def test_a_split_is_chosen_by_its_number() -> None:
    splits = splits_of_masks((TWO, TWO, TWO), MASKS, 3)
    assert chosen_split(splits, None) == splits
    assert chosen_split(splits, 1) == splits[1:]
    for there, number, message in ((splits, 2, "numbers 0 to 1"), (splits[:1], 1, "number 0 alone"), ((), 0, "none")):
        with pytest.raises(OptionError, match=rf"split must be the number of a split in the masks \({message}\)"):
            chosen_split(there, number)


def test_a_column_has_three_values() -> None:
    train, val, test = masks_of_column(np.array(["train", "test", "val", "train"]), "part", 4)
    assert [mask.tolist() for mask in (train, val, test)] == [
        [True, False, False, True], [False, False, True, False], [False, True, False, False],
    ]  # fmt: skip
    with pytest.raises(FormatError, match="split part must have the values train, val and test, got a, b"):
        masks_of_column(np.array(["a", "b"]), "part", 2)
