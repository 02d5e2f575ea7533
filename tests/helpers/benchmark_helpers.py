"""Run a script of benchmarks/ in this process, where kernels are compiled already."""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
HELPERS = ("common", "graphs", "naive", "run")  # names that benchmarks import; the tests have two of them too
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def script(name: str, *argv: str, run_name: str = "__main__") -> dict[str, Any]:
    """Run benchmarks/NAME.py with these arguments; return what it defines."""
    before = {helper: sys.modules.pop(helper) for helper in HELPERS if helper in sys.modules}
    arguments = sys.argv
    sys.path.insert(0, str(FOLDER))
    sys.argv = [f"{name}.py", *argv]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return runpy.run_path(str(FOLDER / f"{name}.py"), run_name=run_name)
    finally:
        sys.argv = arguments
        sys.path.remove(str(FOLDER))
        for helper in HELPERS:
            sys.modules.pop(helper, None)
        sys.modules.update(before)


def tiny_options() -> dict[str, tuple[str, ...]]:
    """The options that make each benchmark tiny."""
    options: dict[str, tuple[str, ...]] = script("run", run_name="run")["TINY"]
    return options


def figures(output: str, labels: tuple[str, ...]) -> dict[str, list[float]]:
    """The numbers that follow each label on its line; an AssertionError for one without, or one that is not finite."""
    assert not re.search(r"\b(nan|inf)\b", output, re.IGNORECASE), output
    found = {}
    for label in labels:
        lines = [line.strip() for line in output.splitlines() if label in line]
        assert lines, f"{label!r} is not in the output:\n{output}"
        numbers = [float(text.replace(",", "")) for text in NUMBER.findall(lines[0].replace(label, " ", 1))]
        assert numbers, f"no number beside {label!r}: {lines[0]}"
        found[label] = numbers
    return found
