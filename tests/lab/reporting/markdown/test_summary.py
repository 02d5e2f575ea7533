from __future__ import annotations

import pytest
from lab_records import comparison, comparison_maker, level

from lsprune.lab.reporting.markdown.summary import (
    best_lossless_table,
    every_epoch_footnote,
    lossless_table,
    no_help_lines,
    other_shares,
    summary_table,
    verdict_counts,
)
from lsprune.lab.reporting.markdown.syntax import Headings

compared = pytest.fixture(comparison_maker, name="compared")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def worse(method: str, share: float) -> float:
    return level(method, share) - (0.2 if method.startswith("lsp-") else 0.0)


def test_the_summary_has_a_row_for_each_dataset(compared):
    result = compared()
    heads, _, row = map(cells, summary_table([result], Headings([result])))
    values = dict(zip(heads, row, strict=True))
    best = result.estimate(result.best_lsp, result.budgets[0])
    assert values["dataset"] == "[cora](#compare-cora)"
    assert values["10 %: best LSP"] == f"{best.mean:.3f}"
    assert values["10 %: against random"] == values["25 %: against k random neighbours"] == "better"


def test_other_shares_are_noticed(compared):
    assert not other_shares([compared(shares=(0.104, 0.25, 0.5))])
    assert other_shares([compared(shares=(0.3, 0.5, 0.7))])


def test_where_lsp_is_worse_is_listed(compared):
    lines = list(no_help_lines(compared(test=worse), "cora"))
    assert len(lines) == 2
    assert all("is worse than" in line and "at 10 % kept (-" in line for line in lines)
    assert "is worse than random at" in lines[0] and "is worse than k random neighbours at" in lines[1]
    assert list(no_help_lines(compared(), "cora")) == []


def test_verdicts_of_all_lsp_methods_are_counted(compared):
    assert verdict_counts([compared()]).endswith("against k random neighbours 6 better, 0 unclear, 0 worse.")
    assert verdict_counts([compared(test=worse)]).endswith("against k random neighbours 0 better, 0 unclear, 6 worse.")


def test_lossless_shares_have_ratios_to_random(compared):
    fall = {"random": 0.5, "lsp-projection": 0.1}

    def score(method, share):
        return 0.5 if method == "no-edges" else 0.8 if share >= fall.get(method, 0.25) else 0.6

    result = compared(comparison(methods=("unpruned", "no-edges", "random", "lsp-projection", "dropedge"), test=score))
    headings = Headings([result])
    _, text, luck, footnote = lossless_table([result], headings)
    rows = {row[0]: row[1:] for row in map(cells, text.splitlines())}
    assert rows["random"] == ["50 % (1.00)", "1.00 (1)"]
    assert rows["lsp-projection"] == rows["*best LSP*"] == ["10 % (0.20)", "0.20 (1)"]
    assert rows["dropedge †"] == ["25 % (0.50)", "0.50 (1)"]
    assert "‡" in luck and footnote == every_epoch_footnote([result])
    assert footnote.startswith("† dropedge draws its edges again in every epoch")
    assert every_epoch_footnote([compared()]) == ""
    best = cells(best_lossless_table([result], headings)[2])
    assert best[2:] == ["50 %", "", "10 %", "0.20"]
