"""Mark the neighbours that own no edge, in one pass over the slots."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024  # slots of one program


@triton.jit(do_not_specialize=["count"])
def _mark_kernel(owns, neighbour, taken, count, had, has, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    node = tl.load(neighbour + at, mask=inside, other=0).to(tl.int64)
    kept = tl.load(taken + at, mask=inside, other=0) != 0
    bare = inside & (tl.load(owns + node, mask=inside, other=1) == 0)
    one = tl.full((SIZE,), 1, tl.uint8)
    tl.store(had + node, one, mask=bare)  # several lanes may store the same 1
    tl.store(has + node, one, mask=bare & kept)


def mark_neighbours(owns: Tensor, neighbour: Tensor, taken: Tensor) -> Tensor:
    """Return (had, has), `[2, nodes]` uint8, of the nodes that own no edge."""
    marks = torch.zeros((2, owns.shape[0]), dtype=torch.uint8, device=owns.device)
    _mark_kernel[(triton.cdiv(taken.shape[0], BLOCK),)](
        owns.view(torch.uint8), neighbour, taken.view(torch.uint8), taken.shape[0], marks[0], marks[1], BLOCK
    )
    return marks
