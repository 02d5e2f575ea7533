"""Other processes that are asked for digests of cases: other flags, other variables, other interpreters."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import lsprune
from soak.check import Broken
from soak.digests import digests

ROOT = Path(__file__).resolve().parents[1]


class Worker:
    """A process that runs `soak.digests`.

    Args:
        name: what it is called in messages.
        python: an interpreter with numpy, scipy, numba and pyarrow; lsprune is that of this process.
        flags: of the interpreter, such as `-O`.
        variables: of the environment.
    """

    def __init__(
        self, name: str, python: str = sys.executable, flags: Sequence[str] = (), variables: Mapping[str, str] = {}
    ) -> None:
        paths = os.pathsep.join([str(Path(lsprune.__file__).parents[1]), str(ROOT)])
        self.name = name
        self._process = subprocess.Popen(
            [python, *flags, "-W", "ignore", "-m", "soak.digests"], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths, **variables},
        )  # fmt: skip
        atexit.register(self.close)
        self.versions: dict[str, str] = json.loads(self._answer())

    def ask(self, number: int) -> None:
        """Send the number of a case; the process computes while this one goes on."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()

    def digests(self) -> tuple[str, str]:
        """Return the digests of the case that was asked for: of the case itself, and of its mask."""
        first, second = self._answer().split()
        return first, second

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Broken(f"{self.name}: the process ended with {self._process.wait()}")
        return line


def differences(workers: Sequence[Worker], number: int) -> dict[str, str]:
    """Ask all processes for a case at once; return by name what differs from this process."""
    for worker in workers:
        worker.ask(number)
    case, mask = digests(number)
    answers = [(worker.name, worker.digests()) for worker in workers]  # all of them, so that no answer is left over
    wrong = {name: f"the mask of case {number} differs" for name, answer in answers if answer[1] != mask}
    return wrong | {
        name: f"case {number} is another one there, so that masks cannot be compared"
        for name, answer in answers
        if answer[0] != case
    }


def compare(workers: Sequence[Worker], number: int) -> int:
    """Raise Broken if a case differs in any of the processes; return the number of comparisons."""
    for name, message in differences(workers, number).items():
        raise Broken(f"{name}: {message}")
    return len(workers)
