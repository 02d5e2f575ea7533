"""Result lines of lsprune 0.1.0 in the form of this version, and the committed results as a whole."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from lsprune import LSP, FormatError
from lsprune.lab.studies import study_files
from lsprune.lab.studies.methods import build_plan, catalogue
from lsprune.lab.studies.run import Run
from lsprune.lab.studies.upgrade_results import (
    MEASURED_APART,
    NEW_NAMES,
    SAME_NAMES,
    upgrade_file,
    upgrade_line,
    upgrade_lines,
)

RESULTS = Path(__file__).resolve().parents[3] / "results"
FILES = sorted(path for path in RESULTS.glob("*.jsonl") if path.stem not in MEASURED_APART)
LINES = 10030
# Runs with options that a study file does not have: the number of lines, and the study that has them.
OTHER_RUNS = {"qm9": (7, lambda: study_files.read("qm9").only(epochs=8))}  # `study run qm9 --epochs 8`
SEEDS = {"choose": 5}  # more than its study file has: some graphs were run with five

# As lsprune 0.1.0 wrote them, keys included.
OLD_RUN = {
    "batch_size": 512, "dataset": "d", "epochs": 200, "hops": [], "k": 3, "keep": None, "label_smoothing": 0.0,
    "limit": None, "lr": 0.01, "method": "lsp-p", "model": "m", "pairs": 0, "patience": None, "pruned": "always",
    "schedule": "constant", "seed": 0, "sparsity": 25, "study": "s", "target": None, "weight_decay": 0.0,
}  # fmt: skip
OLD_PRUNER = {
    "attributes": ["edge", "neighbour"], "hash": {"l": None, "name": "projection", "offset": "uniform",
    "sparsity": None}, "k": 3, "keep": None, "method": "lsp", "pooled": False, "power": 1.0, "replace": False,
    "seed": 0, "select": "functions", "self_loops": "free", "side": "in", "symmetric": None, "ties": "hash",
    "values": "unit", "weights": None,
}  # fmt: skip
OLD = {"key": "64525fbd25a0f409", "pruner": OLD_PRUNER, "run": OLD_RUN, "share": 0.4831105942193514, "test": 1e-07}


def line(record: object) -> bytes:
    return json.dumps(record, sort_keys=True).encode()


def old_line(run: dict | None = None, **fields: object) -> bytes:
    return line({**OLD, "run": {**OLD_RUN, **(run or {})}, **fields})


def test_a_line_gets_the_new_name_options_and_key_and_keeps_the_rest():
    new = json.loads(upgrade_line(old_line()))
    rest = {name: value for name, value in OLD_RUN.items() if name not in ("method", "sparsity")}
    method = {"method": "lsp-projection", "pruner": {"pruner": "lsp"}, "every_epoch": False, "basic": False}
    assert new["run"] == {**rest, **method}
    assert new["key"] == Run(**new["run"]).key != OLD["key"]
    assert build_plan(new["pruner"]) == LSP(k=3) == Run(**new["run"]).make_pruner()
    assert (new["share"], new["test"]) == (OLD["share"], OLD["test"])


def test_the_published_presets_keep_their_sparsity():
    hash_ = {"l": 1.0, "name": "projection", "offset": "normal", "sparsity": 8}
    pruner = {**OLD_PRUNER, "attributes": ["owner", "edge", "neighbour"], "hash": hash_, "side": "out",
              "self_loops": "edge", "ties": "position", "values": "raw"}  # fmt: skip
    old = old_line({"method": "lsp-p-published", "sparsity": 8}, pruner=pruner, key="b6c0e0924af9c7a1")
    new = json.loads(upgrade_line(old))
    assert Run(**new["run"]).make_pruner() == LSP.published("p", k=3, sparsity=8) == build_plan(new["pruner"])


def test_names_are_mapped_all_at_once_to_methods_of_the_catalogue():
    newer = {"lsp-auto-labels", "choose"} | {name for name, method in catalogue().items() if method.is_shared}
    assert {*NEW_NAMES.values(), *SAME_NAMES} == set(catalogue()) - newer  # 0.1.0 had none of these
    assert len({*NEW_NAMES.values(), *SAME_NAMES}) == len(NEW_NAMES) + len(SAME_NAMES)
    assert (NEW_NAMES["lsp-auto"], NEW_NAMES["lsp-auto-a"]) == ("lsp-auto-hash", "lsp-auto")


@pytest.mark.parametrize("name", MEASURED_APART)
def test_measurements_of_time_stay_as_they_are(name):
    content = (RESULTS / f"{name}.jsonl").read_bytes()
    assert upgrade_lines(content, name) == (content, 0)


def test_a_new_line_stays_as_it_is():
    new = upgrade_line(old_line())
    assert upgrade_line(new) == new
    spaced = new.replace(b'": ', b'":   ')
    assert upgrade_line(spaced) == spaced  # byte for byte


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (old_line({"method": "magic"}), "lsprune 0.1.0 has no method 'magic'"),
        (old_line({"method": "lsp-projection"}), "has no method 'lsp-projection'"),
        (old_line(key="0000000000000000"), "the key 0000000000000000 is not that of its options"),
        (old_line({"seed": 1}), "the key 64525fbd25a0f409 is not that of its options"),
        (old_line({"colour": "red"}), "colour"),
        (old_line(pruner={**OLD_PRUNER, "k": 4}), r"its pruner LSP\(k=4\) is not that of lsp-projection, LSP\(k=3\)"),
        (old_line(pruner=None), "its pruner None is not that of lsp-projection"),
        (old_line(pruner={"method": "magic"}), "pruner must be one of"),
        (line({**OLD, "run": "cora"}), ""),
        (line({"key": "x"}), ""),
        (line([1]), ""),
        (b"{cut", ""),
        (upgrade_line(old_line()).replace(b'"seed": 0, "study"', b'"seed": 1, "study"'), "is not that of its options"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_understood_is_refused_and_nothing_changes(tmp_path, content, says):
    path = tmp_path / "old.jsonl"
    path.write_bytes(old_line() + b"\n\n" + content + b"\n")
    before = path.read_bytes()
    with pytest.raises(FormatError, match=rf"old\.jsonl, line 3 cannot be upgraded: .*{says}.*; nothing was changed"):
        upgrade_file(path)
    assert path.read_bytes() == before


def test_files_are_upgraded_from_the_command_line(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_bytes(old_line() + b"\n\n" + upgrade_line(old_line()) + b"\n")
    for script in (["-m", "lsprune.lab.studies.upgrade_results"], [str(RESULTS / "rename.py")]):
        done = subprocess.run([sys.executable, *script, str(path)], capture_output=True, text=True, check=True)
        changed = 1 if script[0] == "-m" else 0
        assert done.stdout == f"{path}: {changed} lines upgraded\n"
    assert path.read_bytes() == upgrade_line(old_line()) + b"\n\n" + upgrade_line(old_line()) + b"\n"
    path.write_bytes(b"{cut")
    done = subprocess.run([sys.executable, "-m", "lsprune.lab.studies.upgrade_results", str(path)],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


# The committed results


@cache
def records(path: Path) -> list[dict]:
    return [json.loads(text) for text in path.read_text().splitlines()]


def test_all_lines_are_there():
    assert sum(len(records(path)) for path in FILES) == LINES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_committed_lines_are_upgraded(path):
    content = path.read_bytes()
    assert upgrade_lines(content, path.name) == (content, 0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_committed_line_belongs_to_a_run_of_its_study(path):
    keys = [record["key"] for record in records(path)]
    assert max(Counter(keys).values()) == 1
    study = study_files.read(path.stem)
    known = {run.key for run in study.runs(SEEDS.get(path.stem))}
    number, other = OTHER_RUNS.get(path.stem, (0, None))
    assert sum(key not in known for key in keys) == number
    if other is not None:
        assert set(keys) - known <= {run.key for run in other().runs()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_pruner_of_every_committed_line_loads(path):
    for record in records(path):
        pruner, expected = record["pruner"], Run(**record["run"]).make_plan()
        assert (pruner is None) == (expected is None)
        if pruner is not None:
            loaded = build_plan(pruner)
            if expected.name == "choose":  # the line has the pruner that was picked
                continue
            sides = [getattr(plan, "pruner", plan).side for plan in (loaded, expected)]  # or of the pruner within
            assert loaded.to_dict()["pruner"] == expected.name and sides[0] == sides[1]
            assert loaded == expected or getattr(expected, "chosen_by_fit", False)


# Which part of each study results/ holds, as its README says, and how many seeds of that part are complete.
QM9 = ["unpruned", "random", "local-random", "lsp-projection"]
CHOOSE = {
    "datasets": [
        "chameleon-filtered", "squirrel-filtered", "blogcatalog", "twitch-de", "flickr", "tolokers", "facebook-pages",
        "computers", "github", "cora", "citeseer", "cora-ml", "minesweeper", "ppi",
    ],
    "models": ["node-gat-skip", "node-sage-skip", "ppi-gat"], "shares": [0.1, 0.25],
    "methods": ["unpruned", "no-edges", "local-random", "jaccard", "lsp-auto", "choose"],
}  # fmt: skip
GITHUB = [
    "unpruned", "no-edges", "basic", "random", "lsp-projection", "lsp-projection-published", "lsp-threshold-published",
]  # fmt: skip
GRAPHS = [  # all but lsp-threshold-published
    "unpruned", "no-edges", "random", "local-random", "lsp-projection", "lsp-codebook", "lsp-codebook-edge",
    "lsp-auto-hash", "lsp-auto", "lsp-projection-published", "low-degree", "lsp-auto-out", "local-random-out", "first",
    "first-out",
]  # fmt: skip
COMMITTED = {
    "choose": (CHOOSE, 3),
    "cora": ({"k": [1, 2, 3, 4, 5, 8]}, 5),
    "citeseer": ({"k": [1, 2, 3, 4, 6, 8]}, 5),
    "paper-short": ({"datasets": ["ppi"]}, 1),
    "pubmed": ({"k": [1, 2, 4, 8, 16, 30]}, 5),
    "computers": ({"k": [2, 5, 10, 20, 40, 80]}, 5),
    "github": ({"k": [1, 7, 19, 49, 103], "methods": GITHUB}, 2),
    "neighbourhood-variance": ({}, 5),
    "consistency": ({}, 5),
    "zinc": ({"methods": ["unpruned"]}, 1),
    "qm9": ({"targets": ["mu"], "methods": QM9, "k": [1, 2], "epochs": 8}, 1),
    "synthetic": ({"methods": ["unpruned"]}, 1),
    "compare": ({}, 5),
    "hetero": ({}, 5),
    "compare-points": ({}, 5),
    "compare-seeds": ({}, 20),
    "compare-synthetic": ({}, 3),
    "compare-graphs": ({"methods": GRAPHS}, 3),
}


def test_committed_results_are_complete_and_have_the_keys_of_their_runs():
    assert {path.stem for path in FILES} == set(COMMITTED)
    for path in FILES:
        options, seeds = COMMITTED[path.stem]
        keys = {record["key"] for record in records(path)}
        assert all(Run(**record["run"]).key == record["key"] for record in records(path))
        study = study_files.read(path.stem)
        part, whole = study.only(**options), study.only(epochs=options.get("epochs"), k=options.get("k", ()))
        needed = {run.key for run in part.runs(seeds)}
        assert needed <= keys <= {run.key for run in whole.runs(SEEDS.get(path.stem))}, path.stem
