from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from lsprune import LSP, ConstantWarning, Graph
from lsprune.attributes import describe
from lsprune.kernels import reference, runtime
from lsprune.numeric import quantisation as scales
from lsprune.numeric.quantisation import fit_scales

RUN = runtime(1)
ALL = ("owner", "edge", "neighbour")


def test_scales_do_not_depend_on_row_order_or_threads():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3000, 7)) ** 3
    edges = np.zeros((2, 0), int)
    one = fit_scales(describe(Graph.from_edges(edges, x=x), "in", ALL, seed=0), unit=True, runtime=runtime(1))
    other = fit_scales(
        describe(Graph.from_edges(edges, x=x[rng.permutation(3000)]), "in", ALL, seed=0), unit=True, runtime=runtime(3)
    )
    assert one == other


@pytest.mark.parametrize("dim", [1, 4])
@pytest.mark.parametrize("hash", ["projection", "threshold"])
def test_edge_order_never_decides_a_scale(hash, dim, monkeypatch):
    monkeypatch.setattr(scales, "SAMPLE_ROWS", 8)
    rng = np.random.default_rng(0)
    every = np.stack(np.nonzero(~np.eye(60, dtype=bool)))
    attr = rng.lognormal(0, 2, (every.shape[1], dim))
    order = rng.permutation(every.shape[1])
    pruner = LSP(keep=0.3, hash=hash)
    mask = pruner.mask(Graph.from_edges(every, edge_attr=attr))
    shuffled = pruner.mask(Graph.from_edges(every[:, order], edge_attr=attr[order]))
    np.testing.assert_array_equal(mask[order], shuffled)


def test_unit_rows_are_normalised_centred_and_scaled():
    x = np.random.default_rng(0).standard_normal((400, 16)).astype(np.float32) + 2
    scale = fit_scales(describe(Graph.from_edges(np.zeros((2, 0), int), x=x), "in", ("neighbour",), seed=0), unit=True,
                       runtime=RUN)["neighbour"]  # fmt: skip
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    exact = (unit - unit.mean(axis=0)) * 2.0**scale.exponent
    out = np.zeros((400, 16), np.int16)
    assert reference.quanta(x, True, scale.exponent, np.array(scale.centre), out) == -1
    assert np.abs(out - np.clip(exact, -127, 127)).max() < 0.6
    assert 8 < np.abs(out).mean() < 64  # the finest power of two that fits eight bits
    np.testing.assert_allclose(np.array(scale.spread) / 32, exact.std(axis=0), rtol=0.02)


def test_scaling_a_row_does_not_change_it():
    x = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    stretched = x * np.float32(2.0) ** np.arange(-20, 30)[:, None].astype(np.float32)
    edges = np.random.default_rng(1).integers(0, 50, (2, 500))
    np.testing.assert_array_equal(
        LSP(k=2).mask(Graph.from_edges(edges, x=x)), LSP(k=2).mask(Graph.from_edges(edges, x=stretched))
    )


def test_a_single_column_counts_by_its_size_and_not_its_sign():
    weight = np.random.default_rng(0).random(200) + 1
    graph = Graph.from_edges(np.stack([np.arange(1, 201), np.zeros(200, int)]), edge_attr=weight)
    mask = LSP(k=20, select="bottom").mask(graph)
    by_weight = np.sort(weight[mask])
    ordered = np.sort(weight)
    assert by_weight.tolist() in (ordered[:20].tolist(), ordered[-20:].tolist())


def test_parts_of_very_different_size_weigh_alike():
    rng = np.random.default_rng(0)
    both = Graph.from_edges(
        rng.integers(0, 60, (2, 900)), x=rng.standard_normal((60, 200)), edge_attr=rng.standard_normal((900, 3))
    )
    mask = LSP(k=4).mask(both)
    alone = [LSP(k=4, attributes=(part,)).mask(both) for part in ("edge", "neighbour")]
    overlap = [float((mask & one).sum() / mask.sum()) for one in alone]
    chance = float(mask.mean())
    assert min(overlap) > chance + 0.1, "one part drowned the other"


def test_empty_columns_of_sparse_features_change_no_mask_and_need_no_dense_array():
    import scipy.sparse

    rng = np.random.default_rng(0)
    small = scipy.sparse.random_array((400, 4000), density=2.5e-3, format="csr", rng=rng, dtype=np.float32)
    wide = scipy.sparse.csr_array((small.data, small.indices, small.indptr), shape=(400, 200_000))
    edges = rng.integers(0, 400, (2, 3000))
    for pruner in (LSP(k=3), LSP.paper("p", k=3)):
        expected = pruner.mask(Graph.from_edges(edges, x=small))
        tracemalloc.start()
        mask = pruner.mask(Graph.from_edges(edges, x=wide))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        np.testing.assert_array_equal(mask, expected)
        assert peak < 400 * 200_000 * 4 / 4  # a quarter of the dense float32 array


def test_sparse_features_give_the_masks_of_dense_ones():
    import scipy.sparse

    rng = np.random.default_rng(0)
    sparse = scipy.sparse.random_array((400, 4000), density=2.5e-3, format="csr", rng=rng, dtype=np.float32)
    edges = rng.integers(0, 400, (2, 3000))
    for pruner in (LSP(k=3), LSP(k=3, hash="threshold"), LSP.paper("p", k=3)):
        dense = pruner.mask(Graph.from_edges(edges, x=sparse.toarray()))
        np.testing.assert_array_equal(pruner.mask(Graph.from_edges(edges, x=sparse)), dense)


def test_sparse_rows_are_those_of_the_reference():
    import scipy.sparse

    rng = np.random.default_rng(1)
    x = scipy.sparse.random_array((20, 50), density=0.1, format="csr", rng=rng, dtype=np.float32)
    graph = Graph.from_edges(rng.integers(0, 20, (2, 200)), x=x)
    for pruner in (LSP(k=2), LSP(k=2, hash="threshold"), LSP.paper("p", k=2), LSP.published("t", k=2)):
        np.testing.assert_array_equal(pruner.mask(graph), pruner.mask(graph, executor="reference"))


@pytest.mark.parametrize(
    ("column", "least"),
    [
        (1.7e9 + np.arange(300) * 288.0, 300),  # seconds of a day in 2023
        (np.append(np.linspace(0, 1, 299), 1e6), 250),  # one odd value
        (np.linspace(0, 1e-30, 300), 290),
        (np.linspace(-1e37, 1e37, 300), 290),
    ],
)
def test_neither_an_offset_nor_an_odd_value_takes_the_digits_of_a_single_column(column, least):
    values = column.astype(np.float32)[:, None]
    graph = Graph.from_edges(np.stack([np.arange(300), np.zeros(300, int)]), num_nodes=300, edge_attr=values)
    scale = dict(LSP(k=1, attributes=("edge",)).fit(graph).scales)["edge"]
    quanta = np.zeros((300, 1), np.int16)
    runtime(1).module.quanta(values, False, scale.exponent, np.array(scale.centre, np.int32), quanta)
    assert np.unique(quanta).size >= least
    assert (np.diff(quanta[:, 0].astype(int)) >= 0).all()


def test_attributes_that_are_all_alike_are_told():
    edges = np.random.default_rng(0).integers(0, 20, (2, 100))
    for options in ({"x": np.ones((20, 3), np.float32)}, {"edge_attr": np.full((100, 1), 3.7, np.float32)}):
        with pytest.warns(ConstantWarning, match="all attributes that are hashed are constant"):
            mask = LSP(k=1).mask(Graph.from_edges(edges, num_nodes=20, **options))
        assert mask.any()
