"""Outputs of streaming: where they may be, and that they are complete or absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES, names, parquet

from lsprune.errors import FormatError, OptionError
from lsprune.files import open_edges
from lsprune.files.manifest import MANIFEST, verify
from lsprune.outofcore.output import MARKER, Output, refuse_inside, refuse_same
from lsprune.outofcore.work_folder import InTheWay, Work


def parts(folder: Path) -> Path:
    folder.mkdir()
    for name in "ab":
        parquet(folder / f"{name}.parquet", source=EDGES[0] + ord(name), target=EDGES[1])
    return folder


def write(output: Output, given: Path, work: Work, said: list[str]) -> None:
    mask = np.arange(10) % 2 == 0
    with output.held(fresh=True, stays=lambda error: False):
        output.write(
            open_edges(given), lambda first, last: mask[first:last], 100, work, lambda kept: {"task": "t"}, said.append
        )


def test_a_folder_gets_its_name_when_all_files_are_there(tmp_path: Path) -> None:
    given, said = parts(tmp_path / "in"), []
    output = Output.of(tmp_path / "out", given)
    (tmp_path / "work").mkdir()
    write(output, given, Work(tmp_path / "work"), said)
    assert names(tmp_path) == ["in", "out", "work"]
    assert names(tmp_path / "out") == [MANIFEST, "a.parquet", "b.parquet"]
    assert said == ["writing a.parquet", "writing b.parquet"]
    assert verify(tmp_path / "out").ok
    assert output.complete("t", said.append).kept == 5
    with pytest.raises(OptionError, match="was made with other options or from another input"):
        output.complete("another", said.append)
    (tmp_path / "out" / "a.parquet").write_bytes(b"")
    with pytest.raises(OptionError, match=r"out has changed since it was written .*a\.parquet"):
        output.complete("t", said.append)


def test_a_file_that_does_not_belong_to_the_output_stops_it(tmp_path: Path) -> None:
    given, output = parts(tmp_path / "in"), Output.of(tmp_path / "out", tmp_path / "in")
    (tmp_path / "work").mkdir()

    def stray(text: str) -> None:
        (output.folder / "c.parquet").write_bytes(b"")

    with (
        pytest.raises(InTheWay, match=r"c\.parquet does not belong to the output"),
        output.held(fresh=True, stays=lambda error: True),
    ):
        keep_all = lambda first, last: np.ones(last - first, bool)  # noqa: E731
        output.write(open_edges(given), keep_all, 100, Work(tmp_path / "work"), lambda kept: {}, stray)
    assert not (tmp_path / "out").exists()
    assert MARKER in names(output.folder)


def test_outputs_refused(tmp_path: Path) -> None:
    given, file = parts(tmp_path / "in"), parquet(tmp_path / "e.parquet", source=[0], target=[1])
    (tmp_path / "there").mkdir()
    for path, source, error, message in (
        (given, given, OptionError, "the output must not be an input"),
        (given / "out", given, OptionError, "must not lie in the input's folder"),
        (tmp_path / "there", given, OptionError, "the output must be a new folder"),
        (tmp_path / "there", file, OptionError, "the output must be a file"),
        (tmp_path / "out.csv", file, FormatError, r"must have the input's format, \.parquet"),
        (tmp_path / "no" / "out.parquet", file, FileNotFoundError, "no such folder for the output"),
    ):
        with pytest.raises(error, match=message):
            Output.of(path, source)
    with pytest.raises(OptionError, match="map_ids must not be an input or another output"):
        refuse_same("map_ids", tmp_path / "there" / ".." / "e.parquet", file)
    refuse_inside("scratch", tmp_path / "inside", given)
