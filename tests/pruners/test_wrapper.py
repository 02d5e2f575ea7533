"""What pruners around other pruners share."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from lsprune import LSP, Guarded, LocalRandom, NoEdges, OptionError, Timed, pruner
from lsprune.cli import app
from lsprune.pruners.wrapper import Wrapper

WRAPPERS = [Guarded(pruner=LSP(k=2, side="out", symmetric="union", self_loops="drop", seed=7), min_keep=1),
            Timed(pruner=LSP(k=2, side="out", symmetric="union", self_loops="drop", seed=7), until=3)]  # fmt: skip


@pytest.mark.parametrize("outer", WRAPPERS, ids=repr)
def test_what_is_not_theirs_is_that_of_the_inner_pruner(outer):
    assert isinstance(outer, Wrapper)
    assert (outer.side, outer.symmetric, outer.self_loops, outer.seed) == ("out", "union", "drop", 7)
    assert type(outer)(**{**vars(outer), "pruner": NoEdges()}).seed == 0
    assert outer.with_budget(keep=0.5).pruner == outer.pruner.with_budget(keep=0.5)


@pytest.mark.parametrize("name", ["guarded", "timed"])
def test_the_inner_pruner_has_one_name_in_python_in_short_forms_and_in_the_list_of_methods(name):
    kind, more = {"guarded": (Guarded, {"min_keep": 1}), "timed": (Timed, {"until": 3})}[name]
    outer = kind(pruner=LSP(k=3, hash="signs:bits=4"), **more)
    options = ",".join(f"{option}={value}" for option, value in more.items())
    assert pruner(f"{name}:pruner=(lsp:k=3,hash=(signs:bits=4)),{options}") == outer
    assert pruner(name, pruner=outer.pruner, **more) == outer
    assert "pruner" in json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)["pruners"][name]["options"]
    with pytest.raises(OptionError, match=rf"inner is not an option of {name}: write {name}:pruner=\(\.\.\.\)"):
        pruner(f"{name}:inner=(lsp:k=3),{options}")


def test_short_forms_may_stand_in_each_other():
    held = pruner("timed:pruner=(guarded:pruner=(lsp:k=3),min_keep=1),until=3")
    assert held == Timed(pruner=Guarded(pruner=LSP(k=3), min_keep=1), until=3)


@pytest.mark.parametrize("outer", WRAPPERS, ids=repr)
def test_the_inner_pruner_is_part_of_plain_data(outer):
    options = json.loads(json.dumps(outer.to_dict()))
    assert options["inner"] == json.loads(json.dumps(outer.pruner.to_dict()))
    assert pruner(options) == outer
    assert pruner({**options, "inner": {"pruner": "local-random", "k": 4}}).pruner == LocalRandom(k=4)
    with pytest.raises(OptionError, match="kep is not an option"):
        pruner({**options, "kep": 1})
    with pytest.raises(OptionError, match="pruner must be a pruner such as"):
        type(outer).from_dict({name: value for name, value in options.items() if name != "inner"})
