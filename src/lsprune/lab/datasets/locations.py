"""Where a dataset's files are: a local folder, which is never written to, or a cache folder that PyG downloads into.

PyG writes a `processed` folder beside the raw files. So the raw files of a local copy are copied once to the cache
folder (LSPRUNE_CACHE, else ~/.cache/lsprune) and processed there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch_geometric

from lsprune.errors import FormatError, LspruneError, MissingDependency


@dataclass(frozen=True)
class Place:
    """Where one dataset is to be found and what reads it."""

    folder: str  # in the data folder
    make: partial[Any]  # PyG's class with its options, all but the root
    inside: str = ""  # where PyG puts `raw` below its root
    own_splits: bool = False  # the class has split="train" | "val" | "test"
    npz: str = ""  # the compact form that a local copy may have instead
    read_npz: Callable[[Path], Any] | None = None

    def read(self, name: str, source: Path | None) -> Any:
        """What PyG's class gives (three of them where it has splits), or what the compact form holds."""
        if source is None:
            return _build(self, _downloaded(name, self))
        local = source / self.folder
        if (local / "raw").is_dir():  # before the compact form: PPI's has neither features nor labels
            return _build(self, _copied(name, self, local))
        if self.read_npz and (local / self.npz).is_file():
            return self.read_npz(local / self.npz)
        wanted = f"{local / 'raw'}" + (f" or {local / self.npz}" if self.npz else "")
        raise FormatError(
            f"dataset {name} was not found: there is no {wanted}; set LSPRUNE_DATA or data= (--data) to the folder "
            f"that holds {self.folder}, or set neither to download it"
        )


def _build(place: Place, root: Path) -> Any:
    with warnings.catch_warnings():  # Planetoid's pickles are from numpy 1.x, and numpy says so of each
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", np.exceptions.VisibleDeprecationWarning)
        if place.own_splits:
            return tuple(place.make(str(root), split=split) for split in ("train", "val", "test"))
        return place.make(str(root))


def _downloaded(name: str, place: Place) -> Path:
    """The root that PyG downloaded the dataset into, now or earlier."""
    root = _cache() / "downloads" / place.folder
    try:
        return _whole(root, lambda empty: _build(place, empty))
    except ImportError as error:
        raise _missing(name, error) from error
    except Exception as error:  # PyG has several ways to download, each with errors of its own
        raise FormatError(
            f"dataset {name} is not in {root} and could not be downloaded ({type(error).__name__}: {error}); set "
            f"LSPRUNE_DATA or data= (--data) to a folder that holds {place.folder}, or try again with internet access"
        ) from error


def _copied(name: str, place: Place, local: Path) -> Path:
    """A PyG root in the cache with a copy of the local raw files, processed."""
    root = _cache() / "copies" / f"{name}-{_digest(local / 'raw')}"
    try:
        return _whole(root, lambda empty: _copy(place, local, empty))
    except LspruneError:
        raise
    except ImportError as error:
        raise _missing(name, error) from error
    except OSError as error:
        raise FormatError(
            f"dataset {name} in {local} could not be copied to {root.parent} and processed there: {error}; "
            "LSPRUNE_CACHE sets another folder"
        ) from error
    except Exception as error:  # whatever PyG's readers meet in a damaged file
        raise FormatError(f"dataset {name} in {local} cannot be read ({type(error).__name__}: {error})") from error


def _copy(place: Place, local: Path, root: Path) -> None:
    raw = root / place.inside / "raw"
    raw.mkdir(parents=True)
    for path in _files(local / "raw"):
        shutil.copyfile(path, raw / path.name)  # not `copy`: a read-only file's mode would come with it
    _build(_without_download(place, local), root)


def _without_download(place: Place, local: Path) -> Place:
    """The place with an error where PyG would download: to mix two sources is no copy of either."""

    def download(self: Any) -> None:
        absent = [Path(path).name for path in self.raw_paths if not Path(path).exists()]
        raise FormatError(f"{local / 'raw'} lacks {', '.join(absent)}")

    kind = place.make.func
    offline = type(kind.__name__, (kind,), {"download": download})  # type: ignore[arg-type]  # a class, not a function
    return Place(place.folder, partial(offline, **place.make.keywords), place.inside, place.own_splits)


def _whole(root: Path, fill: Callable[[Path], object]) -> Path:
    """`root`, filled completely or not there at all, even if others fill it at the same time."""
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


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _digest(raw: Path) -> str:
    """A name that changes with the place, its files and PyG, which can read its own version's processed files only."""
    stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in _files(raw)]
    return hashlib.sha256(repr((str(raw), torch_geometric.__version__, stats)).encode()).hexdigest()[:16]


def _cache() -> Path:
    named = os.environ.get("LSPRUNE_CACHE")
    return Path(named).expanduser().absolute() if named else Path.home() / ".cache" / "lsprune"


def _missing(name: str, error: ImportError) -> MissingDependency:
    return MissingDependency(f"dataset {name} needs {error.name}: pip install {error.name}")
