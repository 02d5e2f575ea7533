"""XXH64 with seed 0, the checksum of zstd frames: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.

The long loop, over stripes of four words, is a kernel; what comes before and after it is here.
"""

from __future__ import annotations

from collections.abc import Sequence

MASK = (1 << 64) - 1
PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)  # fmt: skip
STRIPE_BYTES = 32
FIRST_LANES = ((PRIME_1 + PRIME_2) & MASK, PRIME_2, 0, -PRIME_1 & MASK)


def take_word(lane: int, word: int) -> int:
    """Return a lane with a word of 64 bits taken in."""
    return (_rotated((lane + word * PRIME_2) & MASK, 31) * PRIME_1) & MASK


def finish(lanes: Sequence[int], length: int, tail: bytes) -> int:
    """Return XXH64 of `length` bytes, all but the last of which, `tail`, have been taken into the lanes."""
    if length < STRIPE_BYTES:
        value = PRIME_5
    else:
        value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            value = ((value ^ take_word(0, lane)) * PRIME_1 + PRIME_4) & MASK
    value = (value + length) & MASK
    at = 0
    for at in range(8, len(tail) + 1, 8):
        word = take_word(0, int.from_bytes(tail[at - 8 : at], "little"))
        value = (_rotated(value ^ word, 27) * PRIME_1 + PRIME_4) & MASK
    if len(tail) - at >= 4:
        word = int.from_bytes(tail[at : at + 4], "little") * PRIME_1 & MASK
        value, at = (_rotated(value ^ word, 23) * PRIME_2 + PRIME_3) & MASK, at + 4
    for byte in tail[at:]:
        value = _rotated(value ^ (byte * PRIME_5 & MASK), 11) * PRIME_1 & MASK
    return _mixed(value)


def _rotated(value: int, by: int) -> int:
    return ((value << by) | (value >> (64 - by))) & MASK


def _mixed(value: int) -> int:
    """Return the value with every bit spread over all others."""
    value = (value ^ (value >> 33)) * PRIME_2 & MASK
    value = (value ^ (value >> 29)) * PRIME_3 & MASK
    return value ^ (value >> 32)
