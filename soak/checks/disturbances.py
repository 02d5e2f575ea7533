"""Full and read-only disks, files that are removed, changed or damaged meanwhile, several processes on one output.

A run is refused with a line, or its output is right: never a mixture, never a success with other bytes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from soak.check import CannotRun, Check, expect
from soak.command_line import Ended, Fault, random_fault, run
from soak.streams import Content, Stream

FULL = ("No space left on device", "are needed on the disk of")


def _expect_line(ended: Ended, what: str) -> None:
    """Raise Broken unless a command ended well or with one line that begins with "error: "."""
    if ended.code == 0:
        return
    lines = [line for line in ended.err.splitlines() if not line.startswith(("note: ", "warning: "))]
    one_line = len(lines) == 1 and lines[0].startswith("error: ")
    expect(ended.code == 1 and one_line, f"{what}: exit code {ended.code}, said {lines[:3]}")


def _expect_resumed(stream: Stream, whole: Content, when: str) -> int:
    """Raise Broken unless `--resume` gives the bytes of an undisturbed run; return the number of comparisons."""
    ended = stream.run("--resume")
    expect(ended.code == 0, f"{stream} {when}: {ended.last_line}")
    stream.expect_whole(whole, when)
    return len(whole)


@contextmanager
def _disk(folder: Path) -> Iterator[Callable[[str], None]]:
    """Mount a disk of its own on a folder; yield a function that mounts it again with other options."""
    folder.mkdir()

    def mount(options: str) -> None:
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotRun(f"a disk cannot be mounted here: {done.stderr.strip()}")

    if shutil.which("mount") is None or os.geteuid() != 0:
        raise CannotRun("only root can mount a small disk")
    mount("size=64m")
    try:
        yield lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disk(number: int, folder: Path) -> int:
    """Prune to a disk with too little space or too few files: an error names it; with more space it goes on."""
    rng = np.random.default_rng([41, number])
    with _disk(folder / "disk") as remount:
        stream = Stream.of(number, rng, folder, folder / "disk")
        _, whole = stream.undisturbed()
        limit = f"size={int(rng.integers(1, 40))}k" if number % 2 else f"nr_inodes={int(rng.integers(2, 16))}"
        remount(limit)
        resume = ["--resume"] * (rng.random() < 0.5)
        ended = stream.run(*resume)
        _expect_line(ended, f"{stream} on a disk of {limit}")
        expect(ended.code == 0 or any(text in ended.err for text in FULL), f"{stream}: {ended.last_line}")
        stream.expect_whole_or_absent(whole)
        in_memory = [word for word in stream.words if word not in ("--stream", "--map-ids") and "ids.parq" not in word]
        if not stream.is_folder and stream.out.suffix != ".npy" and "--scratch" not in in_memory:
            before = stream.content()
            other = run([*in_memory[:2], str(stream.disk / f"other{stream.out.suffix}"), *in_memory[3:]], folder,
                        folder / "notes")  # fmt: skip
            _expect_line(other, f"{in_memory} on a disk of {limit}")
            expect(other.code == 0 or stream.content() == before, f"{in_memory}: leaves something")
            (stream.disk / f"other{stream.out.suffix}").unlink(missing_ok=True)
        remount("size=64m,nr_inodes=1000")
        return 2 + _expect_resumed(stream, whole, f"after a disk of {limit}")


def read_only_disk(number: int, folder: Path) -> int:
    """Make the disk read-only before a run, or after a kill: an error in a line; written again, it goes on."""
    rng = np.random.default_rng([42, number])
    with _disk(folder / "disk") as remount:
        stream = Stream.of(number, rng, folder, folder / "disk")
        undisturbed, whole = stream.undisturbed()
        if number % 4:
            stream.run(fault=random_fault(rng, signal.SIGKILL, undisturbed))
        before = stream.content()
        remount("ro")
        ended = stream.run("--resume")
        _expect_line(ended, f"{stream} on a read-only disk")
        expect(ended.code == 1 or before == whole, f"{stream}: writes to a read-only disk?")
        expect({name: data for name, data in stream.content().items() if name.startswith("disk")}
               == {name: data for name, data in before.items() if name.startswith("disk")},
               f"{stream}: the disk has changed")  # fmt: skip
        remount("rw")
        return 2 + _expect_resumed(stream, whole, "after a read-only disk")


def removed_meanwhile(number: int, folder: Path) -> int:
    """Stop a run, remove some of its files, and continue it: an error or the right bytes."""
    rng = np.random.default_rng([43, number])
    stream = Stream.of(number, rng, folder)
    undisturbed, whole = stream.undisturbed()
    running = stream.start(fault=Fault(signal.SIGSTOP, step=int(rng.integers(1, undisturbed.steps + 1))))
    name = "nothing"
    if running.stopped():
        found = sorted(path for path in (*stream.disk.rglob("*"), *(folder / "scratch").rglob("*")))
        if found and not any("lsprune.json" in path.name for path in found):  # then it is complete
            path = found[rng.integers(len(found))]
            name = path.name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        running.go_on()
    ended = running.end()
    _expect_line(ended, f"{stream} without {name}")
    if ended.code == 0:
        stream.expect_whole(whole, f"without {name}, which was removed meanwhile")
    return 2 + _expect_resumed(stream, whole, f"after {name} was removed")


def several_processes(number: int, folder: Path) -> int:
    """Start a run, stop it, run others on the same output, and continue it: the output is one run's, whole.

    The others have the same options, another scratch folder, or another budget.
    """
    rng = np.random.default_rng([44, number])
    stream = Stream.of(number, rng, folder)
    undisturbed, whole = stream.undisturbed()
    (folder / "scratch" / "other").mkdir()
    others = (["--resume"], [], ["--scratch", str(folder / "scratch" / "other")], ["--seed", "1000"],
              ["--seed", "1000", "--scratch", str(folder / "scratch" / "other")])  # fmt: skip
    running = stream.start(fault=Fault(signal.SIGSTOP, step=int(rng.integers(1, undisturbed.steps + 1))))
    stopped, results = running.stopped(), []
    for i in range(int(rng.integers(1, 3))):
        more = others[rng.integers(len(others))]
        fault = random_fault(rng, signal.SIGKILL, undisturbed) if rng.random() < 0.3 else None
        other = stream.start(*more, fault=fault, notes=f"notes{i}").end()
        if fault is None:
            _expect_line(other, f"{stream} {more} beside another process")
        results.append(other.code)
    if stopped:
        running.go_on()
    ended = running.end()
    _expect_line(ended, f"{stream} beside another process")
    verified = run(["verify", str(stream.out)], folder, folder / "notes")
    if 0 in (ended.code, *results):
        expect(verified.code == 0, f"{stream}: {ended.code} and {results}, and verify says: {verified.last_line}")
    shutil.rmtree(folder / "scratch" / "other")
    stream.clear()
    return 2 + _expect_resumed(stream, whole, "alone again")


def changed_input(number: int, folder: Path) -> int:
    """Kill a run, or stop it, change its input, and go on: refused, or the output of the changed input; no mixture."""
    rng = np.random.default_rng([45, number])
    stream = Stream.of(number, rng, folder)
    undisturbed, whole = stream.undisturbed()
    files = sorted(path for path in (folder / "in").rglob("*") if path.is_file())
    path = files[rng.integers(len(files))]
    step = int(rng.integers(1, undisturbed.steps + 1))
    meanwhile = number % 3 == 0
    running = stream.start(fault=Fault(signal.SIGSTOP if meanwhile else signal.SIGKILL, step=step))
    if meanwhile and running.stopped():
        _change(rng, path, restore_time=False)
        running.go_on()
        ended = running.end()
        _expect_line(ended, f"{stream} with {path.name} changed meanwhile")
        finished = ended.code == 0
    else:
        finished = running.end().code == 0
        if not meanwhile:
            _change(rng, path, restore_time=number % 3 == 1)
    found = stream.content() if finished else {}
    if not finished:
        resumed = stream.run("--resume")
        _expect_line(resumed, f"{stream} with {path.name} changed")
        found = stream.content() if resumed.code == 0 else {}
    stream.clear()
    changed = stream.run()
    expect(changed.code == 0, f"{stream} with {path.name} changed: {changed.last_line}")
    if found:
        wholes = [{name: data for name, data in content.items() if "lsprune.json" not in name and data != b"/"}
                  for content in (found, whole, stream.content())]  # fmt: skip
        expect(wholes[0] in wholes[1:], f"{stream}: a mixture of {path.name} before and after its change at {step}")
    return 2


def _change(rng: np.random.Generator, path: Path, restore_time: bool) -> None:
    """Give a file other content of the same kind; of the same size and time, too, if asked for."""
    before, size = path.stat(), path.stat().st_size
    if path.suffix == ".parquet":
        table = parquet.read_table(path)
        parquet.write_table(table.take(pa.array(rng.permutation(len(table)))), path)
    elif path.suffix == ".npy":
        np.save(path, rng.permutation(np.load(path).T).T)
    elif path.suffix == ".npz":
        with np.load(path) as arrays:
            content = {name: np.ascontiguousarray(arrays[name][..., ::-1]) for name in arrays.files}
        np.savez(path, **content) if path.stem == "edges" else np.savez_compressed(path, **content)
    elif path.suffix == ".gz":
        import gzip

        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        path.write_bytes(gzip.compress(b"".join([lines[0], *(lines[i + 1] for i in rng.permutation(len(lines) - 1))])))
    else:
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([lines[0], *(lines[i + 1] for i in rng.permutation(len(lines) - 1))]))
    if restore_time and path.stat().st_size == size:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def damaged_scratch(number: int, folder: Path) -> int:
    """Kill a run, damage one to three of its files, and resume it: the right bytes, or refused with what to remove."""
    rng = np.random.default_rng([46, number])
    stream = Stream.of(number, rng, folder)
    undisturbed, whole = stream.undisturbed()
    stream.run(fault=random_fault(rng, signal.SIGKILL, undisturbed))
    files = [path for place in (stream.disk, folder / "scratch") for path in place.rglob("*") if path.is_file()]
    names = []
    for path in rng.permutation(sorted(files))[: int(rng.integers(1, 4))]:
        _damage(rng, Path(path))
        names.append(Path(path).name)
    ended = stream.run("--resume")
    _expect_line(ended, f"{stream} with {names} damaged")
    if ended.code:
        expect("remove" in ended.last_line, f"{stream} with {names} damaged: {ended.last_line}")
        expect("journal.json" in names or "_lsprune.json" in names or stream.is_folder, f"{stream}: {ended.last_line}")
        stream.clear()
    else:
        if "journal.json" in names:  # does not say whose folder it is: if the output is complete, the folder stays
            for place in (stream.disk, folder / "scratch"):
                shutil.rmtree(place / f"{stream.out.name}.lsprune-work", ignore_errors=True)
        stream.expect_whole(whole, f"after {names} were damaged")
    return 1 + _expect_resumed(stream, whole, f"after {names} were damaged")


def _damage(rng: np.random.Generator, path: Path) -> None:
    """Change bytes of a file, cut it, grow it, empty it, remove it, or put other bytes in its place."""
    content, kind = bytearray(path.read_bytes()), rng.integers(6)
    if kind == 0 and content:
        for at in rng.integers(0, len(content), int(rng.integers(1, 9))):
            content[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        content = content[: int(rng.integers(0, len(content) + 1))]
    elif kind == 2:
        content += rng.bytes(int(rng.integers(1, 5000)))
    elif kind == 3:
        content = bytearray()
    elif kind == 4:
        path.unlink()
        return
    else:
        content = bytearray(rng.bytes(len(content)))
    path.write_bytes(content)


CHECKS = (
    Check(
        name="full-disk", promise="Whole or absent",
        about="output to a disk that is too small, then to a larger one: all files compared",
        run_case=full_disk, share=0.7, quick_cases=2,
    ),
    Check(
        name="read-only-disk", promise="Whole or absent",
        about="the disk of the output becomes read-only, before or after a kill",
        run_case=read_only_disk, share=0.3, quick_cases=1,
    ),
    Check(
        name="removed-meanwhile", promise="Whole or absent", about="a file of a run is removed while it works",
        run_case=removed_meanwhile, share=0.7, quick_cases=2,
    ),
    Check(
        name="several-processes", promise="Whole or absent",
        about="two or three processes write one output, which is then verified",
        run_case=several_processes, share=0.7, quick_cases=2,
    ),
    Check(
        name="changed-input", promise="Resume", about="the input is changed after a kill, or while a run works",
        run_case=changed_input, share=0.7, quick_cases=2,
    ),
    Check(
        name="damaged-scratch", promise="Resume",
        about="scratch files are damaged after a kill; the run is resumed, and all files compared",
        run_case=damaged_scratch, share=0.7, quick_cases=2,
    ),
)  # fmt: skip
