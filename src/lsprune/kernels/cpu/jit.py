"""How a kernel is compiled: by numba, cached on disk, safe against a damaged cache.

Kernels release the GIL and run on the threads of `kernels.threads`. numba's own threading layer is never started, so it
cannot break after a fork and no global setting changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

from lsprune.kernels.held_signals import held_signals


class _SafeCache(FunctionCache):
    """numba's disk cache, where a truncated or foreign file means "compile again" and not a crash."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever a broken pickle raises: EOFError, UnpicklingError, AttributeError ...
            with contextlib.suppress(Exception):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(Exception):  # a full or read-only disk must not stop the work
            super().save_overload(sig, data)


def _held(compile_signature: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method that compiles or loads a signature, with signals held back."""

    def compile(signature: Any) -> Any:  # noqa: A001  # numba's name
        with held_signals():
            return compile_signature(signature)

    return compile


def kernel(function: Callable[..., Any]) -> Any:
    """Return `function` compiled on first call, cached on disk, releasing the GIL."""
    compiled = njit(nogil=True)(function)
    compiled.compile = _held(compiled.compile)  # type: ignore[method-assign]
    with contextlib.suppress(RuntimeError, OSError):  # no writable place for a cache: compile in memory only
        compiled._cache = _SafeCache(function)  # type: ignore[attr-defined]
    return compiled
