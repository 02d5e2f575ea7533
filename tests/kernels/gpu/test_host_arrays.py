from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP
from lsprune.hashing import Codebook
from lsprune.hashing.k_means import assign
from lsprune.hashing.word_lists import list_searcher
from lsprune.kernels import Runtime, cpu
from lsprune.kernels.gpu import host_arrays as gpu
from lsprune.kernels.gpu import nearest_words


def test_the_search_runs_on_the_device_and_all_else_on_the_cpu():
    for name in set(cpu.__all__) - {"searcher", "list_searcher", "SEARCH_ROWS"}:
        assert getattr(gpu, name) is getattr(cpu, name)
    assert gpu.searcher is nearest_words.searcher is not cpu.searcher
    with pytest.raises(AttributeError, match="no_such_kernel"):
        gpu.no_such_kernel  # noqa: B018


@pytest.mark.parametrize("least", [1, 1 << 13])
def test_rows_find_the_listed_words_of_the_cpu(least, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(nearest_words, "DEVICE", "cpu")
    monkeypatch.setattr(gpu, "MIN_LISTED_ROWS", least)
    rng = np.random.default_rng(0)
    words, rows = (rng.integers(-20, 21, (count, 4)).astype(np.int16) for count in (900, 3000))
    expected, found = (assign(rows, list_searcher(words, run), run) for run in (Runtime("cpu", 1), Runtime("gpu", 3)))
    np.testing.assert_array_equal(found, expected)


def test_pruners_without_a_codebook_need_nothing_of_the_device(monkeypatch):
    monkeypatch.setattr(nearest_words, "DEVICE", "no such device")
    graph, run = random_graph(0), Runtime("gpu", 2)
    assert run.module is gpu
    np.testing.assert_array_equal(LSP(k=2).mask_graph(graph, run).mask, LSP(k=2).mask(graph))


def test_words_are_searched_on_the_device_for_graphs_in_host_memory(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(nearest_words, "DEVICE", "cpu")
    graph, run = random_graph(0, edge_dim=3), Runtime("gpu", 2)
    for pruner in (LSP(k=2, hash=Codebook(words=8)), LSP(k=2, hash=Codebook(words=8, exact=True))):
        fitted = pruner.fit_graph(graph, run)
        assert fitted == pruner.fit(graph)
        np.testing.assert_array_equal(fitted.mask_graph(graph, run).mask, pruner.mask(graph))
