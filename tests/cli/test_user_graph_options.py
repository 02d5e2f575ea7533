"""Options that `compare` and `inspect` share."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsprune.cli.user_graph_options import command_words, own_files, shares_of
from lsprune.errors import OptionError


def test_shares_are_numbers_by_commas() -> None:
    assert shares_of("0.1, 1,0.25") == [0.1, 1.0, 0.25]
    for wrong in ("", ",", "0", "1.1", "nan", "0.5;0.6"):
        with pytest.raises(OptionError, match="shares must be numbers"):
            shares_of(wrong)


def test_options_become_files_and_words_again() -> None:
    files = own_files(Path("my graph.npz"), "x.npy", Path("l.npy"), "kind", "w, v", "a", "b", "m1,m2,m3")
    assert (files.features, files.edge_attr, files.split) == ("x.npy", ("w", "v"), ("m1", "m2", "m3"))
    assert command_words(files) == (
        "'my graph.npz' --features x.npy --labels l.npy --label kind --source a --target b --edge-attr w,v"
    )
    files = own_files(Path("g.npz"), "n.parquet", None, None, "", None, None, node_id="key", x="a, b")
    assert (files.id, files.x) == ("key", ("a", "b"))
    assert command_words(files) == "g.npz --features n.parquet --id key --x a,b"
