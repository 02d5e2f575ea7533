from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lsprune import LSP, Graph, OptionError
from lsprune.cli.edge_file_options import EdgeFileOptions, names, refuse_unused_labels
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


def test_a_split_is_names_or_a_number():
    assert EdgeFileOptions(split="a, b,c").keywords()["split"] == ("a", "b", "c")
    assert EdgeFileOptions(split="1").keywords()["split_number"] == 1


def test_labels_that_the_preset_would_not_look_at_are_refused():
    graph = Graph.from_edges(([0], [1]), y=[0, 1])
    with pytest.raises(OptionError, match="label 'topic' would not be used: name the training nodes with --train-mask"):
        refuse_unused_labels(graph, LSP.auto(k=1), "topic")
    refuse_unused_labels(graph, LSP.auto(k=1), None)
    refuse_unused_labels(graph, LSP(k=1, weights="labels"), "topic")
    refuse_unused_labels(dataclasses.replace(graph, train_mask=np.array([True, False])), LSP.auto(k=1), "topic")
