from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import typer
from typer.testing import CliRunner

from lsprune.cli.option_groups import with_groups


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--wide", help="Columns.")] = 1
    names: Annotated[list[str], typer.Option("--name")] = field(default_factory=list)


def test_fields_become_options_and_come_back_as_one_object():
    seen = []
    app = typer.Typer()

    @app.command()
    @with_groups
    def area(place: Annotated[str, typer.Argument()], size: Size, unit: Annotated[str, typer.Option()] = "m") -> None:
        """Say something."""
        seen.append((place, size, unit))

    assert CliRunner().invoke(app, ["here", "--wide", "3", "--name", "a", "--name", "b"]).exit_code == 0
    assert CliRunner().invoke(app, ["there", "--unit", "km"]).exit_code == 0
    assert seen == [("here", Size(3, ["a", "b"]), "m"), ("there", Size(), "km")]
    assert list(inspect.signature(area).parameters) == ["place", "width", "names", "unit"]
    assert area.__doc__ == "Say something."
    assert CliRunner().invoke(app, ["here", "--wide", "x"]).exit_code == 2
