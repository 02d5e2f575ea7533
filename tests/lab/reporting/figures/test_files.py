from __future__ import annotations

import pytest
from lab_records import comparison, save
from report_records import overlaps, sizes

from lsprune import OptionError
from lsprune.lab.reporting.comparison import read_study
from lsprune.lab.reporting.figures.curves import draw_curves
from lsprune.lab.reporting.figures.files import WIDTH_INCHES, draw_study, print_curves, to_svg, write_figures

pytest.importorskip("matplotlib")


def test_every_dataset_and_measurement_has_a_figure_in_every_format(tmp_path):
    path = save([*comparison(seeds=1), *overlaps(), *sizes("pubmed")], tmp_path / "all.jsonl")
    files = draw_study(read_study(path), ["svg", "pdf"])
    stems = ["all-cora", "all-synthetic-small", "all-pubmed"]
    assert list(files) == [f"{stem}.{kind}" for stem in stems for kind in ("svg", "pdf")]
    assert files["all-cora.svg"].startswith(b"<?xml") and files["all-cora.pdf"].startswith(b"%PDF")


def test_consistency_has_all_its_lines(tmp_path):
    (overlap,) = read_study(save(overlaps(), tmp_path / "c.jsonl")).overlaps
    figure = print_curves([overlap], overlap.methods)
    axes = figure.axes[0]
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert list(drawn) == ["random", "lsp-codebook-edge", "first"]
    assert list(drawn["lsp-codebook-edge"]) == pytest.approx([0.46, 0.56])
    assert axes.get_ylabel() == "Overlap of what two samples keep"
    assert figure.get_size_inches()[0] == WIDTH_INCHES


def test_print_has_thinner_lines_than_the_page(tmp_path):
    (compared,) = read_study(save(comparison(), tmp_path / "c.jsonl")).comparisons
    page, printed = (draw([compared], ["lsp-projection"]).axes[0].lines[-1] for draw in (draw_curves, print_curves))
    assert printed.get_linewidth() == pytest.approx(0.75 * page.get_linewidth())


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    (compared,) = read_study(save(comparison(), tmp_path / "c.jsonl")).comparisons
    first, second = (to_svg(draw_curves([compared], ["random"])) for _ in range(2))
    assert first == second and b"<dc:date>" not in first


def test_nothing_is_written_when_something_is_wrong(tmp_path):
    save(comparison(methods=("unpruned",)), tmp_path / "bare.jsonl")
    for name, formats, message in (
        ("bare", ["png"], "no run with a pruned graph"),
        ("bare", ["gif"], "format must be a comma-separated list of png, svg, pdf, got gif"),
        ("absent", ["png"], r"study must be one with results in .* \(bare\)"),
    ):
        with pytest.raises(OptionError, match=message):
            write_figures(name, tmp_path, tmp_path / "out", formats)
    assert not (tmp_path / "out").exists()
