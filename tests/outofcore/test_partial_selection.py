"""Batches of sorted edges keep what the whole graph keeps, however they are cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs import ALL_PRUNERS, name_of
from lsprune import LSP, First, Graph, Guarded, LocalRandom, OptionError, Projection, Threshold, Timed
from lsprune.baselines import Cosine, DSpar, Jaccard, LocalDegree, LowDegree, NoEdges, TopWeight
from lsprune.hashing import Bins, Both, Codebook, Identity, PaperThreshold, Signs, Structure
from lsprune.hashing.base import BLOCK_FUNCTIONS, NodeKeys
from lsprune.kernels import runtime
from lsprune.needs import Needs
from lsprune.outofcore.partial_selection import EdgeRows, Selector, fitted_needs, node_keys, per_owner
from lsprune.pruners import LocalPruner, PaperLSP
from lsprune.selection.budget import quotas
from lsprune.selection.choose import KeySource, edge_keys
from lsprune.selection.owners import group

FEW = settings(max_examples=8, deadline=None, derandomize=True)
RUN = runtime(1)
ALL = ("owner", "edge", "neighbour")


def kept_of(pruner, batches) -> np.ndarray:
    """The numbers of the rows that are kept."""
    found = (numbers[done] for _, numbers, done in Selector(pruner, RUN).merged(batches))
    return np.concatenate([np.empty(0, np.int64), *found])


def supported(pruner) -> bool:
    try:
        fitted_needs(pruner.fit(hubs(0)))
    except OptionError:
        return False
    return True


def hubs(seed: int, nodes: int = 30, edges: int = 700, coarse: bool = False) -> Graph:
    """Two owners with a third of all edges each, self-loops, parallel edges, nodes without edges."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes - 2, (2, edges))
    big = rng.random((2, edges)) < 0.33
    ends[big] = rng.integers(3, 5, int(big.sum()))
    x, attr = rng.standard_normal((nodes, 4)), rng.standard_normal((edges, 2))
    if coarse:  # many equal keys
        x, attr = np.sign(x), np.sign(attr)
    return Graph.from_edges(ends, num_nodes=nodes, x=x.astype(np.float32), edge_attr=attr.astype(np.float32))


def positive(graph: Graph) -> Graph:
    attr, x = np.abs(graph.edge_attr) + 0.5, np.abs(graph.x) + 0.5
    return Graph.from_edges(graph.ends(), num_nodes=graph.num_nodes, x=x, edge_attr=attr)


def rows_of(graph: Graph, pruner, *, ready: bool = False) -> tuple[EdgeRows, np.ndarray]:
    """The edges of a graph sorted by owner with no more than the pruner needs, and where each came from."""
    want, owned = fitted_needs(pruner), group(graph, pruner.rules, RUN)
    source, target = graph.ends()
    owner, neighbour = (target, source) if pruner.side == "in" else (source, target)
    order = np.argsort(owner, kind="stable")
    owner, neighbour = owner[order], neighbour[order]
    quota = quotas(owned.indptr, graph, pruner.rules, RUN)
    degree = np.bincount(owned.neighbour, minlength=graph.num_nodes)
    keys = None
    if ready:
        steps = pruner.functions_needed(int(quota.max(initial=0)))
        x = graph.x if want.neighbour else None
        everyone = np.arange(graph.num_nodes)
        keys = node_keys(pruner, everyone, x, 0, steps, steps, RUN, degree=degree)[neighbour]
    rows = EdgeRows(
        owner=owner,
        neighbour=neighbour,
        quota=quota[owner],
        keys=keys,
        x_owner=graph.x[owner] if want.owner and not ready else None,
        x_neighbour=graph.x[neighbour] if want.neighbour and not ready else None,
        edge_attr=graph.edge_attr[order] if want.edge and not ready else None,
        degree=degree[neighbour] if want.degree and not ready else None,
    )
    return rows, order


def mask_by(pruner, rows: EdgeRows, order: np.ndarray, cuts) -> np.ndarray:
    """The mask from batches that end at the cuts."""
    borders = [0, *sorted(cuts), len(rows)]
    batches = (rows.take(np.arange(lo, hi)) for lo, hi in zip(borders, borders[1:], strict=False))
    kept = kept_of(pruner, batches)
    assert np.unique(kept).shape == kept.shape
    mask = np.zeros(order.shape[0], bool)
    mask[order[kept]] = True
    return mask


CASES = [
    *(pruner for pruner in ALL_PRUNERS if supported(pruner)),
    *(
        PaperLSP(k=k, hash=family, side=side, ties=ties, attributes=attributes)
        for k, side, ties in ((3, "in", "hash"), (18, "out", "id"), (5, "in", "position"))
        for family, attributes in (
            (Projection(), ("neighbour",)),
            (Projection(l=0.5), ALL),
            (Threshold(), ("neighbour",)),
            (PaperThreshold(digest="md5"), ALL),
            (Signs(bits=3), ("edge",)),
            (Bins(), ("neighbour",)),
            (Codebook(), ("owner", "neighbour")),
            (Both(edge=Signs(bits=2), node=Identity()), ALL),
        )
    ),
    *(LSP(k=4, hash=Bins(), self_loops=loops, attributes=("neighbour",)) for loops in ("edge", "drop")),
    *(LSP(keep=0.6, self_loops=loops, select="bottom", hash=Signs(bits=2)) for loops in ("free", "edge", "drop")),
    PaperLSP(k=6, replace=True, hash=Signs(bits=2), ties="position"),
    PaperLSP(k=6, replace=True, ties="id", attributes=("neighbour",), self_loops="edge"),
    LSP(k=3, weights="edge:0", hash="identity"),
    LSP(k=3, weights="neighbour:1", hash="identity"),
    LSP(keep=0.5, weights="degree", hash=Signs(bits=3), attributes=ALL, side="out"),
    LocalRandom(k=7, side="out", self_loops="edge"),
    LowDegree(k=4, side="out"),
    LocalDegree(k=4),
    TopWeight(k=4, column=1, self_loops="drop"),
    Cosine(k=40),
    First(keep=0.3, side="out"),
]


@pytest.mark.parametrize("pruner", CASES, ids=name_of)
@given(seed=st.integers(0, 1 << 16), coarse=st.booleans(), cuts=st.lists(st.integers(0, 700), max_size=12))
@FEW
def test_any_cut_into_batches_keeps_the_same_edges(pruner, seed, coarse, cuts):
    graph = positive(hubs(seed, coarse=coarse)) if getattr(pruner, "weights", None) else hubs(seed, coarse=coarse)
    fitted = pruner.fit(graph)
    rows, order = rows_of(graph, fitted)
    np.testing.assert_array_equal(mask_by(fitted, rows, order, cuts), fitted.mask(graph))


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_small_batches_carry_the_owner_that_is_still_open(size):
    graph = hubs(1)
    pruner = LSP(k=20, attributes=ALL).fit(graph)
    rows, order = rows_of(graph, pruner)
    mask = mask_by(pruner, rows, order, range(size, len(rows), size))
    np.testing.assert_array_equal(mask, pruner.mask(graph))


COARSE = positive(hubs(2, coarse=True))


@pytest.mark.parametrize(
    "pruner", [case for case in CASES if supported(case) and case.fit(COARSE).needs.by_neighbour], ids=name_of
)
def test_ready_keys_of_nodes_keep_the_same_edges(pruner):
    graph, fitted = COARSE, pruner.fit(COARSE)
    rows, order = rows_of(graph, fitted, ready=True)
    np.testing.assert_array_equal(mask_by(fitted, rows, order, [100, 101, 500]), fitted.mask(graph))


def test_a_held_owner_is_never_more_than_its_quota():
    graph = hubs(3)
    pruner = LSP(k=5, attributes=("neighbour",)).fit(graph)
    rows, _ = rows_of(graph, pruner)
    end = int(np.flatnonzero(rows.owner == 3)[-1])  # within the edges of a hub
    kept, held = Selector(pruner, RUN).split(rows.take(np.arange(end)))
    assert held.sum() == 5
    assert set(rows.owner[:end][held].tolist()) == {3}
    assert not (kept & held).any()


def test_shares_of_an_owner_are_selected_from_separately_and_merge():
    graph = hubs(4)
    for pruner in (LSP(k=6, attributes=ALL), LSP(k=6, select="bottom"), PaperLSP(k=6, replace=True)):
        fitted = pruner.fit(graph)
        rows, order = rows_of(graph, fitted)
        share = np.arange(len(rows)) % 3
        dealt = np.lexsort((share, rows.owner))  # stable: each share in the caller's order
        parts = EdgeRows(**{**vars(rows.take(dealt)), "share": share[dealt]})
        some = kept_of(fitted, [parts])
        assert len(some) < len(rows)
        rest = np.sort(dealt[some])
        merged = rest[kept_of(fitted, [rows.take(rest)])]
        mask = np.zeros(len(rows), bool)
        mask[order[merged]] = True
        np.testing.assert_array_equal(mask, fitted.mask(graph))


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("ready", [False, True])
@pytest.mark.parametrize("options", [{"k": 30}, {"keep": 0.7, "ties": "id"}, {"k": 90, "ties": "position"}], ids=str)
def test_steps_without_a_function_of_their_own_merge_too(monkeypatch, options, ready, coarse):
    monkeypatch.setattr("lsprune.pruners.lsp.MAX_FUNCTIONS", 5)
    graph = hubs(6, coarse=coarse)
    pruner = PaperLSP(**options, attributes=("neighbour",) if ready else ALL).fit(graph)
    assert pruner.options.functions == 5
    rows, order = rows_of(graph, pruner, ready=ready)
    assert not ready or rows.keys.shape[1] == 6
    expected = pruner.mask(graph)
    np.testing.assert_array_equal(expected, pruner.mask(graph, executor="reference"))
    for cuts in ([], [100, 101, 500], range(7, len(rows), 7)):
        np.testing.assert_array_equal(mask_by(pruner, rows, order, cuts), expected)


@pytest.mark.parametrize(
    "pruner",
    [
        LSP(k=20, hash=family, attributes=("neighbour",), weights=weights)
        for family, weights in (
            (Projection(), None),
            (Projection(), "degree"),
            (Projection(l=0.1), None),
            (Threshold(), "degree"),
            (Bins(), None),
            (Signs(), "neighbour:0"),
            (Codebook(), None),
            (Identity(), "degree"),
        )
    ],
    ids=name_of,
)
@pytest.mark.parametrize("category", [False, True])
def test_keys_of_some_nodes_are_those_of_the_whole_table(pruner, category):
    graph = positive(hubs(5))
    if category:
        x = np.arange(30) % 7 + 1
        graph = Graph.from_edges(graph.ends(), num_nodes=30, x=x)
    fitted = pruner.fit(graph)
    owned = group(graph, fitted, RUN)
    source = fitted.key_source(graph, owned, RUN)
    degree = np.bincount(owned.neighbour, minlength=30)
    some = np.random.default_rng(0).permutation(30)[:11]
    found = node_keys(fitted, some, graph.x[some], 0, 20, 20, RUN, degree=degree[some])
    assert found.shape == (11, 20)
    for first in range(0, 20, BLOCK_FUNCTIONS):
        count = min(BLOCK_FUNCTIONS, 20 - first)
        keys = source.keys(first, count, 20)
        whole = np.zeros((30, count), np.int64)
        whole[owned.neighbour] = edge_keys(keys, owned, 0, 30, count)  # of the nodes that are a neighbour at all
        if isinstance(keys, NodeKeys):
            whole = keys.table[:, :count]
        seen = np.isin(some, owned.neighbour)
        assert seen.sum() > 8
        np.testing.assert_array_equal(found[seen, first : first + count], whole[some[seen]])
        np.testing.assert_array_equal(
            node_keys(fitted, some, graph.x[some], first, count, 20, RUN, degree=degree[some]),
            found[:, first : first + count],
        )


def test_a_small_block_may_have_a_category_of_many_values():
    x = np.arange(100_000)
    graph = Graph.from_edges(np.stack([np.arange(99_999), np.zeros(99_999, int)]), x=x)
    fitted = LSP(k=2, hash=Signs(bits=2)).fit(graph)
    one = node_keys(fitted, np.array([99_000]), x[[99_000]], 0, 2, 2, RUN)
    assert one.tolist() == node_keys(fitted, x[98_990:99_010], x[98_990:99_010], 0, 2, 2, RUN)[[10]].tolist()


@dataclass(frozen=True, kw_only=True, repr=False)
class Undeclared(LocalPruner):
    """A pruner from outside that does not say what it needs."""

    name = "undeclared"
    about = "says nothing"

    def key_source(self, graph, owned, runtime):
        return KeySource.of_edges(lambda lo, hi: owned.neighbour[owned.indptr[lo] : owned.indptr[hi]])


@pytest.mark.parametrize(
    ("pruner", "why"),
    [
        (LSP(k=1, symmetric="union", hash="identity"), "symmetric must be None"),
        (
            LSP(k=1, hash=Structure()),
            "hash structure looks at the edges around a neighbour; use another one here, or prune in memory",
        ),
        (
            LSP(k=1, hash=Both(edge=Signs(), node=Structure())),
            "hash structure looks at the edges around a neighbour; use another one here, or prune in memory",
        ),
        (LSP(k=1, hash="identity", weights="jaccard"), "jaccard"),
        (LSP(k=1, hash="identity", weights="similarity"), "similarity"),
        (LSP(k=1, hash="identity", weights="auto"), "auto"),
        (LSP(k=1), "must be fitted first"),
        (LSP(k=1, hash="codebook"), "must be fitted first"),
        (Jaccard(k=1), "jaccard compares the neighbours of both ends of an edge; use another one"),
        (DSpar(k=1), "dspar must see the whole graph"),
        (NoEdges(), "no-edges must see the whole graph"),
        (Guarded(pruner=LocalRandom(k=1)), "guarded must see the whole graph"),
        (Timed(pruner=LocalRandom(k=1), until=3), "edges that timed rules out must be removed first"),
        (Undeclared(k=1), r"undeclared does not declare what its keys are made of \(needs\)"),
    ],
    ids=name_of,
)
def test_what_needs_the_whole_graph_is_refused(pruner, why):
    with pytest.raises(OptionError, match=why):
        Selector(pruner, RUN)


def test_needs_of_a_fitted_pruner_are_those_of_the_attributes_that_are_there():
    graph = hubs(0)
    for pruner, expected in (
        (LSP(k=1, hash="identity"), Needs(key_table=True, gpu=True)),
        (LSP(k=1, attributes=("neighbour",)).fit(graph), Needs(neighbour=True, key_table=True, gpu=True)),
        (LSP(k=1, hash="identity", weights="edge:1"), Needs(edge=True, gpu=True)),
        (LowDegree(k=1), Needs(degree=True, gpu=True)),
        (TopWeight(k=1, column=0), Needs(edge=True, own_type=True, gpu=True)),
    ):
        assert fitted_needs(pruner) == expected
        assert per_owner(pruner) is pruner
    paper = fitted_needs(PaperLSP(k=1, attributes=ALL, ties="position").fit(graph))
    assert paper.owner and paper.edge and paper.neighbour and paper.position
    assert not fitted_needs(LocalRandom(k=1)).by_neighbour
    assert fitted_needs(LowDegree(k=1)).by_neighbour


def test_no_rows_at_all():
    nothing = np.empty(0, np.int64)
    rows = EdgeRows(owner=nothing, neighbour=nothing, quota=nothing)
    assert kept_of(LocalRandom(k=1), [rows, rows]).size == 0
    assert kept_of(LocalRandom(k=1), []).size == 0
    assert node_keys(LSP(k=1, hash="identity"), nothing, None, 0, 3, 3, RUN).shape == (0, 3)
