"""Families by name, by short form and as plain data."""

from __future__ import annotations

import pytest

from lsprune import FAMILIES, LSP, OptionError, Projection
from lsprune.hashing import Both, Signs, family


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_known_by_name_and_survives_plain_data(name):
    default = FAMILIES[name]()
    assert family(name) == default
    assert LSP(k=1, hash=name).hash == default
    assert family(default.to_dict()) == default
    assert FAMILIES[name].about


def test_options_can_be_given_with_the_name_or_in_a_table():
    assert family("signs:bits=4") == family({"name": "signs", "bits": 4}) == Signs(bits=4)
    nested = {"name": "both", "edge": {"name": "signs", "bits": 4}, "node": {"name": "projection", "l": 0.5}}
    assert family(nested) == LSP(k=1, hash=nested).hash == Both(edge=Signs(bits=4), node=Projection(l=0.5))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("simhash", "hash must be one of projection, threshold, codebook, .*, got 'simhash'"),
        ({}, "hash must be one of projection, .*, got ''"),
        ({"name": 3}, "hash must be one of projection, .*, got 3"),
        ({"name": "signs", "words": 3}, "words is not an option of hash signs; it has bits"),
        ("identity:bits=3", "bits is not an option of hash identity; it has none"),
        ("signs:bits=0", r"bits must be a whole number in \[1, 62\], got 0"),
        ({"name": "both", "edge": {"name": "signs", "l": 1}}, "l is not an option of hash signs"),
    ],
    ids=str,
)
def test_bad_names_and_options_are_named(spec, says):
    for build in (family, lambda spec: LSP(k=1, hash=spec)):
        with pytest.raises(OptionError, match=says):
            build(spec)
