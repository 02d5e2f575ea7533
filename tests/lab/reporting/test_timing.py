from __future__ import annotations

import pytest
from lab_records import comparison, comparison_maker

from lsprune.lab.reporting.comparison import Budget
from lsprune.lab.reporting.timing import TEST, timing_of

compared = pytest.fixture(comparison_maker, name="compared")


def test_times_are_medians_relative_to_the_unpruned_graph(compared):
    records = comparison(methods=("unpruned", "lsp-projection"), shares=(0.5,), test_seconds=0.5)
    for record in records:
        if record["run"]["method"] == "lsp-projection":
            record["train_seconds_per_epoch"] = [0.1, 0.2, 0.33, 9.0, 9.0][record["run"]["seed"]]
    result = compared(records)
    timing, cell = timing_of(result), result.cells["lsp-projection", Budget(keep=0.5)].values()
    assert (timing.device, timing.training, timing.problem) == ("a GPU", pytest.approx(1.1), "")
    assert timing.seconds(cell) == 0.33
    assert timing.relative(cell) == pytest.approx(0.3)
    assert timing.relative(cell, TEST) == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"jobs": 10}, "up to 10 runs shared the device at a time"),
        ({"jobs": None}, "do not say whether they had the device to themselves"),
        ({"methods": ("random", "lsp-projection")}, "there is no unpruned run to compare with"),
    ],
)
def test_why_times_do_not_compare_is_said(compared, change, message):
    result = compared(**change)
    timing = timing_of(result)
    assert message in timing.problem
    assert all(timing.relative(records.values()) is None for records in result.cells.values())


def test_a_pruned_run_that_shared_the_device_does_not_count(compared):
    records = comparison()
    for record in records:
        if (record["run"]["method"], record["run"]["keep"]) == ("lsp-projection", 0.1):
            record["jobs"] = 4
    result = compared(records)
    times = [timing_of(result).seconds(result.cells["lsp-projection", budget].values()) for budget in result.budgets]
    assert [time is None for time in times] == [True, False, False]


def test_another_device_does_not_compare(compared):
    records = comparison()
    for record in records:
        record["device"] = "A" if record["run"]["method"] == "unpruned" else "B"
    assert "had the device of the unpruned ones (A) to itself" in timing_of(compared(records)).problem
