"""All baselines are known by name, each with a line about it."""

from __future__ import annotations

from lsprune import PRUNERS, baselines


def test_every_baseline_is_registered_after_lsp():
    names = [
        "random", "local-random", "first", "low-degree", "local-degree", "jaccard", "cosine", "top-weight", "dspar",
        "effective-resistance", "spanning-forest", "no-edges", "disparity", "metric-backbone",
    ]  # fmt: skip
    assert [name for name in PRUNERS if name in names] == names
    assert {PRUNERS[name].__name__ for name in names} == set(baselines.__all__)
    assert all(PRUNERS[name].about and PRUNERS[name].name == name for name in names)
