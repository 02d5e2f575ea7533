"""Options that define a pruner, shared by every command that prunes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.checks import did_you_mean
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from lsprune.pruners import Pruner

RECOMMENDED = "auto"  # the preset that is not the paper's
PRESETS = ("paper-p", "paper-t", "published-p", "published-t")
PLAIN = (
    "keep",
    "k",
    "budget",
    "side",
    "select",
    "symmetric",
    "self_loops",
    "seed",
    "hash",
    "weights",
)  # passed on as they are


@dataclass(frozen=True)
class PrunerOptions:
    """Which pruner, and its options."""

    keep: Annotated[float | None, typer.Option(help="Share of the edges to keep, in (0, 1].")] = None
    k: Annotated[int | None, typer.Option("--k", help="Maximum number of edges to keep per node.")] = None
    budget: Annotated[
        str | None,
        typer.Option(
            "--per-node",
            metavar="SPEC",
            help="A budget per node: share=0.3 (of the node's edges, rounded up) or exponent=0.5 (its degree to this "
            "power); add at_least=2 for a minimum, as in share=0.3,at_least=2.",
        ),
    ] = None
    pruner: Annotated[
        str,
        typer.Option(
            "--pruner", "--method", metavar="NAME", help="A pruner, such as lsp or local-random; see `lsprune methods`."
        ),
    ] = "lsp"
    hash: Annotated[
        str | None,
        typer.Option("--hash", metavar="SPEC", help="A hash family, such as signs:bits=4, or auto."),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Prefer some edges: degree:power=0.4, jaccard, similarity, labels, edge:2 (column 2 of edge_attr), "
            "auto, or a product such as labels:2*degree:0.5.",
        ),
    ] = None
    attributes: Annotated[
        str | None,
        typer.Option(metavar="PARTS", help="What to hash: a comma-separated list of owner, edge, neighbour."),
    ] = None
    select: Annotated[
        str | None,
        typer.Option(
            help="Use one hash function for each edge to keep (functions, the default) or one for all (bottom)."
        ),
    ] = None
    side: Annotated[str | None, typer.Option(help="Which end owns an edge: in (target) or out (source).")] = None
    symmetric: Annotated[
        str | None, typer.Option(help="Keep both directions of an edge together: union or intersection.")
    ] = None
    self_loops: Annotated[
        str | None,
        typer.Option(
            help="Self-loops: kept and not counted (free, the default), like other edges (edge), or removed (drop)."
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers (default: 0).")] = None
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="auto: the recommended setting, which looks at the graph (LSP.auto in Python). LSP as in the paper: "
            f"{', '.join(PRESETS)}.",
        ),
    ] = None
    settings: Annotated[
        list[str],
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any other option of the pruner, such as column=2; repeat it."
        ),
    ] = field(default_factory=list)

    fitted: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A pruner that `lsprune fit` wrote, instead of options; only --keep, --k or --per-node may be added.",
        ),
    ] = None

    def table(self) -> dict[str, Any]:
        """Return the options that were given, as `from_dict` takes them."""
        from lsprune.specs import parse_setting

        table = {name: getattr(self, name) for name in PLAIN if getattr(self, name) is not None}
        if self.attributes is not None:
            table["attributes"] = [part.strip() for part in self.attributes.split(",") if part.strip()]
        for name, value in map(parse_setting, self.settings):
            if name in table:
                raise OptionError(f"{name} must be given once, got it twice")
            table[name] = [value] if name == "attributes" and isinstance(value, str) else value
        return table

    def make(self) -> Pruner:
        """Build the pruner; raise OptionError for an option that it does not have."""
        from lsprune.pruners import pruner

        if self.fitted is not None:
            return self._load(self.fitted)
        return self._preset(self.preset) if self.preset is not None else pruner(self.pruner, **self.table())

    def _load(self, path: Path) -> Pruner:
        """Load a saved pruner; raise OptionError for options other than a budget."""
        from lsprune.pruners import load

        options = self.table()
        others = [name for name in options if name not in ("k", "keep", "budget")]
        if others or self.pruner != "lsp" or self.preset:
            raise OptionError(f"fitted must come alone: {next(iter(others), 'pruner')} is in the saved pruner already")
        saved = load(path)
        return saved.with_budget(**options) if options else saved

    def _preset(self, preset: str) -> Pruner:
        from lsprune.pruners import LSP

        options = self.table()
        if preset == RECOMMENDED:
            return self._recommended(options)
        if preset not in PRESETS:
            known = (RECOMMENDED, *PRESETS)
            hint = did_you_mean(preset, known)
            raise OptionError(f"preset must be one of {', '.join(known)}, got {preset!r}{hint}")
        others = [name for name in options if name not in ("k", "seed")]
        if self.pruner != "lsp" or others:
            what = others[0] if others else f"pruner {self.pruner}"
            raise OptionError(f"{what} does not go with preset {preset}, which takes only k and seed")
        if "k" not in options:
            raise OptionError(f"preset {preset} needs k, the most edges that a node keeps")
        maker, _, kind = preset.partition("-")
        make = {"paper": LSP.paper, "published": LSP.published}[maker]
        return make("p" if kind == "p" else "t", k=options["k"], seed=options.get("seed", 0))

    def _recommended(self, options: dict[str, Any]) -> Pruner:
        """Return LSP.auto; raise OptionError for what it chooses by itself."""
        from lsprune.pruners import LSP, pruner

        chosen = [name for name in ("hash", "weights", "attributes", "select") if name in options]
        if self.pruner != "lsp" or chosen:
            what = chosen[0] if chosen else f"pruner {self.pruner}"
            raise OptionError(f"{what} does not go with preset {RECOMMENDED}, which chooses hash and weights by itself")
        auto = LSP.auto(k=1)
        return pruner("lsp", hash=auto.hash, weights=auto.weights, **options)
