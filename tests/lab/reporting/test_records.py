from __future__ import annotations

import json
import math

import pytest
from lab_records import comparison, lsp, method_fields, record, save
from report_records import overlaps

from lsprune import FormatError, OptionError
from lsprune.errors import LspruneWarning
from lsprune.lab.reporting.records import check_record, is_finite_number, methods_of, read_records, result_files
from lsprune.lab.studies.run import Run


def test_the_records_of_a_file_are_its_lines(tmp_path):
    records = [*comparison(seeds=1), *overlaps()]
    path = save(records, tmp_path / "x.jsonl")
    path.write_text(path.read_text().replace("\n", "\n\n", 3))  # empty lines mean nothing
    assert list(read_records(path)) == records


def test_an_incomplete_last_line_is_skipped_and_named(tmp_path):
    path = save(comparison(), tmp_path / "x.jsonl")
    count = len(list(read_records(path)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(LspruneWarning, match=rf"x\.jsonl, line {count} is incomplete"):
        assert len(list(read_records(path))) == count - 1


def broken(**fields: object) -> str:
    good = record(Run(study="s", dataset="d", model="m", **method_fields("random"), keep=0.5), 0.5, 0.5, 0.5)
    run = {**good["run"], **{name[4:]: value for name, value in fields.items() if name.startswith("run_")}}
    rest = {name: value for name, value in fields.items() if not name.startswith("run_")}
    return json.dumps({**good, "run": run, **rest})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"cut', "line 3 is damaged"),
        ('["a", "list"]', "line 3 is not a run of a study"),
        ('{"key": "k", "some": "other JSON"}', "line 3: wrong or missing run;"),
        (broken(run_target=["x"]), "line 3: .* run.target"),
        (broken(run_k=[1]), "line 3: .* run.k"),
        (broken(run_seed=True), "line 3: .* run.seed"),
        (broken(run_dataset=None), "line 3: .* run.dataset"),
        (broken(run_pruner="random"), "line 3: .* run.pruner"),
        (broken(run_pruner={"keep": 0.5}), "line 3: .* run.pruner"),
        (broken(run_every_epoch=1), "line 3: .* run.every_epoch"),
        (broken(run_basic="yes"), "line 3: .* run.basic"),
        (broken(test=math.nan), "line 3: .* test"),
        (broken(test=10**400), "line 3: .* test"),
        (broken(test_seconds="fast"), "line 3: .* test_seconds"),
        (broken(metric="beauty"), r"line 3: .* metric \(one of accuracy"),
        (broken(metric=["mae"]), "line 3: .* metric"),
        (broken(jobs="two"), "line 3: .* jobs"),
        (broken(run_model=["x"]), "line 3: .* run.model"),
        (broken(rebuilt="labels"), "line 3: .* rebuilt"),
        (broken(device={}), "line 3: .* device"),
        (broken(variance={"far": 1.0}), "line 3: .* variance"),
        (broken(variance=[]), "line 3: .* variance"),
        (broken(metric="overlap", overlap="all"), "line 3: .* overlap"),
        (broken(overlap=0.5), r"line 3: .* metric \(overlap\)"),
        (broken(metric="overlap", overlap=0.5, prune_seconds=None), "line 3: .* prune_seconds"),
        (broken(metric="overlap", overlap=0.5, higher_is_better=False), "line 3: .* higher_is_better"),
        (broken(val="0.5"), "line 3: .* val"),
        (broken(share=True), "line 3: .* share"),
        (broken(higher_is_better=1), "line 3: .* higher_is_better"),
        (broken(run=["cora"]), "line 3: .* run;"),
        ("[" * 100_000, "line 3 is damaged"),
    ],
)
def test_a_bad_line_is_named_with_its_file(tmp_path, line, message):
    path = save(comparison(seeds=1)[:1], tmp_path / "bad.jsonl")
    path.write_text(path.read_text() + "\n" + line + "\n")
    with pytest.raises(FormatError, match=r"bad\.jsonl.*" + message):
        list(read_records(path))


def test_the_file_of_an_older_version_says_how_to_upgrade_it(tmp_path):
    records = comparison(seeds=1)
    for one in records:
        del one["run"]["pruner"]
    path = save(records, tmp_path / "old.jsonl")
    with pytest.raises(FormatError, match=r"old\.jsonl, line 1 was written by lsprune 0\.1\.0.*upgrade_results FILE"):
        list(read_records(path))


def test_methods_are_what_the_records_say():
    records = comparison(methods=["unpruned", "dropedge", "basic", lsp("mine", select="bottom")], seeds=1)
    methods = methods_of(records, "here")
    assert list(methods) == ["unpruned", "dropedge", "basic", "mine"]
    assert methods["mine"] == lsp("mine", select="bottom")
    assert methods["dropedge"].every_epoch and methods["basic"].basic


def test_more_numbers_can_be_required():
    run = Run(study="s", dataset="d", model="m", **method_fields("random"), keep=0.5)
    good = record(run, 0.5, 0.5, 0.5, train_seconds=1.0)
    check_record(good, "here", "train_seconds")
    with pytest.raises(FormatError, match="here: wrong or missing train_seconds; correct or remove that line"):
        check_record({**good, "train_seconds": math.nan}, "here", "train_seconds")


def test_only_finite_numbers_are_numbers():
    assert [is_finite_number(value) for value in (0, -1.5, 10**300)] == [True] * 3
    assert not any(is_finite_number(value) for value in (True, math.nan, math.inf, 10**400, "1", None))


def test_trials_are_left_out_of_a_folder_of_results(tmp_path):
    paths = [save(comparison(seeds=1), tmp_path / f"{name}.jsonl") for name in ("b", "a", "a-smoke")]
    assert [path.stem for path in result_files(tmp_path)] == ["a", "b"]
    assert result_files(paths[2]) == [paths[2]]
    trials = save(comparison(seeds=1), tmp_path / "trials" / "a-smoke.jsonl")
    assert result_files(trials.parent) == [trials]  # a folder of trials alone
    with pytest.raises(OptionError, match="results must be files or folders that exist, got .*absent"):
        result_files(tmp_path / "absent")
