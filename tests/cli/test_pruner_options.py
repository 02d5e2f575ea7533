from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

from lsprune import LSP, OptionError
from lsprune.cli import prune_command
from lsprune.cli.pruner_options import PRESETS, make_pruner, pruner_options
from lsprune.cli.spark import spark_prune_command
from lsprune.hashing import Signs


def test_what_was_not_given_is_left_to_the_pruner_and_falsy_values_are_given():
    assert pruner_options({"k": None, "replace": False, "seed": 0}, {"l": None}) == {"replace": False, "seed": 0}


def test_options_of_the_hash_go_to_the_family_that_was_named():
    options = pruner_options({"k": 2, "hash": "signs", "attributes": "neighbour"}, {"bits": 3, "l": None})
    assert make_pruner("lsp", None, options) == LSP(k=2, hash=Signs(bits=3), attributes=("neighbour",))


def test_a_preset_takes_k_and_seed_alone():
    assert make_pruner("lsp", "paper-p", {"k": 2, "seed": 5}) == LSP.paper("p", k=2, seed=5)
    with pytest.raises(OptionError, match="side does not go with preset paper-t"):
        make_pruner("lsp", "paper-t", {"k": 2, "side": "in"})
    with pytest.raises(OptionError, match=", ".join(PRESETS)):
        make_pruner("lsp", "paper-x", {"k": 2})


def test_options_of_one_name_are_the_same_in_both_commands():
    hints = [get_type_hints(command, include_extras=True) for command in (prune_command, spark_prune_command)]
    own = {"source", "target", "edge_attr", "features", "target_features", "weights", "return"}
    shared = set(hints[0]) & set(hints[1]) - own
    assert {"keep", "k", "hash_family", "side", "ties", "seed", "replace"} <= shared
    assert all(hints[0][name] == hints[1][name] for name in shared)
    defaults = [inspect.signature(command).parameters for command in (prune_command, spark_prune_command)]
    assert all(defaults[0][name].default == defaults[1][name].default for name in shared)
