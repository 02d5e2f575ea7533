"""Damage to the bytes of a file, by number: cut short at every byte, every bit flipped, parts moved about."""

from __future__ import annotations

import random

_SPREAD = 7919  # a prime: its multiples visit all places of a file in an order that leaves no part for last


def damage(content: bytes, number: int) -> tuple[str, bytes]:
    """Return what is done to a file, in words, and the damaged bytes.

    Of 20,000 numbers a quarter cut the file short (at every byte of a file below 5,000 bytes), half flip bits (each
    single bit once, then several at a time), and a quarter remove, repeat, overwrite or insert bytes.
    """
    turn, kind = divmod(number, 4)
    if not content:
        return "nothing", content
    if kind == 0 and turn < len(content):
        at = turn * _SPREAD % len(content)
        return f"cut at byte {at}", content[:at]
    if kind in (1, 2):
        return flipped(content, 2 * turn + kind - 1)
    return "spliced", spliced(content, random.Random(number))


def flipped(content: bytes, number: int) -> tuple[str, bytes]:
    """Return the content with one bit flipped; once all have had their turn, with two to four."""
    bits, chance = 8 * len(content), random.Random(number)
    places = [number * _SPREAD % bits]
    if number >= bits:
        places = [chance.randrange(bits) for _ in range(chance.choice((2, 3, 4)))]
    out = bytearray(content)
    for place in places:
        out[place // 8] ^= 1 << place % 8
    return "flipped " + ", ".join(f"bit {place % 8} of byte {place // 8}" for place in places), bytes(out)


def spliced(content: bytes, chance: random.Random) -> bytes:
    """Return the content with some bytes changed, removed, repeated or cut off."""
    out = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(max(1, len(out)))
        size = chance.choice((1, 1, 2, 4, 8, 60))
        kind = chance.randrange(7)
        if kind == 0:
            del out[at:]
        elif kind == 1:
            del out[at : at + size]
        elif kind == 2:
            out[at:at] = out[at : at + size] * chance.choice((1, 3))
        elif kind == 3:
            out[at : at + size] = bytes([chance.choice((0, 255, 127, 128))]) * len(out[at : at + size])
        elif kind == 4:
            out[at:at] = chance.choice(
                (b"\0", b"\n", b"-", b"9" * 30, b"\xff\xfe", b"e999", b"'", b'"', b"[", b"\x1b[")
            )
        else:
            out[at : at + 1] = bytes(byte ^ (1 << chance.randrange(8)) for byte in out[at : at + 1])
    return bytes(out)
