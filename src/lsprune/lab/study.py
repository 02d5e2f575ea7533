"""A study: one declarative file in, independent runs out, each done once whatever happens in between."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError, LspruneError, OptionError
from lsprune.lab.methods import BUDGETED, NAMES
from lsprune.lab.results import Results


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is compared on which dataset; the fields are the keys of a study file."""

    name: str
    title: str
    dataset: str
    model: str
    k: tuple[int, ...]
    methods: tuple[str, ...] = NAMES
    targets: tuple[str, ...] = ()
    seeds: int = 5
    epochs: int = 200
    lr: float = 0.01
    weight_decay: float = 0.0
    batch_size: int = 512
    patience: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        unknown = [method for method in self.methods if method not in NAMES]
        if unknown:
            raise OptionError(f"methods must be some of {', '.join(NAMES)}, got {unknown[0]!r}")
        if not self.k or any(not isinstance(k, int) or k < 1 for k in self.k):
            raise OptionError(f"k must be a list of whole numbers >= 1, got {list(self.k)}")

    def runs(self, seeds: int | None = None) -> list[Any]:
        """All runs, seed by seed, so that a study stopped early still compares every method."""
        from lsprune.lab.train import Run

        return [
            Run(
                study=self.name, dataset=self.dataset, model=self.model, method=method, k=k, seed=seed, target=target,
                epochs=self.epochs, lr=self.lr, weight_decay=self.weight_decay, batch_size=self.batch_size,
                patience=self.patience, limit=self.limit,
            )
            for seed in range(self.seeds if seeds is None else seeds)
            for target in (self.targets or (None,))
            for method in self.methods
            for k in (self.k if method in BUDGETED else (None,))
        ]  # fmt: skip

    def smoke(self) -> Study:
        """The same study in miniature: two epochs, one seed, one k, 64 graphs of each split, every method."""
        return replace(
            self, name=f"{self.name}-smoke", k=self.k[:1], seeds=1, epochs=2, targets=self.targets[:1], limit=64
        )


def names() -> list[str]:
    """The studies that come with lsprune."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def read(name: str) -> Study:
    """The study of that name, or the one in a `.toml` file of one's own.

    >>> read("cora").dataset
    'cora'
    """
    if name.endswith(".toml"):
        text, stem = Path(name).read_text(encoding="utf8"), Path(name).stem
    elif name in names():
        text, stem = (_folder() / f"{name}.toml").read_text(encoding="utf8"), name
    else:
        raise OptionError(f"study must be one of {', '.join(names())}, or a .toml file, got {name!r}")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{name} is not a TOML file: {error}") from None
    known = {one.name for one in fields(Study)} - {"name"}
    for key in table:
        if key not in known:
            raise OptionError(f"{key} is not a key of a study; it may have {', '.join(sorted(known))}")
    missing = [key for key in ("title", "dataset", "model", "k") if key not in table]
    if missing:
        raise OptionError(f"{missing[0]} must be in the study file {name}")
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    return Study(name=stem, **{**table, **lists})


def _folder() -> Any:
    return files("lsprune.lab") / "studies"


@dataclass(frozen=True)
class Status:
    """How far a study is."""

    total: int
    done: int

    @property
    def missing(self) -> int:
        """Runs still to do."""
        return self.total - self.done


def status(study: Study, results: Results, seeds: int | None = None) -> Status:
    """How many runs of the study the results hold."""
    wanted = {run.key for run in study.runs(seeds)}
    return Status(len(wanted), len(wanted & results.keys()))


def run_study(
    study: Study,
    results: Results,
    *,
    seeds: int | None = None,
    budget: float | None = None,
    device: str = "cpu",
    data: str | None = None,
    told: Callable[[Any, dict[str, Any]], None] | None = None,
) -> Status:
    """Do the runs that are missing and append each when it is done; how far the study is afterwards.

    Args:
        seeds: number of seeds, default the study's.
        budget: seconds; no run is started that would likely not end in time, judged by the longest one so far.
        told: called with every run and its record.
    """
    from lsprune.lab.train import train

    with results.writing():
        there, started, longest = results.keys(), time.monotonic(), 0.0
        for run in _missing(study, seeds, there):
            spent = time.monotonic() - started
            if budget is not None and spent + 1.2 * longest >= budget:
                break
            begin = time.monotonic()
            try:
                record = train(run, device=device, data=data)
            except LspruneError as error:
                raise type(error)(f"study {study.name}, {run.method} k={run.k} seed={run.seed}: {error}") from None
            results.append(record)
            longest = max(longest, time.monotonic() - begin)
            if told is not None:
                told(run, record)
    return status(study, results, seeds)


def _missing(study: Study, seeds: int | None, there: set[str]) -> Iterator[Any]:
    return (run for run in study.runs(seeds) if run.key not in there)
