"""Finalists of `choose`: the best candidates at each share become methods that a study can store and train."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

import torch  # noqa: E402
from labelled_graphs import labelled_graph  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

from lsprune.chooser.candidates import BASELINE, CANDIDATES, NO_EDGES, UNPRUNED  # noqa: E402
from lsprune.chooser.choice import Choice, Tried  # noqa: E402
from lsprune.lab.studies.finalists import best_names, find_finalists, method_of  # noqa: E402
from lsprune.lab.studies.methods import catalogue  # noqa: E402
from lsprune.pruners import LSP  # noqa: E402

NAN = float("nan")


def labelled_data(nodes: int = 120) -> Data:
    graph = labelled_graph(nodes=nodes, noise=0.6)
    part = torch.from_numpy(np.random.default_rng(5).integers(0, 3, nodes))
    masks = {f"{name}_mask": part == number for number, name in enumerate(("train", "val", "test"))}
    ends = torch.from_numpy(np.stack(graph.ends()).astype(np.int64))
    return Data(x=torch.from_numpy(graph.x_target), y=torch.from_numpy(graph.y), edge_index=ends, **masks)


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda candidate: candidate.name)
def test_every_candidate_is_a_method_with_the_same_pruner(candidate):
    method = method_of(candidate)
    again = json.loads(json.dumps(dict(method.pruner)))  # as a line of results stores it
    assert again == method.pruner
    assert method.make(keep=0.3, seed=4) == candidate.at(0.3, 4)


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda candidate: candidate.name)
def test_a_candidate_has_one_name_in_choose_and_in_compare(candidate):
    method = method_of(candidate)
    assert method.name == candidate.name
    assert catalogue().get(method.name, method) == method  # a name of methods.toml is that of the same pruner
    same = [name for name, other in catalogue().items() if other.pruner == method.pruner]
    assert same in ([], [method.name])


def test_what_is_always_tried_has_the_names_of_methods():
    assert {UNPRUNED, NO_EDGES, BASELINE} <= catalogue().keys()


def row(name: str, keep: float, score: float, gain: float = 0.0) -> Tried:
    return Tried(name, keep, 10, score, gain, gain - 1, gain + 1, 0.1)


def test_the_choice_comes_first_then_the_highest_scores():
    rows = (row(BASELINE, 0.1, 0.9, NAN), row("a", 0.1, 0.5), row("b", 0.1, 0.7), row("c", 0.1, 0.6))
    rows += tuple(row(name, 0.5, score) for name, score in (("a", 0.9), ("b", 0.8)))
    choice = Choice("a", 0.1, LSP(k=1), "", "accuracy", rows, True, 0.0)
    assert best_names(choice, 0.1, 2) == ["a", "b"]
    assert best_names(choice, 0.1, 9) == ["a", "b", "c"]
    assert best_names(choice, 0.5, 1) == ["a"]


def test_finalists_are_few_and_look_at_no_test_label(tmp_path):
    data = labelled_data()
    methods = find_finalists(data, (0.25,), count=1, resume=tmp_path / "trials")
    assert methods[0].name == "local-random" and len(methods) == 2
    assert (tmp_path / "trials").exists()
    poisoned = data.clone()
    poisoned.y[poisoned.test_mask] = 0
    assert find_finalists(poisoned, (0.25,), count=1) == methods


def test_without_attributes_there_are_no_finalists():
    data = labelled_data()
    del data.x
    assert find_finalists(data, (0.5,)) == ()
