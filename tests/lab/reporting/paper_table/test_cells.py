from __future__ import annotations

from paper_records import runs, studied, theirs

from lsprune.lab.reporting.paper_table.cells import (
    SUMMARY_HEADS,
    because,
    remarks,
    rule_lines,
    summary,
    time_table,
    value_table,
)
from lsprune.lab.reporting.paper_table.figures import PANELS
from lsprune.lab.reporting.paper_table.table import paper_table
from lsprune.lab.reporting.paper_table.verdict import Count, Verdict

SHARE = 0.4671276998863206  # a point of LSP-P and LSP-T on Cora


def test_the_summary_has_every_figure_and_table_in_order(tmp_path):
    made = paper_table([studied(runs(theirs("cora", "accuracy")), tmp_path, "cora")])
    rows = summary(made)
    figures = list(dict.fromkeys(row.cells[0] for row in rows))
    assert figures == ["1", "2", "3", "4a", "4b and 8", "5", "6", "7", "8", "Table 1", "Table 2"]
    assert len(rows) == 4 + sum(not panel.is_time for panel in PANELS)
    assert {len(row.cells) for row in rows} == {len(SUMMARY_HEADS)}
    assert all(row.cells[2] for row in rows)


def test_the_papers_value_and_ours_stand_side_by_side(tmp_path):
    values = {("random", SHARE): 0.824, ("lsp-projection-published", SHARE): 0.81, ("unpruned", 1.0): 0.874}
    made = paper_table([studied(runs(values, seeds=1), tmp_path, "cora")])
    cells = value_table(made.entry("cora-accuracy"))
    assert cells.heads == ("edges kept", "random: paper", "ours", "LSP-P: paper", "ours")
    assert cells.rows[0] == ("46.7 %", "≈ 0.803", "0.824", "0.832", "0.810")
    assert cells.rows[1] == ("all edges", "0.876", "0.874 ✓", "", "")


def test_intervals_are_shown_of_several_runs(tmp_path):
    made = paper_table([studied(runs({("unpruned", 1.0): 0.874}), tmp_path, "cora")])
    assert value_table(made.entry("cora-accuracy")).rows == (("all edges", "0.876", "0.874 [0.873, 0.875] ✓"),)


def test_short_and_single_runs_say_so(tmp_path):
    values = {("random", 0.5): 0.03, ("lsp-projection-published", 0.5): 0.028}
    lines = runs(values, study="qm9", name="paper-short", target="mu", seeds=1, epochs=3, limit=10_000, mae=True)
    made = paper_table([studied(lines, tmp_path, "paper-short")])
    entry = made.entry("qm9-mu-mae")
    (row,) = (row for row in summary(made) if row.anchor == entry.panel.key)
    for part in ("one run each", "short training: 3 of 20 epochs", "at most 10,000 graphs", "derived bonds"):
        assert part in row.cells[-1]
    below = remarks(entry)
    assert below[0].startswith("Study paper-short (short: 3 of 20 epochs, at most 10,000 graphs of each split, one run")
    assert "Not run: LSP-T." in below and "Our data differ: derived bonds." in below


def test_the_best_test_figure_is_counted_beside(tmp_path):
    made = paper_table([studied(runs({("unpruned", 1.0): 0.856}), tmp_path, "cora")])  # the best is 0.02 higher
    entry = made.entry("cora-accuracy")
    assert (str(entry.verdict.values), str(entry.by_best_test)) == ("0 of 1", "1 of 1")
    assert "By the best test figure over all epochs, 1 of 1 values agree." in remarks(entry)


def test_times_and_neighbourhood_sizes_have_tables(tmp_path):
    lines = [*runs({("unpruned", 1.0): 0.8}, test_seconds=2.0), *runs({("random", 0.4): 0.8}, test_seconds=1.0)]
    made = paper_table([studied(lines, tmp_path, "cora")])
    assert time_table(made.entry("cora-relative-test-time")).rows == (("40 %", "0.84", "0.50"),)
    sizes = [{**line, "variance": {"1": 7.3, "3": 9.0}} for line in runs({("random", 0.5): 0.5}, seeds=1)]
    made = paper_table([studied(sizes, tmp_path, "neighbourhood-variance")])
    cells = value_table(made.entry("cora-variance"))
    assert cells.heads == ("edges kept", "1 hop: paper / ours", "3 hops: paper / ours")
    assert cells.rows[0][0] == "50 %" and cells.rows[0][1].endswith("/ 7.30 ✓")


def test_the_rule_is_that_of_the_module():
    lines = rule_lines()
    assert [line.split()[0] for line in lines] == ["A", "The", "Where"]
    assert not any("\n" in line for line in lines)


def test_reasons_stand_in_brackets():
    assert because(Verdict("not run", reason="no run of it")) == " (no run of it)"
    assert because(Verdict("partly", Count(1, 2), Count(2, 3))) == " (1 of 2 values agree, 2 of 3 orders are kept)"
    assert because(Verdict("partly")) == ""
