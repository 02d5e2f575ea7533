"""A saved pruner comes back as it was; a damaged or crafted file is refused when it is loaded, or gives a mask."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import tracemalloc
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from golden_graphs import graph_named
from golden_masks import digest_of, known

import lsprune
from graphs import random_graph
from lsprune import LSP, FormatError, Graph, Guarded, LocalRandom, LspruneError, NoEdges, Random
from lsprune.baselines import EffectiveResistance, Jaccard, TopWeight
from lsprune.files.npy import read_npz, write_npz
from lsprune.hashing import Bins, Both, Codebook, Identity, Projection, Signs, Structure, Threshold
from lsprune.pruners import FittedLSP, PaperLSP
from lsprune.weights import Column, Degree, Similarity

ALL = ("owner", "edge", "neighbour")


def graph(seed: int = 0, categories: bool = False) -> Graph:
    plain = random_graph(seed, nodes=12, edges=70, dim=4, edge_dim=2)
    x = np.arange(12) % 5 if categories else np.abs(plain.x) + np.float32(0.1)
    return Graph.from_edges(
        plain.ends(), num_nodes=12, x=x, edge_attr=np.abs(plain.edge_attr) + np.float32(0.1), y=np.arange(12) % 3
    )


KINDS = {
    "projection": LSP(k=2, attributes=ALL),
    "bins of a projection": LSP(keep=0.4, hash=Projection(l=0.5, sparsity=2)),
    "threshold": LSP(k=2, hash=Threshold()),
    "md5": LSP.paper("t", k=2),
    "affine": LSP.published("t", k=2, sparsity=3),
    "published": LSP.published("p", k=2, sparsity=3),
    "signs": LSP(k=2, hash=Signs(bits=3)),
    "bins": LSP(k=2, hash=Bins()),
    "identity": LSP(k=2, hash=Identity(), weights="degree"),
    "structure": LSP(k=2, hash=Structure()),
    "codebook": LSP(k=2, hash=Codebook(words=8)),
    "codebook of neighbours": LSP(k=2, hash=Codebook(), attributes=("neighbour",)),
    "both": LSP(k=2, hash=Both(edge=Codebook(words=4), node=Codebook(words=4)), attributes=ALL),
    "both, one learns": LSP(k=2, hash=Both(edge=Codebook(words=4), node=Signs(bits=2))),
    "similarity": LSP(keep=0.3, weights="similarity"),
    "product": LSP(keep=0.3, weights="similarity*degree:0.5"),
    "top-weight of a product": TopWeight(k=2, weights="similarity*degree:0.5"),
    "labels": LSP(keep=0.3, weights="labels*degree:0.5"),
    "edge weights": LSP(k=2, weights=Column(column=1, power=0.5)),
    "neighbour weights": LSP(k=2, hash="identity", weights="neighbour:0"),
    "auto": LSP(k=2, hash="auto"),
    "guarded": Guarded(pruner=LSP(k=2, hash=Codebook(words=8)), min_keep=1, keep_connected=True, max_degree=(None, 4)),
    "guarded twice": Guarded(pruner=Guarded(pruner=Random(keep=0.3), min_keep=1), max_degree=5),
    "local-random": LocalRandom(keep=0.4),
    "top-weight": TopWeight(k=2, column=1),
    "jaccard": Jaccard(k=2, hashes=8),
    "effective-resistance": EffectiveResistance(keep=0.4, trees=4),
    "no-edges": NoEdges(),
}
CATEGORIES = {"categories", "categories in a codebook"}
KINDS |= {"categories": LSP(k=2), "categories in a codebook": LSP(k=2, hash=Codebook(), attributes=("neighbour",))}
ARRAYS: dict[Path, dict[str, np.ndarray]] = {}  # of the files of these kinds
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The file of each kind, fitted, and the graph that it goes with."""
    folder, found = tmp_path_factory.mktemp("saved"), {}
    for kind, pruner in KINDS.items():
        one = graph(categories=kind in CATEGORIES)
        path = folder / f"{kind}.npz"
        pruner.fit(one).save(path)
        ARRAYS[path] = read_npz(path)
        found[kind] = (path, one)
    return found


def changed(path: Path, out: Path, change) -> Path:
    """The file with its JSON document or arrays changed in place."""
    arrays = {name: array.copy() for name, array in (ARRAYS.get(path) or read_npz(path)).items()}
    document = json.loads(arrays.pop("json").tobytes())
    change(document, arrays)
    arrays["json"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
    with out.open("wb") as handle:
        write_npz(handle, arrays)
    return out


def attempt(path: Path, one: Graph) -> str:
    """How far a file gets; anything but an error of ours, then or later, is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pruner = lsprune.load(path)
        except LspruneError as error:
            assert isinstance(error, FormatError)
            assert len(str(error)) < 1000
            return "refused"
        try:
            mask = pruner.mask(one, threads=1)
        except LspruneError:
            return "late"
    assert mask.dtype == bool and mask.shape == (70,)
    return "mask"


@every_kind
def test_what_was_saved_is_loaded(saved, kind, tmp_path):
    path, one = saved[kind]
    pruner = lsprune.load(path)
    assert pruner == type(KINDS[kind]).load(path) == KINDS[kind].fit(one)
    np.testing.assert_array_equal(pruner.mask(one), KINDS[kind].mask(one))
    assert attempt(changed(path, tmp_path / "same.npz", lambda document, arrays: None), one) == "mask"


def places(value, at=()):
    """Every place in a JSON document."""
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*at, key))


VALUES = [
    None,
    True,
    -1,
    0,
    7,
    1.5,
    float("nan"),
    1e308,
    2**40,
    2**70,
    "",
    "edge",
    "x" * 999,
    [],
    [[]],
    [1],
    {},
    {"a": 1},
]


def some(values, kind: str, more: int = 0):
    """One in four, others for each kind: all kinds together try all of them."""
    return itertools.islice(values, (list(KINDS).index(kind) + more) % 4, None, 4)


def put(document, at, value, *, delete: bool = False):
    for key in at[:-1]:
        document = document[key]
    if delete:
        del document[at[-1]]
    else:
        document[at[-1]] = copy.deepcopy(value)


@every_kind
def test_a_document_with_anything_else_in_it_is_refused_or_gives_a_mask(saved, kind, tmp_path):
    path, one = saved[kind]
    document = json.loads(read_npz(path)["json"].tobytes())
    found = {"refused": 0, "late": 0, "mask": 0}
    for at in places(document):
        if not at:
            continue
        for i, value in some(enumerate([*VALUES, "deleted"]), kind, len(at) + len(str(at[-1]))):
            file = changed(path, tmp_path / "bad.npz", lambda d, _: put(d, at, value, delete=i == len(VALUES)))  # noqa: B023
            found[attempt(file, one)] += 1
    assert found["refused"] > 10


def array_changes(array: np.ndarray):
    """Arrays that are not this one: of another type, shape or size, or with values that cannot be."""
    for dtype in (np.float64, np.int64, np.uint8, bool, complex, "U3", "S3", "M8[s]", [("a", int)]):
        try:
            yield (
                np.zeros(array.shape, dtype) if dtype in ("M8[s]",) or isinstance(dtype, list) else array.astype(dtype)
            )
        except (TypeError, ValueError):
            continue
    yield from (
        array[:0],
        array[:1],
        array[:-1],
        np.append(array, array),
        array.reshape(-1),
        array.reshape(1, *array.shape),
    )
    yield np.array(3, array.dtype)
    for value in (-(2**31), 2**31 - 1, 2**62, -1, 300, -300):
        wide = array.astype(np.int64)
        wide.reshape(-1)[-1] = value
        yield wide
        yield np.full(array.shape, value, np.int64)


@every_kind
def test_arrays_that_nothing_was_learned_from_are_refused_or_give_a_mask(saved, kind, tmp_path):
    path, one = saved[kind]
    names = [name for name in read_npz(path) if name != "json"]
    for name in names:
        for other in some(array_changes(read_npz(path)[name]), kind, len(name)):
            attempt(changed(path, tmp_path / "bad.npz", lambda _, arrays: arrays.__setitem__(name, other)), one)  # noqa: B023
        for other in names:
            file = changed(path, tmp_path / "bad.npz", lambda _, arrays: arrays.__setitem__(name, arrays[other]))  # noqa: B023
            attempt(file, one)
        file = changed(path, tmp_path / "bad.npz", lambda _, arrays: arrays.pop(name))  # noqa: B023
        assert attempt(file, one) == "refused"
    assert attempt(changed(path, tmp_path / "bad.npz", lambda _, arrays: arrays.update(more=np.ones(3))), one) == "mask"


def scale(document: dict) -> dict:
    return document["state"]["scales"]["edge"]


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("projection", lambda d, a: scale(d).update(exponent=10**6), r"exponent of edge must be in \[6, 20\]"),
        ("md5", lambda d, a: scale(d).update(exponent=10**6), r"exponent of edge must be in \[-113, 156\]"),
        ("projection", lambda d, a: scale(d).update(shift=60), "the scales of the parts do not belong together"),
        ("projection", lambda d, a: scale(d).update(unit=False), "unit of edge must be True for 2 columns"),
        ("projection", lambda d, a: scale(d).update(categories=7), "categories of edge must go with its 2"),
        ("projection", lambda d, a: d["state"]["scales"].update(other=scale(d)), "what was fitted must be of owner"),
        ("projection", lambda d, a: a.update({"edge.spread": a["edge.spread"][:1]}), "spread of edge must be"),
        ("projection", lambda d, a: a.update({"edge.spread": a["edge.spread"] - 10**6}), "spread of edge must be"),
        ("projection", lambda d, a: a.update({"edge.centre": np.array([2**40, 0])}), "edge.centre must hold"),
        ("projection", lambda d, a: a.update(learned=np.ones((3, 6), np.int16)), "hash projection learns nothing"),
        ("codebook", lambda d, a: a.pop("learned"), "the words of the codebook are missing"),
        ("codebook", lambda d, a: a.update(learned=np.ones((3, 7), np.int16)), r"6 integers in \[-128, 127\]"),
        ("codebook", lambda d, a: a.update(learned=np.full((3, 6), 999, np.int16)), r"6 integers in \[-128, 127\]"),
        ("codebook", lambda d, a: a.update(learned=np.ones((3, 6))), "learned must hold integers of 16 bits"),
        ("both", lambda d, a: a.update(learned=a["learned"][:-1]), "learned is missing or damaged"),
        ("both", lambda d, a: a["learned"].__setitem__(3, -9), "learned is missing or damaged"),
        ("both, one learns", lambda d, a: a["learned"].__setitem__(0, 1), "missing or damaged"),
        ("guarded", lambda d, a: d["pruner"].update(inner=3), "pruner must be a pruner"),
        ("guarded", lambda d, a: d["pruner"]["inner"].update(k=-3), "k must be a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(saved, tmp_path, kind, change, says):
    file = changed(saved[kind][0], tmp_path / "bad.npz", change)
    with pytest.raises(FormatError, match=says):
        lsprune.load(file)


def test_categories_without_end_take_no_memory(saved, tmp_path):
    """A fitted category may have many more values than a graph: only those that occur are looked at."""
    wide = Graph.from_edges(np.arange(40).reshape(2, 20) % 9, x=np.append(np.arange(8), 1999))
    path = tmp_path / "wide.npz"
    for pruner in (LSP(k=1), LSP(k=1, hash="codebook"), LSP(k=1, weights="similarity"), LSP(k=1, hash="signs")):
        fitted = pruner.fit(wide)
        fitted.save(path)
        more = changed(
            path,
            tmp_path / "more.npz",
            lambda d, _: [part.update(categories=2**50) for part in d["state"]["scales"].values()],
        )
        tracemalloc.start()
        mask = lsprune.load(more).mask(wide, threads=1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 256 << 20
        np.testing.assert_array_equal(mask, fitted.mask(wide))


def test_a_small_file_that_claims_much_is_refused_before_it_is_read(monkeypatch, tmp_path):
    monkeypatch.setattr("lsprune.pruners.saved.MAX_BYTES", 1 << 25)
    bomb = tmp_path / "bomb.npz"
    for name, size in (("learned", 1 << 25), ("json", 1 << 22)):
        header = np.lib.format.header_data_from_array_1_0(np.zeros(0, np.uint8)) | {"shape": (size,)}
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(f"{name}.npy", "w") as member:
            np.lib.format.write_array_header_1_0(member, header)
            for _ in range(size >> 20):
                member.write(bytes(1 << 20))
        tracemalloc.start()
        with pytest.raises(FormatError, match="is not a saved pruner: its arrays would take"):
            lsprune.load(bomb)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"[]", b"{", b"3", b"\xff", b"[" * 100_000, b'{"lsprune": 1}'),
        b'{"lsprune": 3, "pruner": {}, "state": {}}',
        b'{"lsprune": 2, "pruner": {}, "state": {}}',
        b'{"lsprune": 2, "pruner": {"pruner": ["lsp"]}, "state": {}}',
        b'{"lsprune": 1, "pruner": {}, "state": {}}',
        b'{"lsprune": 1, "pruner": {"method": ["lsp"]}, "state": {}}',
        b'{"lsprune": 1, "pruner": {"method": "guarded"}, "state": {}}',
        b'{"lsprune": 1, "pruner": {"method": "guarded", "pruner": 3}, "state": {}}',
        b'{"lsprune": 1, "pruner": {"method": "lsp", "k": 1, "weights": 3}, "state": {}}',
    ],
    ids=lambda text: text[:30].decode(errors="replace"),
)
def test_a_document_that_is_none_is_refused(tmp_path, text):
    path = tmp_path / "bad.npz"
    with path.open("wb") as handle:
        write_npz(handle, {"json": np.frombuffer(text, np.uint8)})
    for load in (lsprune.load, LSP.load, Guarded.load):
        with pytest.raises(LspruneError):
            load(path)


@pytest.mark.parametrize(
    ("version", "inner"), [(1, '{"method": "guarded", "pruner": '), (2, '{"pruner": "guarded", "inner": ')]
)
def test_promises_without_end_are_refused(tmp_path, version, inner):
    deep = inner * 400 + "{}" + "}" * 400
    path, text = tmp_path / "deep.npz", f'{{"lsprune": {version}, "pruner": {deep}, "state": {{}}}}'
    with path.open("wb") as handle:
        write_npz(handle, {"json": np.frombuffer(text.encode(), np.uint8)})
    with pytest.raises(FormatError):
        lsprune.load(path)


def test_a_format_of_a_later_version_is_named(tmp_path):
    path = tmp_path / "later.npz"
    with path.open("wb") as handle:
        write_npz(handle, {"json": np.frombuffer(b'{"lsprune": 3, "pruner": {}, "state": {}}', np.uint8)})
    with pytest.raises(FormatError, match="was written in format 3, this version reads 1 and 2"):
        lsprune.load(path)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip", b"\x80\x04pickle"])
def test_damaged_files_are_named(damage, tmp_path):
    path = tmp_path / "pruner.npz"
    path.write_bytes(damage)
    with pytest.raises(FormatError, match="pruner.npz is not a saved pruner"):
        lsprune.load(path)


def test_a_file_cut_short_is_named(tmp_path):
    path = tmp_path / "pruner.npz"
    LSP(k=2).fit(graph()).save(path)
    whole = path.read_bytes()
    for size in range(1, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            lsprune.load(path)


def test_a_foreign_npz_is_named(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(FormatError, match="is not a saved pruner"):
        lsprune.load(tmp_path / "other.npz")
    Random(k=1).save(tmp_path / "random.npz")
    with pytest.raises(FormatError, match="does not hold a valid lsp pruner"):
        LSP.load(tmp_path / "random.npz")


@pytest.mark.parametrize("document", ['{"lsprune": 2}', '{"lsprune": 2, "pruner": 3, "state": {}}', "[1]", "{"])
def test_foreign_documents_are_named(document, tmp_path):
    np.savez(tmp_path / "x.npz", json=np.frombuffer(document.encode(), np.uint8))
    with pytest.raises(FormatError, match="is not a saved pruner"):
        lsprune.load(tmp_path / "x.npz")


# Files of versions that searched every codebook exactly, and did not say so.


def without_exact(table):
    """The options as those versions wrote them."""
    if not isinstance(table, dict):
        return table
    return {name: without_exact(value) for name, value in table.items() if name != "exact"}


def test_large_codebooks_of_older_files_are_searched_exactly(tmp_path):
    many = graph_named("many")
    make = partial(LSP, k=4)
    fitted = make(hash=Codebook(words=17_000, exact=True)).fit(many)
    fitted.save(tmp_path / "new.npz")
    loaded = lsprune.load(
        changed(tmp_path / "new.npz", tmp_path / "old.npz", lambda d, _: d.update(pruner=without_exact(d["pruner"])))
    )
    assert loaded == fitted
    assert digest_of(loaded.mask(many)) == known()["codebook exact"]  # of the version that wrote such files
    by_lists = dataclasses.replace(fitted, options=make(hash=Codebook(words=17_000)))
    assert not np.array_equal(by_lists.mask(many), fitted.mask(many))


@pytest.mark.parametrize("kind", ["codebook", "both", "both, one learns", "guarded"])
def test_codebooks_within_other_options_of_older_files_are_exact_too(saved, kind, tmp_path):
    path, one = saved[kind]
    old = changed(path, tmp_path / "old.npz", lambda d, _: d.update(pruner=without_exact(d["pruner"])))
    assert '"exact": true' in json.dumps(lsprune.load(old).to_dict())
    np.testing.assert_array_equal(lsprune.load(old).mask(one), lsprune.load(path).mask(one))


# Files of format 1, which lsprune 0.1.0 wrote: options under "method", scales of the parts side by side in "state".

OLD_LSP = {
    "method": "lsp", "k": 2, "keep": None, "side": "in", "symmetric": None, "self_loops": "free", "pooled": False,
    "seed": 0, "hash": {"name": "projection", "l": None, "offset": "uniform", "sparsity": None}, "weights": None,
    "power": 1.0, "attributes": ["edge", "neighbour"], "values": "unit", "select": "functions", "replace": False,
    "ties": "hash",
}  # fmt: skip
OLD_THRESHOLD = {"name": "threshold", "m": 2**31 - 1, "sparsity": 6, "digest": "mix", "mean": 0.0}


def old_options(**changes) -> dict:
    return OLD_LSP | changes


def write_old(path: Path, options: dict, fitted=None) -> Path:
    """A file as lsprune 0.1.0 wrote it; what was learned is that of a fitted pruner, in the old places."""
    arrays, state = {}, {}
    for role, part in () if fitted is None else fitted.scales:
        arrays |= {f"{role}.centre": np.array(part.centre, np.int32), f"{role}.spread": np.array(part.spread, np.int32)}
        state[role] = {name: getattr(part, name) for name in ("exponent", "unit", "shift", "categories")}
    if fitted is not None and fitted.learned is not None:
        arrays["learned"] = fitted.learned.array
    document = json.dumps({"lsprune": 1, "pruner": options, "state": state})
    with path.open("wb") as handle:
        write_npz(handle, arrays | {"json": np.frombuffer(document.encode(), np.uint8)})
    return path


OLD = {
    "projection": (old_options(), LSP(k=2)),
    "keep": (old_options(k=None, keep=0.4, side="out", seed=3), LSP(keep=0.4, side="out", seed=3)),
    "degree": (old_options(weights="degree", power=0.4), LSP(k=2, weights=Degree(power=0.4))),
    "similarity": (old_options(weights="similarity"), LSP(k=2, weights=Similarity())),
    "edge": (old_options(weights="edge:1", power=2.0), LSP(k=2, weights=Column(column=1, power=2.0))),
    "neighbour": (old_options(weights="neighbour:0"), LSP(k=2, weights=Column(part="neighbour", column=0))),
    "threshold": (old_options(hash=OLD_THRESHOLD), LSP(k=2, hash=Threshold())),
    "codebook": (
        old_options(hash={"name": "codebook", "words": 8, "iterations": 2}),
        LSP(k=2, hash=Codebook(words=8, exact=True)),
    ),
    "both": (
        old_options(hash={"name": "both", "edge": {"name": "codebook", "words": 4}, "node": OLD_THRESHOLD}),
        LSP(k=2, hash=Both(edge=Codebook(words=4, exact=True), node=Threshold())),
    ),
    "paper": (
        old_options(
            side="out", attributes=["owner", "edge", "neighbour"], values="raw", ties="position",
            hash={"name": "threshold", "m": 2**31 - 1, "sparsity": None, "digest": "md5", "mean": 0.0},
        ),
        LSP.paper("t", k=2),
    ),
    "published": (
        old_options(
            side="out", attributes=["owner", "edge", "neighbour"], values="raw", ties="position", self_loops="edge",
            hash={"name": "projection", "l": 1.0, "offset": "normal", "sparsity": 3},
        ),
        LSP.published("p", k=2, sparsity=3),
    ),
    "replace": (old_options(replace=True), PaperLSP(k=2, replace=True)),
    "local-random": ({"method": "local-random", "k": None, "keep": 0.4}, LocalRandom(keep=0.4)),
    "guarded": (
        {"method": "guarded", "pruner": old_options(), "min_keep": 1, "keep_connected": False, "max_degree": [None, 4]},
        Guarded(pruner=LSP(k=2), min_keep=1, max_degree=(None, 4)),
    ),
    "guarded twice": (
        {"method": "guarded", "pruner": {"method": "guarded", "pruner": {"method": "no-edges"}, "min_keep": 1}},
        Guarded(pruner=Guarded(pruner=NoEdges(), min_keep=1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OLD)
@pytest.mark.parametrize("was_fitted", [False, True])
def test_files_of_the_first_format_are_loaded(tmp_path, kind, was_fitted):
    options, pruner = OLD[kind]
    one, other = graph(), graph(1)
    expected = pruner.fit(one) if was_fitted else pruner
    inner = getattr(expected, "pruner", expected)
    state = inner if was_fitted and isinstance(inner, FittedLSP) else None
    back = lsprune.load(write_old(tmp_path / "old.npz", options, state))
    assert back == expected
    np.testing.assert_array_equal(back.mask(other), expected.mask(other))
    back.save(tmp_path / "new.npz")
    assert json.loads(read_npz(tmp_path / "new.npz")["json"].tobytes())["lsprune"] == 2
    assert lsprune.load(tmp_path / "new.npz") == back


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"k": -1}, "k must be a whole number"),
        ({"weights": "age"}, "weights must be one of"),
        ({"weights": "edge:x"}, "is not a saved pruner of lsprune 0.1.0"),
        ({"power": -1.0, "weights": "degree"}, "power must be a number"),
        ({"hash": {"name": "threshold", "digest": "sha"}}, "digest must be one of"),
        ({"colour": "red"}, "colour is not an option of lsp"),
    ],
    ids=str,
)
def test_what_is_wrong_in_an_old_file_is_named(tmp_path, changes, says):
    with pytest.raises(FormatError, match=says):
        lsprune.load(write_old(tmp_path / "old.npz", old_options(**changes)))


def test_a_file_of_a_graph_is_no_saved_pruner(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=np.zeros((2, 3), int), x=np.eye(3))
    with pytest.raises(
        FormatError, match=r"g.npz is not a saved pruner: it holds the arrays edge_index, x; `lsprune fit`"
    ):
        lsprune.load(tmp_path / "g.npz")
