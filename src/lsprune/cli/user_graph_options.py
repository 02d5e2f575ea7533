"""What `lsprune compare` and `lsprune inspect` share: the options that say what is what in a user's own files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsprune.cli.study import listed
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from lsprune.lab.user_graph import UserGraphFiles

GraphFile = Annotated[Path, typer.Argument(metavar="GRAPH", help="Edge list: .npz, .parquet, .csv, .tsv, .txt")]
Features = Annotated[
    str | None,
    typer.Option(metavar="FILE|NAME", help="Node features: .npy, .npz, .parquet, or an array of GRAPH (default: x)."),
]
Labels = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Labels, if neither in GRAPH nor in the file of features.")
]
Label = Annotated[
    str | None, typer.Option(metavar="NAME", help="Array or column of the labels (default: y, if it is there).")
]
EdgeAttr = Annotated[str, typer.Option(metavar="COLUMNS", help="Edge attributes: columns, by commas.")]
Source = Annotated[str | None, typer.Option(metavar="NAME", help="Column of the sources.")]
Target = Annotated[str | None, typer.Option(metavar="NAME", help="Column of the targets.")]
Memory = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Memory that the files may take (default: what is available).")
]
Shares = Annotated[str, typer.Option(metavar="LIST", help="Shares of the edges to keep, in (0, 1], by commas.")]


def own_files(
    graph: Path,
    features: str | None,
    labels: Path | None,
    label: str | None,
    edge_attr: str,
    source: str | None,
    target: str | None,
    split: str = "",
    split_seed: int | None = None,
    node_id: str | None = None,
    x: str = "",
    memory: str | None = None,
) -> UserGraphFiles:
    """The files and names of these options."""
    from lsprune.lab.user_graph import UserGraphFiles

    return UserGraphFiles(
        graph=graph, features=features, labels=labels, label=label, edge_attr=tuple(listed(edge_attr)), source=source,
        target=target, split=tuple(listed(split)), split_seed=split_seed, id=node_id, x=tuple(listed(x)), memory=memory,
    )  # fmt: skip


def command_words(files: UserGraphFiles) -> str:
    """The graph and the options that say what is what in it, as one would type them."""
    words = [str(files.graph)]
    for name in ("features", "id", "labels", "label", "source", "target", "memory"):
        given = getattr(files, name)
        words += [] if given is None else [f"--{name}", str(given)]
    words += ["--x", ",".join(files.x)] if files.x else []
    words += ["--edge-attr", ",".join(files.edge_attr)] if files.edge_attr else []
    return shlex.join(words)


def shares_of(text: str) -> list[float]:
    """The numbers of a list by commas, at least one."""
    try:
        shares = [float(one) for one in listed(text)]
    except ValueError:
        shares = []
    if not shares or not all(0 < share <= 1 for share in shares):
        raise OptionError(f"shares must be numbers in (0, 1], by commas, such as 0.1,0.25, got {text!r}")
    return shares
