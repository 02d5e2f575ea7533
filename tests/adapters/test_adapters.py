"""`find`: registered adapters first, then ours, and no library imported by asking."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import lsprune
from lsprune import LSP, registry
from lsprune.adapters import ADAPTERS, Adapter, Kept, find
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Graph

EDGES = np.array([[0, 1, 2, 2, 3], [1, 2, 0, 2, 1]])


class Pairs:
    """A kind of object that lsprune does not know."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self.pairs = pairs


class PairsAdapter(Adapter):
    name = "pairs"
    about = "a test.Pairs"

    @classmethod
    def accepts(cls, data: object) -> bool:
        return isinstance(data, Pairs)

    def graphs(self, data: Pairs) -> dict[None, Graph]:
        return {None: Graph.from_edges(tuple(zip(*data.pairs, strict=True)))}

    def rebuild(self, data: Pairs, kept: dict[None, Kept]) -> Pairs:
        return Pairs([pair for pair, keep in zip(data.pairs, kept[None].mask, strict=True) if keep])


class OwnArrays(PairsAdapter):
    name = "own-arrays"
    about = "numpy arrays in another way"

    @classmethod
    def accepts(cls, data: object) -> bool:
        return isinstance(data, np.ndarray)


@pytest.fixture
def registered(monkeypatch):
    """A registry that is empty again after the test."""
    monkeypatch.setattr(ADAPTERS, "_classes", {})
    return ADAPTERS


@pytest.mark.parametrize("data", [None, "edges.csv", {"a": 1}, [], [1, 2], (EDGES, EDGES), object()])
def test_find_lists_what_is_accepted(data: object) -> None:
    with pytest.raises(GraphError, match=r"cannot prune .*accepted are lsprune\.Graph, .*scipy.*NetworkX.*PyG"):
        find(data)


def test_find_hands_torch_and_pyg_objects_on() -> None:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(edge_index=torch.tensor(EDGES))
    for one in (data, [data, data], (data,), torch.tensor(EDGES)):
        assert type(find(one)).__module__.startswith("lsprune.adapters.pyg")
    for other in (torch.nn.Linear(1, 1), [torch.nn.Linear(1, 1)]):
        with pytest.raises(GraphError, match="Linear; accepted are"):
            find(other)


def test_find_imports_nothing_heavy() -> None:
    code = (
        "import sys, numpy as np; from lsprune.adapters import find; from lsprune.graph import Graph;"
        "e = np.array([[0, 1], [1, 0]]); find(e); find(Graph.from_edges(e));"
        "print([m for m in ('torch', 'torch_geometric', 'networkx', 'scipy', 'pyarrow', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_registered_adapter_prunes_a_kind_of_its_own(registered):
    data = Pairs([(0, 3), (1, 3), (2, 3), (0, 1)])
    with pytest.raises(GraphError, match="cannot prune an object of type Pairs"):
        find(data)
    registered.add(PairsAdapter)
    pruner = LSP(k=1, hash="identity")
    smaller, mask = lsprune.prune(data, pruner, return_mask=True)
    assert mask.tolist() == pruner.mask(np.array(data.pairs).T).tolist()
    assert smaller.pairs == [pair for pair, keep in zip(data.pairs, mask, strict=True) if keep]
    with pytest.raises(GraphError, match="accepted are .*, a test.Pairs$"):
        find(3)


def test_registered_adapters_come_before_ours(registered):
    registered.add(OwnArrays)
    assert isinstance(find(EDGES), OwnArrays)
    assert not isinstance(find(Graph.from_edges(EDGES)), OwnArrays)


def test_plugins_are_loaded_for_objects_that_nobody_knows(registered, monkeypatch):
    calls = []

    class Entry:
        def load(self):
            return lambda: calls.append(1) or registered.add(PairsAdapter)

    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry()])
    monkeypatch.setattr(registry, "_loaded", [])
    find(EDGES)
    assert not calls
    assert isinstance(find(Pairs([(0, 1)])), PairsAdapter)
    assert calls == [1]


def test_an_adapter_without_a_name_is_refused(registered):
    class Nameless(PairsAdapter):
        name = ""

    with pytest.raises(OptionError, match="Nameless must have a name"):
        registered.add(Nameless)
