"""Options that name the columns and arrays of edge and node files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.errors import OptionError

if TYPE_CHECKING:
    from lsprune.graph import Graph
    from lsprune.pruners import Pruner

NodeId = Annotated[
    str | None,
    typer.Option("--id", metavar="NAME", help="Column of node ids (default: id, node_id or node, if one exists)."),
]
NodeX = Annotated[
    str,
    typer.Option("--x", metavar="COLUMNS", help="Feature columns (default: x if it holds lists, else all except ids)."),
]
TargetId = Annotated[
    str | None, typer.Option(metavar="NAME", help="With --bipartite: the same as --id, for the targets.")
]
TargetX = Annotated[str, typer.Option(metavar="COLUMNS", help="With --bipartite: the same as --x, for the targets.")]
EdgeAttr = Annotated[str, typer.Option(metavar="COLUMNS", help="Edge attributes: comma-separated column names.")]
FloatEdgeAttr = Annotated[
    bool,
    typer.Option(
        "--float-edge-attr",
        help="Read whole numbers in edge attributes as quantities, such as times or counts; otherwise one column of "
        "them is a category.",
    ),
]
Source = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of source ids (default: source, src, s or from).")
]
Target = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of target ids (default: target, dst, t or to).")
]
Bipartite = Annotated[
    bool | None,
    typer.Option(
        "--bipartite/--no-bipartite", help="Sources and targets are two kinds of nodes, each with its own ids."
    ),
]
VerifyInput = Annotated[
    bool,
    typer.Option("--verify-input", help="Refuse inputs that changed after `lsprune seal`, or have no seal."),
]


Split = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Names of three masks, or of one column with the values train, val and test (default: train_mask, "
        "val_mask, test_mask). If the masks hold several splits (shape [N, splits]), the number of one, from 0.",
    ),
]


def split_keywords(text: str) -> dict[str, Any]:
    """Return the keywords of `--split`: names, or the number of a split.

    >>> split_keywords("part"), split_keywords("2")
    ({'split': ('part',), 'split_number': None}, {'split': (), 'split_number': 2})
    """
    word = text.strip()
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 10 else None
    return {"split": names(word) if number is None else (), "split_number": number}


def refuse_unused_labels(graph: Graph, pruner: Pruner, label: str | None) -> None:
    """Raise OptionError if labels are named and the preset auto would not look at them: some may be test labels.

    Args:
        label: what --label names.
    """
    if label is not None and graph.train_mask is None and getattr(getattr(pruner, "weights", None), "labels", False):
        raise OptionError(
            f"label {label!r} would not be used: name the training nodes with --train-mask or --split; to learn from "
            "all labels, give --weights labels"
        )


def names(text: str) -> tuple[str, ...]:
    """Split comma-separated names.

    >>> names("a, b,")
    ('a', 'b')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True)
class EdgeFileOptions:
    """Columns and arrays of an edge file and of node tables."""

    features: Annotated[
        Path | None,
        typer.Option(
            help="Node features: .npy, .npz, .parquet, .csv, .tsv (.gz, .zst); with --bipartite, of the sources."
        ),
    ] = None
    node_id: NodeId = None
    x: NodeX = ""
    edge_attr: EdgeAttr = ""
    float_edge_attr: FloatEdgeAttr = False
    source: Source = None
    target: Target = None
    num_nodes: Annotated[int | None, typer.Option(help="Number of nodes (default: largest id + 1).")] = None
    edge_arrays: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Arrays of a .npz with one entry per edge (default: those as long as the edges)."
        ),
    ] = ""
    node_arrays: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Arrays of a .npz that do not belong to the edges; copied unchanged."),
    ] = ""
    bipartite: Bipartite = None
    target_features: Annotated[Path | None, typer.Option(help="With --bipartite: features of the targets.")] = None
    target_id: TargetId = None
    target_x: TargetX = ""
    num_targets: Annotated[int | None, typer.Option(help="With --bipartite: number of targets.")] = None
    label: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Node labels, for --weights labels: an array of IN (default: y) or a column of --features.",
        ),
    ] = None
    train_mask: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Training nodes: an array or column, as for --label (default: train_mask). Labels of other nodes are "
            "not read. Or name a --split.",
        ),
    ] = None
    split: Split = ""

    verify_input: VerifyInput = False

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `read_edges` and `prune_stream`."""
        return {
            "source": self.source, "target": self.target, "edge_attr": names(self.edge_attr),
            "float_edge_attr": self.float_edge_attr, "features": self.features, "id": self.node_id,
            "x": names(self.x), "num_nodes": self._node_counts(),
            "edge_arrays": names(self.edge_arrays), "node_arrays": names(self.node_arrays),
            "bipartite": self.bipartite, "target_features": self.target_features, "target_id": self.target_id,
            "target_x": names(self.target_x), "label": self.label, "train_mask": self.train_mask,
            "verify_input": self.verify_input, **split_keywords(self.split),
        }  # fmt: skip

    def _node_counts(self) -> int | tuple[int | None, int | None] | None:
        """Return the number of nodes, or a pair of numbers if there are two kinds."""
        if self.bipartite:
            none = self.num_nodes is None and self.num_targets is None
            return None if none else (self.num_nodes, self.num_targets)
        if self.num_targets is not None:
            raise OptionError("--num-targets needs --bipartite")
        return self.num_nodes
