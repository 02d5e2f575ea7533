"""Options that describe the files of a user's graph, shared by `lsprune inspect`, `choose` and `compare`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.edge_file_options import EdgeAttr, NodeId, NodeX, Source, Target, VerifyInput, names
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from lsprune.lab.user_graph import UserGraphFiles

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
            metavar="FILE|NAME", help="Node features: .npy, .npz, .parquet, or an array of GRAPH (default: x)."
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
            verify_input=self.verify_input, task=self.task, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class SplitOptions:
    """How nodes are split."""

    split: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Names of three masks, or of one column with the values train, val and test (default: train_mask, "
            "val_mask, test_mask). If the masks hold several splits (shape [N, splits]), the number of one, from 0.",
        ),
    ] = ""
    split_seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of a random 60/20/20 split, used instead of masks (default without masks: 0)."),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `UserGraphFiles`."""
        text = self.split.strip()
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
        split = names(text) if number is None else ()
        return {"split": split, "split_number": number, "split_seed": self.split_seed}


def command_words(files: UserGraphFiles) -> str:
    """Return the graph and its options as words of a command line."""
    words = [str(files.graph)]
    for name in ("features", "id", "labels", "label", "task", "source", "target", "memory"):
        value = getattr(files, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += ["--x", ",".join(files.x)] if files.x else []
    words += ["--edge-attr", ",".join(files.edge_attr)] if files.edge_attr else []
    words += ["--verify-input"] if files.verify_input else []
    return shlex.join(words)


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
