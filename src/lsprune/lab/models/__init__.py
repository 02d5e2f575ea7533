"""The paper's models (appendix B.3) by name: `build("github-gat", in_dim=128, out_dim=2)` is an `nn.Module`.

Every model is called with a PyG `Data` or `Batch`. Node models give `[N, out_dim]`, graph models `[G, out_dim]`.
Beside `edge_index` a model reads the attributes that its `reads` names, `x` where it has none.
A model that is `static` makes no tensor whose size depends on the values of another, so that its steps can be recorded;
where its `loops` is false, graphs without self-loops are the same to it. A model of nodes that has a
method `settled` is static on the graphs that this makes of others, which never change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lsprune.errors import MissingDependency, OptionError

try:
    import torch
    from torch import Tensor, nn

    from lsprune.lab.models.gat import PPIGAT, GitHubGAT, NodeGAT
    from lsprune.lab.models.mxmnet import MXMNet
    from lsprune.lab.models.pna import ZincPNA
    from lsprune.lab.models.sampled_gat import PlanetoidGAT
    from lsprune.lab.models.synthetic import SyntheticGAT
except ImportError as error:
    raise MissingDependency("lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'") from error

# What makes each model of (in_dim, out_dim, basic, degrees).
Builder = Callable[[int, int, bool, Tensor | None], nn.Module]


def build(name: str, *, in_dim: int, out_dim: int, basic: bool = False, degrees: Tensor | None = None) -> nn.Module:
    """The model of that name, with fresh weights from torch's default generator.

    Args:
        name: one of `MODELS`.
        in_dim: columns of `x`; models of molecules, whose atoms are categories, do not use it.
        out_dim: classes, labels or regression targets.
        basic: the same widths and layers without attention (paper, appendix B.3.4). A model that has none refuses.
        degrees: how many nodes of the training graphs have in-degree 0, 1, ..; zinc-pna needs it, the others ignore it.

    >>> build("resnet", in_dim=1, out_dim=1)
    Traceback (most recent call last):
    lsprune.errors.OptionError: model must be one of github-gat, planetoid-gat, node-gat, synthetic-gat, \
synthetic-gat-small, ppi-gat, zinc-pna, qm9-mxmnet, got 'resnet'
    """
    if name not in MODELS:
        raise OptionError(f"model must be one of {', '.join(MODELS)}, got {name!r}")
    for option, value, least in (("in_dim", in_dim, 0), ("out_dim", out_dim, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise OptionError(f"{option} must be an integer >= {least}, got {value!r}")
    return MODELS[name](in_dim, out_dim, basic, degrees)


def _attention(name: str, model: Any) -> Builder:
    """A builder of a model that has a basic variant."""

    def make(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
        if in_dim < 1:
            raise OptionError(f"in_dim must be >= 1 for {name}, got {in_dim}; the graphs have no node features")
        made: nn.Module = model(in_dim, out_dim, basic=basic)
        return made

    return make


def _refuse_basic(name: str, basic: bool) -> None:
    if basic:
        raise OptionError(f"basic must be False for {name}, got True; it has no attention to take away")


def _pna(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
    _refuse_basic("zinc-pna", basic)
    if degrees is None:
        raise OptionError("degrees must be the histogram of in-degrees of the training graphs for zinc-pna, got None")
    return ZincPNA(out_dim, degrees=torch.as_tensor(degrees))


def _mxmnet(in_dim: int, out_dim: int, basic: bool, degrees: Tensor | None) -> nn.Module:
    _refuse_basic("qm9-mxmnet", basic)
    return MXMNet(out_dim)


MODELS: dict[str, Builder] = {
    "github-gat": _attention("github-gat", GitHubGAT),
    "planetoid-gat": _attention("planetoid-gat", PlanetoidGAT),
    "node-gat": _attention("node-gat", NodeGAT),
    "synthetic-gat": _attention("synthetic-gat", SyntheticGAT),
    "synthetic-gat-small": _attention("synthetic-gat-small", partial(SyntheticGAT, width=16, heads=4, dropout=0.2)),
    "ppi-gat": _attention("ppi-gat", PPIGAT),
    "zinc-pna": _pna,
    "qm9-mxmnet": _mxmnet,
}
