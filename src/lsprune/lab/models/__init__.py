"""The paper's models (appendix B.3) and others by name: `build("github-gat", in_dim=128, out_dim=2)` makes a module.

Call a model with a PyG `Data` or `Batch`. Node models return `[N, out_dim]`, graph models `[G, out_dim]`. These class
attributes and methods are optional; `lsprune.lab.training` reads them:

    reads            the attributes that the model uses besides `edge_index`; default `x`
    static_shapes    True if no tensor size depends on the values of another tensor (as a CUDA graph requires)
    self_loops       False if self-loops in the input make no difference, since the model adds its own
    precompute       returns a copy of one graph with its derived edge lists; with that copy a node model has static
                     shapes

`build_hetero` makes a model of `HETERO_MODELS`, which is called with a `HeteroData` or with what `precompute` returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lsprune.checks import did_you_mean
from lsprune.errors import MissingDependency, OptionError

try:
    import torch
    from torch import Tensor, nn

    from lsprune.lab.models.convolutions import KINDS, ConvolutionNet
    from lsprune.lab.models.gat import PPIGAT, GitHubGAT, NodeGAT
    from lsprune.lab.models.hetero_sage import HeteroSAGE
    from lsprune.lab.models.mxmnet import MXMNet
    from lsprune.lab.models.pna import ZincPNA
    from lsprune.lab.models.sampled_gat import PlanetoidGAT
    from lsprune.lab.models.skip_connections import SKIP_KINDS, SkipNet
    from lsprune.lab.models.synthetic_gat import SyntheticGAT
except ImportError as error:
    raise MissingDependency("lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'") from error

# (in_dim, out_dim, basic, degrees) -> model
Builder = Callable[[int, int, bool, Tensor | None], nn.Module]


def build(name: str, *, in_dim: int, out_dim: int, basic: bool = False, degrees: Tensor | None = None) -> nn.Module:
    """Return the model of that name, its weights drawn from torch's default generator.

    Args:
        name: one of `MODELS`.
        in_dim: columns of `x`; the molecule models, whose atoms are categories, ignore it.
        out_dim: number of classes, labels or regression targets.
        basic: the same widths and layers without attention (paper, appendix B.3.4); False for models without attention.
        degrees: how many nodes of the training graphs have in-degree 0, 1, ...; only PNA needs it.

    >>> build("resnet", in_dim=1, out_dim=1)
    Traceback (most recent call last):
    lsprune.errors.OptionError: model must be one of github-gat, planetoid-gat, node-gat, synthetic-gat, \
synthetic-gat-small, ppi-gat, zinc-pna, qm9-mxmnet, node-gcn, graph-gcn, node-sage, graph-sage, node-pna, graph-pna, \
node-gcn-skip, node-sage-skip, node-gat-skip, got 'resnet'
    """
    if name not in MODELS:
        raise OptionError(f"model must be one of {', '.join(MODELS)}, got {name!r}{did_you_mean(name, MODELS)}")
    for option, value, minimum in (("in_dim", in_dim, 0), ("out_dim", out_dim, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            raise OptionError(f"{option} must be an integer >= {minimum}, got {value!r}")
    return MODELS[name](in_dim, out_dim, basic, degrees)


def build_hetero(name: str, data: Any, *, target: str, out_dim: int) -> nn.Module:
    """Return the model of that name for the kinds of nodes and relations of a `HeteroData`.

    Args:
        name: one of `HETERO_MODELS`.
        target: the kind of nodes that has classes. out_dim: their number.

    >>> build_hetero("node-gat", None, target="paper", out_dim=3)
    Traceback (most recent call last):
    lsprune.errors.OptionError: model must be one of hetero-sage for a graph of several kinds of nodes, got 'node-gat'
    """
    if name not in HETERO_MODELS:
        names = ", ".join(HETERO_MODELS)
        raise OptionError(f"model must be one of {names} for a graph of several kinds of nodes, got {name!r}")
    widths = {kind: int(data[kind].x.shape[1]) for kind in data.node_types}
    return HETERO_MODELS[name](widths, [tuple(key) for key in data.edge_types], target, out_dim)


def _attention_builder(name: str, model_class: Any) -> Builder:
    """Return a builder for a model that has a basic variant."""

    def make(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
        _check_features(name, in_dim)
        model: nn.Module = model_class(in_dim, out_dim, basic=basic)
        return model

    return make


def _check_features(name: str, in_dim: int) -> None:
    if in_dim < 1:
        raise OptionError(f"in_dim must be >= 1 for {name}, got {in_dim}; the graphs have no node features")


def _refuse_basic(name: str, basic: bool) -> None:
    if basic:
        raise OptionError(f"basic must be False for {name}, got True; the model has no attention to remove")


def _pna(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
    _refuse_basic("zinc-pna", basic)
    if degrees is None:
        raise OptionError("degrees must be the histogram of in-degrees of the training graphs for zinc-pna, got None")
    return ZincPNA(out_dim, degrees=torch.as_tensor(degrees))


def _mxmnet(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
    _refuse_basic("qm9-mxmnet", basic)
    return MXMNet(out_dim)


def _convolutions(kind: str, pooled: bool) -> Builder:
    """Return a builder for the nodes of one graph, or for graphs if `pooled`."""

    def make(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
        _refuse_basic(f"{'graph' if pooled else 'node'}-{kind}", basic)
        return ConvolutionNet(in_dim, out_dim, kind=kind, degrees=degrees, pooled=pooled)

    return make


def _skip_connections(kind: str) -> Builder:
    """Return a builder for the nodes of one graph or of several."""
    name = f"node-{kind}-skip"

    def make(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
        _refuse_basic(name, basic)
        _check_features(name, in_dim)
        return SkipNet(in_dim, out_dim, kind=kind)

    return make


_SMALL_SYNTHETIC_GAT = partial(SyntheticGAT, width=16, heads=4, dropout=0.2)
MODELS: dict[str, Builder] = {
    "github-gat": _attention_builder("github-gat", GitHubGAT),
    "planetoid-gat": _attention_builder("planetoid-gat", PlanetoidGAT),
    "node-gat": _attention_builder("node-gat", NodeGAT),
    "synthetic-gat": _attention_builder("synthetic-gat", SyntheticGAT),
    "synthetic-gat-small": _attention_builder("synthetic-gat-small", _SMALL_SYNTHETIC_GAT),
    "ppi-gat": _attention_builder("ppi-gat", PPIGAT),
    "zinc-pna": _pna,
    "qm9-mxmnet": _mxmnet,
    **{f"{name}-{kind}": _convolutions(kind, name == "graph") for kind in KINDS for name in ("node", "graph")},
    **{f"node-{kind}-skip": _skip_connections(kind) for kind in SKIP_KINDS},
}
# (widths of kinds, relations, kind with classes, out_dim) -> model
HETERO_MODELS: dict[str, Callable[[dict[str, int], list[Any], str, int], nn.Module]] = {"hetero-sage": HeteroSAGE}
