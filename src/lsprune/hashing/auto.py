"""Stand in for the hash family that `fit` chooses by stability under noise; see `lsprune.pruners.calibration`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lsprune.checks import set_number
from lsprune.errors import OptionError
from lsprune.hashing.base import LEARN_BYTES, Family, Keys, View
from lsprune.needs import Needs


@dataclass(frozen=True, kw_only=True)
class Auto(Family):
    """A stand-in that `fit` replaces by the family and attributes under which noisy copies keep most edges in common.

    The options of the family are chosen too: number of bits, length of bins, thresholds. If no owner has two edges
    there is nothing to compare, and `fit` takes a plain projection, of the edge attributes if there are any.

    Args:
        noise: standard deviation of the noise, in standard deviations of each column.

    >>> Auto(noise=0.5)
    Auto(noise=0.5)
    """

    name: ClassVar[str] = "auto"
    about: ClassVar[str] = "chosen by fit: the family and attributes that are most stable under noise"
    chosen_by_fit: ClassVar[bool] = True
    unbiased_problem: ClassVar[str] = ""  # known when `fit` has chosen

    noise: float = 0.3

    def __post_init__(self) -> None:
        set_number(self, "noise", lambda noise: 0 < noise < 100, "a number in (0, 100)")

    @property
    def needs(self) -> Needs:
        """Say that `fit` compares families on edges of the graph."""
        return Needs(fit_edges=True, fit_bytes=LEARN_BYTES, gpu=True)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Raise OptionError: `fit` must replace this family first."""
        raise OptionError("hash='auto' must be fitted first")
