"""The profile of a graph, trials of methods on it, and the advice that follows."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from own_files import arrays, masks

from lsprune import LSP, Graph, GraphError, OptionError
from lsprune.lab.survey import METHODS, Attributes, homophily, plan_trials, profile, run_trial, suggest
from lsprune.lab.user_graph import UserGraph
from lsprune.measure import consistency, summary


def user_graph(edge_index: object, **options: object) -> UserGraph:
    labels = options.pop("y", None)
    y = None if labels is None else np.array(labels)
    graph = Graph.from_edges(np.array(edge_index), **options)
    return UserGraph(graph, y, () if y is None else ("a", "b"), None)


def whole() -> UserGraph:
    columns = arrays()
    return UserGraph(Graph.from_edges(columns["edge_index"], x=columns["x"]), columns["y"], ("0", "1"), None)


def test_a_profile_counts_edges_nodes_and_labels() -> None:
    result = profile(user_graph([[0, 1, 1, 2, 3, 1], [1, 0, 2, 3, 3, 2]], num_nodes=5, y=[0, 0, 1, 1, -1]))
    assert (result.kind, result.self_loops, result.duplicates) == ("directed", 1, 1)
    assert result.reciprocal == pytest.approx(2 / 5)
    assert (result.shape.isolated, result.shape.components, result.labelled) == (1, 2, 4)
    assert result.homophily == pytest.approx(3 / 5)  # 0-1, 1-0, 2-3 of five without the loop
    assert result.in_degree == pytest.approx(4 / 5)  # 0, 1, 2 and 3 have one other in-neighbour each
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["shape"]["nodes"] == 5


def test_symmetric_and_bipartite_graphs_are_recognised() -> None:
    assert profile(user_graph([[0, 1, 2, 2], [1, 0, 2, 2]])).kind == "symmetric"
    two = profile(user_graph([[0, 1, 1], [0, 0, 0]], num_nodes=(2, 1)))
    assert (two.kind, two.self_loops, two.duplicates, two.homophily) == ("bipartite", 0, 1, None)
    empty = profile(user_graph(np.empty((2, 0), int), num_nodes=3))
    assert (empty.kind, empty.shape.isolated, empty.in_degree) == ("directed", 3, 0.0)


def test_kinds_of_attributes() -> None:
    assert str(Attributes.of(None)) == "none"
    assert Attributes.of(np.array([2, 2, 5])) == Attributes("category", 2)
    assert Attributes.of(np.array([[1], [2]])) == Attributes("category", 2)
    assert str(Attributes.of(np.zeros((3, 1433)))) == "vectors of 1,433"
    assert Attributes.of(np.zeros(3)) == Attributes("vector", 1)


def test_homophily_counts_labelled_ends_of_kept_edges() -> None:
    graph = user_graph([[0, 1, 2, 0], [1, 2, 0, 3]], y=[0, 0, 1, -1])
    assert homophily(graph) == pytest.approx(1 / 3)
    assert homophily(graph, np.array([True, False, False, True])) == 1.0
    assert homophily(graph, np.array([False, False, False, True])) is None


def test_a_trial_has_the_numbers_of_the_library() -> None:
    graph = whole()
    pruned = run_trial(graph, "lsp-projection", 0.25)
    mask = LSP(keep=0.25).mask(graph.graph)
    np.testing.assert_array_equal(pruned.mask, mask)
    counts = summary(graph.graph, mask)
    assert (pruned.kept, pruned.share, pruned.isolated) == (counts.kept, counts.share, counts.isolated)
    assert pruned.alike == consistency(graph.graph, LSP(keep=0.25)).correlation
    assert pruned.homophily == homophily(graph, mask)
    assert (pruned.noise, pruned.dropout) == (None, None)
    assert "mask" not in json.loads(json.dumps(pruned.to_dict(), allow_nan=False))
    shaken = run_trial(graph, "lsp-projection", 0.25, stable=True)
    assert 0 < shaken.noise <= 1 and 0 < shaken.dropout <= 1


def test_a_method_without_the_attributes_that_it_needs_is_named() -> None:
    with pytest.raises(GraphError, match="method lsp-projection: the graph has neither node attributes"):
        run_trial(user_graph([[0, 1], [1, 0]]), "lsp-projection", 0.5)


def test_default_methods_depend_on_the_attributes() -> None:
    plan = plan_trials(whole(), ["lsp", "(lsp:hash=signs,weights=degree)"], [0.5, 0.1, 0.5])
    assert [(method.name, share) for method, share in plan] == [
        ("lsp", 0.1), ("lsp", 0.5), ("lsp:hash=signs,weights=degree", 0.1), ("lsp:hash=signs,weights=degree", 0.5),
    ]  # fmt: skip
    assert [method.name for method, _ in plan_trials(whole(), shares=[0.5])] == list(METHODS)
    bare = [method.name for method, _ in plan_trials(user_graph([[0, 1], [1, 0]]), shares=[0.5])]
    assert bare == ["random", "local-random", "lsp-identity", "low-degree", "jaccard"]
    for name in ("unpruned", "no-edges", "dropedge"):
        with pytest.raises(OptionError, match=f"methods must be pruners with a share that prune once, got '{name}'"):
            plan_trials(whole(), [name])


def test_the_suggestion_follows_density_and_attributes() -> None:
    def advice(neighbours: int, x: object = None) -> str:
        nodes = 64
        ends = [(u, (u + step) % nodes) for u in range(nodes) for step in range(1, neighbours + 1)]
        return " ".join(suggest(profile(user_graph(np.array(ends).T, num_nodes=nodes, x=x)), "g.npz"))

    x = np.ones((64, 2))
    assert advice(5, x).startswith(
        "A node has 5 in-neighbours on average. Start with lsp-auto (--preset auto) at keep=0.75, which "
        "leaves 3.8 of them."
    )
    assert "at keep=0.25, which leaves 4.5 of them." in advice(18, x)
    assert "at keep=0.1, which leaves 3 of them." in advice(30, x)
    assert advice(30, x).endswith("lsprune compare g.npz --methods lsp-auto,local-random,low-degree,jaccard")
    assert "Start with lsp-identity (--hash identity) at keep=0.75" in advice(5)
    assert "prune only if you must" in advice(2, x) and "choose" not in advice(30, x)
    assert "lsprune choose g.npz --keep" in suggest(profile(whole()), "g.npz")[0]


@pytest.mark.filterwarnings("ignore::lsprune.LabelsWarning")
@pytest.mark.parametrize("mask", [masks()["train_mask"], None, np.ones((60, 3), bool)])
def test_the_method_that_is_suggested_is_measured(mask: object) -> None:
    """`--preset auto` learns from labels where there is one training mask; then so does the row."""
    columns = arrays()
    graph = Graph.from_edges(columns["edge_index"], x=columns["x"], y=columns["y"], train_mask=mask)
    whole = UserGraph(graph, columns["y"], ("0", "1"), None)
    learns = mask is not None and np.ndim(mask) == 1
    name = "lsp-auto-labels" if learns else "lsp-auto"
    assert f"Start with {name} (--preset auto)" in suggest(profile(whole), "g.npz")[0]
    assert f"--methods {name},local-random" in suggest(profile(whole), "g.npz")[1]
    (method,) = (method for method, _ in plan_trials(whole, shares=[0.3]) if method.name.startswith("lsp-auto"))
    assert method.name == name
    trial = run_trial(whole, method, 0.3, stable=True)
    np.testing.assert_array_equal(trial.mask, LSP.auto(keep=0.3, labels=learns).mask(graph))
    assert (trial.mask != LSP.auto(keep=0.3, labels=not learns).mask(graph)).any() == learns


def test_labels_of_a_node_file_count_like_those_of_the_graph() -> None:
    """`prune` with the same options learns from them, if there are training nodes."""
    columns, parts = arrays(), masks()
    graph = Graph.from_edges(columns["edge_index"], x=columns["x"])
    split = tuple(parts[f"{name}_mask"] for name in ("train", "val", "test"))
    for given, name in ((split, "lsp-auto-labels"), (None, "lsp-auto")):
        apart = UserGraph(graph, columns["y"], ("0", "1"), given)
        assert f"Start with {name} (--preset auto)" in suggest(profile(apart), "e.csv --features n.csv")[0]
        trial = run_trial(apart, name, 0.3)
        labelled = replace(graph, y=columns["y"], train_mask=None if given is None else given[0])
        np.testing.assert_array_equal(trial.mask, LSP.auto(keep=0.3).mask(labelled))
    noise = np.random.default_rng(0).permutation(columns["y"])
    assert "Start with lsp-auto (" in suggest(profile(UserGraph(graph, noise, ("0", "1"), split)), "e.csv")[0]


def test_a_survey_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; import lsprune.lab.survey"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
