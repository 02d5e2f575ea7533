"""Methods compared on a user's graph: which runs there are, what is run again, what the rows say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from own_files import arrays, masks, npz

from lsprune.errors import OptionError
from lsprune.lab import models
from lsprune.lab.studies.compare import (
    MODELS,
    Row,
    methods_with_shares,
    ranking,
    read_comparison,
    rows,
    user_graph_study,
)
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run_study import run_study, status
from lsprune.lab.user_graph import UserGraphFiles


@pytest.fixture
def files(tmp_path: Path) -> UserGraphFiles:
    return UserGraphFiles(graph=npz(tmp_path / "g.npz", **masks()))


def small(files: UserGraphFiles, **options: object) -> object:
    return user_graph_study(files, **{"methods": ["lsp"], "shares": [0.25], "epochs": 2, "seeds": 1, **options})


def test_the_whole_graph_and_no_edges_are_always_run(files: UserGraphFiles) -> None:
    runs = small(files, methods=["lsp", "random", "unpruned"], shares=[0.1, 0.5]).runs()
    assert [(run.method, run.keep) for run in runs] == [
        ("unpruned", None), ("no-edges", None), ("lsp", 0.1), ("lsp", 0.5), ("random", 0.1), ("random", 0.5),
    ]  # fmt: skip


def test_unknown_names_and_budgets_are_refused(files: UserGraphFiles) -> None:
    with pytest.raises(OptionError, match="methods must be some of unpruned, .*got 'magic'"):
        methods_with_shares(["random", "magic"])
    with pytest.raises(OptionError, match="methods must have a share for their budget, got 'lsp-threshold-published'"):
        small(files, methods=["lsp-threshold-published"])
    with pytest.raises(OptionError, match="methods must have at least one that prunes, got none"):
        small(files, methods=["no-edges"])
    with pytest.raises(OptionError, match="model must be one of node-gat, .*got 'zinc-pna'"):
        small(files, model="zinc-pna")
    with pytest.raises(OptionError, match=r"shares must be numbers in \(0, 1\], got 2"):
        small(files, shares=[2.0])


@pytest.mark.parametrize("model", MODELS)
def test_every_model_trains(files: UserGraphFiles, tmp_path: Path, model: str) -> None:
    assert model in models.MODELS
    study, results = small(files, model=model), Results(tmp_path / "r.jsonl")
    assert run_study(study, results, data=files).missing == 0
    assert [row.method for row in rows(read_comparison(study, results))] == ["unpruned", "no-edges", "lsp"]


def test_only_what_is_missing_is_run(files: UserGraphFiles, tmp_path: Path) -> None:
    results, done = Results(tmp_path / "r.jsonl"), []

    def runs(**options: object) -> list[str]:
        done.clear()
        run_study(small(files, **options), results, data=files, on_record=lambda run, _: done.append(str(run)))
        return [words.partition(" ")[2] for words in done]

    assert runs() == ["unpruned seed 0", "no-edges seed 0", "lsp keep=0.25 seed 0"]
    assert runs() == []
    with results.path.open("a") as handle:
        handle.write('{"key": "cut sho')  # killed while writing
    assert runs(methods=["lsp", "random"]) == ["random keep=0.25 seed 0"]
    assert runs(seeds=2) == ["unpruned seed 1", "no-edges seed 1", "lsp keep=0.25 seed 1"]


def test_another_content_is_another_study_with_other_runs(files: UserGraphFiles) -> None:
    before = small(files)
    assert small(files).runs() == before.runs()
    assert small(files, methods=["random"], seeds=5).name == before.name  # may stand in the same file
    assert small(files, epochs=3).name != before.name
    npz(files.graph, x=arrays()["x"] + 1, **masks())
    after = small(files)
    assert after.name != before.name
    assert not {run.key for run in after.runs()} & {run.key for run in before.runs()}


def test_rows_are_means_over_seeds_with_pruning_charged(files: UserGraphFiles, tmp_path: Path) -> None:
    study, results = small(files, seeds=2), Results(tmp_path / "r.jsonl")
    run_study(study, results, data=files)
    none, bare, lsp = rows(read_comparison(study, results))
    records = [one for one in results.read() if one["run"]["method"] == "lsp"]
    assert lsp.test == pytest.approx(fmean(one["test"] for one in records))
    assert lsp.low <= lsp.test <= lsp.high
    assert (lsp.keep, lsp.share, lsp.runs) == (0.25, 0.25, 2)
    assert lsp.seconds == pytest.approx(np.median([one["prune_seconds"] + one["train_seconds"] for one in records]))
    assert lsp.prune_seconds > 0 == none.prune_seconds
    assert (none.share, bare.share, none.keep) == (1.0, 0.0, None)
    assert Row(**lsp.to_dict()) == lsp
    one = replace(study, seeds=1)
    assert rows(read_comparison(one, results))[0].low is None  # no interval of a single run


def test_validation_ranks_the_methods_and_no_test_figure(files: UserGraphFiles, tmp_path: Path) -> None:
    study, results = small(files, methods=["lsp", "random", "dropedge"]), Results(tmp_path / "r.jsonl")
    val = {"lsp": 0.6, "random": 0.7}
    base = {"share": 0.25, "prune_seconds": 0.0, "train_seconds_per_epoch": 0.1, "metric": "accuracy"}
    for run in study.runs():
        score = val.get(run.method, 0.9)
        results.append(
            {"key": run.key, "run": run.to_dict(), "val": score, "test": 1 - score, "higher_is_better": True, **base}
        )
    assert ranking(read_comparison(study, results)) == ["random", "lsp"]  # dropedge makes no graph smaller


def test_without_runs_there_is_no_comparison(files: UserGraphFiles, tmp_path: Path) -> None:
    results = Results(tmp_path / "r.jsonl")
    assert read_comparison(small(files), results) is None
    assert status(small(files), results).total == 3
