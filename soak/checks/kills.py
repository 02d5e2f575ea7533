"""Commands that are killed, terminated or interrupted leave whole outputs or none, and go on from what is there."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np

from soak.check import CannotRun, Check, expect
from soak.command_line import Ended, Fault, random_fault, run
from soak.streams import KINDS, Stream

LINES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


def killed_stream(number: int, folder: Path) -> int:
    """Kill a streamed run at one to four moments, resume it, and compare all bytes with an undisturbed run.

    The first kill goes through all steps as the number grows.
    """
    rng = np.random.default_rng([31, number])
    stream = Stream.of(number, rng, folder)
    undisturbed, whole = stream.undisturbed()
    fault = Fault(signal.SIGKILL, step=number // len(KINDS) % undisturbed.steps + 1)
    resume = rng.random() < 0.5
    comparisons = 0
    for _ in range(int(rng.integers(1, 5))):
        ended = stream.run(*["--resume"] * resume, fault=fault)
        expect(ended.code in (0, -signal.SIGKILL), f"{stream}: {ended.code} {ended.last_line}")
        stream.expect_whole_or_absent(whole)
        fault, resume = random_fault(rng, signal.SIGKILL, undisturbed), True
        comparisons += 1
    for again in ("resumed", "resumed though complete"):
        ended = stream.run("--resume")
        expect(ended.code == 0, f"{stream} {again}: {ended.last_line}")
        stream.expect_whole(whole, again)
        comparisons += len(whole)
    return comparisons


def signalled_stream(number: int, folder: Path) -> int:
    """Send SIGINT or SIGTERM to a streamed run: one line, the exit code of the signal, and it can be resumed.

    Ctrl-C leaves nothing unless `--resume` was given.
    """
    rng = np.random.default_rng([32, number])
    stream = Stream.of(number, rng, folder)
    undisturbed, whole = stream.undisturbed()
    kind, resume = (signal.SIGINT, signal.SIGTERM)[number % 2], rng.random() < 0.5
    fault = Fault(kind, step=number // 2 % undisturbed.steps + 1)
    ended = stream.run(*["--resume"] * resume, fault=fault)
    _expect_signal_line(ended, kind, str(stream))
    stream.expect_whole_or_absent(whole)
    if ended.code == 128 + signal.SIGINT and not resume:
        left = [name for name in stream.content() if ".lsprune-" in name]
        expect(not left, f"{stream}: {left[:1]} is left after Ctrl-C")
    else:
        left = [name for name in stream.content() if name.endswith(".tmp")]
        expect(not left, f"{stream}: {left[:1]} is left after signal {kind}")
    ended = stream.run("--resume")
    expect(ended.code == 0, f"{stream}: {ended.last_line}")
    stream.expect_whole(whole, f"resumed after signal {kind}")
    return 3 + len(whole)


def _expect_signal_line(ended: Ended, kind: int, what: str) -> None:
    """Raise Broken unless a command ended well, or said in a line which signal ended it."""
    if ended.code == 0 or (ended.code == -kind and not ended.err):  # it was done by then, or had not begun
        return
    expect(ended.code == 128 + kind, f"{what}: exit code {ended.code} after signal {kind}: {ended.last_line}")
    others = [line for line in ended.err.splitlines() if not line.startswith(("note: ", "warning: "))]
    expect(others == [LINES[signal.Signals(kind)]], f"{what}: said {others[:3]}")


def killed_prune(number: int, folder: Path) -> int:
    """Kill `lsprune prune` in memory, `lsprune fit` and `lsprune verify`: the old file or the new one, nothing else."""
    rng = np.random.default_rng([33, number])
    kinds = [number for number, kind in enumerate(KINDS) if "/" not in kind and kind != "npy" and "npy " not in kind]
    stream = Stream.of(kinds[number % len(kinds)], rng, folder)
    words = [word for word in stream.words if word not in ("--stream", "--scratch", "--map-ids")]
    words = [word for word in words if not word.endswith(("/scratch", "/ids.parquet"))]
    whole = run(words, folder, folder / "notes")
    expect(whole.code == 0, f"{words}: {whole.last_line}")
    new = stream.content()
    name = stream.out.relative_to(folder).as_posix()
    old = dict(new) if number % 3 == 1 else {}
    if number % 3 == 0:
        stream.clear()
    if number % 3 == 2:
        stream.out.write_bytes(b"old")
        old = {name: b"old"}
    kind = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[number // 3 % 3]
    ended = run(words, folder, folder / "notes", random_fault(rng, kind, whole))
    found = stream.content()
    expect(found.get(name) in (old.get(name), new[name]), f"{words}: the output is neither the old one nor the new")
    if kind != signal.SIGKILL:
        _expect_signal_line(ended, kind, str(words))
        expect(set(found) <= {name}, f"{words}: leaves {set(found) - {name}}")
    ended = run(words, folder, folder / "notes")
    expect(ended.code == 0 and stream.content() == new, f"{words}: run again, it leaves {sorted(stream.content())}")
    return 3


PARALLEL_SECONDS = 30.0  # about what a study takes that starts other processes
STUDY = """\
title = "killed"
dataset = "synthetic-small"
pairs = 2
limit = 60
seeds = 2
shares = [0.3]
methods = ["unpruned", "random", "local-random"]
"""


def killed_study(number: int, folder: Path) -> int:
    """Kill a study one to three times, also with `--jobs 2`, cut its last line, and start it again until it is done."""
    try:
        import torch_geometric  # noqa: F401
    except ModuleNotFoundError:
        raise CannotRun("PyTorch Geometric is not installed") from None
    rng = np.random.default_rng([34, number])
    (folder / "tiny.toml").write_text(STUDY)
    words = ["study", "run", "tiny.toml", "--out", "runs"]
    undisturbed = run(words, folder, folder / "notes")
    expect(undisturbed.code == 0, f"study: {undisturbed.last_line}")
    results = folder / "runs" / "tiny.jsonl"
    whole = _results(results)
    results.unlink()
    for _ in range(int(rng.integers(1, 4))):
        kind = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[rng.integers(4)]
        if number % 10 == 9:
            parallel = Fault(kind, seconds=float(rng.uniform(0, PARALLEL_SECONDS)))
            ended = run([*words, "--jobs", 2], folder, folder / "notes", parallel)
        else:
            ended = run(words, folder, folder / "notes", random_fault(rng, kind, undisturbed))
        if kind != signal.SIGKILL:
            _expect_signal_line(ended, kind, "study")
        _cut(rng, results)
    ended = run(words, folder, folder / "notes")
    expect(ended.code == 0, f"study: {ended.last_line}")
    found = _results(results)
    expect(found == whole, f"study: {len(found)} results after a kill, not the {len(whole)} of an undisturbed run")
    left = {path.name for path in results.parent.iterdir()}
    expect(left <= {"tiny.jsonl", "tiny.partial"}, f"study: leaves {left}")
    return len(whole)


def _results(path: Path) -> dict[str, object]:
    """Return what a study found, by run; raise Broken if a line is cut or a run is there twice."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    found = {line["key"]: (line["run"], line["overlap"], line["share"]) for line in lines}
    expect(len(found) == len(lines), "study: a run is there twice")
    return found


def _cut(rng: np.random.Generator, path: Path) -> None:
    """Take some bytes from the end of the last line, as a power cut may, or none."""
    if path.exists() and path.stat().st_size and rng.random() < 0.4:
        content = path.read_bytes()
        last = len(content) - content.rstrip(b"\n").rfind(b"\n") - 1
        path.write_bytes(content[: len(content) - int(rng.integers(0, last))])


CHECKS = (
    Check(
        name="killed-stream", promise="Resume", about="`--stream` killed one to four times, resumed, bytes compared",
        run_case=killed_stream, share=3.0, quick_cases=4,
    ),
    Check(
        name="signalled-stream", promise="Resume", about="`--stream` ended by Ctrl-C or SIGTERM, resumed, all compared",
        run_case=signalled_stream, share=1.0, quick_cases=2,
    ),
    Check(
        name="killed-study", promise="Resume", about="a study killed one to three times, started again, lines compared",
        run_case=killed_study, share=2.0, quick_cases=1,
    ),
    Check(
        name="killed-prune", promise="Whole or absent",
        about="`prune` in memory is killed: the old file or the new one is there",
        run_case=killed_prune, share=1.0, quick_cases=3,
    ),
)  # fmt: skip
