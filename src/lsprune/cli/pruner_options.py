"""The options that say how to prune, the same in every command that prunes, and the pruner that they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.study import listed
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from lsprune.pruners import Pruner

PRESETS = ("paper-p", "paper-t", "published-p", "published-t")

NodeId = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="NAME", help="Column of ids in the nodes (default: id, node_id or node, if it is there)."
    ),
]
NodeX = Annotated[
    str,
    typer.Option(
        "--x", metavar="COLUMNS", help="Columns of features (default: x if it holds lists, else all but ids)."
    ),
]
Bipartite = Annotated[
    bool | None,
    typer.Option(
        "--bipartite/--no-bipartite", help="Sources and targets are two kinds of nodes with ids of their own."
    ),
]
TargetId = Annotated[str | None, typer.Option(metavar="NAME", help="With --bipartite: --id of the targets.")]
TargetX = Annotated[str, typer.Option(metavar="COLUMNS", help="With --bipartite: --x of the targets.")]
Keep = Annotated[float | None, typer.Option(help="Share of the edges to keep, in (0, 1].")]
K = Annotated[int | None, typer.Option("--k", help="The most edges that a node keeps.")]
Method = Annotated[str, typer.Option(help="A pruning method; see `lsprune methods`.")]
Hash = Annotated[str | None, typer.Option("--hash", help="A hash family; see `lsprune methods`.")]
Side = Annotated[str | None, typer.Option(help="Which end owns an edge: in (target) or out (source).")]
Length = Annotated[float | None, typer.Option("--l", help="Projection: bin length (default: no bins).")]
Sparsity = Annotated[int | None, typer.Option(help="Entries that a hash function looks at.")]
Bits = Annotated[int | None, typer.Option(help="Signs: bits of a code.")]
Power = Annotated[float | None, typer.Option(help="How much weights count.")]
Attributes = Annotated[str | None, typer.Option(help="Parts that are hashed: owner,edge,neighbour.")]
Values = Annotated[str | None, typer.Option(help="unit (normalised, centred, scaled) or raw.")]
Select = Annotated[str | None, typer.Option(help="functions or bottom.")]
Replace = Annotated[bool | None, typer.Option("--replace/--no-replace", help="Take an edge again?")]
Ties = Annotated[str | None, typer.Option(help="Order of equal keys: hash, id or position.")]
SelfLoops = Annotated[str | None, typer.Option(help="free, edge or drop.")]
Seed = Annotated[int | None, typer.Option(help="The only source of chance (default: 0).")]


def node_counts(
    num_nodes: int | None, num_targets: int | None, bipartite: bool | None
) -> int | tuple[int | None, int | None] | None:
    """The number of nodes as the library takes it: one, or a pair where there are two kinds."""
    if not bipartite:
        if num_targets is not None:
            raise OptionError("--num-targets goes with --bipartite, which is not given")
        return num_nodes
    return None if num_nodes is None and num_targets is None else (num_nodes, num_targets)


def pruner_options(options: Mapping[str, Any], hashing: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, as `from_dict` takes them; `hashing` are those of the hash family.

    >>> pruner_options({"k": 3, "hash": None, "attributes": "edge,neighbour"}, {"l": 0.5, "bits": None})
    {'k': 3, 'attributes': ['edge', 'neighbour'], 'hash': {'name': 'projection', 'l': 0.5}}
    """
    given = _given(options)
    if "attributes" in given:
        given["attributes"] = list(listed(given["attributes"]))
    if own := _given(hashing):
        given["hash"] = {"name": given.get("hash", "projection"), **own}
    return given


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def make_pruner(method: str, preset: str | None, options: Mapping[str, Any]) -> Pruner:
    """The pruner of that name, or the preset; an option it does not have is an OptionError."""
    from lsprune.pruners import from_dict

    return _preset(method, preset, options) if preset else from_dict({"pruner": method, **options})


def _preset(method: str, preset: str, options: Mapping[str, Any]) -> Pruner:
    from lsprune.pruners import LSP

    if preset not in PRESETS:
        raise OptionError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
    foreign = [name for name in options if name not in ("k", "seed")]
    if method != "lsp" or foreign:
        what = foreign[0] if foreign else f"method {method}"
        raise OptionError(f"{what} does not go with preset {preset}, which takes only k and seed")
    if "k" not in options:
        raise OptionError(f"preset {preset} needs k, the most edges that a node keeps")
    maker, _, kind = preset.partition("-")
    make = {"paper": LSP.paper, "published": LSP.published}[maker]
    return make("p" if kind == "p" else "t", k=options["k"], seed=options.get("seed", 0))
