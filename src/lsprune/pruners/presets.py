"""The paper's own settings: LSP with the options that exist only to reproduce it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from lsprune.attributes import PARTS
from lsprune.checks import check_choice, check_flag
from lsprune.errors import OptionError
from lsprune.hashing import PaperProjection, PaperThreshold, Projection
from lsprune.pruners.lsp import LSP
from lsprune.pruners.registry import PRUNERS
from lsprune.selection.choose import TIES

MAX_STEPS_WITH_REPLACEMENT = 1 << 16  # each of them looks at all edges of an owner


@dataclass(frozen=True, kw_only=True, repr=False)
class PaperLSP(LSP):
    """LSP with the options of the paper; `LSP.paper` and `LSP.published` set them.

    Args:
        values: "unit" (L2-normalised, centred, scaled) or "raw". With raw values and k, every step has a hash function
            of its own.
        replace: True is Algorithm 1 to the letter: the union of the k winners, so that an owner may keep fewer than k.
        ties: how equal keys are ordered: "hash" of (seed, step, neighbour), "id" of the neighbour, or "position".
        k, keep, hash, weights, attributes, select, side, symmetric, self_loops, pooled, seed: as for `LSP`.

    >>> PaperLSP(k=3, replace=True)
    PaperLSP(k=3, replace=True)
    """

    name: ClassVar[str] = "lsp-paper"
    about: ClassVar[str] = "LSP with the paper's own options: raw values, ties by position, with or without replacement"

    values: Literal["unit", "raw"] = "unit"
    replace: bool = False
    ties: Literal["hash", "id", "position"] = "hash"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("ties", self.ties, TIES)
        check_choice("values", self.values, ("unit", "raw"))
        check_flag("replace", self.replace)
        object.__setattr__(self, "replace", bool(self.replace))
        if self.replace:
            self._check_replace()

    def _check_replace(self) -> None:
        if self.k is None:
            name = "keep" if self.keep is not None else "budget"
            raise OptionError(f"{name} must be None with replace=True: with replacement it cannot be met; use k")
        if (self.k or 0) > MAX_STEPS_WITH_REPLACEMENT:
            raise OptionError(
                f"k must be at most {MAX_STEPS_WITH_REPLACEMENT} with replace=True, got {self.k}: every step is run"
            )
        if self.select == "bottom":
            raise OptionError('replace must be False with select="bottom": one function would take one edge k times')

    @property
    def normalised(self) -> bool:
        """Whether attributes are L2-normalised, centred and scaled; else raw values."""
        return self.values == "unit"

    @property
    def tie_rule(self) -> int:
        """How equal keys are ordered: an index into TIES."""
        return TIES.index(self.ties)

    def for_trials(self, k: int) -> LSP:
        """Return the pruner as candidates for "auto" are compared; ties go by a hash."""
        return replace(super().for_trials(k), ties="hash")  # type: ignore[call-arg]

    @property
    def functions(self) -> int | None:
        """How many steps have a hash function of their own; None: all of them, or all share one."""
        return None if self.replace or (self.values == "raw" and self.k is not None) else super().functions


def paper(kind: Literal["p", "t"], *, k: int, seed: int = 0) -> PaperLSP:
    """Return LSP-P or LSP-T as the paper's text has it."""
    check_choice("kind", kind, ("p", "t"))
    family = Projection(l=1.0) if kind == "p" else PaperThreshold(digest="md5", sparsity=None)
    return PaperLSP(k=k, hash=family, side="out", attributes=PARTS, values="raw", ties="position", seed=seed)


def published(kind: Literal["p", "t"], *, k: int, sparsity: int = 25, seed: int = 0) -> PaperLSP:
    """Return LSP-P or LSP-T as the paper's own runs computed it."""
    check_choice("kind", kind, ("p", "t"))
    family = (
        PaperProjection(l=1.0, offset="normal", sparsity=sparsity)
        if kind == "p"
        else PaperThreshold(digest="affine", sparsity=sparsity, mean=1.0)
    )
    return PaperLSP(
        k=k, hash=family, side="out", attributes=PARTS, values="raw", ties="position", self_loops="edge", seed=seed
    )


PRUNERS.add(PaperLSP)
