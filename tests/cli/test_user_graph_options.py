"""Options that `compare` and `inspect` share."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsprune.cli.user_graph_options import UserGraphOptions, command_words, parse_shares
from lsprune.errors import OptionError


def test_shares_are_comma_separated_numbers() -> None:
    assert parse_shares("0.1, 1,0.25") == [0.1, 1.0, 0.25]
    for wrong in ("", ",", "0", "1.1", "nan", "0.5;0.6"):
        with pytest.raises(OptionError, match="shares must be comma-separated numbers"):
            parse_shares(wrong)


def test_options_become_files_and_words_again() -> None:
    options = UserGraphOptions(
        features="x.npy", labels=Path("l.npy"), label="kind", edge_attr="w, v", source="a", target="b"
    )
    files = options.files(Path("my graph.npz"), "m1,m2,m3")
    assert (files.features, files.edge_attr, files.split) == ("x.npy", ("w", "v"), ("m1", "m2", "m3"))
    assert command_words(files) == (
        "'my graph.npz' --features x.npy --labels l.npy --label kind --source a --target b --edge-attr w,v"
    )
    files = UserGraphOptions(features="n.parquet", node_id="key", x="a, b").files(Path("g.npz"), split_seed=3)
    assert (files.id, files.x, files.split_seed) == ("key", ("a", "b"), 3)
    assert command_words(files) == "g.npz --features n.parquet --id key --x a,b"
