"""A run is the same run if its input, options and version are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from lsprune import LSP, FormatError
from lsprune.files import EdgeOptions
from lsprune.outofcore import stream_task
from lsprune.outofcore.stream_input import StreamInput
from lsprune.outofcore.stream_task import StreamTask


@pytest.fixture
def task(tmp_path):
    """A function that describes a run on a small edge list."""
    np.save(tmp_path / "e.npy", np.array([[0, 1, 2], [1, 2, 0]]))
    np.save(tmp_path / "x.npy", np.ones((3, 2), np.float32))

    def describe(pruner=LSP(k=2), out: str = "out.npy", memory: int = 10**9, mapping=None, **options) -> StreamTask:  # noqa: B008
        source = StreamInput(tmp_path / "e.npy", EdgeOptions.of(None, options), mapping, 10**6)
        return StreamTask.of(source, source.open(None), pruner, tmp_path / out, memory)

    return describe


def test_the_same_run_has_the_same_name_wherever_it_is_written_with_whatever_memory(task):
    assert task() == task()
    assert task().name == task(out="other.npy", memory=10**8).name
    assert task().settings != task(out="other.npy").settings


def test_other_options_are_another_run(task, tmp_path, monkeypatch):
    names = [
        task(LSP(k=3)).name,
        task(LSP(k=2, seed=1)).name,
        task(num_nodes=9).name,
        task(features=tmp_path / "x.npy").name,
        task(bipartite=True).name,
        task(mapping=Path("map.parquet")).name,
        task().name,
    ]
    monkeypatch.setattr(stream_task, "__version__", "0.0.0")
    names.append(task().name)
    assert len(set(names)) == len(names)


def test_a_changed_input_is_another_run(task, tmp_path):
    before = task().name
    os.utime(tmp_path / "e.npy", ns=(1, 1))
    touched = task().name
    np.save(tmp_path / "e.npy", np.array([[0, 1, 2, 1], [1, 2, 0, 0]]))
    assert len({before, touched, task().name}) == 3


def test_settings_are_plain_data(task, tmp_path):
    settings = task(features=tmp_path / "x.npy").settings
    assert json.loads(json.dumps(settings)) == settings


def test_an_input_that_was_changed_since_is_refused(task, tmp_path):
    described = task(features=tmp_path / "x.npy")
    described.refuse_changed()
    before = (tmp_path / "x.npy").stat()
    os.utime(tmp_path / "x.npy", ns=(1, 1))
    with pytest.raises(FormatError, match=r"x\.npy: was changed while it was read; prune it again"):
        described.refuse_changed()
    os.utime(tmp_path / "x.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    described.refuse_changed()
    again = task(features=tmp_path / "x.npy")
    assert again.settings == described.settings and again.marks != described.marks
    (tmp_path / "x.npy").unlink()
    with pytest.raises(FormatError, match=r"x\.npy: was removed while it was read"):
        described.refuse_changed()
