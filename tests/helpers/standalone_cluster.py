"""A Spark standalone cluster of several processes on this machine: a master and workers, from the installed pyspark."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pyspark

WAIT_SECONDS = 240  # until a state is reached, at most; a busy machine starts Java slowly
_CLASSES = {"master": "org.apache.spark.deploy.master.Master", "worker": "org.apache.spark.deploy.worker.Worker"}
_BRISK = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]  # short runs: compile little


class StandaloneCluster:
    """A master and workers of one core and 512 MB each, on 127.0.0.1; all of their processes end with the block.

    Args:
        folder: where the workers and their logs are.
        workers: how many of them.
    """

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder, self._count = folder, workers
        self.workers: list[subprocess.Popen[bytes]] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> StandaloneCluster:
        try:
            self._start("master", "--port", "0", "--webui-port", "0")
            self.url = self._logged("master", r"Starting Spark master at (spark://\S+)")
            self._page = "http://127.0.0.1:" + self._logged("master", r"service 'MasterUI' on port (\d+)")
            for number in range(self._count):
                place = ("--work-dir", str(self._folder / f"worker-{number}"))
                options = ("--cores", "1", "--memory", "512m", "--port", "0", "--webui-port", "0", *place)
                self.workers.append(self._start(f"worker-{number}", *options, self.url))
            wait_for(lambda: self.alive() == self._count, "all workers are known to the master")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def state(self) -> dict[str, Any]:
        """Return what the master's page says of workers and applications."""
        with urllib.request.urlopen(f"{self._page}/json/", timeout=WAIT_SECONDS) as answer:
            content: dict[str, Any] = json.load(answer)
        return content

    def alive(self) -> int:
        """Return how many workers the master knows and has not lost."""
        return sum(worker["state"] == "ALIVE" for worker in self.state()["workers"])

    def _start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        """Start a process in a session of its own, so that what it starts (executors, Python) can be ended with it."""
        java = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else shutil.which("java")
        home = Path(pyspark.__file__).parent
        settings = ["-Dspark.worker.timeout=5", "-Dspark.master.rest.enabled=false"]
        command = [str(java), *_BRISK, *settings, "-cp", f"{home}/jars/*", _CLASSES[name.split("-")[0]]]
        log = (self._folder / f"{name}.log").open("wb")
        source = str(Path(__file__).resolve().parents[2] / "src")
        places = {
            "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]), "SPARK_SCALA_VERSION": "2.13",
        }  # fmt: skip
        with log:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", *options], stdout=log, stderr=log, env={**os.environ, **places},
                start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def _logged(self, name: str, pattern: str) -> str:
        """Wait for a line in the log of a process; return the part that the pattern marks."""
        log = self._folder / f"{name}.log"

        def found() -> str | None:
            match = re.search(pattern, log.read_text(errors="replace"))
            return match[1] if match else None

        return str(wait_for(found, f"{pattern} in {log}"))

    def _stop(self) -> None:
        """End all processes, also those that stand still."""
        for process in self._processes:
            signal_all(process.pid, signal.SIGKILL)
            process.wait(WAIT_SECONDS)
        wait_for(lambda: not self.processes(), "all processes have ended")

    def processes(self) -> list[int]:
        """Return all processes of the cluster that have not ended."""
        return [pid for process in self._processes for pid in members(process.pid)]


class Slowed:
    """Let the processes of a session run for a third of the time only, until the block ends."""

    def __init__(self, session: int) -> None:
        self._session, self._stop, self.pauses = session, threading.Event(), 0
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Slowed:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            signal_all(self._session, signal.SIGSTOP)
            self.pauses += 1
            self._stop.wait(0.2)
            signal_all(self._session, signal.SIGCONT)
            self._stop.wait(0.1)


def members(session: int, command: str = "") -> list[int]:
    """Return the processes of a session that have not ended, whose command begins so.

    Not of a group: the Python workers of an executor have a group of their own.
    """
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text().rpartition(")")
        except OSError:  # it has ended in between
            continue
        state, _, _, member_of = tail.split()[:4]
        if int(member_of) == session and state != "Z" and head.partition("(")[2].startswith(command):
            found.append(int(path.parent.name))
    return found


def signal_all(session: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a session."""
    for pid in members(session):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def wait_for(state: Callable[[], Any], about: str) -> Any:
    """Ask until `state()` is true, and return it; TimeoutError after a while."""
    end = time.monotonic() + WAIT_SECONDS
    while not (found := state()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {WAIT_SECONDS} s until {about}")
        time.sleep(0.05)
    return found
