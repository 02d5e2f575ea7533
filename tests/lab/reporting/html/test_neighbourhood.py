from __future__ import annotations

import json
from importlib.resources import files

import numpy as np

from lsprune.lab.reporting.html.neighbourhood import FILE, KS, SET, compute, neighbourhood_data
from lsprune.lab.studies.methods import catalogue


def test_the_neighbourhood_has_what_the_pruners_keep():
    data, samples = neighbourhood_data(), SET.make()
    assert [len(sample["edges"]) for sample in data["samples"]] == np.diff(samples.edge_ptr)[:2].tolist()
    for name in ("lsp-codebook-edge", "lsp-projection"):
        (shown,) = [one for one in data["methods"] if one["name"] == name]
        for k, kept in zip(KS, shown["byK"], strict=True):
            mask = catalogue()[name].make(k=k).mask(samples.graph)
            text = "".join("01"[int(one)] for one in mask[: samples.edge_ptr[2]])
            assert "".join(kept["mask"]) == text


def test_every_node_keeps_its_quota_and_overlaps_are_counted_right():
    data = neighbourhood_data()
    for shown in data["methods"]:
        for k, kept in zip(KS, shown["byK"], strict=True):
            edges = []
            for sample, letters in zip(data["samples"], kept["mask"], strict=True):
                for node in sample["nodes"]:
                    mine = [x for (_, t, _), x in zip(sample["edges"], letters, strict=True) if t == node]
                    assert mine.count("1") == min(k, len(mine))
                edges.append({(e, t) for (_, t, e), x in zip(sample["edges"], letters, strict=True) if x == "1"})
            there = set.intersection(*({e for _, _, e in sample["edges"]} for sample in data["samples"]))
            for node, pair in kept["overlap"].items():
                first, second = ({e for e, t in part if t == int(node) and e in there} for part in edges)
                assert pair == [len(first & second), len(first | second)]


def test_lsp_on_the_edge_is_more_consistent_than_chance():
    whole = {one["name"]: [kept["overall"] for kept in one["byK"]] for one in neighbourhood_data()["methods"]}
    pairs = zip(whole["lsp-codebook-edge"], whole["local-random"], strict=True)
    assert all(ours > chance + 0.1 for ours, chance in pairs)


def test_the_packaged_file_is_what_the_code_computes():
    text = (files("lsprune.lab.reporting.html") / FILE).read_text(encoding="utf8")
    assert json.loads(text) == json.loads(json.dumps(compute())), "make it again: see the module's docstring"
    assert all(0 <= part <= 1 for position in neighbourhood_data()["positions"] for part in position)
