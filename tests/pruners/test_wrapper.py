"""What pruners around other pruners share."""

from __future__ import annotations

import json

import pytest

from lsprune import LSP, Guarded, LocalRandom, NoEdges, OptionError, Timed, pruner
from lsprune.pruners.wrapper import Wrapper

WRAPPERS = [Guarded(pruner=LSP(k=2, side="out", symmetric="union", self_loops="drop", seed=7), min_keep=1),
            Timed(pruner=LSP(k=2, side="out", symmetric="union", self_loops="drop", seed=7), until=3)]  # fmt: skip


@pytest.mark.parametrize("outer", WRAPPERS, ids=repr)
def test_what_is_not_theirs_is_that_of_the_inner_pruner(outer):
    assert isinstance(outer, Wrapper)
    assert (outer.side, outer.symmetric, outer.self_loops, outer.seed) == ("out", "union", "drop", 7)
    assert type(outer)(**{**vars(outer), "pruner": NoEdges()}).seed == 0
    assert outer.with_budget(keep=0.5).pruner == outer.pruner.with_budget(keep=0.5)


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
