"""What the tests of a real GPU share, and the verdict that they end with.

`LSPRUNE_TEST_DEVICE=cpu` runs them on CPU tensors, with plain torch, to see that the tests themselves work.
"""

from __future__ import annotations

import os

import pytest

DEVICE = os.environ.get("LSPRUNE_TEST_DEVICE", "cuda")
WITHOUT = "torch finds no CUDA device on this machine"


@pytest.fixture(scope="session")
def device() -> str:
    """The device that is tested; without one, the tests are skipped."""
    torch = pytest.importorskip("torch")
    if DEVICE == "cuda" and not torch.cuda.is_available():
        pytest.skip(WITHOUT)
    return DEVICE


def pytest_terminal_summary(terminalreporter) -> None:
    """Say in one line what came of the tests in this folder."""
    ran = {name: _ours(terminalreporter, name) for name in ("passed", "failed", "error", "skipped")}
    wrong, right = ran["failed"] + ran["error"], ran["passed"]
    if not any(ran.values()):
        return
    if not right + wrong:
        terminalreporter.write_line(f"GPU: nothing was tested: {WITHOUT}")
    elif wrong:
        terminalreporter.write_line(f"GPU: {wrong} of {right + wrong} configurations differ from the CPU on {_name()}")
    else:
        terminalreporter.write_line(f"GPU: {right} configurations, the same bits as the CPU on {_name()}")


def _ours(terminalreporter, outcome: str) -> int:
    """The number of tests in this folder that ended so."""
    reports = terminalreporter.stats.get(outcome, [])
    return sum("tests/gpu/" in getattr(report, "nodeid", "") for report in reports)


def _name() -> str:
    import torch

    return torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU tensors"
