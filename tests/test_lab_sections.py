from __future__ import annotations

import pytest

from lab_records import comparison, panel_maker
from lsprune.lab.panels import verdict
from lsprune.lab.sections import calibrated_table, point_table

panel = pytest.fixture(panel_maker)
METHODS = ("none", "no-edges", "random", "local-random", "lsp-p", "lsp-auto", "lsp-auto-a")


def test_the_calibrated_one_is_judged_up_to_a_half_and_by_enough_runs(panel):
    records = comparison(methods=METHODS, shares=(0.1, 0.5, 0.75))
    found = panel(records)
    rows = calibrated_table([found], lambda one: one.name)[2:]
    expected = [(method, rival) for method in ("lsp-auto-a", "lsp-auto") for rival in ("random", "local-random")]
    assert [tuple(row.split(" | ")[1:3]) for row in rows] == expected
    gain = found.gain("lsp-auto-a", "random", found.budgets[0])
    assert gain is not None
    assert verdict(gain) in rows[0]
    assert "10 %:" in rows[0]
    assert "50 %:" in rows[0]
    assert "75 %" not in rows[0]
    few = panel([record for record in records if record["run"]["seed"] < 2])
    assert calibrated_table([few], lambda one: one.name) == []


def test_one_share_shows_what_validation_chooses_and_the_range_of_all(panel):
    def val(method, share):
        return {"lsp-p": 0.9, "lsp-auto": 0.5}.get(method, 0.1)

    found = panel(comparison(methods=METHODS, shares=(0.25,), val=val))
    row = point_table([found], lambda one: one.name)[2]
    ours = [found.level(name, found.budgets[0]).mean for name in METHODS[4:]]
    assert f"lsp-p {ours[0]:.3f}" in row
    assert f"{min(ours):.3f} to {max(ours):.3f}" in row
    gain = found.against_whole("lsp-p", found.budgets[0])
    pairs = [found.values("lsp-p", found.budgets[0])[seed] - found.values("none")[seed] for seed in range(gain.runs)]
    assert abs(gain.difference - sum(pairs) / len(pairs)) < 1e-12
