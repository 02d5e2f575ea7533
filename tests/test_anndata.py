"""Neighbourhood graphs of AnnData: both matrices in step, the graph before stays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lsprune import LSP, GraphError, OptionError, prune
from lsprune.anndata import prune_anndata
from lsprune.baselines import TopWeight

anndata = pytest.importorskip("anndata")


def cells(nodes: int = 50):
    rng = np.random.default_rng(0)
    data = anndata.AnnData(rng.normal(size=(nodes, 8)).astype(np.float32))
    data.obsm["X_pca"] = rng.normal(size=(nodes, 4)).astype(np.float32)
    distances = sp.random_array((nodes, nodes), density=0.2, rng=rng, format="csr")
    distances.setdiag(0)
    distances.eliminate_zeros()
    data.obsp["distances"] = sp.csr_matrix(distances)
    both = sp.csr_matrix((distances + distances.T) / 2)
    both.data = rng.permutation(both.nnz) + 1.0
    data.obsp["connectivities"] = both
    data.uns["neighbors"] = {
        "connectivities_key": "connectivities", "distances_key": "distances", "params": {"method": "umap"},
    }  # fmt: skip
    return data


def entries(matrix) -> set[tuple[int, int]]:
    coo = matrix.tocoo()
    return set(zip(coo.row.tolist(), coo.col.tolist(), strict=True))


def test_connectivities_and_distances_lose_the_same_entries():
    data = cells()
    before = data.copy()
    prune_anndata(data, TopWeight(k=3, side="out"))
    stored = data.uns["neighbors_pruned"]
    pruned, distances = data.obsp[stored["connectivities_key"]], data.obsp[stored["distances_key"]]
    assert entries(pruned) == entries(prune(before.obsp["connectivities"], TopWeight(k=3, side="out")))
    assert max(np.diff(pruned.tocsr().indptr)) == 3
    assert entries(distances) == entries(before.obsp["distances"]) & entries(pruned)
    assert abs(distances - before.obsp["distances"].multiply(distances != 0)).sum() == 0
    assert stored["params"]["method"] == "umap" and "TopWeight" in stored["params"]["pruner"]
    for name in ("connectivities", "distances"):  # the graph before is as it was
        assert (data.obsp[name] != before.obsp[name]).nnz == 0
    assert data.uns["neighbors"]["params"] == {"method": "umap"}


@pytest.mark.parametrize(("use_rep", "params"), [(None, {}), ("X", {}), (None, {"use_rep": "X"})])
def test_features_are_those_that_neighbours_were_computed_from(use_rep, params):
    data = cells()
    data.uns["neighbors"]["params"] = params
    x = data.X if use_rep or params else data.obsm["X_pca"]
    prune_anndata(data, LSP(k=3, side="out"), key_added="few", use_rep=use_rep)
    expected = prune(data.obsp["connectivities"], LSP(k=3, side="out"), features=x)
    assert entries(data.obsp["few_connectivities"]) == entries(expected)


def test_what_is_wrong_is_named():
    data = cells()
    with pytest.raises(OptionError, match="key_added must differ from key"):
        prune_anndata(data, TopWeight(k=1), key_added="neighbors")
    with pytest.raises(GraphError, match="adata.uns has no graph 'other'"):
        prune_anndata(data, TopWeight(k=1), key="other")
    with pytest.raises(GraphError, match="use_rep must be X or one of X_pca in adata.obsm, got 'X_umap'"):
        prune_anndata(data, LSP(k=1), use_rep="X_umap")
    del data.obsp["connectivities"]
    with pytest.raises(GraphError, match="adata.obsp has no matrix 'connectivities'"):
        prune_anndata(data, TopWeight(k=1))
