from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP
from lsprune.kernels import cpu
from lsprune.kernels.gpu import host_arrays as gpu
from lsprune.kernels.gpu import nearest_words


def test_the_search_runs_on_the_device_and_all_else_on_the_cpu():
    for name in set(cpu.__all__) - {"searcher", "SEARCH_ROWS"}:
        assert getattr(gpu, name) is getattr(cpu, name)
    assert gpu.searcher is nearest_words.searcher is not cpu.searcher
    with pytest.raises(AttributeError, match="no_such_kernel"):
        gpu.no_such_kernel  # noqa: B018


def test_pruners_without_a_codebook_need_nothing_of_the_device(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(nearest_words, "DEVICE", "cpu")
    graph = random_graph(0)
    np.testing.assert_array_equal(LSP(k=2).mask(graph, executor="gpu"), LSP(k=2).mask(graph))
