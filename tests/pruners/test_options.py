"""Whatever an option is given, it is taken or refused by name: no other error, then or later."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pytest

from graphs import random_graph
from lsprune import FAMILIES, LSP, PRUNERS, Graph, Guarded, LspruneError, OptionError, Random
from lsprune.hashing import Both, Signs
from lsprune.pruners import PaperLSP
from lsprune.pruners.guarded import Guarded as Promises
from lsprune.weights import Degree

ODD = [
    None, float("nan"), float("inf"), "", "edge", "edge:" + "9" * 5000, "edge:²", [], [[]], ["edge"], (), (12,), {},
    {1: 2}, object(), b"x", -1, 0, 3, 2**40, 2**70, 10**5000, 1.5, 1e308, 5e-324, True, 4j, np.int64(3), np.uint8(3),
    np.bool_(True), np.nan, np.float32(0.5), np.str_("edge"), np.array(3), np.array([1, 2]), np.array(["edge"]),
    np.array([]), np.datetime64("now"), int, Signs(bits=2), Random(keep=0.5),
]  # fmt: skip
GRAPH = random_graph(0, nodes=9, edges=50, dim=3, edge_dim=2)
GRAPH = Graph.from_edges(GRAPH.ends(), num_nodes=9, x=GRAPH.x, edge_attr=np.abs(GRAPH.edge_attr))


def budget_of(kind) -> dict:
    return {"k": 2} if "k" in {field.name for field in dataclasses.fields(kind)} else {}


FIELDS = [
    *((kind, field.name) for kind in PRUNERS.values() if kind is not Guarded for field in dataclasses.fields(kind)),
    *((kind, field.name) for kind in FAMILIES.values() for field in dataclasses.fields(kind)),
    *((Guarded, field.name) for field in dataclasses.fields(Guarded)),
]


def made(kind, name: str, value):
    """A pruner with one odd option; of a hash family, in LSP."""
    if kind in FAMILIES.values():
        return LSP(k=2, hash=kind(**{name: value}))
    if kind is Guarded:
        return Guarded(**({"pruner": Random(keep=0.3)} | {name: value}))
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
        if name not in ("protected", "fitted", "learned"):  # what a dict does not hold
            again = json.loads(json.dumps(pruner.to_dict()))
            loaded = (Promises if isinstance(pruner, Guarded) else type(pruner)).from_dict(again)
            assert loaded == pruner, value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mask = pruner.mask(GRAPH, threads=1)
            except LspruneError:
                continue
        assert mask.dtype == bool and mask.shape == (50,)


WHOLE = {"k", "seed", "column", "hashes", "trees", "bits", "rounds", "levels", "words", "iterations", "min_keep",
         "max_degree", "sparsity", "m"}  # fmt: skip


def test_whole_numbers_of_numpy_are_whole_numbers():
    for kind, name in FIELDS:
        if name in WHOLE:
            pruner = made(kind, name, np.int64(2))
            held = pruner if kind in (Guarded, *PRUNERS.values()) else pruner.family
            assert type(getattr(held, name)) is int


@pytest.mark.parametrize("value", [[[]], [["edge"]], [{}], [None], "edge", [1], [np.array([1])], ["edges"]], ids=repr)
def test_attributes_are_some_of_the_parts(value):
    with pytest.raises(OptionError, match="attributes must be a tuple of some of owner, edge, neighbour, got"):
        LSP(k=1, attributes=value)


def test_fractions_of_other_types_become_floats():
    pruner = LSP(keep=np.float32(0.5), weights=Degree(power=np.float32(0.5)))
    plain = json.loads(json.dumps(pruner.to_dict()))
    assert (plain["keep"], plain["weights"]["power"]) == (0.5, 0.5)
    assert json.loads(json.dumps(PaperLSP(k=np.int8(3), replace=np.bool_(True)).to_dict()))["replace"] is True


def test_a_family_in_a_family_is_a_family():
    for value in ODD[:-2]:
        with pytest.raises(OptionError, match="edge must be a hash family such as"):
            Both(edge=value)
