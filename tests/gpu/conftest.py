"""The verdict that the tests of a real GPU end with."""

from __future__ import annotations

import sys

import pytest


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter) -> None:
    """Say in one line what came of the tests in this folder."""
    right, failed, errors, skipped = (
        _ours(terminalreporter, outcome) for outcome in ("passed", "failed", "error", "skipped")
    )
    tested, wrong = right + failed + errors, failed + errors
    if wrong:
        terminalreporter.write_line(f"GPU: {wrong} of {tested} configurations differ from the CPU on {_name()}")
    elif tested:
        terminalreporter.write_line(f"GPU: {tested} configurations, the same bits as the CPU on {_name()}")
    elif skipped:
        terminalreporter.write_line("GPU: nothing was tested, torch finds no CUDA device on this machine")


def _ours(terminalreporter, outcome: str) -> int:
    """The number of tests in this folder that ended so."""
    reports = terminalreporter.stats.get(outcome, [])
    return sum("tests/gpu/" in getattr(report, "nodeid", "") for report in reports)


def _name() -> str:
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else "CPU tensors"
