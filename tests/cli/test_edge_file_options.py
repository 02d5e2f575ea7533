from __future__ import annotations

import dataclasses

import pytest

from lsprune import OptionError
from lsprune.cli.edge_file_options import EdgeFileOptions, names
from lsprune.files.edge_options import EdgeOptions


def test_names_are_split_at_commas():
    assert names(" a,b ,, c") == ("a", "b", "c")
    assert names("") == ()


def test_keywords_are_those_of_the_reader():
    keywords = EdgeFileOptions(node_id="key", x="a,b", edge_attr="w", source="u", target="v").keywords()
    asked_by_pruners = {"columns"}
    assert set(keywords) == {field.name for field in dataclasses.fields(EdgeOptions)} - asked_by_pruners
    assert (keywords["id"], keywords["x"], keywords["edge_attr"]) == ("key", ("a", "b"), ("w",))


def test_numbers_of_nodes_are_a_pair_where_there_are_two_kinds():
    assert EdgeFileOptions(num_nodes=5).keywords()["num_nodes"] == 5
    assert EdgeFileOptions(num_nodes=5, bipartite=True).keywords()["num_nodes"] == (5, None)
    assert EdgeFileOptions(bipartite=True).keywords()["num_nodes"] is None
    with pytest.raises(OptionError, match="--num-targets needs --bipartite"):
        EdgeFileOptions(num_targets=5).keywords()
