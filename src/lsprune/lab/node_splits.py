"""The splits of a user's nodes into training, validation and test, one or several."""

from __future__ import annotations

import numpy as np

from lsprune.errors import FormatError, OptionError
from lsprune.graph import Array

MASKS = ("train_mask", "val_mask", "test_mask")
PARTS = ("train", "val", "test")
Masks = tuple[Array, Array, Array]  # train, val, test


def masks_of_column(values: Array, name: str, nodes: int) -> Masks:
    """Return the masks of a column with the values train, val and test."""
    if values.shape != (nodes,):
        raise FormatError(f"split {name} must have shape [{nodes}], one per node, got {list(values.shape)}")
    train, val, test = (np.asarray(values == part) for part in PARTS)
    if not (train.any() and val.any() and test.any()):
        examples = ", ".join(sorted({str(value) for value in values[:1000]})[:5])
        raise FormatError(f"split {name} must have the values train, val and test, got {examples}")
    return train, val, test


def splits_of_masks(arrays: tuple[Array, ...], names: tuple[str, ...], nodes: int) -> tuple[Masks, ...]:
    """Return the splits that three masks hold: one of `[N]`, or several of `[N, splits]`.

    A mask of `[N]` beside others of `[N, splits]` belongs to all of these.
    """
    masks = [_mask(values, name, nodes) for values, name in zip(arrays, names, strict=True)]
    counts = {mask.shape[1] for mask in masks}
    if len(counts - {1}) > 1 or 0 in counts:
        shapes = ", ".join(f"{name} {list(np.shape(values))}" for name, values in zip(names, arrays, strict=True))
        raise FormatError(f"split masks must have the same number of splits, got {shapes}")
    count = max(counts)
    train, val, test = (np.broadcast_to(mask, (nodes, count)) for mask in masks)
    return tuple((train[:, i].copy(), val[:, i].copy(), test[:, i].copy()) for i in range(count))


def chosen_split(splits: tuple[Masks, ...], number: int | None) -> tuple[Masks, ...]:
    """Return the split of that number alone, or all of them; raise OptionError if there is no such split."""
    if number is None:
        return splits
    if not 0 <= number < len(splits):
        there = f"numbers 0 to {len(splits) - 1}" if len(splits) > 1 else "number 0 alone" if splits else "none"
        raise OptionError(f"split must be the number of a split in the masks ({there}), got {number}")
    return splits[number : number + 1]


def _mask(values: Array, name: str, nodes: int) -> Array:
    """Return a mask as `[N, splits]`."""
    whole = values.ndim in (1, 2) and values.shape[0] == nodes
    if not whole or not (values.dtype.kind == "b" or np.isin(values, (0, 1)).all()):
        raise FormatError(
            f"split {name} must be booleans of shape [{nodes}] or [{nodes}, splits], got {values.dtype} "
            f"{list(values.shape)}"
        )
    return values.astype(bool).reshape(nodes, -1)
