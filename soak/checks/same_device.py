"""The same bits from the device path: on CPU tensors with plain torch, and on a GPU where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsprune.errors import LspruneError
from lsprune.kernels import Runtime
from soak.cases import Options
from soak.check import CannotRun, Check, expect
from soak.varied_cases import Case, varied_case

LARGER = Options(nodes=200, edges=3000)  # blocks of GPU kernels have a thousand slots


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise CannotRun("torch is not installed") from None
    return torch


def _case(area: int, number: int, options: Options = Options()) -> Case:  # noqa: B008  # frozen
    """Return a case that has a GPU path: of such a pruner, without sparse attributes."""
    while True:
        case = varied_case(area, number, options, accepts=lambda pruner: bool(pruner.needs.gpu))
        if not hasattr(case.graph.x, "indptr"):
            return case
        number += 1 << 40


def _compare(case: Case, device: str) -> int:
    """Compare masks, and the number of isolated nodes, of the device and the reference."""
    torch = _torch()
    from lsprune.device.graph import upload

    there = upload(case.graph, device)
    run = Runtime(device=torch.device(device))
    here = case.pruner.mask_graph(case.graph, Runtime("reference"))
    for fit in (False, True) if _can_fit(case) else (False,):
        pruner = case.pruner.fit_graph(there, run) if fit and not case.pruner.is_fitted else case.pruner
        found = pruner.mask_graph(there, run)
        mask = found.mask.cpu().numpy()
        wrong = int((mask != case.mask).sum()) if mask.shape == case.mask.shape else -1
        expect(wrong == 0, f"{device}: {wrong} of {case.mask.size} edges differ for {pruner!r} on {case.graph!r}")
        expect(found.isolated == here.isolated, f"{device}: {found.isolated} isolated nodes, {here.isolated} here")
    return 2 if _can_fit(case) else 1


def _can_fit(case: Case) -> bool:
    """Whether the pruner can be fitted: a graph with nothing to choose is pruned without attributes, but not fitted."""
    if case.pruner.is_fitted:
        return True
    try:
        case.pruner.fit_graph(case.graph, Runtime("reference"))
    except LspruneError:
        return False
    return True


def cpu_tensors(number: int, folder: Path) -> int:
    """Compare the device path on CPU tensors with the reference, before and after a fit there."""
    return _compare(_case(27, number), "cpu")


def gpu(number: int, folder: Path) -> int:
    """Compare a GPU with the reference, before and after a fit there."""
    if not _torch().cuda.is_available():
        raise CannotRun("torch finds no CUDA device")
    return _compare(_case(28, number, LARGER if number % 20 == 0 else Options()), "cuda")


CHECKS = (
    Check(
        name="cpu-tensors", promise="Same bits",
        about="the GPU path in plain torch on a CPU: with a given pruner, and with one fitted there",
        run_case=cpu_tensors, share=2.0, quick_cases=10,
    ),
    Check(
        name="gpu", promise="Same bits",
        about="a GPU: with a given pruner, and with one fitted there; every twentieth graph has up to 3,000 edges",
        run_case=gpu, share=2.0, quick_cases=10,
    ),
)  # fmt: skip
