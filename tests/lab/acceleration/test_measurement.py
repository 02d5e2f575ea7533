"""Measurements: their order, their keys, and which backends exist where."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

pytest.importorskip("torch_geometric")

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.acceleration.measurement import (  # noqa: E402
    BACKENDS,
    DATASETS,
    MODELS,
    SHARES,
    Measurement,
    backends_for,
    plan,
)  # fmt: skip
from lsprune.lab.models import MODELS as LAB_MODELS  # noqa: E402

RESULTS = Path(__file__).resolve().parents[3] / "results"


def test_gat_comes_first_then_the_large_graph_then_the_rest():
    pairs = list(dict.fromkeys((m.dataset, m.model) for m in plan(device="cuda")))
    assert pairs[:4] == [(dataset, "gat") for dataset in DATASETS]
    assert pairs[4:7] == [("large", model) for model in ("gcn", "sage", "pna")]
    assert len(pairs) == len(DATASETS) * len(MODELS)


def test_the_unpruned_graph_comes_first_in_every_group():
    planned = list(plan(device="cuda"))
    groups = dict.fromkeys((m.dataset, m.model, m.backend) for m in planned)
    for group in groups:
        shares = [m.share for m in planned if (m.dataset, m.model, m.backend) == group]
        assert shares == list(SHARES) == sorted(SHARES, reverse=True)


def test_every_measurement_has_a_key_of_its_own_and_a_model():
    planned = [*plan(device="cuda"), *plan(device="cpu"), *plan(size="tiny")]
    assert len({m.key for m in planned}) == len(planned)
    assert {m.model_name for m in planned} <= set(LAB_MODELS)


def test_a_cpu_has_no_cuda_graphs_and_only_attention_is_fused():
    assert backends_for("gat", "cuda", False) == list(BACKENDS)
    assert "captured" not in backends_for("gat", "cpu", False)
    assert "fused" not in backends_for("gcn", "cuda", False)
    assert "sorted" not in backends_for("gat", "cuda", True)


def test_committed_lines_have_the_keys_of_their_measurements():
    names = {field.name for field in fields(Measurement)}
    lines = [json.loads(line) for line in (RESULTS / "acceleration.jsonl").read_text().splitlines()]
    assert lines
    for line in lines:
        run = {name: value for name, value in line["run"].items() if name in names}
        assert Measurement(**run).key == line["key"] and run["size"] == "full"


def test_records_say_what_was_pruned():
    whole, half = (Measurement(dataset="large", model="gcn", backend="sorted", share=s).to_dict() for s in (1.0, 0.5))
    assert (whole["method"], whole["pruner"], whole["keep"], whole["path"]) == ("unpruned", None, None, "fastest")
    assert (half["method"], half["keep"]) == ("lsp-projection", 0.5)


@pytest.mark.parametrize(
    "wrong", [{"model": "mlp"}, {"backend": "magic"}, {"share": 0.0}, {"share": 1.5}, {"device": "tpu"}]
)
def test_wrong_options_are_named(wrong):
    options = {"dataset": "large", "model": "gcn", "backend": "sorted", "share": 0.5, **wrong}
    with pytest.raises(OptionError, match=f"{next(iter(wrong))} must be"):
        Measurement(**options)
