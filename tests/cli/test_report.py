"""`lsprune report` and `lsprune figures`: what they write, print and refuse."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from lab_records import comparison, save
from report_records import overlaps, results, sizes
from typer.testing import CliRunner

from lsprune.cli import app

pytest.importorskip("jinja2")


def run(*arguments: object) -> object:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def good(*arguments: object) -> object:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(result: object, said: str) -> None:
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(rf"error: .*{said}.*\n", result.stderr), result.stderr


def test_a_report_is_written_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = results(tmp_path / "results")
    told = json.loads(good("report", folder, "-o", tmp_path / "r.html", "--json").stdout)
    assert told == {
        "path": str(tmp_path / "r.html"),
        "bytes": (tmp_path / "r.html").stat().st_size,
        "studies": ["compare", "compare-graphs", "consistency", "neighbourhood-variance"],
    }
    monkeypatch.chdir(tmp_path)
    assert re.match(r"report\.html: 4 studies, 0\.\d\d MB", good("report").stdout)
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "r.html").read_bytes().replace(
        f"{tmp_path}/results".encode(), b"results"
    )
    one = json.loads(good("report", folder / "compare.jsonl", "--json").stdout)
    assert one["studies"] == ["compare"]


def test_bad_results_are_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    good_file = save(comparison(), tmp_path / "good.jsonl")
    (tmp_path / "foreign.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "damaged.jsonl").write_text(good_file.read_text() + '{"key": \n')
    (tmp_path / "empty").mkdir()
    out = tmp_path / "out" / "r.html"
    out.parent.mkdir()
    for place, said in (
        ("foreign.jsonl", r"foreign\.jsonl, line 1 is not a run"),
        ("damaged.jsonl", rf"damaged\.jsonl, line {len(good_file.read_text().splitlines()) + 1} is damaged"),
        ("empty", "results must be files or folders with runs.*empty"),
        ("absent", "results must be files or folders that exist.*absent"),
    ):
        refused(run("report", tmp_path / place, "-o", out), said)
        assert list(out.parent.iterdir()) == []
    refused(run("report", good_file, "-o", tmp_path / "no" / "r.html"), "no such folder for the report")
    assert run("report", "--nonsense").exit_code == 2


def test_a_cut_last_line_is_a_warning_and_the_rest_is_shown(tmp_path: Path) -> None:
    path = save(comparison(), tmp_path / "cut.jsonl")
    lines = len(path.read_text().splitlines())
    path.write_bytes(path.read_bytes()[:-9])
    result = good("report", path, "-o", tmp_path / "r.html")
    assert re.fullmatch(rf"warning: .*cut\.jsonl, line {lines} is incomplete and skipped.*\n", result.stderr)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_place_is_refused(tmp_path: Path) -> None:
    path = save(comparison(), tmp_path / "x.jsonl")
    (tmp_path / "closed").mkdir(mode=0o500)
    refused(run("report", path, "-o", tmp_path / "closed" / "r.html"), "not writable")
    assert list((tmp_path / "closed").iterdir()) == []


def test_a_device_is_refused_in_one_line(tmp_path: Path) -> None:
    path = save(comparison(), tmp_path / "x.jsonl")
    refused(run("report", path, "-o", "/dev/null"), "not a regular file")
    assert Path("/dev/null").is_char_device()  # and not a page that was moved there


# Figures


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("matplotlib")
    save(comparison(seeds=1), tmp_path / "results" / "compare.jsonl")
    twice = [*comparison(dataset="a/b $x$", seeds=1), *comparison(dataset="a b x", seeds=1)]
    save(twice, tmp_path / "results" / "odd.jsonl")
    save(sizes(), tmp_path / "results" / "sizes.jsonl")
    return tmp_path


def test_figures_are_written_in_all_formats_with_the_same_bytes_and_their_fonts(folder: Path) -> None:
    options = ("figures", "compare", "--results", folder / "results", "--out")
    written = json.loads(good(*options, folder / "one", "--json").stdout)
    assert written == [str(folder / "one" / f"compare-cora.{kind}") for kind in ("png", "svg", "pdf")]
    good(*options, folder / "two")
    for path in map(Path, written):
        assert path.read_bytes() == (folder / "two" / path.name).read_bytes()
    pdf = (folder / "one" / "compare-cora.pdf").read_bytes()
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    assert b"<text" not in (folder / "one" / "compare-cora.svg").read_bytes()


def test_odd_names_make_plain_file_names_of_their_own(folder: Path) -> None:
    good("figures", "odd", "--results", folder / "results", "--out", folder / "out", "--format", "svg")
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["odd-a-b-x-2.svg", "odd-a-b-x.svg"]


def test_neighbourhood_sizes_have_a_figure_too(folder: Path) -> None:
    good("figures", folder / "results" / "sizes.jsonl", "--out", folder / "out", "--format", "svg")
    assert [path.name for path in (folder / "out").iterdir()] == ["sizes-cora.svg"]


def test_consistency_has_a_figure(folder: Path) -> None:
    path = save(overlaps(), folder / "results" / "alike.jsonl")
    written = good("figures", path, "--out", folder / "out", "--json").stdout
    assert json.loads(written) == [
        str(folder / "out" / f"alike-synthetic-small.{kind}") for kind in ("png", "svg", "pdf")
    ]


def test_figures_that_cannot_be_drawn_are_refused(folder: Path) -> None:
    save(comparison(methods=("unpruned",)), folder / "results" / "bare.jsonl")
    (folder / "file").write_text("x")
    for options, said in (
        (("nothing",), r"study must be one with results in .* \(bare, compare, odd, sizes\)"),
        (("compare", "--format", "gif"), "format must be a comma-separated list of png, svg, pdf, got gif"),
        (("compare", "--format", ","), "got none"),
        (("bare",), "no run with a pruned graph"),
        (("compare", "--out", folder / "file"), "out must be a folder"),
    ):
        out = () if "--out" in options else ("--out", folder / "new")
        refused(run("figures", *options, "--results", folder / "results", *out), said)
    assert not (folder / "new").exists()


@pytest.mark.parametrize("command", ["report", "figures"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: lsprune {command} " in " ".join(good(command, "--help").stdout.split())
