"""Options that describe the files of a user's graph, shared by `lsprune inspect`, `choose` and `compare`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.edge_file_options import (
    EdgeAttr,
    FloatEdgeAttr,
    NodeId,
    NodeX,
    Source,
    Split,
    Target,
    VerifyInput,
    names,
    split_keywords,
)
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from lsprune.lab.user_graph import UserGraph, UserGraphFiles

GraphFile = Annotated[Path, typer.Argument(metavar="GRAPH", help="Edge list: .npz, .parquet, .csv, .tsv, .txt")]
Shares = Annotated[
    str, typer.Option(metavar="LIST", help="Shares of the edges to keep: comma-separated numbers in (0, 1].")
]


@dataclass(frozen=True)
class UserGraphOptions:
    """Files, columns and arrays of a user's graph."""

    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="Node features: .npy, .npz, .parquet, .csv, .tsv (.gz, .zst), or an array of GRAPH (default: x).",
        ),
    ] = None
    node_id: NodeId = None
    x: NodeX = ""
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of labels, if they are neither in GRAPH nor in the features file."),
    ] = None
    label: Annotated[
        str | None, typer.Option(metavar="NAME", help="Array or column of the labels (default: y, if it exists).")
    ] = None
    task: Annotated[
        str | None,
        typer.Option(
            help="What the labels are: node-classification, multi-label (0 and 1, shape [N, labels]) or "
            "node-regression (default: integers and strings are classes, floats are numbers)."
        ),
    ] = None
    edge_attr: EdgeAttr = ""
    float_edge_attr: FloatEdgeAttr = False
    source: Source = None
    target: Target = None
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory limit for the files (default: all available memory).")
    ] = None

    verify_input: VerifyInput = False

    def files(self, graph: Path, splits: SplitOptions | None = None) -> UserGraphFiles:
        """Return the files and names of these options."""
        from lsprune.lab.user_graph import UserGraphFiles

        more = {} if splits is None else splits.keywords()
        return UserGraphFiles(
            graph=graph, features=self.features, labels=self.labels, label=self.label, source=self.source,
            edge_attr=names(self.edge_attr), target=self.target, id=self.node_id, x=names(self.x), memory=self.memory,
            verify_input=self.verify_input, task=self.task, float_edge_attr=self.float_edge_attr, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class SplitOptions:
    """How nodes are split."""

    split: Split = ""
    split_seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of a random 60/20/20 split, used instead of masks (default without masks: 0)."),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `UserGraphFiles`."""
        return {**split_keywords(self.split), "split_seed": self.split_seed}


def command_words(files: UserGraphFiles) -> str:
    """Return the graph and its options as words of a command line of `inspect`, `choose` or `compare`."""
    words = [str(files.graph), *_option_words(files, "features", "id", "labels", "label", "task")]
    split = ",".join(files.split) if files.split_number is None else str(files.split_number)
    words += ["--split", split] if split else []
    words += ["--x", ",".join(files.x)] if files.x else []
    return shlex.join([*words, *_edge_words(files)])


def prune_words(files: UserGraphFiles, user_graph: UserGraph, fitted: Path) -> str:
    """Return the words of `lsprune prune` that prune the same graph with a fitted pruner."""
    from lsprune.files import suffix_of

    words = ["lsprune", "prune", str(files.graph), f"pruned{suffix_of(files.graph)}"]
    if files.node_file is not None:
        words += _option_words(files, "features", "id")
    elif files.features not in (None, "x"):  # `prune` takes an array of the graph by this name alone
        words += ["--features", f"{files.features}.npy"]
    if user_graph.no_features:
        words += _feature_words(files, user_graph)
    return shlex.join([*words, *_edge_words(files), "--fitted", str(fitted)])


def _feature_words(files: UserGraphFiles, user_graph: UserGraph) -> list[str]:
    """Return the words that tell the features of a node file from its other columns: what these are, or --x."""
    split = files.split if files.split_number is None else ()
    if files.label is not None and {*user_graph.no_features} == {files.label, *split} and not files.x:
        return ["--label", files.label, *(["--split", ",".join(split)] if split else [])]
    return ["--x", ",".join(user_graph.features)]


def _option_words(files: UserGraphFiles, *names: str) -> list[str]:
    values = {name: getattr(files, name) for name in names}
    return [word for name, value in values.items() if value is not None for word in (f"--{name}", str(value))]


def _edge_words(files: UserGraphFiles) -> list[str]:
    """Return the words about edges and about reading, which all commands share."""
    words = _option_words(files, "source", "target", "memory")
    words += ["--edge-attr", ",".join(files.edge_attr)] if files.edge_attr else []
    words += ["--float-edge-attr"] if files.float_edge_attr else []
    return [*words, *(["--verify-input"] if files.verify_input else [])]


def parse_shares(text: str) -> list[float]:
    """Parse comma-separated numbers; raise OptionError if there are none or one is not in (0, 1].

    >>> parse_shares("0.1, 0.25")
    [0.1, 0.25]
    """
    try:
        shares = [float(word) for word in names(text)]
    except ValueError:
        shares = []
    if not shares or not all(0 < share <= 1 for share in shares):
        raise OptionError(f"shares must be comma-separated numbers in (0, 1], such as 0.1,0.25, got {text!r}")
    return shares
