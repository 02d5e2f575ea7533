"""Wrong numbers, arrays and sparse matrices from a caller are refused by name, whichever way they come."""

from __future__ import annotations

import copy
import dataclasses
import json
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import lsprune
from graphs import random_graph
from lsprune import FAMILIES, LSP, PRUNERS, Graph, GraphError, Guarded, LspruneError, OptionError, Random, Timed, prune
from lsprune.checks import (
    check_choice,
    check_count,
    check_number,
    check_pruner,
    check_sparse,
    count_of,
    did_you_mean,
    set_number,
    set_whole,
    shown,
    to_csr,
)
from lsprune.hashing import Both, Codebook, Projection, Signs
from lsprune.pruners import PaperLSP, from_dict
from lsprune.weights import WEIGHTS, Degree, Jaccard, Similarity

EDGES = np.array([[0, 1, 2, 2, 3], [1, 2, 0, 1, 0]])
DENSE = np.array([[1.0, 0, 2, 0], [0, 0, 0, 3], [4, 5, 0, 0], [0, 6, 0, 7]])


def changed(kind: str, **arrays):
    """A matrix of the format with some of its arrays replaced after it was made, so that scipy does not look."""
    matrix = getattr(sp, f"{kind}_array")(DENSE) if kind != "bsr" else sp.bsr_array(DENSE, blocksize=(2, 2))
    for name, change in arrays.items():
        if kind == "coo" and name in ("row", "col"):
            at = ("row", "col").index(name)
            coords = list(matrix.coords)
            coords[at] = change(coords[at].copy())
            matrix.coords = tuple(coords)
        else:
            setattr(matrix, name, change(copy.deepcopy(getattr(matrix, name))))
    return matrix


def put(at: int, value: int):
    """A change of one entry."""

    def change(array):
        array[at] = value
        return array

    return change


def row_of(values: list[int]):
    def change(rows):
        rows[1] = values
        return rows

    return change


BROKEN = [
    *(
        (kind, {name: change})
        for kind in ("csr", "csc", "bsr")
        for name, change in (
            ("indices", put(0, 50)),
            ("indices", put(0, 999_999_999)),
            ("indices", put(1, -1)),
            ("indices", lambda array: array.astype(float)),
            ("indptr", put(0, 1)),
            ("indptr", put(1, 999_999)),
            ("indptr", put(1, -5)),
            ("indptr", put(-1, 999_999)),
            ("indptr", lambda array: array[:-1]),
            ("indptr", lambda array: array[:0]),
            ("indptr", lambda array: np.append(array, array[-1])),
            ("data", lambda array: array[:1]),
            ("indices", lambda array: array[:1]),
        )
    ),
    ("coo", {"row": put(0, 50)}),
    ("coo", {"col": put(2, 999_999_999)}),
    ("coo", {"col": put(2, -1)}),
    ("coo", {"row": lambda array: array[:2]}),
    ("coo", {"data": lambda array: array[:2]}),
    ("dia", {"offsets": lambda array: array[:1]}),
    ("lil", {"rows": row_of([50])}),
    ("lil", {"rows": row_of([])}),
]
IDS = [f"{kind}-{next(iter(change))}-{i}" for i, (kind, change) in enumerate(BROKEN)]


@pytest.mark.parametrize(("kind", "change"), BROKEN, ids=IDS)
def test_sparse_attributes_with_wrong_indices_are_refused(kind, change):
    bad = changed(kind, **change)
    with pytest.raises(GraphError, match=r"^x is not a valid"):
        Graph.from_edges(EDGES, x=bad)
    with pytest.raises(GraphError, match=r"^edge_attr is not a valid"):
        Graph.from_edges(EDGES[:, :4], edge_attr=bad)
    with pytest.raises(GraphError, match=r"^x is not a valid"):
        Graph.from_csr([0, 1, 2, 3, 4], [0, 1, 2, 3], rows="target", x=bad)


@pytest.mark.parametrize(("kind", "change"), BROKEN, ids=IDS)
def test_sparse_graphs_with_wrong_indices_are_refused(kind, change):
    with pytest.raises(GraphError, match=r"not a valid|must be a CSR, CSC or COO matrix"):
        prune(changed(kind, **change), Random(keep=0.5))


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_sound_matrices_pass_and_stay_as_they_are(kind):
    matrix = changed(kind)
    before = copy.deepcopy(matrix)
    check_sparse(matrix, "x")
    np.testing.assert_array_equal(to_csr(matrix, "x").toarray(), DENSE)
    graph = Graph.from_edges(EDGES, x=matrix)
    assert graph.x is matrix
    expected = LSP(k=1).mask(Graph.from_edges(EDGES, x=DENSE))
    np.testing.assert_array_equal(LSP(k=1).mask(graph), expected)
    assert vars(matrix).keys() >= vars(before).keys()
    np.testing.assert_array_equal(matrix.toarray(), before.toarray())


def test_room_at_the_end_of_the_arrays_is_allowed():
    matrix = sp.csr_array(DENSE)
    matrix.indices = np.append(matrix.indices, [77, 78]).astype(np.int32)
    matrix.data = np.append(matrix.data, [1.0, 2.0])
    graph = Graph.from_edges(EDGES, x=matrix)
    np.testing.assert_array_equal(LSP(k=1).mask(graph), LSP(k=1).mask(Graph.from_edges(EDGES, x=DENSE)))


def test_dictionaries_of_keys_are_checked():
    matrix = sp.dok_array(DENSE)
    matrix._dict[(0, 99)] = 1.0
    with pytest.raises(GraphError, match="x is not a valid DOK matrix"):
        Graph.from_edges(EDGES, x=matrix)
    with pytest.raises(GraphError, match="the matrix is not a valid DOK matrix"):
        prune(matrix, Random(keep=0.5))


def test_sparse_attributes_are_matrices_of_real_numbers():
    objects = changed("csr", data=lambda data: data.astype(object))
    for values in (sp.csr_array(DENSE.astype(complex)), sp.coo_array(1j * DENSE), objects):
        with pytest.raises(GraphError, match=r"x must be numbers, got (complex128|object)"):
            Graph.from_edges(EDGES, x=values)
    with pytest.raises(GraphError, match=r"x must have two dimensions as a sparse matrix, got shape \[4\]"):
        Graph.from_edges(EDGES, x=sp.coo_array(np.ones(4)))


MASKED = np.ma.masked_array(np.ones((4, 2)), mask=np.eye(4, 2))


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: Graph.from_edges(EDGES, x=MASKED), "x"),
        (lambda: Graph.from_edges(EDGES, x=list(MASKED)), "x"),
        (lambda: Graph.from_edges(EDGES[:, :4], edge_attr=MASKED[:, 0]), "edge_attr"),
        (lambda: Graph.from_edges(np.ma.masked_equal(EDGES, 3)), "edge_index"),
        (lambda: Graph.from_edges((np.ma.masked_equal(EDGES[0], 3), EDGES[1])), "edge_index"),
        (lambda: Graph.from_csr(np.ma.arange(3), [0, 1], rows="target"), "indptr"),
        (lambda: Graph.from_edges(EDGES, ptr=np.ma.array([0, 4])), "ptr"),
        (lambda: prune(np.ma.masked_equal(EDGES, 3), Random(keep=0.5)), "edge_index"),
        (lambda: Graph.from_edges(EDGES, x=changed("csr", data=np.ma.array)), "x"),
        (lambda: Guarded(pruner=Random(keep=0.5), protected=np.ma.array([1, 2], mask=[0, 1])), "protected"),
    ],
)
def test_masked_arrays_are_refused(build, name):
    with pytest.raises(
        (GraphError, OptionError), match=rf"^{name} must (be a plain array|hold plain arrays), got .*masked"
    ):
        build()


@pytest.mark.parametrize(
    "values",
    [
        DENSE.astype(complex),
        np.full((4, 1), "a"),
        np.full(4, b"a"),
        np.array([1, None, 2, 3]),
        np.array(["2020-01-01"] * 4, "M8[ns]"),
        np.arange(4).astype("m8[s]"),
        np.zeros(4, [("a", int)]),
        [[1, 2], [3], [4], [5]],
        [2**70, 1, 2, 3],
        5.0,
        object(),
        {},
    ],
)
def test_attributes_that_are_no_numbers_are_refused(values):
    for name, ends in (("x", EDGES), ("edge_attr", EDGES[:, :4])):
        with pytest.raises(GraphError, match=rf"^{name} must "):
            Graph.from_edges(ends, **{name: values})


@pytest.mark.parametrize(
    "nodes",
    [float("nan"), float("inf"), (12,), (), (4, 4, 4), (4, float("nan")), (4, (4,)), "4", b"4", [4, 4], {}, object(),
     2.5, -1, (-1, 4), True, 2**70, np.nan, np.array([4, 4]), [[]], 4j],
    ids=lambda value: "object" if type(value) is object else str(value),
)  # fmt: skip
def test_numbers_of_nodes_that_are_none_are_refused(nodes):
    with pytest.raises(GraphError, match="num_nodes must"):
        Graph.from_edges(EDGES, num_nodes=nodes)
    with pytest.raises(GraphError, match="num_nodes must"):
        Graph.from_csr([0, 1, 2, 3, 4], [0, 1, 2, 3], rows="target", num_nodes=nodes)


@pytest.mark.parametrize("nodes", [4, 4.0, np.int32(4), np.uint8(4), np.float64(4), np.array(4), np.array([4])])
def test_whole_numbers_of_any_type_are_numbers_of_nodes(nodes):
    for graph in (
        Graph.from_edges(EDGES, num_nodes=nodes),
        Graph.from_csr([0, 1, 2, 3, 4], [0, 1, 2, 3], rows="target", num_nodes=nodes),
        Graph.from_edges(EDGES, num_nodes=(nodes, 4)),
    ):
        assert type(graph.num_sources) is int
        assert (graph.num_sources, graph.num_targets) == (4, 4)


def test_options_become_pythons_own_numbers():
    class Options:
        whole, number, nothing = np.int64(3), np.float32(0.5), None

    options = Options()
    set_whole(options, "whole", 1, 3, "a whole number in [1, 3]")
    set_whole(options, "nothing", 1, 3, "a whole number in [1, 3] or None", none=True)
    set_number(options, "number", lambda value: 0 < value < 1, "a number in (0, 1)")
    assert (type(options.whole), type(options.number), options.nothing) == (int, float, None)
    with pytest.raises(OptionError, match=r"^whole must be a whole number in \[4, 5\], got 3$"):
        set_whole(options, "whole", 4, 5, "a whole number in [4, 5]")
    with pytest.raises(OptionError, match=r"^number must be a number > 1, got 0.5; it counts$"):
        set_number(options, "number", lambda value: value > 1, "a number > 1", about="; it counts")


def test_any_value_can_be_shown():
    assert shown("a") == "'a'"
    assert shown(10**5000) == "a int"
    assert len(shown("a" * 10_000)) < 300
    with pytest.raises(GraphError, match="n must be a whole number >= 0, got a int"):
        count_of(10**5000, "n")


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "2", None, np.float64(3), -(10**400)])
def test_counts_are_whole_numbers_from_the_least_on(value):
    with pytest.raises(OptionError, match="pairs must be a whole number >= 1, got"):
        check_count("pairs", value)
    check_count("pairs", np.int32(3))
    check_count("seed", 0, 0)


@pytest.mark.parametrize("value", [-0.1, 2, float("nan"), True, "1", None])
def test_numbers_are_within_their_range(value):
    with pytest.raises(OptionError, match=r"share must be a number in \[0, 1\], got"):
        check_number("share", value, 0, 1)
    for right in (0, 1, 0.5, np.float32(0.25)):
        check_number("share", right, 0, 1)


# Whatever an option is given, it is taken or refused by name: no other error, then or later.

ODD = [
    None, float("nan"), float("inf"), "", "edge", "edge:" + "9" * 5000, "edge:²", [], [[]], ["edge"], (), (12,), {},
    {1: 2}, object(), b"x", -1, 0, 3, 2**40, 2**70, 10**5000, 1.5, 1e308, 5e-324, True, 4j, np.int64(3), np.uint8(3),
    np.bool_(True), np.nan, np.float32(0.5), np.str_("edge"), np.array(3), np.array([1, 2]), np.array(["edge"]),
    np.array([]), np.datetime64("now"), int, Signs(bits=2), Random(keep=0.5),
]  # fmt: skip
ODD_GRAPH = random_graph(0, nodes=9, edges=50, dim=3, edge_dim=2)
ODD_GRAPH = Graph.from_edges(
    ODD_GRAPH.ends(), num_nodes=9, x=ODD_GRAPH.x, edge_attr=np.abs(ODD_GRAPH.edge_attr),
    edge_columns={"time": np.arange(50)}, node_columns={"time": np.arange(9)},
)  # fmt: skip


def budget_of(kind) -> dict:
    return {"k": 2} if "k" in {field.name for field in dataclasses.fields(kind)} else {}


FIELDS = [
    *((kind, field.name) for kind in PRUNERS.values() for field in dataclasses.fields(kind)),
    *((kind, field.name) for kind in FAMILIES.values() for field in dataclasses.fields(kind)),
    *((kind, field.name) for kind in WEIGHTS.values() for field in dataclasses.fields(kind)),
]


def made(kind, name: str, value):
    """A pruner with one odd option; of a hash family or a weight, in LSP."""
    if kind in FAMILIES.values():
        return LSP(k=2, hash=kind(**{name: value}))
    if kind in WEIGHTS.values():
        return LSP(k=2, hash="identity", weights=kind(**{name: value}))
    if kind in (Guarded, Timed):
        more = {"until": 5} if kind is Timed else {}
        return kind(**({"pruner": Random(keep=0.3)} | more | {name: value}))
    options = budget_of(kind) | ({"k": None} if name == "keep" else {}) | {name: value}
    return kind(**options)


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=lambda one: getattr(one, "__name__", one))
def test_odd_values_are_taken_or_refused_by_name(kind, name):
    for value in ODD:
        try:
            pruner = made(kind, name, value)
        except OptionError as error:
            assert len(str(error)) < 600
            continue
        repr(pruner)
        if name != "protected":  # what a dict does not hold
            assert from_dict(json.loads(json.dumps(pruner.to_dict()))) == pruner, value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mask = pruner.mask(ODD_GRAPH, threads=1)
            except LspruneError:
                continue
        assert mask.dtype == bool and mask.shape == (50,)


WHOLE = {"k", "seed", "column", "hashes", "trees", "bits", "rounds", "levels", "words", "iterations", "min_keep",
         "max_degree", "sparsity", "m"}  # fmt: skip


def test_whole_numbers_of_numpy_are_whole_numbers():
    for kind, name in FIELDS:
        if name in WHOLE:
            pruner = made(kind, name, np.int64(2))
            held = pruner.family if kind in FAMILIES.values() else pruner.weight if kind in WEIGHTS.values() else pruner
            assert type(getattr(held, name)) is int


@pytest.mark.parametrize("value", [[[]], [["edge"]], [{}], [None], "edge", [1], [np.array([1])], ["edges"]], ids=repr)
def test_attributes_are_some_of_the_parts(value):
    with pytest.raises(OptionError, match="attributes must be a tuple of some of owner, edge, neighbour, got"):
        LSP(k=1, attributes=value)


def test_fractions_of_other_types_become_floats():
    pruner = LSP(keep=np.float32(0.5), weights=Degree(power=np.float32(0.5)))
    options = json.loads(json.dumps(pruner.to_dict()))
    assert (options["keep"], options["weights"]["power"]) == (0.5, 0.5)
    assert json.loads(json.dumps(PaperLSP(k=np.int8(3), replace=np.bool_(True)).to_dict()))["replace"] is True


def test_a_family_in_a_family_is_a_family():
    for value in ODD[:-2]:
        with pytest.raises(OptionError, match="edge must be a hash family such as"):
            Both(edge=value)


def test_a_pruner_is_an_object_that_makes_masks():
    check_pruner(LSP(k=1))
    for value in (LSP, "lsp", None, {"a": LSP(k=1)}):
        with pytest.raises(OptionError, match="pruner must be a pruner such as"):
            check_pruner(value)


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (0.5, r"got 0\.5; write LSP\(keep=0\.5\)$"),
        (8, r"got 8; write LSP\(k=8\)$"),
        (LSP, r"; write LSP\(keep=0\.5\)$"),
        (SimpleNamespace(pruner=LSP(k=1)), r"; pass its \.pruner$"),
        (True, "got True$"),
        (1.5, r"got 1\.5$"),
        (-1, "got -1$"),
    ],
)
def test_what_is_no_pruner_is_refused_with_what_to_write_instead(value: object, remedy: str):
    with pytest.raises(OptionError, match=remedy):
        check_pruner(value)


@pytest.mark.parametrize(
    "one", [Jaccard(), Degree(power=0.4), Similarity() * Jaccard(), Projection(), Codebook(words=3)]
)
def test_a_weight_or_a_hash_family_in_place_of_a_pruner_is_told_where_it_belongs(one):
    with pytest.raises(OptionError) as error:
        prune(random_graph(0), one)
    begin, calls = str(error.value).split(": write ")
    kind = "a hash family" if hasattr(one, "needs_attributes") else "an edge weight"
    assert begin == f"pruner must be a pruner such as LSP(keep=0.5), got {one!r}, {kind}"
    for call in calls.split(" or "):
        check_pruner(eval(call, {**vars(lsprune), "lsprune": lsprune}))
    with pytest.raises(OptionError, match="got the class Jaccard$"):
        Guarded(Jaccard)


def test_the_closest_name_is_suggested():
    assert did_you_mean("Jacard", ("random", "jaccard")) == "; did you mean 'jaccard'?"
    for wrong in ("degree", "", 3, None):
        assert did_you_mean(wrong, ("random", "jaccard", None)) == ""
    with pytest.raises(OptionError, match="side must be one of 'in', 'out', got 'outt'; did you mean 'out'\\?"):
        check_choice("side", "outt", ("in", "out"))
    with pytest.raises(OptionError, match="got 'identiy'; did you mean 'identity'"):
        LSP(k=1, hash="identiy")
    with pytest.raises(OptionError, match="did you mean 'local-random'"):
        from_dict({"pruner": "local-randm", "k": 1})


def test_the_error_of_a_missing_budget_names_the_flag_that_is_called_otherwise():
    with pytest.raises(OptionError, match=r"budget \(PerNode; --per-node\), got none of them"):
        LSP()
