from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from graphs import ALL_PRUNERS, name_of, random_graph
from lsprune import LSP, FormatError, Identity, LocalRandom, OptionError, Projection, Random, load
from lsprune.hashing import PaperProjection, PaperThreshold
from lsprune.pruners import PaperLSP, from_dict

GRAPH = random_graph(0, nodes=20, edges=200, edge_dim=3)


def test_presets_are_those_of_the_design():
    calibrated = LSP(k=3)
    assert (calibrated.side, calibrated.attributes, calibrated.values) == ("in", ("edge", "neighbour"), "unit")
    assert calibrated.hash == Projection(l=None)
    for kind in "pt":
        paper, published = LSP.paper(kind, k=3), LSP.published(kind, k=3)
        for preset in (paper, published):
            assert (preset.side, preset.values, preset.ties) == ("out", "raw", "position")
            assert preset.attributes == ("owner", "edge", "neighbour")
            assert not preset.replace
        assert published.self_loops == "edge"
    assert LSP.paper("p", k=3).hash == PaperProjection(l=1.0, offset="uniform")
    assert LSP.paper("t", k=3).hash == PaperThreshold(m=2**31 - 1, digest="md5", sparsity=None)
    assert LSP.published("p", k=3).hash == PaperProjection(l=1.0, offset="normal", sparsity=25)
    assert LSP.published("t", k=3, sparsity=8).hash == PaperThreshold(digest="affine", sparsity=8, mean=1.0)


@pytest.mark.parametrize("pruner", ALL_PRUNERS, ids=name_of)
def test_options_survive_plain_data(pruner):
    options = json.loads(json.dumps(pruner.to_dict()))
    assert from_dict(options) == pruner
    assert type(pruner).from_dict(options) == pruner


@pytest.mark.parametrize("pruner", ALL_PRUNERS, ids=name_of)
def test_a_saved_pruner_gives_the_same_masks(pruner, tmp_path):
    fitted = pruner.fit(GRAPH)
    fitted.save(tmp_path / "pruner.npz")
    for back in (load(tmp_path / "pruner.npz"), type(pruner).load(tmp_path / "pruner.npz")):
        assert back == fitted
        other = random_graph(9, nodes=20, edges=150, edge_dim=3)
        np.testing.assert_array_equal(back.mask(other), fitted.mask(other))
    assert [path.name for path in tmp_path.iterdir()] == ["pruner.npz"]


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip", b"\x80\x04pickle"])
def test_damaged_files_are_named(damage, tmp_path):
    path = tmp_path / "pruner.npz"
    path.write_bytes(damage)
    with pytest.raises(FormatError, match="pruner.npz is not a saved pruner"):
        load(path)


def test_a_file_cut_short_is_named(tmp_path):
    path = tmp_path / "pruner.npz"
    LSP(k=2).fit(GRAPH).save(path)
    whole = path.read_bytes()
    for size in range(1, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            load(path)


def test_a_foreign_npz_is_named(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(FormatError, match="is not a saved pruner"):
        load(tmp_path / "other.npz")
    Random(k=1).save(tmp_path / "random.npz")
    with pytest.raises(FormatError, match="does not hold a valid lsp pruner"):
        LSP.load(tmp_path / "random.npz")


def test_fit_gives_a_new_pruner_and_masks_alike():
    pruner = LSP(k=2)
    fitted = pruner.fit(GRAPH)
    assert pruner.fitted is None
    assert fitted.fitted is not None
    np.testing.assert_array_equal(pruner.mask(GRAPH), fitted.mask(GRAPH))
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.k = 3


def test_numpy_scalars_are_options_like_any_other(tmp_path):
    pruner = LSP(k=np.int64(2), seed=np.int32(3), pooled=np.bool_(False), attributes=["neighbour", "edge"])
    assert pruner == LSP(k=2, seed=3)
    pruner.save(tmp_path / "pruner.npz")
    np.testing.assert_array_equal(load(tmp_path / "pruner.npz").mask(GRAPH), LSP(k=2, seed=3).mask(GRAPH))
    assert Random(keep=np.float32(0.5)).to_dict()["keep"] == 0.5


@pytest.mark.parametrize("document", ['{"lsprune": 1}', '{"lsprune": 1, "pruner": 3, "state": {}}', "[1]", "{"])
def test_foreign_documents_are_named(document, tmp_path):
    np.savez(tmp_path / "x.npz", json=np.frombuffer(document.encode(), np.uint8))
    with pytest.raises(FormatError, match="is not a saved pruner"):
        load(tmp_path / "x.npz")


def test_repr_shows_what_was_asked_for():
    assert repr(LSP(keep=0.5)) == "LSP(keep=0.5)"
    assert repr(LSP(k=3, hash=Identity(), side="out")) == "LSP(k=3, side='out', hash=Identity())"
    assert repr(LocalRandom(k=2, seed=7)) == "LocalRandom(k=2, seed=7)"


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: LSP(), "exactly one of k .* and keep .*, got neither"),
        (lambda: LSP(k=1, keep=0.5), "got both k=1 and keep=0.5"),
        (lambda: LSP(keep=1.5), r"keep must be in \(0, 1\], got 1.5; it is the share of edges to keep"),
        (lambda: LSP(keep=0.0), r"keep must be in \(0, 1\], got 0.0"),
        (lambda: LSP(keep=float("nan")), "keep must be in"),
        (lambda: LSP(k=-1), r"k must be a whole number in \[0, 2\^31\), got -1"),
        (lambda: LSP(k=2.0), "k must be a whole number .*, got 2.0"),
        (lambda: LSP(k=2**63), "k must be a whole number"),
        (lambda: LSP(keep=True), "keep must be in"),
        (lambda: LSP(keep="half"), "keep must be in"),
        (lambda: PaperLSP(k=1, replace="no"), "replace must be True or False, got 'no'"),
        (lambda: LSP(k=1, attributes=5), "attributes must be a tuple"),
        (lambda: LSP(keep=0.5, hash=PaperThreshold(digest="affine")), "k must be given with this hash"),
        (lambda: LSP(k=True), "k must be a whole number"),
        (lambda: Random(keep=2), "keep must be in"),
        (lambda: LSP(k=1, side="both"), "side must be one of 'in', 'out', got 'both'"),
        (lambda: PaperLSP(k=1, ties="random"), "ties must be one of 'hash', 'id', 'position', got 'random'"),
        (lambda: LSP(k=1, select="top"), "select must be one of"),
        (lambda: LSP(k=1, symmetric="both"), "symmetric must be one of"),
        (lambda: LSP(k=1, self_loops="add"), "self_loops must be one of"),
        (lambda: PaperLSP(k=1, values="log"), "values must be one of"),
        (lambda: LSP(k=1, attributes=("nodes",)), "attributes must be a tuple of some of owner, edge, neighbour"),
        (lambda: LSP(k=1, attributes="edge"), "attributes must be a tuple"),
        (lambda: LSP(k=1, hash=3), "hash must be a hash family or one of projection, threshold, codebook, signs"),
        (lambda: LSP(k=1, hash="md5"), "hash must be one of .* got 'md5'"),
        (lambda: PaperLSP(keep=0.5, replace=True), "keep must be None with replace=True"),
        (lambda: PaperLSP(k=1, replace=True, select="bottom"), "replace must be False"),
        (lambda: LSP(k=1, seed=0.5), "seed must be a whole number of at most 1024 bits, got 0.5"),
        (lambda: LSP.paper("q", k=1), "kind must be one of 'p', 't', got 'q'"),
        (lambda: from_dict({"method": "magic"}), "method must be one of lsp, .* got 'magic'"),
        (lambda: LSP.from_dict({"k": 1, "share": 2}), "share is not an option of lsp; it has "),
        (lambda: LSP.from_dict({"k": 1, "hash": {"name": "projection", "bins": 2}}), "bins is not an option of hash"),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()


def test_steps_with_replacement_are_limited():
    with pytest.raises(OptionError, match="k must be at most 65536 with replace=True, got 65537"):
        PaperLSP(k=2**16 + 1, replace=True)
    assert PaperLSP(k=2**16, replace=True).k == 2**16
