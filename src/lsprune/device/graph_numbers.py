"""Numbers that kernels count of a graph on a device, and when they are copied to the host."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lsprune.device.transfers import Transfer
from lsprune.kernels.gpu.choose import MAX_FACTS as CHOICES
from lsprune.kernels.gpu.edge_facts import SIZE as FACTS


class GraphNumbers:
    """Facts about edges, then numbers about what owners choose, zero at first.

    Both are copied to the host in one transfer where the facts are not needed before: waiting costs more than copying.
    """

    def __init__(self, nodes: int, device: Any) -> None:
        work = torch.zeros(FACTS + CHOICES + -(-nodes // 2), dtype=torch.int64, device=device)  # one launch for all
        self.facts = work[:FACTS]
        self.loops_of: Tensor = work[FACTS + CHOICES :].view(torch.int32)[:nodes]
        self._both, self._taken = work[: FACTS + CHOICES], False
        self._transfer: Transfer | None = None

    def begin(self) -> None:
        """Begin to copy the facts."""
        self._transfer = Transfer(self.facts)

    def read_facts(self) -> list[int]:
        """Return the facts; wait for them."""
        if self._transfer is None:
            self.begin()
        assert self._transfer is not None
        return self._transfer.numbers()[:FACTS]

    def take_choices(self) -> Tensor | None:
        """Return where to count what owners choose; None if that was used before."""
        if self._taken:
            return None
        self._taken = True
        return self._both[FACTS:]

    def begin_both(self) -> Transfer:
        """Begin to copy the facts and the numbers about choices, which come last."""
        both = Transfer(self._both)
        self._transfer = self._transfer or both
        return both
