"""Every benchmark, one process each; prints the figures of benchmarks/README.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    for name in (
        "speed",
        "kernel",
        "naive",
        "memory",
        "networkit_similarity",
        "resistance",
        "similarity",
        "codebook",
        "auto",
        "consistency",
        "stream",
    ):
        subprocess.run([sys.executable, HERE / f"{name}.py"], check=True)
