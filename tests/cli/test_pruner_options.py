"""Every option of every pruner, hash family and weight can be given on the command line."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

from lsprune import LSP, PRUNERS, Graph, Guarded, OptionError, PerNode, Timed
from lsprune.cli.prune import prune_command
from lsprune.cli.pruner_options import PRESETS, PrunerOptions
from lsprune.cli.spark import spark_prune_command
from lsprune.hashing import FAMILIES, Family, Signs
from lsprune.weights import WEIGHTS, Degree

# A value that is not the default, for each option that numbers and words cannot be guessed for.
VALUES = {
    "labels": True,
    "k": 5, "keep": 0.25, "side": "out", "symmetric": "union", "self_loops": "drop", "pooled": True, "seed": 7,
    "hash": "signs", "weights": "degree", "attributes": "neighbour", "select": "bottom", "values": "raw",
    "replace": True, "ties": "id", "offset": "uniform", "digest": "affine", "part": "neighbour", "power": 0.5,
    "column": 2, "exact": True, "hashes": 9, "trees": 5, "l": 0.5, "sparsity": 3, "m": 11, "mean": 1.5, "bits": 3,
    "length": 2.0, "levels": 2, "words": 4, "iterations": 3, "rounds": 2, "noise": 0.5, "edge": "(signs:bits=2)",
    "node": "(projection:l=0.5)", "min_keep": 2, "keep_connected": True, "max_degree": 4,
    "budget": "(per-node:share=0.5)",
}  # fmt: skip


# The same where a pruner has other values than those of LSP.
OWN_VALUES = {("metric-backbone", "weights"): "similarity"} | {
    (name, "ties"): "keep" for name in ("top-weight", "jaccard", "cosine", "low-degree", "local-degree")
}


def options_of(kind) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


@pytest.mark.parametrize(("kind", "option"), [(kind, name) for kind in FAMILIES.values() for name in options_of(kind)])
def test_every_option_of_every_hash_family(kind, option):
    pruner = PrunerOptions(k=2, hash=f"{kind.name}:{option}={VALUES[option]}").make()
    default = kind()
    assert isinstance(pruner.family, kind)
    assert getattr(pruner.family, option) != getattr(default, option)
    value = getattr(pruner.family, option)
    assert isinstance(value, Family) or value == VALUES[option]


@pytest.mark.parametrize(("kind", "option"), [(kind, name) for kind in WEIGHTS.values() for name in options_of(kind)])
def test_every_option_of_every_weight(kind, option):
    pruner = PrunerOptions(k=2, weights=f"{kind.name}:{option}={VALUES[option]}").make()
    assert isinstance(pruner.weight, kind)
    assert getattr(pruner.weight, option) == VALUES[option] != getattr(kind(), option)


@pytest.mark.parametrize(
    ("kind", "option"),
    [(kind, name) for kind in PRUNERS.values() if kind not in (Guarded, Timed) for name in options_of(kind)],
)
def test_every_option_of_every_pruner(kind, option):
    has_budget = "k" in options_of(kind) and option not in ("k", "keep", "budget")
    given = OWN_VALUES.get((kind.name, option), VALUES[option])
    pruner = PrunerOptions(pruner=kind.name, settings=[*["k=2"] * has_budget, f"{option}={given}"]).make()
    assert type(pruner) is kind
    made = {"hash": Signs(), "weights": Degree(), "attributes": ("neighbour",), "budget": PerNode(share=0.5)}
    assert getattr(pruner, option) == (given if given != VALUES[option] else made.get(option, given))


@pytest.mark.parametrize("option", ["min_keep", "keep_connected", "max_degree"])
def test_every_promise(option):
    pruner = PrunerOptions(pruner=f"guarded:pruner=(lsp:keep=0.3),{option}={VALUES[option]}").make()
    assert pruner == Guarded(pruner=LSP(keep=0.3), **{option: VALUES[option]})


@pytest.mark.parametrize(
    ("option", "value"),
    [("time", "t"), ("until", 7), ("until", "owner"), ("until", "2024-01-31T10:30:00"), ("since", -2.5),
     ("window", "7d"), ("node_time", "born")],
)  # fmt: skip
def test_every_option_of_time(option, value):
    pruner = PrunerOptions(
        pruner=f"timed:pruner=(lsp:keep=0.3),{'' if option == 'until' else 'until=9,'}{option}={value}"
    ).make()
    assert pruner == Timed(pruner=LSP(keep=0.3), **{"until": 9, option: value})


def test_options_of_their_own_are_those_of_set():
    own = PrunerOptions(k=3, side="out", attributes="edge, neighbour", seed=4, weights="degree:power=0.4")
    set_ones = ["side=out", "attributes=edge,neighbour", "seed=4", "weights=degree"]
    assert own.make() == LSP(k=3, side="out", attributes=("edge", "neighbour"), seed=4, weights=Degree(power=0.4))
    assert PrunerOptions(k=3, settings=set_ones).make() == dataclasses.replace(own.make(), weights="degree")
    with pytest.raises(OptionError, match="side must be given once"):
        PrunerOptions(k=3, side="out", settings=["side=in"]).make()


def test_a_budget_for_each_node():
    assert PrunerOptions(budget="share=0.3,at_least=2").make() == LSP(budget=PerNode(share=0.3, at_least=2))
    with pytest.raises(OptionError, match=r"exactly one of .* got k=2 and budget="):
        PrunerOptions(k=2, budget="exponent=0.5").make()


def test_a_preset_takes_k_and_seed_alone():
    assert PrunerOptions(preset="paper-p", k=2, seed=5).make() == LSP.paper("p", k=2, seed=5)
    for preset in PRESETS:
        with pytest.raises(OptionError, match="side does not go with preset"):
            PrunerOptions(preset=preset, k=2, side="in").make()
        with pytest.raises(OptionError, match="pruner random does not go with preset"):
            PrunerOptions(preset=preset, k=2, pruner="random").make()
        with pytest.raises(OptionError, match="needs k"):
            PrunerOptions(preset=preset).make()
    with pytest.raises(OptionError, match=", ".join(PRESETS)):
        PrunerOptions(preset="paper-x", k=2).make()


def test_the_preset_auto_is_the_recommended_setting():
    assert PrunerOptions(preset="auto", keep=0.25, side="out", seed=5).make() == LSP.auto(keep=0.25, side="out", seed=5)
    assert PrunerOptions(preset="auto", budget="share=0.3").make() == LSP.auto(budget=PerNode(share=0.3))
    with pytest.raises(OptionError, match="hash does not go with preset auto"):
        PrunerOptions(preset="auto", keep=0.25, hash="signs").make()
    with pytest.raises(OptionError, match="pruner random does not go with preset auto"):
        PrunerOptions(preset="auto", keep=0.25, pruner="random").make()


def test_both_commands_that_prune_have_these_options():
    for command in (prune_command, spark_prune_command):
        parameters = inspect.signature(command).parameters
        for field in dataclasses.fields(PrunerOptions):
            if field.default is not dataclasses.MISSING:
                assert parameters[field.name].default == field.default
    assert len(inspect.signature(prune_command.__wrapped__).parameters) <= 8


def test_a_fitted_pruner_comes_alone_or_with_another_budget(tmp_path):
    graph = Graph.from_edges(np.array([[0, 1, 2], [2, 2, 1]]), x=np.eye(3))
    fitted, path = LSP(k=1).fit(graph), tmp_path / "fitted.npz"
    fitted.save(path)
    assert PrunerOptions(fitted=path).make() == fitted
    assert PrunerOptions(fitted=path, keep=0.5).make() == fitted.with_budget(keep=0.5)
    for other, name in (({"seed": 2}, "seed"), ({"pruner": "random"}, "pruner"), ({"weights": "degree"}, "weights")):
        with pytest.raises(OptionError, match=f"fitted must come alone: {name} is in the saved pruner already"):
            PrunerOptions(fitted=path, **other).make()
