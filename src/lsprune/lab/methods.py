"""What a study compares: names of methods, and the pruner that each stands for at a given budget and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lsprune.baselines import LocalRandom, NoEdges, Random
from lsprune.errors import OptionError
from lsprune.hashing import Threshold
from lsprune.pruners import LSP, Budgeted, Pruner

# Each for a sparsity of the published presets, with k=1, which stands for what the run says. At equal k every one of
# them keeps the sum of min(k, degree) edges, so that equal k means equal share.
BUDGETED: dict[str, Callable[[int], Budgeted]] = {
    "random": lambda _: Random(k=1),
    "local-random": lambda _: LocalRandom(k=1),
    "lsp-p": lambda _: LSP(k=1),
    "lsp-t": lambda _: LSP(k=1, hash=Threshold()),
    "lsp-p-paper": lambda _: LSP.paper("p", k=1),
    "lsp-t-paper": lambda _: LSP.paper("t", k=1),
    "lsp-p-published": lambda sparsity: LSP.published("p", k=1, sparsity=sparsity),
    "lsp-t-published": lambda sparsity: LSP.published("t", k=1, sparsity=sparsity),
}
REFERENCES = ("none", "no-edges", "basic")  # the whole graph, no graph, the whole graph with the plain model
NAMES = (*REFERENCES, *BUDGETED)
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
