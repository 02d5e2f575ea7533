"""Damaged files as commands and tests of one shape meet them, and files that once crashed a reader.

Reading every format with damage by number is a long check: `soak/checks/bad_bytes.py`, of which `tests/test_soak.py`
tries a few cases. Here Hypothesis damages them, and shows the least damage that fails. The number of mutations is
small; LSPRUNE_MUTATIONS=5000 searches further.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from soak.checks.bad_bytes import original, verdict_on
from soak.damage import spliced
from soak.damaged_files import KINDS, SOURCE, TARGET, Read, loaded_pruner, saved_pruner
from soak.fuzz_bytes import TARGETS
from soak.fuzz_bytes import attempt as fuzz_once
from soak.isolated import run_isolated
from typer.testing import CliRunner

from lsprune import LspruneError
from lsprune.cli import app

MUTATIONS = int(os.environ.get("LSPRUNE_MUTATIONS", "40"))
COMMANDS = max(3, MUTATIONS // 20)  # a command takes many times as long as a reader
CRASHERS = sorted(Path(__file__).with_name("damaged").glob("*/*"))


ODD: list[Any] = [
    None, True, -1, 0, 1, 1.5, 10**400, 2**63, float("nan"), float("inf"), "", "abc", "\0", "\ud800", "../a", "/",
    "9" * 30, [], {}, [[]], {"a": 1}, [1, "a"], "x" * 1000, {"name": "projection"},
]  # fmt: skip


def changed_json(content: bytes, seed: int) -> bytes:
    """JSON, or lines of it, with some value in some place replaced by one of another kind, or left out."""
    chance = random.Random(seed)
    lines = content.splitlines() if content.count(b"\n") > 1 and content.startswith(b'{"') else [content]
    at = chance.randrange(len(lines))
    tree = json.loads(lines[at])
    for _ in range(chance.choice((1, 1, 2))):
        places = list(_places(tree))
        holder, key = chance.choice(places)
        if chance.random() < 0.15 and isinstance(holder, dict):
            holder.pop(key, None)
        else:
            holder[key] = chance.choice(ODD)
    lines[at] = json.dumps(tree).encode()
    return b"\n".join(lines) + b"\n"


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def attempt(reader: Read, path: Path, folder: Path) -> str:
    """What came of it: the error of ours, or nothing; any other error is one of the test."""
    folder.mkdir()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader(path, folder)
    except (LspruneError, OSError) as error:
        return str(error) or "an error without a message"
    finally:
        shutil.rmtree(folder)
    return ""


@pytest.mark.parametrize("path", CRASHERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_crashed_a_reader_once_does_not_again(tmp_path: Path, path: Path) -> None:
    file = tmp_path / TARGETS[path.parent.name][0]
    shutil.copyfile(path, file)
    assert file.name in fuzz_once(path.parent.name, file)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Return other bytes altogether, or the content with up to four parts overwritten, removed or repeated."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=len(content)))
    out = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(out)))
        end = draw(st.one_of(st.integers(at, min(at + 8, len(out))), st.integers(at, len(out))))
        out[at:end] = draw(st.one_of(st.binary(max_size=8), st.just(out[at:end] * 2)))
    return bytes(out)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("work folder")])
def test_any_damage_is_refused_or_changes_nothing(kind: str) -> None:
    content = run_isolated(original, kind)

    @settings(max_examples=max(5, MUTATIONS // 4), deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged(content))
    def reads(changed: bytes) -> None:
        wrong = run_isolated(verdict_on, kind, changed, "changed") == "wrong"
        assert not (wrong and KINDS[kind].checked), "another output, and no error"

    reads()


JSON = ("results", "manifest")


@pytest.mark.parametrize("kind", JSON)
def test_json_of_another_shape_is_an_error_of_ours(tmp_path: Path, kind: str, few_resamples: None) -> None:
    path = tmp_path / "in" / KINDS[kind].file
    path.parent.mkdir()
    KINDS[kind].write(path)
    content = path.read_bytes()
    for seed in range(MUTATIONS):
        path.write_bytes(changed_json(content, seed))
        try:
            attempt(KINDS[kind].read, path, tmp_path / "out")
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")


def test_options_of_a_saved_pruner_of_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    saved_pruner(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    content = arrays.pop("json").tobytes()
    for seed in range(MUTATIONS):
        np.savez(path, json=np.frombuffer(changed_json(content, seed), np.uint8), **arrays)
        try:
            attempt(loaded_pruner, path, tmp_path / "out")
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")


COMMAND_KINDS = [kind for kind in KINDS if not kind.startswith(("seal", "work folder"))]


def words_of(kind: str, path: Path, folder: Path) -> list[str]:
    """The command that reads such a file."""
    prune = ["--k", "1", "--hash", "identity", "--threads", "1"]
    if kind.startswith("stream features"):
        np.savez(folder / "good.npz", edge_index=np.stack([SOURCE, TARGET]))
        out = [str(folder / "good.npz"), str(folder / "out.npz"), "--features", str(path)]
        return ["prune", *out, "--k", "1", "--threads", "1", "--stream"]
    if kind.startswith("features"):
        np.savez(folder / "good.npz", edge_index=np.stack([SOURCE, TARGET]))
        return ["prune", str(folder / "good.npz"), str(folder / "out.npz"), "--features", str(path), "--k", "1"]
    if kind.startswith("stream"):
        return ["prune", str(path), str(folder / f"out{''.join(path.suffixes)}"), *prune, "--stream"]
    if kind == "npz":
        return ["inspect", str(path), "--methods", "random", "--shares", "0.5"]
    return {
        "results": ["report", str(path), "-o", str(folder / "r.html")],
        "study": ["study", "status", str(path), "--out", str(folder)],
        "manifest": ["verify", str(path.parent)],
        "pruner": ["spark-prune", "absent", str(folder / "out"), "--fitted", str(path)],
        "pruner with words": ["spark-prune", "absent", str(folder / "out"), "--fitted", str(path)],
    }.get(kind, ["prune", str(path), str(folder / f"out{''.join(path.suffixes)}"), *prune])


@pytest.mark.parametrize("kind", COMMAND_KINDS)
def test_commands_end_with_a_line(tmp_path: Path, kind: str, few_resamples: None) -> None:
    path = tmp_path / "in" / KINDS[kind].file
    path.parent.mkdir()
    KINDS[kind].write(path)
    content = path.read_bytes()
    for seed in range(10**6, 10**6 + COMMANDS):
        path.write_bytes(spliced(content, random.Random(seed)))
        folder = tmp_path / str(seed)
        folder.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = CliRunner().invoke(app, words_of(kind, path, folder))
        assert done.exception is None or isinstance(done.exception, SystemExit), (seed, repr(done.exception))
        assert done.exit_code in (0, 1), (seed, done.stderr)
        lines = done.stderr.splitlines()
        assert all(line.startswith(("error: ", "warning: ", "note: ")) for line in lines), (seed, done.stderr)
        assert (done.exit_code == 1) == any(line.startswith("error: ") for line in lines), (seed, done.stderr)
        left = {one.name for one in folder.iterdir()} - {"good.npz"}
        assert done.exit_code == 0 or not left, (seed, left)
        shutil.rmtree(folder)
