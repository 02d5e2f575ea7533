"""A program for test_isolation.py: do what a user does, and print what an audit hook of Python saw, as JSON.

Python reports connections, processes, unpickled names and executed code to such a hook, also where C code of Python's
own modules does these things. A hook cannot be removed, so this runs in a process of its own:

    python isolation.py network FOLDER    import lsprune, prune objects and files
    python isolation.py files FOLDER      read every kind of input file: good, damaged and hostile
    python isolation.py controls FOLDER   do what must be seen
"""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import random
import shutil
import socket
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

# Not `socket.bind`: PyG imports urllib3, which binds a socket of this machine to see whether it has IPv6.
OUTSIDE = (
    "socket.connect", "socket.send", "socket.get", "urllib.", "http.", "ftplib.", "subprocess.", "os.system", "os.exec",
    "os.posix_spawn", "os.fork",
)  # fmt: skip
CODE = ("pickle.", "exec", "marshal.", "import")

seen: list[str] = []
watched: tuple[str, ...] = OUTSIDE


def hook(event: str, details: tuple[Any, ...]) -> None:
    """Note what is watched for. `compile` is not: numpy parses headers as literals, and what is run raises `exec`."""
    if event.startswith(watched):
        seen.append(f"{event} {details!r}"[:300])


def bomb(folder: Path) -> Any:
    """Return an object whose pickle makes a folder `ran` when it is loaded."""
    import os

    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return (os.mkdir, (str(folder / "ran"),))

    return Bomb()


# Objects and commands


def objects() -> None:
    """Prune a graph as an object of each library that is installed."""
    import numpy as np
    import scipy.sparse as sp

    import lsprune

    ends = np.random.default_rng(0).integers(0, 50, (2, 400))
    x = np.random.default_rng(1).standard_normal((50, 6)).astype(np.float32)
    lsprune.prune(lsprune.Graph.from_edges(ends, x=x), lsprune.LSP(k=3))
    lsprune.prune(ends, lsprune.LSP(k=3, hash="identity"))
    lsprune.prune(sp.coo_array((np.ones(400), ends), (50, 50)).tocsr(), lsprune.LSP(keep=0.3, hash="structure"))
    with contextlib.suppress(ModuleNotFoundError):
        import networkx

        lsprune.prune(networkx.path_graph(9), lsprune.pruner("jaccard", k=1))
    with contextlib.suppress(ModuleNotFoundError):
        import torch
        from torch_geometric.data import Data

        lsprune.prune(Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(ends)), lsprune.LSP.auto(keep=0.5))


@cache
def command_line() -> Any:
    """Return the command, made once: typer evaluates our annotations to make it."""
    from typer.main import get_command

    from lsprune.cli import app

    return get_command(app)


def run(*words: object) -> str:
    """Run a command of lsprune in this process and return what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
        command_line().main([str(word) for word in words], prog_name="lsprune")
    return out.getvalue()


def commands(folder: Path) -> None:
    """Prune files in memory and streamed, inspect, fit, list."""
    from own_files import npz, tables

    npz(folder / "in.npz")
    tables(folder)
    for words in (
        ("prune", folder / "in.npz", folder / "out.npz", "--keep", "0.5"),
        ("prune", folder / "edges.parquet", folder / "out.parquet", "--k", "1", "--hash", "identity", "--stream"),
        ("verify", folder / "out.parquet"),
        ("inspect", folder / "in.npz"),
        ("fit", folder / "in.npz", folder / "fitted.npz", "--k", "2"),
        ("methods",),
    ):
        printed = run(*words)
        assert "error: " not in printed, printed


def network(folder: Path) -> None:
    """Import, prune and run commands."""
    import lsprune

    assert lsprune.__version__
    objects()
    commands(folder)


# Files


def hostile(content: bytes, path: Path, folder: Path) -> list[bytes]:
    """Return files of the same kind that ask to be run wherever a file can."""
    code = f"__import__('os').mkdir({str(folder / 'ran')!r})"
    if path.suffix == ".npy":
        return [hostile_array(folder)]
    if path.suffix == ".npz":
        return [hostile_archive(content, folder, replace=replace) for replace in (False, True)]
    if path.suffix == ".parquet":
        return [hostile_parquet(content, folder)]
    if path.suffix in (".json", ".jsonl", ".toml"):
        word = json.dumps(code).encode()
        return [content.replace(b'"random"', word).replace(b'"pruner"', word)]
    return [hostile_text(path, code)]


def hostile_array(folder: Path) -> bytes:
    """Return a `.npy` file of Python objects, whose header claims as many bytes as there are."""
    import numpy as np
    from files_helpers import header

    content = pickle.dumps(np.array([bomb(folder)], object))
    content += b"." * (-len(content) % 8)  # what follows the end of a pickle is not read
    return header((len(content) // 8,), "|O") + content


def hostile_archive(content: bytes, folder: Path, *, replace: bool) -> bytes:
    """Return a `.npz` file with an array of Python objects more, or with such arrays only."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, hostile_array(folder) if replace else old.read(name))
        new.writestr("evil.npy", hostile_array(folder))
    return out.getvalue()


def hostile_parquet(content: bytes, folder: Path) -> bytes:
    """Return a Parquet file whose columns claim to be of a type that old versions of PyArrow unpickled."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    table = pq.read_table(io.BytesIO(content))
    described = {"ARROW:extension:name": "arrow.py_extension_type"}
    described["ARROW:extension:metadata"] = pickle.dumps(bomb(folder), 0).decode("latin1")
    pq.write_table(table.cast(pa.schema([field.with_metadata(described) for field in table.schema])), out)
    return out.getvalue()


def hostile_text(path: Path, code: str) -> bytes:
    """Return lines whose third column is code, packed as the name says."""
    from lsprune.files.compression import packed

    separator = "," if ".csv" in path.name else "\t" if ".tsv" in path.name else " "
    lines = [("source", "target", "w"), ("0", "1", f'"{code}"'), ("1", code, "0.5")]
    target = path.with_name(f"hostile-{path.name}")
    with target.open("wb") as handle, packed(handle, path.name) as stream:
        stream.write("\n".join(separator.join(line) for line in lines).encode())
    return target.read_bytes()


def read_every_kind(folder: Path) -> None:
    """Read each kind of file, good, hostile and damaged, by its reader and by its command."""
    import pyarrow as pa
    from soak.damage import spliced
    from soak.damaged_files import KINDS
    from test_damaged_files import COMMAND_KINDS, attempt, words_of

    for kind in COMMAND_KINDS:
        path = folder / "in" / KINDS[kind].file
        if path.suffix == ".parquet" and pa.__version__.startswith("15."):
            continue  # PyArrow 15 ends the process on columns of such a type
        path.parent.mkdir()
        KINDS[kind].write(path)
        content = path.read_bytes()
        bad = hostile(content, path, folder)
        assert content not in bad, f"nothing hostile about {kind}"
        for version in (content, *bad, *(spliced(content, random.Random(seed)) for seed in (1, 2))):
            path.write_bytes(version)
            attempt(KINDS[kind].read, path, folder / "out")
        for version in bad if not kind.startswith("pruner") else ():  # their command is that of Spark
            path.write_bytes(version)
            (folder / "command").mkdir()
            run(*words_of(kind, path, folder / "command"))
            shutil.rmtree(folder / "command")
        shutil.rmtree(path.parent)


def files(folder: Path) -> None:
    """Read all twice: the first time Python imports modules and numba loads kernels, the second time no code is new."""
    global watched
    read_every_kind(folder)
    watched = OUTSIDE + CODE
    read_every_kind(folder)


def controls(folder: Path) -> None:
    """Do what must be seen: connect, start a process, unpickle, evaluate."""
    global watched
    content = pickle.dumps(bomb(folder))
    watched = OUTSIDE + CODE
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    subprocess.run(["true"])
    pickle.loads(content)
    eval("1 + 1")


if __name__ == "__main__":
    modes: dict[str, Callable[[Path], None]] = {"network": network, "files": files, "controls": controls}
    sys.addaudithook(hook)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        modes[sys.argv[1]](Path(sys.argv[2]))
    print(json.dumps(seen))
