"""Launch Triton kernels with little work on the host: a call that prunes in a millisecond launches a dozen of them.

Triton's own launch looks at every argument again, at constants too, which takes longer than many of our kernels run.
Here the compiled kernel is remembered by what Triton compiles for: types and alignments of tensors, sizes of numbers,
and the constants.
"""

from __future__ import annotations

from typing import Any

import torch
import triton

_compiled: dict[tuple[Any, ...], Any] = {}
_REMEMBERS = triton.__version__.startswith("3.6.")  # a compiled kernel is called as this version of Triton calls it


def launch(
    kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...], constants: tuple[Any, ...] = (), num_warps: int = 4
) -> None:
    """Launch a kernel whose parameters are these tensors and numbers, a tensor first, and then these constants."""
    device = arguments[0].get_device()
    passed: list[int] = []
    kinds: list[Any] = []
    for value in arguments:
        if type(value) is int:
            passed.append(value)
            kinds.append("one" if value == 1 else value.bit_length() > 31)
        else:
            passed.append(value.data_ptr())
            kinds.append(value.dtype)
        kinds.append(passed[-1] & 15 == 0)
    key = (id(kernel), device, num_warps, constants, *kinds)
    compiled = _compiled.get(key)
    if compiled is not None:
        stream = torch._C._cuda_getCurrentRawStream(device)
        width, height = grid if len(grid) > 1 else (grid[0], 1)
        function, metadata = compiled.function, compiled.packed_metadata
        compiled.run(width, height, 1, stream, function, metadata, None, None, None, *passed, *constants)
        return
    compiled = kernel[grid](*arguments, *constants, num_warps=num_warps)
    if compiled is not None and _REMEMBERS:  # None: it was interpreted
        _compiled[key] = compiled
