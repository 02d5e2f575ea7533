"""XXH64 of short texts: the values of the published implementation."""

from __future__ import annotations

import pytest

from lsprune.numeric.xxhash64 import FIRST_LANES, finish

KNOWN = {
    b"": 0xEF46DB3751D8E999,
    b"a": 0xD24EC4F1A98C6E5B,
    b"abc": 0x44BC2CF5AD770999,
    b"Nobody inspects the spammish re": 0xC1A0E0AE86E1D78C,
}


@pytest.mark.parametrize("text", KNOWN)
def test_short_texts_have_their_published_values(text: bytes) -> None:
    assert finish(FIRST_LANES, len(text), text) == KNOWN[text]
