"""splitmix64 of tensors. torch has no arithmetic of uint64, so that draws are int64 with the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprune.kernels.gpu.triton_support import triton_kernels
from lsprune.numeric.random_numbers import FIRST_FACTOR, GOLDEN, SECOND_FACTOR

if TYPE_CHECKING:
    from torch import Tensor


def signed(value: int) -> int:
    """Return the int64 with the bits of a uint64.

    >>> signed(2**64 - 1)
    -1
    """
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def shift_right(values: Tensor, bits: int) -> Tensor:
    """Shift int64 right as if it were uint64: zeros come in at the left."""
    return (values >> bits) & ((1 << (64 - bits)) - 1) if bits else values


def mix64(values: Tensor) -> Tensor:
    """Return splitmix64 of each value."""
    kernels = triton_kernels("splitmix_triton", values.device)
    if kernels is not None and values.numel():
        result: Tensor = kernels.mix_values(values)
        return result
    values = values + signed(GOLDEN)
    values = (values ^ shift_right(values, 30)) * signed(FIRST_FACTOR)
    values = (values ^ shift_right(values, 27)) * signed(SECOND_FACTOR)
    return values ^ shift_right(values, 31)


def draw(seed: int, counters: Sequence[Any], device: Any) -> Tensor:
    """Return draws for the counters: integers, numpy arrays or tensors that broadcast."""
    import torch

    value = mix64(torch.full((), signed(seed), device=device))
    for counter in counters:
        numbers = torch.as_tensor(counter).to(device=device, dtype=torch.int64)
        value = mix64(value ^ numbers)
    return value


def modulo(values: Tensor, divisor: int) -> Tensor:
    """Return uint64 modulo a number in [1, 2^63)."""
    half = shift_right(values, 1) // divisor
    rest = values - 2 * half * divisor  # below 2 * divisor as uint64, so maybe negative as int64
    large = (rest < 0) | (rest >= divisor)
    return rest - large * divisor
