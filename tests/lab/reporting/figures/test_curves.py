from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from lab_records import comparison, comparison_maker

from lsprune import MissingDependency, OptionError
from lsprune.lab.reporting.figures.curves import draw_curves
from lsprune.lab.reporting.figures.files import to_svg

METHODS = ("random", "local-random", "lsp-projection", "lsp-codebook", "cosine")


panel = pytest.fixture(comparison_maker, name="panel")


@pytest.fixture
def matplotlib():
    return pytest.importorskip("matplotlib")


def drawn(figure) -> dict:
    return {line.get_label(): line for line in figure.axes[0].lines}


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_lines_levels_and_bands_are_those_of_the_runs(matplotlib, panel):
    one = panel()
    figure = draw_curves([one], METHODS, title="t")
    assert list(drawn(figure)) == legend(figure) == ["unpruned", "no edges", *METHODS]
    across, up = drawn(figure)["lsp-projection"].get_data()
    assert np.asarray(across).tolist() == pytest.approx([0.1, 0.25, 0.5])
    assert np.asarray(up).tolist() == pytest.approx(
        [one.estimate("lsp-projection", budget).mean for budget in one.budgets]
    )
    assert drawn(figure)["unpruned"].get_ydata()[0] == one.estimate("unpruned").mean
    bands = figure.axes[0].collections
    assert len(bands) == len(METHODS)
    low = min(one.estimate("random", budget).low for budget in one.budgets)
    assert bands[0].get_paths()[0].get_extents().ymin == pytest.approx(low)
    axes = figure.axes[0]
    assert axes.get_xlabel() and axes.get_ylabel() == "Test accuracy" and axes.get_title(loc="left") == "t"


def test_references_and_chance_look_the_same_everywhere_and_ours_are_emphasised(matplotlib, panel):
    few = drawn(draw_curves([panel()], ("random", "local-random", "lsp-codebook")))
    many = drawn(draw_curves([panel(mae=True)], METHODS))
    for name in ("unpruned", "no edges", "random", "local-random"):
        for feature in ("color", "marker", "linewidth", "linestyle"):
            assert getattr(few[name], f"get_{feature}")() == getattr(many[name], f"get_{feature}")(), name
    thin = many["cosine"].get_linewidth()
    bands = draw_curves([panel()], METHODS).axes[0].collections
    assert bands[METHODS.index("cosine")].get_alpha() < bands[METHODS.index("lsp-projection")].get_alpha()
    assert many["lsp-projection"].get_linewidth() > many["local-random"].get_linewidth() > thin


def test_unknown_names_are_drawn(matplotlib, panel):
    odd = "lsp-$^$|<b>"  # no formula
    records = [
        r | {"run": r["run"] | {"method": odd}} if r["run"]["method"] == "lsp-codebook" else r for r in comparison()
    ]
    figure = draw_curves([panel(records)], [odd], title="$^$")
    assert odd in legend(figure)
    assert to_svg(figure)


def test_errors_say_that_lower_is_better(matplotlib, panel):
    assert "lower is better" in draw_curves([panel(mae=True)], METHODS).axes[0].get_ylabel()


def test_single_runs_and_missing_cells_are_drawn(matplotlib, panel):
    records = [
        r for r in comparison(seeds=1) if not (r["run"]["method"] == "lsp-projection" and r["run"]["keep"] == 0.1)
    ]
    figure = draw_curves([panel(records)], METHODS)
    assert len(drawn(figure)["lsp-projection"].get_xdata()) == 2
    assert to_svg(figure)
    nothing = [r | {"share": 0.0} if r["run"]["keep"] == 0.1 else r for r in comparison()]
    assert len(drawn(draw_curves([panel(nothing)], METHODS))["lsp-projection"].get_xdata()) == 2  # log of 0


def test_several_panels_share_a_legend(matplotlib, panel):
    panels = [panel(), panel(methods=("random", "lsp-projection")), panel(mae=True), panel()]
    figure = draw_curves(panels, METHODS)
    assert sum(axes.get_visible() for axes in figure.axes) == 4
    assert legend(figure) == ["unpruned", "no edges", *METHODS]
    assert to_svg(figure)


def test_the_same_runs_give_the_same_bytes_without_a_date(matplotlib, panel):
    first, second = (to_svg(draw_curves([panel()], panel().methods_to_draw())) for _ in range(2))
    assert first == second
    assert b"<svg" in first and b"date" not in first.lower() and b"matplotlib v" not in first.lower()


def test_nothing_to_draw_is_named(matplotlib, panel):
    with pytest.raises(OptionError, match="methods must have at least one point"):
        draw_curves([panel(methods=("unpruned",))], METHODS)


def test_importing_the_module_does_not_import_matplotlib():
    code = "import sys, lsprune.lab.reporting.figures.files as _; print({'matplotlib', 'torch'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_without_matplotlib_the_command_is_said(monkeypatch, panel):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"pip install 'lsprune\[plots\]'"):
        draw_curves([panel()], METHODS)
