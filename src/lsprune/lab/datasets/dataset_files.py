"""Where a dataset's files are read from: a local folder, which is never written to, or a download into the cache.

PyG writes a `processed` folder beside the raw files. So the raw files of a local folder are copied once to the cache
folder (LSPRUNE_CACHE, else ~/.cache/lsprune) and processed there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch_geometric

from lsprune.errors import DatasetNotFound, FormatError, LspruneError, MissingDependency


@dataclass(frozen=True)
class CompactFile:
    """A file that a data folder may hold instead of the files that PyG reads.

    Args:
        path: its path below the data folder.
        read: reads it.
    """

    path: str
    read: Callable[[Path], Any]


@dataclass(frozen=True)
class DatasetFiles:
    """Where the files of one dataset are and what reads them.

    Args:
        folder: the dataset's folder below the data folder.
        pyg_class: PyG's class with all of its options but the root; None if PyG does not have these data.
        raw_parent: the folder below PyG's root that holds `raw`.
        has_splits: whether the class takes split="train", "val" or "test".
        compact: files that a data folder may hold instead of `raw`; the first that is there is read.
    """

    folder: str
    pyg_class: partial[Any] | None
    raw_parent: str = ""
    has_splits: bool = False
    compact: tuple[CompactFile, ...] = ()

    def read(self, name: str, data_folder: Path | None) -> Any:
        """Return PyG's dataset (three if it has splits) or what a compact file holds; None downloads the dataset."""
        if data_folder is None:
            return _build(self, _downloaded_root(name, self))
        local = data_folder / self.folder
        if self.pyg_class and (local / "raw").is_dir():  # preferred to compact files: PPI's have less
            return _build(self, _copied_root(name, self, local))
        for file in self.compact:
            if (data_folder / file.path).is_file():
                return file.read(data_folder / file.path)
        raise DatasetNotFound(self._not_found(name, data_folder))

    def _not_found(self, name: str, data_folder: Path) -> str:
        raw = [data_folder / self.folder / "raw"] if self.pyg_class else []
        places = [*raw, *(data_folder / file.path for file in self.compact)]
        folders = " or ".join(dict.fromkeys([self.folder] * len(raw) + [file.path for file in self.compact]))
        return (
            f"dataset {name} was not found: there is no {' or '.join(map(str, places))}; set LSPRUNE_DATA or data= "
            f"(--data) to the folder that holds {folders}" + (", or set neither to download it" if raw else "")
        )


def _build(files: DatasetFiles, root: Path) -> Any:
    """Return PyG's dataset in this root, processing its raw files if that was not done yet."""
    with warnings.catch_warnings():  # Planetoid's pickles are from numpy 1.x, and numpy warns about each
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", np.exceptions.VisibleDeprecationWarning)
        assert files.pyg_class is not None
        if files.has_splits:
            return tuple(files.pyg_class(str(root), split=split) for split in ("train", "val", "test"))
        return files.pyg_class(str(root))


def _downloaded_root(name: str, files: DatasetFiles) -> Path:
    """Return the root that PyG downloads the dataset into, or downloaded it into earlier."""
    if files.pyg_class is None:
        paths = " or ".join(file.path for file in files.compact)
        raise DatasetNotFound(
            f"dataset {name} cannot be downloaded, since PyG does not have it in this form; set LSPRUNE_DATA or data= "
            f"(--data) to a folder that holds {paths}"
        )
    root = _cache_folder() / "downloads" / files.folder
    try:
        return _fill_atomically(root, lambda empty: _build(files, empty))
    except ImportError as error:
        raise _missing_package(name, error) from error
    except Exception as error:  # PyG downloads in several ways, which raise different errors
        raise DatasetNotFound(
            f"dataset {name} is not in {root} and could not be downloaded ({type(error).__name__}: {error}); set "
            f"LSPRUNE_DATA or data= (--data) to a folder that holds {files.folder}, or try again with internet access"
        ) from error


def _copied_root(name: str, files: DatasetFiles, local: Path) -> Path:
    """Return a PyG root in the cache with a processed copy of the local raw files."""
    root = _cache_folder() / "copies" / f"{name}-{_digest(local / 'raw')}"
    try:
        return _fill_atomically(root, lambda empty: _copy_and_process(files, local, empty))
    except LspruneError:
        raise
    except ImportError as error:
        raise _missing_package(name, error) from error
    except OSError as error:
        raise FormatError(
            f"dataset {name} in {local} could not be copied to {root.parent} and processed there: {error}; "
            "LSPRUNE_CACHE sets another folder"
        ) from error
    except Exception as error:  # PyG's readers raise anything on a damaged file
        raise FormatError(f"dataset {name} in {local} cannot be read ({type(error).__name__}: {error})") from error


def _copy_and_process(files: DatasetFiles, local: Path, root: Path) -> None:
    raw = root / files.raw_parent / "raw"
    raw.mkdir(parents=True)
    for path in _list_files(local / "raw"):
        shutil.copyfile(path, raw / path.name)  # not `copy`, which would keep the mode of a read-only file
    _build(_without_download(files, local), root)


def _without_download(files: DatasetFiles, local: Path) -> DatasetFiles:
    """Return the files with a class that raises where PyG would download, since a mix of two sources is neither."""

    def download(self: Any) -> None:
        absent = [Path(path).name for path in self.raw_paths if not Path(path).exists()]
        raise FormatError(f"{local / 'raw'} lacks {', '.join(absent)}")

    assert files.pyg_class is not None
    base = files.pyg_class.func
    offline = type(base.__name__, (base,), {"download": download})  # type: ignore[arg-type]  # a class, not a function
    return replace(files, pyg_class=partial(offline, **files.pyg_class.keywords))


def _fill_atomically(root: Path, fill: Callable[[Path], object]) -> Path:
    """Return `root`, filled completely or not created at all, even if several processes fill it at the same time."""
    if root.is_dir():
        return root
    root.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=root.parent, prefix=".unfinished-"))
    try:
        fill(temporary)
        try:
            temporary.rename(root)
        except OSError:
            if not root.is_dir():  # else another process was faster, and its folder is as good
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return root


def _list_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _digest(raw: Path) -> str:
    """Return a hash of the path, its files' sizes and times, and PyG's version, on which processed files depend."""
    stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in _list_files(raw)]
    return hashlib.sha256(repr((str(raw), torch_geometric.__version__, stats)).encode()).hexdigest()[:16]


def _cache_folder() -> Path:
    setting = os.environ.get("LSPRUNE_CACHE")
    return Path(setting).expanduser().absolute() if setting else Path.home() / ".cache" / "lsprune"


def _missing_package(name: str, error: ImportError) -> MissingDependency:
    return MissingDependency(f"dataset {name} needs {error.name}: pip install {error.name}")
