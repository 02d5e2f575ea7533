from __future__ import annotations

from typing import get_args

import pytest
from paper_records import runs, studied, theirs

from lsprune.lab.reporting.paper_table.figures import PANELS
from lsprune.lab.reporting.paper_table.points import lines_of, points_of
from lsprune.lab.reporting.paper_table.verdict import (
    MEANINGS,
    NO_PAIR,
    TOO_CLOSE,
    TOO_SHORT,
    Verdict,
    Word,
    agrees,
    orders,
    verdict,
)

PANEL = {panel.key: panel for panel in PANELS}


def judged(tmp_path, values, key: str = "cora-accuracy", **how) -> Verdict:
    panel = PANEL[key]
    points = points_of(panel, [studied(runs(values, study=panel.study, **how), tmp_path, "made-up")])
    return verdict(panel.metric, points, lines_of(panel))


def test_reproduced_if_values_agree_and_orders_are_kept(tmp_path):
    found = judged(tmp_path, theirs("cora", "accuracy"))
    assert found.word == "reproduced"
    assert found.values.yes == found.values.total > 30
    assert found.orders.yes == found.orders.total > 10


def test_not_reproduced_if_the_order_is_turned_round(tmp_path):
    values = theirs("cora", "accuracy")
    turned = {(m, s): (v - 0.05 if m.startswith("lsp") else v) for (m, s), v in values.items()}
    found = judged(tmp_path, turned)
    assert found.word == "not reproduced"
    assert found.orders.yes < found.orders.total / 2


def test_partly_if_values_are_off_and_the_order_is_kept(tmp_path):
    found = judged(tmp_path, theirs("cora", "accuracy", shift=-0.05))
    assert (found.word, found.values.yes) == ("partly", 0)
    assert found.orders.yes == found.orders.total


def test_partly_if_a_line_is_missing(tmp_path):
    values = {key: value for key, value in theirs("cora", "accuracy").items() if key[0] != "lsp-threshold-published"}
    assert judged(tmp_path, values).word == "partly"


def test_values_decide_where_the_papers_lines_are_close(tmp_path):
    values = theirs("citeseer", "accuracy")
    assert judged(tmp_path, values, "citeseer-accuracy").word == "reproduced"
    off = {key: value - 0.05 for key, value in values.items()}
    assert judged(tmp_path, off, "citeseer-accuracy").word == "not reproduced"


def test_not_run_without_runs_and_not_judged_with_runs_that_give_no_points():
    found = verdict("accuracy", [], ["random"])
    assert (found.word, found.reason) == ("not run", "no run of it")
    found = verdict("relative-test-time", [], ["any"], problem="up to 7 runs shared the device at a time")
    assert (found.word, found.reason) == ("not judged", "up to 7 runs shared the device at a time")


def test_every_verdict_has_one_meaning():
    assert list(MEANINGS) == ["reproduced", "not reproduced", "partly", "not judged", "not run"]
    assert set(MEANINGS) == set(get_args(Word)) and len(set(MEANINGS.values())) == len(MEANINGS)


def test_short_training_is_judged_by_the_order_alone_and_neither_reproduces_nor_refutes(tmp_path):
    found = judged(tmp_path, theirs("cora", "accuracy"), epochs=5, seeds=1)
    assert (found.word, found.values.total) == ("partly", 0)
    values = theirs("cora", "accuracy")
    turned = {(m, s): (v - 0.05 if m.startswith("lsp") else v) for (m, s), v in values.items()}
    short = judged(tmp_path, turned, epochs=5)
    assert (short.word, short.reason) == ("not judged", TOO_SHORT)
    assert short.orders.yes < short.orders.total / 2


def test_short_training_without_an_order_says_nothing(tmp_path):
    found = judged(tmp_path, {("unpruned", 1.0): 0.876}, epochs=5)
    assert (found.word, found.reason) == ("not judged", NO_PAIR)


def test_short_training_where_the_papers_lines_are_close_says_nothing(tmp_path):
    values = {("random", 0.5): 3.4, ("lsp-projection-published", 0.5): 2.0}  # the paper: 0.0484 and 0.0476
    found = judged(tmp_path, values, "qm9-alpha-mae", epochs=5, seeds=1, target="alpha", mae=True)
    assert (found.word, found.reason, found.orders.total) == ("not judged", TOO_CLOSE, 0)


def test_rebuilt_labels_keep_values_from_counting(tmp_path):
    found = judged(tmp_path, theirs("ppi", "micro-f1"), "ppi-micro-f1", rebuilt=["labels"], metric="micro-f1")
    assert (found.word, found.values.total) == ("partly", 0)
    assert found.orders.total > 3


def test_an_error_agrees_within_a_tenth(tmp_path):
    panel = PANEL["zinc-constrained-solubility-mae"]
    lines = runs({("unpruned", 1.0): 0.215}, study="zinc", mae=True, seeds=1)
    (near,) = points_of(panel, [studied(lines, tmp_path, "zinc")])
    lines = runs({("unpruned", 1.0): 0.225}, study="zinc", mae=True, seeds=1)
    (far,) = points_of(panel, [studied(lines, tmp_path, "zinc")])
    assert agrees("mae", near) and not agrees("mae", far)


def test_a_value_in_our_interval_agrees_however_wide_it_is(tmp_path):
    lines = runs({("unpruned", 1.0): 0.84})
    for line, test in zip(lines, (0.80, 0.84, 0.90), strict=True):
        line["test"] = test
    (point,) = points_of(PANEL["cora-accuracy"], [studied(lines, tmp_path, "cora")])
    assert abs(point.ours.mean - point.paper) > 0.01 and agrees("accuracy", point)


@pytest.mark.parametrize("epochs", [None, 5])
def test_only_lines_that_were_trained_alike_are_put_in_order(tmp_path, epochs):
    share = 0.4671276998863206
    one = studied(runs({("lsp-projection-published", share): 0.8}, seeds=1, epochs=5, name="a"), tmp_path, "a")
    two = studied(runs({("random", share): 0.7}, seeds=1, epochs=epochs, name="b"), tmp_path, "b")
    points = points_of(PANEL["cora-accuracy"], [one, two])
    assert [(order.line, order.kept) for order in orders("accuracy", points)] == ([("lsp-p", True)] if epochs else [])
