"""All pruners by name, from plain data and from files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphs import ALL_PRUNERS, name_of, random_graph
from lsprune import LSP, FormatError, Guarded, OptionError, Random, load
from lsprune.baselines import TopWeight
from lsprune.pruners import PRUNERS, from_dict, pruner
from lsprune.pruners.saved import write_saved

GRAPH = random_graph(0, nodes=20, edges=200, edge_dim=3)


def test_lsp_comes_first_and_every_pruner_has_a_line_about_it():
    assert list(PRUNERS)[:3] == ["lsp", "guarded", "lsp-paper"]
    for name, kind in PRUNERS.items():
        assert kind.name == name
        assert kind.about and "\n" not in kind.about


@pytest.mark.parametrize("one", ALL_PRUNERS, ids=name_of)
def test_options_survive_plain_data(one):
    options = json.loads(json.dumps(one.to_dict()))
    assert from_dict(options) == one
    assert type(one).from_dict(options) == one


@pytest.mark.parametrize("one", ALL_PRUNERS, ids=name_of)
def test_a_saved_pruner_gives_the_same_masks(one, tmp_path):
    fitted = one.fit(GRAPH)
    fitted.save(tmp_path / "pruner.npz")
    for back in (load(tmp_path / "pruner.npz"), type(one).load(tmp_path / "pruner.npz")):
        assert back == fitted
        other = random_graph(9, nodes=20, edges=150, edge_dim=3)
        np.testing.assert_array_equal(back.mask(other), fitted.mask(other))
    assert [path.name for path in tmp_path.iterdir()] == ["pruner.npz"]


def test_a_pruner_is_built_from_its_name_with_options():
    assert pruner("top-weight:column=2", k=3) == TopWeight(k=3, column=2)
    assert pruner("lsp:k=3,hash=(signs:bits=4)") == LSP(k=3, hash="signs:bits=4")
    assert pruner({"pruner": "random"}, keep=0.5) == Random(keep=0.5)
    with pytest.raises(OptionError, match="k must be given once, got it twice"):
        pruner("random:k=3", k=4)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"pruner": "magic"}, "pruner must be one of lsp, .* got 'magic'"),
        ({}, "pruner must be one of lsp, .* got ''"),
        ({"pruner": ["lsp"]}, r"pruner must be one of lsp, .* got \['lsp'\]"),
        ({"pruner": "random", "keep": 0.5, "share": 2}, "share is not an option of random; it has "),
        ({"pruner": "random", "keep": 2}, r"keep must be in \(0, 1\], got 2"),
        ({"pruner": "guarded", "inner": {"pruner": "lps"}}, "pruner must be one of lsp, .* got 'lps'"),
    ],
    ids=str,
)
def test_what_is_no_pruner_is_named(options, says):
    with pytest.raises(OptionError, match=says):
        from_dict(options)


def test_a_class_takes_its_own_options_alone():
    with pytest.raises(OptionError, match="pruner must be 'lsp' for LSP"):
        LSP.from_dict({"pruner": "random", "keep": 0.5})
    with pytest.raises(OptionError, match="share is not an option of lsp; it has "):
        LSP.from_dict({"k": 1, "share": 2})
    assert Guarded.from_dict({"inner": {"pruner": "random", "keep": 0.5}}) == Guarded(pruner=Random(keep=0.5))


def test_a_saved_pruner_that_is_not_known_here_is_named(tmp_path):
    write_saved(tmp_path / "other.npz", {"pruner": "of-a-plugin"}, {}, {})
    with pytest.raises(FormatError, match="does not hold a pruner that is known here, got 'of-a-plugin'"):
        load(tmp_path / "other.npz")
