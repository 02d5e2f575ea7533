"""What a study compares: names of methods, and the pruner that each stands for at a given k and seed."""

from __future__ import annotations

from collections.abc import Callable

from lsprune.baselines import LocalRandom, NoEdges, Random
from lsprune.errors import OptionError
from lsprune.hashing import Threshold
from lsprune.pruners import LSP, Pruner

Maker = Callable[[int, int], Pruner]

# Every budgeted method keeps the sum of min(k, degree) edges, so that equal k means equal share.
BUDGETED: dict[str, Maker] = {
    "random": lambda k, seed: Random(k=k, seed=seed),
    "local-random": lambda k, seed: LocalRandom(k=k, seed=seed),
    "lsp-p": lambda k, seed: LSP(k=k, seed=seed),
    "lsp-t": lambda k, seed: LSP(k=k, hash=Threshold(), seed=seed),
    "lsp-p-paper": lambda k, seed: LSP.paper("p", k=k, seed=seed),
    "lsp-t-paper": lambda k, seed: LSP.paper("t", k=k, seed=seed),
    "lsp-p-published": lambda k, seed: LSP.published("p", k=k, seed=seed),
    "lsp-t-published": lambda k, seed: LSP.published("t", k=k, seed=seed),
}
REFERENCES = ("none", "no-edges", "basic")  # the whole graph, no graph, the whole graph with the plain model
NAMES = (*REFERENCES, *BUDGETED)


def pruner_for(method: str, k: int | None, seed: int) -> Pruner | None:
    """The pruner of a method; None where the whole graph is used."""
    if method not in NAMES:
        raise OptionError(f"method must be one of {', '.join(NAMES)}, got {method!r}")
    if method == "no-edges":
        return NoEdges()
    if method in REFERENCES:
        return None
    if k is None:
        raise OptionError(f"k must be given for method {method}")
    return BUDGETED[method](k, seed)
