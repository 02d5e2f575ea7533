"""What a study compares: names of methods, and the pruner that each stands for at a given budget and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lsprune.baselines import (
    Cosine,
    DSpar,
    EffectiveResistance,
    First,
    Jaccard,
    LocalDegree,
    LocalRandom,
    LowDegree,
    NoEdges,
    Random,
    SpanningForest,
)
from lsprune.errors import OptionError
from lsprune.hashing import Auto, Codebook, Identity, Signs, Structure, Threshold
from lsprune.pruners import LSP, BudgetedPruner, Pruner
from lsprune.weights import Degree

# Each for a sparsity of the published presets, with k=1, which stands for what the run says. At equal k every one of
# them keeps the sum of min(k, degree) edges, so that equal k means equal share.
BUDGETED: dict[str, Callable[[int], BudgetedPruner]] = {
    "random": lambda _: Random(k=1),
    "local-random": lambda _: LocalRandom(k=1),
    "dropedge": lambda _: Random(k=1),  # drawn again in every epoch; judged on the whole graph
    "lsp-p": lambda _: LSP(k=1),
    "lsp-t": lambda _: LSP(k=1, hash=Threshold()),
    "lsp-d": lambda _: LSP(k=1, weights=Degree(power=0.4)),
    "lsp-d1": lambda _: LSP(k=1, weights="degree"),
    "lsp-q": lambda _: LSP(k=1, hash=Codebook()),
    "lsp-e": lambda _: LSP(k=1, hash=Codebook(), attributes=("edge",), select="bottom"),
    "lsp-qd": lambda _: LSP(k=1, hash=Codebook(), weights=Degree(power=0.5)),
    "lsp-s": lambda _: LSP(k=1, hash=Signs(bits=6)),
    "lsp-i": lambda _: LSP(k=1, hash=Identity()),
    "lsp-id": lambda _: LSP(k=1, hash=Identity(), weights="degree"),
    "lsp-ij": lambda _: LSP(k=1, hash=Identity(), weights="jaccard"),
    "lsp-j": lambda _: LSP(k=1, weights="jaccard"),
    "lsp-w": lambda _: LSP(k=1, hash=Structure()),
    "lsp-a": lambda _: LSP(k=1, weights="similarity"),
    "lsp-auto": lambda _: LSP(k=1, hash=Auto(), select="bottom"),
    "lsp-auto-a": lambda _: LSP(k=1, hash=Auto(), weights="auto"),
    "position": lambda _: First(k=1),  # on generated graphs an upper bound: the order of a list survives the noise
    "low-degree": lambda _: LowDegree(k=1),
    "local-degree": lambda _: LocalDegree(k=1),
    "jaccard": lambda _: Jaccard(k=1),
    "cosine": lambda _: Cosine(k=1),
    "dspar": lambda _: DSpar(k=1),
    "effective-resistance": lambda _: EffectiveResistance(k=1),
    "spanning-forest": lambda _: SpanningForest(k=1),
    "lsp-p-paper": lambda _: LSP.paper("p", k=1),
    "lsp-t-paper": lambda _: LSP.paper("t", k=1),
    "lsp-p-published": lambda sparsity: LSP.published("p", k=1, sparsity=sparsity),
    "lsp-t-published": lambda sparsity: LSP.published("t", k=1, sparsity=sparsity),
    "lsp-auto-a-out": lambda _: LSP(k=1, hash=Auto(), weights="auto", side="out"),
    "local-random-out": lambda _: LocalRandom(k=1, side="out"),
    "position-out": lambda _: First(k=1, side="out"),
}
REFERENCES = ("none", "no-edges", "basic")  # the whole graph, no graph, the whole graph with the plain model
NAMES = (*REFERENCES, *BUDGETED)
PAPER = (
    *REFERENCES, "random", "local-random", "lsp-p", "lsp-t", "lsp-p-paper", "lsp-t-paper", "lsp-p-published",
    "lsp-t-published",
)  # fmt: skip
FRESH = ("dropedge",)  # not pruned before training: a mask of its own for every epoch
NEEDS_K = ("lsp-t-published",)  # its signature depends on k, so that a share cannot be its budget


def pruner_for(
    method: str, k: int | None, seed: int, *, keep: float | None = None, sparsity: int = 25
) -> Pruner | None:
    """The pruner of a method with the budget k or keep; None where the whole graph is used."""
    if method not in NAMES:
        raise OptionError(f"method must be one of {', '.join(NAMES)}, got {method!r}")
    if method == "no-edges":
        return NoEdges()
    if method in REFERENCES:
        return None
    if k is None and keep is None:
        raise OptionError(f"k or keep must be given for method {method}")
    return replace(BUDGETED[method](sparsity), k=k, keep=keep, seed=seed)
