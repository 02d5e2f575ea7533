"""The recommended weights are products of known factors; only one of them needs labels."""

from __future__ import annotations

from lsprune.weights import weight
from lsprune.weights.recommended import WITH_LABELS, WITHOUT_LABELS


def test_factors():
    assert [factor.name for factor in WITH_LABELS.factors] == ["labels", "jaccard", "degree"]
    assert "labels" not in [factor.name for factor in WITHOUT_LABELS.factors]


def test_they_can_be_written_as_text():
    for product in (WITH_LABELS, WITHOUT_LABELS):
        text = "*".join(f"{factor.name}:{factor.power}" for factor in product.factors)
        assert weight(text) == product
