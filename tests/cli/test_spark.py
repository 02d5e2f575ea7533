"""`lsprune spark-prune`: options, errors of Spark in one line, and outputs that are in the way."""

from __future__ import annotations

import pytest

from lsprune import OptionError
from lsprune.cli.spark import TableOptions, _cause, _check_paths, _verified
from lsprune.errors import FormatError


def test_columns_are_named_as_the_library_takes_them():
    keywords = TableOptions(source="user", target="item", edge_attr="w,t", x="a,b", position="n").keywords()
    assert (keywords["source"], keywords["target"], keywords["position"]) == ("user", "item", "n")
    assert (keywords["edge_attr"], keywords["features"]) == (("w", "t"), ("a", "b"))
    assert TableOptions().keywords()["features"] is None


def test_inputs_must_be_there(tmp_path):
    with pytest.raises(FormatError, match="absent: no such file or folder"):
        _check_paths(str(tmp_path / "out"), str(tmp_path / "absent"))


def test_the_innermost_cause_is_what_is_said():
    lines = [
        "An error occurred while calling o30.parquet.",
        ": org.X: job failed",
        "at y",
        "Caused by: E: a.parquet is not",
    ]
    assert _cause(lines) == "E: a.parquet is not"
    assert _cause(lines[:2]) == ": org.X: job failed"
    assert _cause(["[NO_FILE] there is none"]) == "[NO_FILE] there is none"


def test_a_link_to_nothing_is_in_the_way_before_any_work(tmp_path):
    (tmp_path / "out").symlink_to("absent")
    with pytest.raises(OptionError, match="exists already"):
        _check_paths(str(tmp_path / "out"))


def test_sealed_inputs_are_compared_and_must_be_here(tmp_path):
    path = tmp_path / "e.parquet"
    path.write_bytes(b"edges")
    assert _verified(False, str(path), "s3://bucket/nodes.parquet", None).files == ()
    with pytest.raises(FormatError, match="has no seal"):
        _verified(True, str(path))
    with pytest.raises(OptionError, match="--verify-input takes inputs on this machine, got s3://bucket"):
        _verified(True, "s3://bucket/edges.parquet")
