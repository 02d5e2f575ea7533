"""Options that `inspect`, `choose` and `compare` share."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from own_files import arrays, tables
from typer.testing import CliRunner

from lsprune.cli import app
from lsprune.cli.user_graph_options import SplitOptions, UserGraphOptions, command_words, parse_shares, prune_words
from lsprune.errors import OptionError
from lsprune.files import seal


def test_shares_are_comma_separated_numbers() -> None:
    assert parse_shares("0.1, 1,0.25") == [0.1, 1.0, 0.25]
    for wrong in ("", ",", "0", "1.1", "nan", "0.5;0.6"):
        with pytest.raises(OptionError, match="shares must be comma-separated numbers"):
            parse_shares(wrong)


def test_options_become_files_and_words_again() -> None:
    options = UserGraphOptions(
        features="x.npy", labels=Path("l.npy"), label="kind", edge_attr="w, v", source="a", target="b"
    )
    files = options.files(Path("my graph.npz"), SplitOptions(split="m1,m2,m3"))
    assert (files.features, files.edge_attr, files.split) == ("x.npy", ("w", "v"), ("m1", "m2", "m3"))
    assert command_words(files) == (
        "'my graph.npz' --features x.npy --labels l.npy --label kind --split m1,m2,m3 --source a --target b "
        "--edge-attr w,v"
    )
    files = UserGraphOptions(features="n.parquet", node_id="key", x="a, b").files(
        Path("g.npz"), SplitOptions(split_seed=3)
    )
    assert (files.id, files.x, files.split_seed) == ("key", ("a", "b"), 3)
    assert command_words(files) == "g.npz --features n.parquet --id key --x a,b"


def test_a_number_is_that_of_a_split_and_a_name_is_not() -> None:
    files = UserGraphOptions(verify_input=True, task="multi-label").files(Path("g.npz"), SplitOptions(split=" 12 "))
    assert (files.split, files.split_number, files.task, files.verify_input) == ((), 12, "multi-label", True)
    assert command_words(files) == "g.npz --task multi-label --split 12 --verify-input"
    files = UserGraphOptions().files(Path("g.npz"), SplitOptions(split="part2"))
    assert (files.split, files.split_number) == (("part2",), None)


@pytest.mark.parametrize(
    ("command", "more"),
    [("inspect", ("--methods", "random", "--shares", "0.5")), ("choose", ("--keep", "0.5")), ("compare", ())],
)
def test_input_is_verified(
    command: str, more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if command == "compare":
        pytest.importorskip("torch_geometric")
    monkeypatch.chdir(tmp_path)
    edges, nodes = tables(tmp_path, y=arrays()["y"])
    words = [command, edges.name, "--features", nodes.name, *more, "--verify-input"]

    def refused() -> str:
        wrong = CliRunner().invoke(app, words)
        assert (wrong.exit_code, wrong.stdout, wrong.stderr.count("\n")) == (1, "", 1), wrong.output
        return str(wrong.stderr)

    assert refused().startswith("error: edges.parquet: has no seal (edges.parquet.lsprune.json)")
    seal(edges)
    assert refused().startswith("error: nodes.parquet: has no seal")
    seal(nodes)
    if command != "compare":  # which would train
        assert CliRunner().invoke(app, words).exit_code == 0
    nodes.write_bytes(nodes.read_bytes() + b" ")
    assert refused().startswith("error: nodes.parquet")


def test_words_of_prune() -> None:
    graph = SimpleNamespace(features=("a", "b"), no_features=("topic", "part"))
    files = UserGraphOptions(features="n.csv", label="topic", source="u", target="v", edge_attr="w").files(
        Path("my e.csv.gz"), SplitOptions(split="part")
    )
    assert prune_words(files, graph, Path("p.npz")) == (
        "lsprune prune 'my e.csv.gz' pruned.csv.gz --features n.csv --label topic --split part --source u --target v "
        "--edge-attr w --fitted p.npz"
    )
    files = UserGraphOptions(features="n.csv", label="topic").files(Path("e.csv"))
    assert " --x a,b --fitted" in prune_words(files, graph, Path("p.npz"))
    graph = SimpleNamespace(features=(), no_features=())
    files = UserGraphOptions(label="y").files(Path("g.npz"), SplitOptions(split="0"))
    assert prune_words(files, graph, Path("p.npz")) == "lsprune prune g.npz pruned.npz --fitted p.npz"
