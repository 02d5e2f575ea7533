"""Numbers on their way from a device to the host: the host goes on until it needs them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Transfer:
    """A copy of a small tensor to the host, begun at once."""

    def __init__(self, values: Tensor) -> None:
        self._values, self._event = values, None
        if values.is_cuda:
            self._values = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
            self._values.copy_(values, non_blocking=True)
            event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
            event.record(torch.cuda.current_stream(values.device))  # naming the device saves looking for it
            self._event = event

    def numbers(self) -> list[int]:
        """Return the numbers; wait for them if they have not arrived."""
        if self._event is not None:
            self._event.synchronize()
        numbers: list[int] = self._values.tolist()
        return numbers
