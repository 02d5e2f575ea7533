"""The same bits in any process, and for ever: a changed mask is a breaking change."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from lsprune import LSP, Graph, LocalRandom, Random

CODE = """
import sys
sys.path.insert(0, {folder!r})
from test_reproducible import digest, GOLDEN
print([digest(name) for name in GOLDEN])
"""


def golden_graph(hub: bool = False) -> Graph:
    """A graph made without any random generator of numpy, whose stream may change; with a hub of 1,000 edges."""
    e = np.arange(4000, dtype=np.int64)
    source, target = (e * e * 7 + e * 13) % 211, (e * 31 + e // 17) % 211
    if hub:
        target[:1000] = 5
    x = ((np.arange(211)[:, None] * 37 + np.arange(12)[None, :] * 101 + 5) % 97).astype(np.float32) - 48
    attr = ((e[:, None] * 11 + np.arange(3)[None, :] * 29) % 53).astype(np.float32) / 8
    return Graph.from_edges((source, target), num_nodes=211, x=x, edge_attr=attr)


PRUNERS = {
    "lsp": LSP(k=3),
    "lsp keep": LSP(keep=0.6, seed=7),
    "lsp neighbour": LSP(k=5, attributes=("neighbour",)),
    "lsp bottom": LSP(k=3, select="bottom"),
    "threshold": LSP(k=3, hash="threshold"),
    "identity": LSP(k=3, hash="identity"),
    "union": LSP(keep=0.3, symmetric="union"),
    "paper p": LSP.paper("p", k=3),
    "paper t": LSP.paper("t", k=3),
    "published p": LSP.published("p", k=3),
    "published t": LSP.published("t", k=3),
    "hub": LSP(keep=0.9),
    "hub bottom": LSP(keep=0.9, select="bottom"),
    "random": Random(keep=0.5),
    "local random": LocalRandom(k=3),
}

GOLDEN = {
    "lsp": "bf054d96215d71ad",
    "lsp keep": "fea0790c10d9adca",
    "lsp neighbour": "00b9f733fc24f83a",
    "lsp bottom": "e56dc2e953052b89",
    "threshold": "02316c1531032d51",
    "identity": "285eefa628f9cfa3",
    "union": "1484f8355283dd46",
    "paper p": "74798099f6b16add",
    "paper t": "571e568f1a4cd031",
    "published p": "bb0596720b51b3d7",
    "published t": "5f89ee3faf966a52",
    "hub": "7ef3c9ace88e8a87",
    "hub bottom": "4b689997239df06e",
    "random": "113d6f69d98bfbbf",
    "local random": "7bca7bb133a1b84f",
}


def digest(name: str) -> str:
    """The first 16 hex digits of the SHA-256 of a mask, one byte an edge."""
    return hashlib.sha256(PRUNERS[name].mask(golden_graph("hub" in name)).astype(np.uint8).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", PRUNERS)
def test_masks_never_change(name):
    assert digest(name) == GOLDEN[name]


@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_other_processes_give_the_same_bits(hash_seed):
    folder = os.path.dirname(__file__)  # noqa: PTH120
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(folder=folder)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "LSPRUNE_THREADS": "3"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(list(GOLDEN.values()))
