from __future__ import annotations

from paper_records import runs, studied, theirs

from lsprune.lab.reporting.paper_table.figures import PANELS
from lsprune.lab.reporting.paper_table.table import paper_table


def test_every_plot_has_an_entry_and_a_verdict(tmp_path):
    made = paper_table([studied(runs(theirs("cora", "accuracy")), tmp_path, "cora")])
    assert [entry.panel for entry in made.entries] == list(PANELS)
    words = {entry.panel.key: entry.verdict.word for entry in made.entries}
    assert words.pop("cora-accuracy") == "reproduced"
    assert words.pop("cora-relative-test-time") == "not judged"  # the runs do not say whether they ran alone
    assert set(words.values()) == {"not run"}
    assert all(entry.verdict.reason for entry in made.entries if entry.verdict.word.startswith("not "))


def test_plots_come_with_their_times(tmp_path):
    made = paper_table([studied(runs(theirs("cora", "accuracy")), tmp_path, "cora")])
    for entry, time in made.plots:
        assert not entry.panel.is_time
        if entry.panel.metric == "variance":
            assert time is None
        else:
            assert time is not None
            assert (time.panel.dataset, time.panel.target) == (entry.panel.dataset, entry.panel.target)


def test_conditions_say_how_much_was_run(tmp_path):
    values = {key: value for key, value in theirs("cora", "accuracy").items() if key[1] in (1.0, 0.4671276998863206)}
    made = paper_table([studied(runs(values, seeds=2), tmp_path, "cora")])
    assert made.entry("cora-accuracy").conditions == ["2 of 33 LSP points", "2 runs each"]
    assert made.entry("pubmed-accuracy").conditions == []
