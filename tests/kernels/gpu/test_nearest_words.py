"""The nearest words that a device finds are those of the definition, ties and borders included."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, MissingDependency, OptionError, prune
from lsprune.hashing import Codebook
from lsprune.hashing import k_means as vocabulary
from lsprune.kernels import reference, runtime
from lsprune.kernels.gpu import host_arrays
from lsprune.kernels.gpu import nearest_words as kernel

torch = pytest.importorskip("torch")

EXTREMES = (-128, -127, 0, 127)


@pytest.fixture
def on_cpu(monkeypatch):
    """The executor "gpu" for arrays in host memory, on a device that every machine has."""
    monkeypatch.setattr(kernel, "DEVICE", "cpu")


def drawn(rng: np.random.Generator, count: int, dim: int, kind: str) -> np.ndarray:
    if kind == "extreme":
        return rng.choice(np.array(EXTREMES, np.int16), (count, dim))
    high = {"few": 1, "all": 127}[kind]
    return rng.integers(-high, high + 1, (count, dim)).astype(np.int16)


def found(words: np.ndarray, rows: np.ndarray, device: str = "cpu", **sizes: int) -> np.ndarray:
    out = np.full(rows.shape[0], -1, np.int32)
    kernel.searcher(words, device, **sizes)(rows, out)
    return out


def defined(words: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = np.full(rows.shape[0], -1, np.int32)
    reference.searcher(words)(rows, out)
    return out


@pytest.mark.parametrize("kind", ["few", "all", "extreme"])
@pytest.mark.parametrize("dim", [1, 5, 40, 64, 128])
@pytest.mark.parametrize("count", [1, 7, 16, 1000])
def test_words_are_those_of_the_definition(count, dim, kind):
    rng = np.random.default_rng(count + dim)
    words, rows = drawn(rng, count, dim, kind), drawn(rng, 37, dim, kind)
    words[count // 2 :] = words[: count - count // 2]  # every word of the first half comes again
    rows[:5] = words[np.arange(5) % count]
    np.testing.assert_array_equal(found(words, rows), defined(words, rows))


@pytest.mark.parametrize("equal", [(0, 1), (3, 255), (255, 256), (100, 400), (7, 700), (512, 767), (1, 1023)])
def test_the_first_of_equal_words_wins_within_and_across_groups_and_blocks(equal):
    words = np.full((1024, 3), 100, np.int16)
    words[list(equal)] = 5
    rows = np.tile(np.array([[4, 5, 6]], np.int16), (100, 1))
    for word_block in (256, 512, 1024):
        assert set(found(words, rows, word_block=word_block).tolist()) == {equal[0]}


@pytest.mark.parametrize("count", [255, 256, 257, 1000])
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 100])
def test_borders_of_blocks_and_of_chunks_change_nothing(count, rows):
    rng = np.random.default_rng(count * rows)
    words, points = drawn(rng, count, 6, "few"), drawn(rng, rows, 6, "few")
    expected = defined(words, points)
    for word_block, keys in ((256, 1), (256, 64 * 256), (512, 1), (1 << 14, 1 << 14), (1 << 14, 1 << 26)):
        np.testing.assert_array_equal(found(words, points, word_block=word_block, keys=keys), expected)


def test_keys_of_the_largest_rows_fit_int32():
    low, high = np.full((1, 128), -128, np.int16), np.full((1, 128), 127, np.int16)
    words = np.concatenate([np.tile(high, (255, 1)), low, low, np.tile(high, (300, 1))])
    assert found(words, np.concatenate([low, high])).tolist() == [255, 0]
    assert found(high, low).tolist() == [0]  # the lowest score there is, and still above a place that is no word
    assert found(low, high).tolist() == [0]


@pytest.mark.parametrize("columns", [16, 48, 128])
def test_products_of_bytes_are_exact(columns):
    rng = np.random.default_rng(columns)
    rows, words = (rng.choice(np.array(EXTREMES, np.int8), (n, columns)) for n in (64, 256))
    rows[0], words[0], words[1] = -128, -128, 127
    products = torch._int_mm(torch.from_numpy(rows), torch.from_numpy(words).t())
    assert products.dtype == torch.int32
    np.testing.assert_array_equal(products.numpy(), rows.astype(np.int64) @ words.astype(np.int64).T)


def test_values_that_no_byte_holds_are_refused():
    fine, wide = np.full((2, 3), 127, np.int16), np.full((2, 3), 128, np.int16)
    for words, rows in ((wide, fine), (fine, wide)):
        with pytest.raises(AssertionError):
            found(words, rows)


def graphs() -> dict[str, Graph]:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 60, (2, 900))
    nodes, edges = (rng.standard_normal(shape).astype(np.float32) for shape in ((60, 7), (900, 5)))
    return {
        "edges": Graph.from_edges(ends, edge_attr=edges),
        "nodes": Graph.from_edges(ends, x=nodes),
        "both": Graph.from_edges(ends, x=nodes, edge_attr=edges),
        "one column": Graph.from_edges(ends, num_nodes=60, edge_attr=edges[:, :1]),
        "wide": Graph.from_edges(ends, x=rng.standard_normal((60, 200)).astype(np.float32)),
    }


@pytest.mark.parametrize("name", graphs())
@pytest.mark.parametrize("words", [8, 40])
def test_masks_are_those_of_the_other_executors(name, words, on_cpu, monkeypatch):
    graph, pruner = graphs()[name], LSP(keep=0.4, hash=Codebook(words=words))
    searched = []
    search = kernel.Search.__call__
    monkeypatch.setattr(kernel.Search, "__call__", lambda *args: searched.append(1) or search(*args))
    mask = pruner.mask_graph(graph, runtime(2, "gpu")).mask
    assert searched
    np.testing.assert_array_equal(mask, pruner.mask(graph))
    np.testing.assert_array_equal(mask, pruner.mask(graph, executor="reference"))


def test_a_chosen_number_of_words_is_the_same(on_cpu):
    rng = np.random.default_rng(0)
    edges = rng.standard_normal((20_000, 6)).astype(np.float32)
    graph = Graph.from_edges(rng.integers(0, 500, (2, 20_000)), edge_attr=edges)
    on_device, here = (LSP(k=2, hash="codebook").fit_graph(graph, runtime(2, name)) for name in ("gpu", "cpu"))
    assert on_device == here


def test_threads_share_a_search(on_cpu, monkeypatch):
    rng = np.random.default_rng(0)
    words, rows = drawn(rng, 300, 9, "few"), drawn(rng, 20_000, 9, "few")
    monkeypatch.setattr(host_arrays, "SEARCH_ROWS", 700)
    expected = vocabulary.nearest(rows, words, runtime(1, "cpu"))
    np.testing.assert_array_equal(vocabulary.nearest(rows, words, runtime(5, "gpu")), expected)


def test_triton_searches_where_it_is_there_and_knows_the_device(monkeypatch):
    class Fused:
        fails = False

        def columns_of(self, dim):
            return 32

        def nearest(self, rows, words, bias, group):
            if self.fails:
                raise RuntimeError("no C compiler")

    there, asked = Fused(), kernel._fused.__wrapped__
    place, zeros = torch.device("cuda"), torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda *args, device, **more: zeros(*args, **more))
    monkeypatch.setattr(kernel, "import_module", lambda name: there)
    for capability, expected in (((7, 5), None), ((8, 0), there), ((9, 0), there)):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda where, version=capability: version)
        assert asked(place) is expected
    assert asked(torch.device("cpu")) is None
    there.fails = True
    assert asked(place) is None
    monkeypatch.setattr(kernel, "import_module", import_module)
    monkeypatch.delitem(sys.modules, "lsprune.kernels.gpu.nearest_words_triton", raising=False)
    monkeypatch.setitem(sys.modules, "triton", None)
    assert asked(place) is None


def test_a_machine_without_a_device_or_torch_is_told_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(OptionError, match="^executor gpu needs a CUDA device, and torch finds none; .*$"):
        prune(random_graph(0), LSP(k=2), executor="gpu")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency, match="executor gpu needs PyTorch: pip install 'lsprune.gnn.'"):
        LSP(k=2).mask(random_graph(0), executor="gpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device on this machine")
@pytest.mark.parametrize("kind", ["few", "all", "extreme"])
@pytest.mark.parametrize(("count", "dim"), [(1, 1), (7, 5), (1000, 40), (8192, 40), (40_000, 128)])
def test_a_real_device_finds_the_same_words(count, dim, kind):
    rng = np.random.default_rng(count)
    words, rows = drawn(rng, count, dim, kind), drawn(rng, 3001, dim, kind)
    words[count // 2 :] = words[: count - count // 2]
    expected = vocabulary.nearest(rows, words, runtime())
    for word_block, keys in ((256, 1), (1 << 12, 1 << 16), (kernel.BLOCK_WORDS, kernel.MAX_KEYS)):
        np.testing.assert_array_equal(
            found(words, rows, "cuda", word_block=word_block, keys=keys, triton=False), expected
        )
    np.testing.assert_array_equal(vocabulary.nearest(rows, words, runtime(4, "gpu")), expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device on this machine")
@pytest.mark.parametrize("name", graphs())
def test_a_real_device_gives_the_same_mask(name):
    graph, pruner = graphs()[name], LSP(keep=0.4, hash=Codebook(words=40))
    np.testing.assert_array_equal(pruner.mask_graph(graph, runtime(2, "gpu")).mask, pruner.mask(graph))
