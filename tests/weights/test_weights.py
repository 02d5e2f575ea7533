"""Weights by name, by short form and as plain data: all are resolved in one place."""

from __future__ import annotations

import pytest

from lsprune import LSP, OptionError
from lsprune.weights import WEIGHTS, AutoWeight, Column, Degree, Jaccard, Similarity, weight

SHORT = {
    "degree": Degree(),
    "jaccard": Jaccard(),
    "similarity": Similarity(),
    "auto": AutoWeight(),
    "edge": Column(),
    "edge:2": Column(column=2),
    "neighbour:0": Column(part="neighbour", column=0),
    "degree:power=0.4": Degree(power=0.4),
    "column:part=neighbour,column=3,power=2": Column(part="neighbour", column=3, power=2.0),
}


@pytest.mark.parametrize("spec", SHORT)
def test_short_forms_stand_for_objects(spec):
    assert weight(spec) == LSP(k=1, hash="identity", weights=spec).weights == SHORT[spec]


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_weight_is_known_by_name_and_survives_plain_data(name):
    default = WEIGHTS[name]()
    assert weight(name) == weight(default.to_dict()) == default
    assert weight(default) is default
    assert WEIGHTS[name].about


def test_no_weight_stays_none():
    assert weight(None) is None and LSP(k=1).weights is None


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("age", "weights must be one of degree, jaccard, similarity, .*, got 'age'"),
        ("neighbour", "weights must be one of .*, got 'neighbour'"),
        ("edge:-1", "weights must name a column by its number from 0, such as edge:2, got 'edge:-1'"),
        ("owner:1", "weights must be one of .*, got 'owner'"),
        ("edge:" + "9" * 5000, "got 'edge:9999"),
        (3, r"weights must be an edge weight such as Degree\(power=0.4\), a name or None, got 3"),
        ([], "weights must be an edge weight .*, got \\[\\]"),
        ({}, "weights must be one of .*, got ''"),
        ({"name": "degree", "column": 2}, "column is not an option of weights degree; it has power"),
        ("degree:power=-1", r"power must be a number in \[0, 64\], got -1"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_weight_is_named(spec, says):
    for build in (weight, lambda spec: LSP(k=1, weights=spec)):
        with pytest.raises(OptionError, match=says) as error:
            build(spec)
        assert len(str(error.value)) < 600
