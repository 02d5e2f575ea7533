"""Trials are read back as they were written; damage is told, but the last line may be half written."""

from __future__ import annotations

import numpy as np
import pytest
from labelled_graphs import labelled_graph

from lsprune import FormatError
from lsprune.chooser.known_labels import known_labels
from lsprune.chooser.scores import Scores
from lsprune.chooser.trial_file import TrialFile, fingerprint

TRIAL = Scores(np.array([1.0, 0.5, 0.0]), np.array([-0.25, 0.0, -2.0])), 17, 0.5


def written(path, count=3):
    file = TrialFile(path, lambda: "graph")
    for number in range(count):
        file.add("name", number / 4, "pruner", TRIAL)
    return path.read_text()


def test_trials_come_back(tmp_path):
    written(tmp_path / "t")
    scores, edges, seconds = TrialFile(tmp_path / "t", lambda: "graph").get("name", 0.25, "pruner")
    assert np.array_equal(scores.hits, TRIAL[0].hits) and np.array_equal(scores.closeness, TRIAL[0].closeness)
    assert (edges, seconds) == TRIAL[1:]
    for name, keep, pruner, graph in (("other", 0.25, "pruner", "graph"), ("name", 0.3, "pruner", "graph"),
                                      ("name", 0.25, "other", "graph"), ("name", 0.25, "pruner", "other")):  # fmt: skip
        assert TrialFile(tmp_path / "t", lambda graph=graph: graph).get(name, keep, pruner) is None


def test_a_half_written_last_line_is_cut_off_and_others_are_damage(tmp_path):
    whole = written(tmp_path / "t")
    for end in (1, 20, len(whole.splitlines()[2])):
        (tmp_path / "t").write_text(whole[:-end])
        file = TrialFile(tmp_path / "t", lambda: "graph")
        assert len(file.done) == 2
        file.add("name", 0.5, "pruner", TRIAL)
        assert len(TrialFile(tmp_path / "t", lambda: "graph").done) == 3
    lines = whole.splitlines()
    (tmp_path / "t").write_text("\n".join([lines[0][:-9], *lines[1:]]) + "\n")
    with pytest.raises(FormatError, match="line 1 is not a trial"):
        TrialFile(tmp_path / "t", lambda: "graph")


def test_without_a_path_nothing_is_hashed_or_written():
    file = TrialFile(None, lambda: pytest.fail("hashed"))
    file.add("name", 0.5, "pruner", TRIAL)
    assert file.get("name", 0.5, "pruner") is TRIAL


def test_the_fingerprint_changes_with_all_that_matters():
    given = {"y": None, "train_mask": None, "val_mask": None}

    def of(seed=0, **more):
        graph = labelled_graph(**more)
        return fingerprint(graph, known_labels(graph, graph, given, seed), seed)

    prints = {of(), of(seed=1), of(noise=0.4), of(nodes=120), of(train_mask=np.arange(240) % 2 == 0)}
    assert len(prints) == 5 and of() in prints
