"""SimHash: like directions have like codes."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import keys_of
from lsprune import LSP, Graph, OptionError
from lsprune.hashing import Signs


def collisions(angle: float, bits: int) -> float:
    """How often a neighbour and its copy turned by `angle` share the key, over 16 functions and many pairs."""
    rng = np.random.default_rng(0)
    one = rng.standard_normal((300, 30))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    other = rng.standard_normal((300, 30))
    other -= (other * one).sum(1, keepdims=True) * one
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    x = np.concatenate([one, np.cos(angle) * one + np.sin(angle) * other, -one]).astype(np.float32)  # mean about zero
    graph = Graph.from_edges(np.stack([np.arange(900), np.full(900, 899)]), x=x)
    keys = keys_of(LSP(k=16, hash=Signs(bits=bits), self_loops="edge"), graph, 16)
    return float((keys[:300] == keys[300:600]).mean())


@pytest.mark.parametrize("bits", [1, 4])
@pytest.mark.parametrize("angle", [0.2, 0.8])
def test_codes_agree_as_often_as_the_angle_says(angle, bits):
    assert collisions(angle, bits) == pytest.approx((1 - angle / np.pi) ** bits, abs=0.06)


def test_bad_options_are_named():
    with pytest.raises(OptionError, match=r"bits must be a whole number in \[1, 62\], got 0"):
        Signs(bits=0)
