"""What kind of graph it is, and what each method would keep of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from own_files import arrays

from lsprune import LSP, Graph, GraphError, OptionError
from lsprune.lab.survey import Attributes, homophily, planned, portrait, suggestion, trial
from lsprune.lab.survey_plot import check_plot, draw, write_plot
from lsprune.lab.user_graph import OwnGraph
from lsprune.measure import consistency, summary


def own(edge_index: object, **options: object) -> OwnGraph:
    labels = options.pop("y", None)
    y = None if labels is None else np.array(labels)
    graph = Graph.from_edges(np.array(edge_index), **options)
    return OwnGraph(graph, y, () if y is None else ("a", "b"), None)


def whole() -> OwnGraph:
    made = arrays()
    return OwnGraph(Graph.from_edges(made["edge_index"], x=made["x"]), made["y"], ("0", "1"), None)


def test_a_portrait_counts_what_is_there() -> None:
    found = portrait(own([[0, 1, 1, 2, 3, 1], [1, 0, 2, 3, 3, 2]], num_nodes=5, y=[0, 0, 1, 1, -1]))
    assert (found.kind, found.self_loops, found.duplicates) == ("directed", 1, 1)
    assert found.reciprocal == pytest.approx(2 / 5)
    assert (found.shape.isolated, found.shape.components, found.labelled) == (1, 2, 4)
    assert found.homophily == pytest.approx(3 / 5)  # 0-1, 1-0, 2-3 of five without the loop
    assert found.heard == pytest.approx(4 / 5)  # 0, 1, 2 and 3 hear one other each
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["shape"]["nodes"] == 5


def test_symmetric_and_bipartite_graphs_are_known() -> None:
    assert portrait(own([[0, 1, 2, 2], [1, 0, 2, 2]])).kind == "symmetric"
    two = portrait(own([[0, 1, 1], [0, 0, 0]], num_nodes=(2, 1)))
    assert (two.kind, two.self_loops, two.duplicates, two.homophily) == ("bipartite", 0, 1, None)
    nothing = portrait(own(np.empty((2, 0), int), num_nodes=3))
    assert (nothing.kind, nothing.shape.isolated, nothing.heard) == ("directed", 3, 0.0)


def test_kinds_of_attributes() -> None:
    assert str(Attributes.of(None)) == "none"
    assert Attributes.of(np.array([2, 2, 5])) == Attributes("category", 2)
    assert Attributes.of(np.array([[1], [2]])) == Attributes("category", 2)
    assert str(Attributes.of(np.zeros((3, 1433)))) == "vectors of 1,433"
    assert Attributes.of(np.zeros(3)) == Attributes("vector", 1)


def test_homophily_counts_labelled_ends_of_kept_edges() -> None:
    graph = own([[0, 1, 2, 0], [1, 2, 0, 3]], y=[0, 0, 1, -1])
    assert homophily(graph) == pytest.approx(1 / 3)
    assert homophily(graph, np.array([True, False, False, True])) == 1.0
    assert homophily(graph, np.array([False, False, False, True])) is None


def test_a_trial_is_what_the_library_says() -> None:
    graph = whole()
    one = trial(graph, "lsp-p", 0.25)
    mask = LSP(keep=0.25).mask(graph.graph)
    np.testing.assert_array_equal(one.mask, mask)
    counts = summary(graph.graph, mask)
    assert (one.kept, one.share, one.isolated) == (counts.kept, counts.share, counts.isolated)
    assert one.alike == consistency(graph.graph, LSP(keep=0.25)).correlation
    assert one.homophily == homophily(graph, mask)
    assert (one.noise, one.dropout) == (None, None)
    assert "mask" not in json.loads(json.dumps(one.to_dict(), allow_nan=False))
    shaken = trial(graph, "lsp-p", 0.25, stable=True)
    assert 0 < shaken.noise <= 1 and 0 < shaken.dropout <= 1


def test_a_method_that_lacks_what_it_needs_is_named() -> None:
    with pytest.raises(GraphError, match="method lsp-p: the graph has neither node attributes"):
        trial(own([[0, 1], [1, 0]]), "lsp-p", 0.5)


def test_what_is_planned_fits_the_graph() -> None:
    assert planned(whole(), ["lsp", "random"], [0.5, 0.1, 0.5]) == [
        ("lsp-p", 0.1), ("lsp-p", 0.5), ("random", 0.1), ("random", 0.5),
    ]  # fmt: skip
    assert "lsp-p" in dict(planned(whole()))
    bare = dict(planned(own([[0, 1], [1, 0]])))
    assert list(bare) == ["random", "local-random", "lsp-i", "low-degree", "jaccard"]
    for name in ("none", "no-edges", "dropedge"):
        with pytest.raises(OptionError, match=f"methods must be some that prune once and have a share, got '{name}'"):
            planned(whole(), [name])


def test_the_suggestion_follows_density_and_attributes() -> None:
    def said(neighbours: int, x: object = None) -> str:
        nodes = 64
        ends = [(u, (u + step) % nodes) for u in range(nodes) for step in range(1, neighbours + 1)]
        return " ".join(suggestion(portrait(own(np.array(ends).T, num_nodes=nodes, x=x)), "g.npz"))

    x = np.ones((64, 2))
    assert "a handful: begin with lsp-auto-a (--hash auto --weights auto) at keep=0.6" in said(5, x)
    assert "tens: begin with lsp-auto-a (--hash auto --weights auto) at keep=0.25" in said(30, x)
    assert said(30, x).endswith("lsprune compare g.npz --methods lsp-auto-a,local-random,low-degree,jaccard")
    assert "begin with lsp-i (--hash identity) at keep=0.6" in said(5)
    assert "prune only if you must" in said(2, x)


def test_four_plots_are_drawn_and_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    graph = whole()
    tried = [trial(graph, *one) for one in planned(graph, ["lsp", "random"], [0.25, 0.5])]
    figure = draw(graph, portrait(graph), tried, "a $x$ name")
    assert [axes.get_ylabel() for axes in figure.axes][1:3] == [
        "Nodes that lost their last neighbour", "Connected components",
    ]  # fmt: skip
    assert figure.axes[0].get_title(loc="left") == "Degrees at keep=0.25"
    for axes in figure.axes:
        assert {"lsp-p", "random"} <= {text.get_text() for text in axes.get_legend().get_texts()}
    write_plot(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OptionError, match=r"plot must be a file with the suffix \.png, \.svg, \.pdf, got .*a\.gif"):
        check_plot(tmp_path / "a.gif")
    with pytest.raises(OptionError, match="plot must be in a folder that exists"):
        check_plot(tmp_path / "no" / "a.png")


def test_a_survey_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; import lsprune.lab.survey, lsprune.lab.survey_plot"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
