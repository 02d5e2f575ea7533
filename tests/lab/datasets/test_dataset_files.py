"""Where datasets are read from: a local folder that stays untouched, or a download into the cache."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from real_data import DATA

pytest.importorskip("torch_geometric")

import torch
from torch_geometric import datasets as pyg

from lsprune.errors import FormatError
from lsprune.lab.datasets import _DATASETS, NAMES, dataset_files, load
from lsprune.lab.datasets.dataset_files import CompactFile, DatasetFiles


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and no data folder but what a test sets."""
    monkeypatch.setenv("LSPRUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LSPRUNE_DATA", raising=False)
    return tmp_path / "cache"


def state(folder):
    return sorted((str(path), path.stat().st_mtime_ns, path.stat().st_mode) for path in [folder, *folder.rglob("*")])


@pytest.fixture
def cora(tmp_path):
    """A read-only data folder that holds Cora."""
    if not (DATA / "Planetoid/Cora").is_dir():
        pytest.skip("real dataset Planetoid/Cora not dataset; set LSPRUNE_DATA to a folder that has it")
    raw = tmp_path / "source" / "Planetoid" / "Cora" / "raw"
    raw.mkdir(parents=True)
    for path in (DATA / "Planetoid/Cora/raw").iterdir():
        shutil.copyfile(path, raw / path.name)
        (raw / path.name).chmod(0o444)
    for folder in (raw, *raw.parents[:3]):
        folder.chmod(0o555)
    yield tmp_path / "source"
    for folder in (raw, *raw.parents[:3]):
        folder.chmod(0o755)


def test_a_local_copy_is_never_written_to_and_processed_once(cora, cache, monkeypatch):
    before = state(cora)
    monkeypatch.setenv("LSPRUNE_DATA", str(cora))
    first = load("cora").train
    assert state(cora) == before
    kept = state(cache)
    monkeypatch.setattr(pyg.Planetoid, "process", lambda self: pytest.fail("processed a second time"))
    assert load("cora").train.x.equal(first.x)
    assert state(cache) == kept


def test_a_changed_local_folder_is_read_again(cora, cache):
    load("cora", data=cora)
    graph = cora / "Planetoid/Cora/raw/ind.cora.graph"
    graph.chmod(0o644)
    graph.write_bytes(graph.read_bytes()[:1000])
    with pytest.raises(FormatError, match=r"cora in .*Cora cannot be read \("):
        load("cora", data=cora)
    assert len(list((cache / "copies").iterdir())) == 1  # nothing is left of the second


def test_a_truncated_index_file_is_refused(cora, cache):
    index = cora / "Planetoid/Cora/raw/ind.cora.test.index"
    index.chmod(0o644)
    index.write_text("")
    with pytest.raises(FormatError, match="cora has no node in its test_mask"):
        load("cora", data=cora)


def test_an_incomplete_local_copy_is_not_downloaded_into(cora, cache, monkeypatch):
    monkeypatch.setattr(pyg.Planetoid, "download", lambda self: pytest.fail("downloaded"))
    raw = cora / "Planetoid/Cora/raw"
    raw.chmod(0o755)
    (raw / "ind.cora.graph").unlink()
    with pytest.raises(FormatError, match=r"Cora/raw lacks ind\.cora\.graph$"):
        load("cora", data=cora)
    assert not list((cache / "copies").iterdir())


def test_a_cache_that_cannot_be_written(cora, cache):
    cache.write_text("a file")
    with pytest.raises(FormatError, match="LSPRUNE_CACHE"):
        load("cora", data=cora)


@pytest.mark.parametrize("name", NAMES)
def test_the_error_for_a_missing_dataset_names_the_folder(name, cache, tmp_path):
    with pytest.raises(FormatError, match=f"dataset {name} was not found: .*{tmp_path}/nowhere/.*LSPRUNE_DATA.*--data"):
        load(name, data=tmp_path / "nowhere")
    assert not cache.exists() and not (tmp_path / "nowhere").exists()


def test_no_internet(cache, monkeypatch):
    def download(self):
        raise OSError("no route to host")

    monkeypatch.setattr(pyg.ZINC, "download", download)
    with pytest.raises(FormatError, match="zinc is not in .*cache.*no route to host.*LSPRUNE_DATA.*--data.*internet"):
        load("zinc")
    assert not list((cache / "downloads").iterdir())


@pytest.mark.parametrize("name", [name for name, (files, _) in _DATASETS.items() if files.pyg_class])
def test_local_raw_files_are_copied_to_where_pyg_looks_for_them(name, cache, monkeypatch):
    files, folders = _DATASETS[name][0], []

    def download(self):
        folders.append(self.raw_dir)
        raise OSError("no route to host")

    monkeypatch.setattr(files.pyg_class.func, "download", download)
    with pytest.raises(FormatError, match="no route to host"):
        load(name)
    assert folders[0].partition("/.unfinished-")[2].partition("/")[2] == str(Path(files.raw_parent) / "raw")


def masks(data):
    return torch.stack([data.train_mask, data.val_mask, data.test_mask])


def test_a_download_goes_to_the_cache_and_happens_once(cache, monkeypatch):
    calls = []

    def download(self):
        calls.append(self.raw_dir)
        arrays = {"features": np.eye(10, 3), "target": np.arange(10) % 2, "edges": np.array([[0, 1], [1, 0]])}
        np.savez(self.raw_paths[0], **arrays)

    monkeypatch.setattr(pyg.GitHub, "download", download)
    for _ in range(2):
        dataset = load("github")
        assert masks(dataset.train).sum(1).tolist() == [6, 2, 2]
        assert (dataset.num_features, dataset.num_classes) == (3, 2)
    assert len(calls) == 1 and calls[0].startswith(str(cache))


def test_two_processes_that_fill_one_folder_agree(tmp_path):
    root = tmp_path / "root"

    def fill(folder):
        (folder / "mine").touch()
        root.mkdir()  # the other one was faster
        (root / "theirs").touch()

    assert dataset_files._fill_atomically(root, fill) == root
    assert [path.name for path in tmp_path.rglob("*")] == ["root", "theirs"]


def test_raw_files_are_preferred_to_the_compact_file_and_that_to_an_error(cache, tmp_path):
    folder = tmp_path / "data" / "GitHub"
    compact = tuple(CompactFile(path, lambda path: path.name) for path in ("graphs/large.npz", "GitHub/small.npz"))
    files = DatasetFiles("GitHub", partial(pyg.GitHub), compact=compact)
    says = r"there is no .*GitHub/raw or .*graphs/large\.npz or .*GitHub/small\.npz; .* or set neither to download it"
    with pytest.raises(FormatError, match=says):
        files.read("github", tmp_path / "data")
    folder.mkdir(parents=True)
    (folder / "small.npz").touch()
    assert files.read("github", tmp_path / "data") == "small.npz"
    (tmp_path / "data" / "graphs").mkdir()
    (tmp_path / "data" / "graphs" / "large.npz").touch()  # the first in the list goes first
    assert files.read("github", tmp_path / "data") == "large.npz"
    (folder / "raw").mkdir()
    with pytest.raises(FormatError, match=r"GitHub/raw lacks"):
        files.read("github", tmp_path / "data")
