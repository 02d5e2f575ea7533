"""Relative times are to the unpruned graph on the same path; the fastest path takes the best backend."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_geometric")

from timing_records import failure, timing  # noqa: E402

from lsprune.lab.reporting.acceleration import FASTEST, ORDINARY, accelerations  # noqa: E402

SHARES = (1.0, 0.5, 0.2)


def test_ratios_are_to_the_unpruned_graph_on_the_same_path():
    (group,) = accelerations(timing(backend=b, share=s) for b in ("ordinary", "sorted", "fused") for s in SHARES)
    ordinary, fastest = group.point(ORDINARY, 0.2), group.point(FASTEST, 0.2)
    assert ordinary.epoch == pytest.approx(0.3 / 1.1) and ordinary.inference == pytest.approx(0.2)
    assert fastest.backend == "fused" and fastest.epoch_seconds == pytest.approx(0.09)
    assert fastest.epoch == pytest.approx(0.3 / 1.1)
    assert ordinary.memory == pytest.approx((420 - 120) / (1_300 - 200))
    assert ordinary.total_memory == pytest.approx(420 / 1_300)
    assert [point.share for point in group.points(ORDINARY)] == list(SHARES)
    assert group.target_met


def test_the_fastest_backend_may_differ_by_share():
    records = [timing(backend="fused", share=s) for s in (1.0, 0.2)]
    records += [timing(backend="compiled", share=1.0), timing(backend="compiled", share=0.2, epoch_seconds_min=0.01)]
    (group,) = accelerations(records)
    assert [point.backend for point in group.points(FASTEST)] == ["fused", "compiled"]
    assert group.point(FASTEST, 0.2).epoch == pytest.approx(0.01 / 0.33)


def test_a_backend_that_was_not_measured_at_both_shares_does_not_compete():
    records = [timing(backend="captured", share=s) for s in (1.0, 0.2)]
    records += [timing(backend="compiled", share=1.0, epoch_seconds_min=0.01)]  # cut short before 0.2
    (group,) = accelerations(records)
    assert group.point(FASTEST, 1.0).backend == "compiled"
    captured = group.point(FASTEST, 0.2)
    assert captured.backend == "captured"
    assert captured.epoch == pytest.approx(records[1]["epoch_seconds_min"] / records[0]["epoch_seconds_min"])


def test_a_failure_is_no_figure_until_it_is_measured_again():
    failed, later = failure(share=1.0), timing(share=1.0)
    (group,) = accelerations([failed, timing(share=0.2)])
    assert group.errors == [failed] and group.point(ORDINARY, 1.0) is None
    assert group.point(ORDINARY, 0.2).epoch is None and group.target_met is None
    (group,) = accelerations([failed, timing(share=0.2), later])
    assert group.errors == [] and group.point(ORDINARY, 0.2).epoch is not None


def test_the_target_asks_for_time_and_memory():
    slow = [timing(), timing(share=0.2, epoch_seconds_min=0.9)]
    large = [timing(), timing(share=0.2, training_peak_bytes=1_200)]
    on_a_cpu = [timing(training_peak_bytes=None), timing(share=0.2, training_peak_bytes=None)]
    assert [accelerations(records)[0].target_met for records in (slow, large, on_a_cpu)] == [False, False, True]


def test_devices_datasets_and_models_are_apart():
    records = [timing(), timing(model="gcn"), timing(dataset="github"), timing(share=0.5, device="another GPU")]
    assert len(accelerations(records)) == 4
