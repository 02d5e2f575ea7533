"""SimHash: like directions have like codes."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph, OptionError
from lsprune.hashing import Signs, keys
from lsprune.kernels.threads import spans


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
    pruner = LSP(k=16, hash=Signs(bits=bits)).fit(graph)
    seen = {}

    class Spy(Signs):
        def keys(self, view, first, count):
            found = super().keys(view, first, count)
            seen["table"] = found.table[:, :count]
            return found

    object.__setattr__(pruner, "hash", Spy(bits=bits))
    pruner.mask(graph)
    return float((seen["table"][:300] == seen["table"][300:600]).mean())


@pytest.mark.parametrize("bits", [1, 4])
@pytest.mark.parametrize("angle", [0.2, 0.8])
def test_codes_agree_as_often_as_the_angle_says(angle, bits):
    assert collisions(angle, bits) == pytest.approx((1 - angle / np.pi) ** bits, abs=0.06)


def test_bad_options_are_named():
    with pytest.raises(OptionError, match=r"bits must be a whole number in \[1, 62\], got 0"):
        Signs(bits=0)


def test_wide_sums_of_a_hub_are_made_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(1, 90, 200), np.zeros(200, int)])
    graph = Graph.from_edges(
        ends, num_nodes=90, x=rng.standard_normal((90, 3)), edge_attr=rng.standard_normal((200, 2))
    )
    cases = [LSP(k=9, hash=Signs(bits=5), attributes=roles) for roles in (("owner", "neighbour"), ("edge",))]
    whole = [pruner.mask(graph) for pruner in cases]
    monkeypatch.setattr(keys, "BLOCK_VALUES", 9 * 5 * 7)
    monkeypatch.setattr(keys, "SUM_COLUMNS", 9 * 5)
    sizes = []
    monkeypatch.setattr(keys, "spans", lambda total, size: sizes.append(size) or spans(total, size))
    for pruner, mask in zip(cases, whole, strict=True):
        np.testing.assert_array_equal(pruner.mask(graph), mask)
    assert sizes == [7, 7]
