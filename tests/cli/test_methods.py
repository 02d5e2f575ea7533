"""`lsprune methods`: every pruner, hash family and weight with all of its options."""

from __future__ import annotations

import dataclasses
import json

from typer.testing import CliRunner

from lsprune import PRUNERS
from lsprune.cli import app
from lsprune.hashing import FAMILIES
from lsprune.weights import WEIGHTS


def test_methods_are_the_registries_with_all_options() -> None:
    listed = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)
    shared = set(listed["options of every pruner with a budget"])
    for kind, registry in (("pruners", PRUNERS), ("hash families", FAMILIES), ("edge weights", WEIGHTS)):
        assert {name: entry["about"] for name, entry in listed[kind].items()} == {
            name: cls.about for name, cls in registry.items()
        }
        for name, cls in registry.items():
            fields = {field.name for field in dataclasses.fields(cls)}
            assert set(listed[kind][name]["options"]) | shared >= fields
    assert listed["hash families"]["signs"]["options"] == {"bits": 8}
    table = CliRunner().invoke(app, ["methods"]).stdout
    assert all(name in table for name in (*PRUNERS, *FAMILIES, *WEIGHTS))
