"""The four plots of a survey, and the files that they are written to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from own_files import arrays

from lsprune import Graph, OptionError
from lsprune.lab.survey import plan_trials, profile, run_trial
from lsprune.lab.survey_plot import check_plot, draw_survey, write_plot
from lsprune.lab.user_graph import UserGraph


def survey(shares: list[float]) -> tuple:
    """Return (graph, profile, trials of two methods)."""
    columns = arrays()
    graph = UserGraph(Graph.from_edges(columns["edge_index"], x=columns["x"]), columns["y"], ("0", "1"), None)
    return graph, profile(graph), [run_trial(graph, *pair) for pair in plan_trials(graph, ["lsp", "random"], shares)]


def test_four_plots_of_all_methods() -> None:
    pytest.importorskip("matplotlib")
    figure = draw_survey(*survey([0.25, 0.5]), "a $x$ name")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[1:3] == ["Nodes that lost their last neighbour", "Connected components"]
    assert figure.axes[0].get_title(loc="left") == "Degrees at keep=0.25"
    for axes in figure.axes:
        assert {"lsp", "random"} <= {text.get_text() for text in axes.get_legend().get_texts()}


def test_points_are_the_trials() -> None:
    pytest.importorskip("matplotlib")
    graph, described, trials = survey([0.1, 0.25, 0.5])
    axes = draw_survey(graph, described, trials, "").axes[1]
    lines = {line.get_label(): line for line in axes.get_lines()}
    for method in ("lsp", "random"):
        expected = [(trial.share, trial.isolated) for trial in trials if trial.method == method]
        points = np.stack([np.asarray(lines[method].get_xdata()), np.asarray(lines[method].get_ydata())], axis=1)
        np.testing.assert_allclose(points[np.argsort(points[:, 0])], expected)


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_suffix_decides_the_format(tmp_path: Path, suffix: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    write_plot(draw_survey(*survey([0.5]), "title"), tmp_path / f"a{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes().startswith(start)


def test_a_plot_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"plot must be a file with the suffix \.png, \.svg, \.pdf, got .*a\.gif"):
        check_plot(tmp_path / "a.gif")
    with pytest.raises(OptionError, match="plot must be in a folder that exists"):
        check_plot(tmp_path / "no" / "a.png")


def test_a_plot_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; import lsprune.lab.survey_plot"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
