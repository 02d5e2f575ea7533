"""Build the wheel and the source archive so that the same commit gives the same bytes.

`python release/build.py dist` builds the last commit. `--twice` builds it two times, in other folders and with other
file modes, and compares. The bytes depend on the commit, on setuptools (pinned in locks/build.txt) and on Python, whose
zlib compresses; not on the folder, the clock, the time zone, the umask or the user.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BACKEND = "import sys, setuptools.build_meta as backend; getattr(backend, 'build_' + sys.argv[1])(sys.argv[2])"


def build(sources: Path, out: Path, epoch: int) -> dict[str, str]:
    """Build `sources` into the folder `out`, dated `epoch` (seconds since 1970); return the SHA-256 of each file."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        copy, built = Path(folder) / "copy", Path(folder) / "built"
        shutil.copytree(sources, copy)
        built.mkdir()
        for kind in ("sdist", "wheel"):
            _normalise(copy, epoch)
            _run_backend(kind, copy, built, epoch)
        _repack(next(built.glob("*.tar.gz")), epoch)
        files = sorted(built.iterdir())
        for file in files:
            shutil.copyfile(file, out / file.name)
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _normalise(folder: Path, epoch: int) -> None:
    """Give every file and folder the same mode and time on every machine: archives store them."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (epoch, epoch))


def _run_backend(kind: str, sources: Path, out: Path, epoch: int) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-c", BACKEND, kind, str(out)]
    done = subprocess.run(command, cwd=sources, env=environment, umask=0o022, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the {kind} cannot be built:\n{done.stderr}")


def _repack(archive: Path, epoch: int) -> None:
    """Write a .tar.gz again with sorted members, one time and no user: setuptools stores those of the machine."""
    packed = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, epoch
            plain.mode = 0o755 if member.isdir() else 0o644
            new.addfile(plain, old.extractfile(member))
    with archive.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as compressed:
        compressed.write(packed.getvalue())


def build_commit(out: Path) -> dict[str, str]:
    """Build the last commit of the checkout into `out`: what is not committed is left out."""
    epoch = int(_git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", "HEAD"))) as committed:
            committed.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # 3.11.4
        return build(Path(folder), out, epoch)


def _git(*command: str) -> bytes:
    return subprocess.run(["git", *command], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout


def build_twice(out: Path) -> dict[str, str]:
    """Build the last commit two times under different circumstances; exit with a message if a byte differs."""
    results = []
    for name, umask in (("first", 0o022), ("second", 0o077)):
        before = os.umask(umask)
        try:
            results.append(build_commit(out / name))
        finally:
            os.umask(before)
    if results[0] != results[1]:
        sys.exit(f"not reproducible:\n{results[0]}\n{results[1]}")
    return results[0]


def main() -> None:
    """Build, and print a checksum a file in the form of sha256sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder of the results; emptied first")
    parser.add_argument("--twice", action="store_true", help="build two times and compare")
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    digests = (build_twice if options.twice else build_commit)(options.out)
    for name, digest in digests.items():
        print(f"{digest}  {name}")


if __name__ == "__main__":
    main()
