"""A study: one declarative file in, independent runs out, each done once whatever happens in between."""

from __future__ import annotations

import os
import signal
import time
import tomllib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import partial
from importlib import import_module
from importlib.resources import files
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, Literal, cast

from lsprune.checks import shown
from lsprune.errors import FormatError, Lacking, LspruneError, OptionError
from lsprune.kernels import threads
from lsprune.lab.reporting.records import is_finite_number
from lsprune.lab.studies.methods import BUDGETED, NAMES, NEEDS_K, PAPER
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run import SCHEDULES, Run
from lsprune.lab.user_graph import UserGraphFiles


@dataclass(frozen=True, kw_only=True)
class Part:
    """What is compared on one dataset; the fields are keys of a study file.

    Args:
        model: one of `lab.models.MODELS`; none where `hops` or `pairs` are given.
        k: the most edges that a node keeps, for every method that has a budget.
        shares: shares of the edges to keep, for every such method.
        random_shares: shares for `random` alone, which the paper did not run at the k of the others.
        the rest: as in `Run`, `targets` one run for each.
    """

    dataset: str
    model: str = ""
    k: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()
    random_shares: tuple[float, ...] = ()
    methods: tuple[str, ...] = PAPER
    targets: tuple[str, ...] = ()
    hops: tuple[int, ...] = ()
    epochs: int = 200
    lr: float = 0.01
    schedule: Literal["constant", "cosine"] = "constant"
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    batch_size: int = 512
    patience: int | None = None
    limit: int | None = None
    sparsity: int = 25
    pairs: int = 0

    def __post_init__(self) -> None:
        for name, (rule, words) in _RULES.items():
            _check(rule(getattr(self, name)), name, words, getattr(self, name))
        for name, (rule, words) in _LIST_RULES.items():
            values = getattr(self, name)
            _check(isinstance(values, tuple | list), name, f"a list: {words}", values)
            for value in values:
                _check(rule(value), name, words, value)
        if not (self.k or self.shares):
            raise OptionError("k or shares must be given, a list of at least one")
        if sum(map(bool, (self.model, self.hops, self.pairs))) != 1:
            raise OptionError("one of a model, hops and pairs must be given")

    def runs(self, study: str, seed: int) -> Iterator[Run]:
        """All runs of a seed."""
        same: Any = {f.name: getattr(self, f.name) for f in fields(self) if f.name in _OF_RUN}
        for target in self.targets or (None,):
            for method in self.methods:
                for budget in self._budgets(method):
                    yield Run(study=study, method=method, seed=seed, target=target, **same, **budget)

    def _budgets(self, method: str) -> list[dict[str, Any]]:
        if method not in BUDGETED:
            return [{}]
        shares = (*self.shares, *(self.random_shares if method == "random" else ()))
        keeps = () if method in NEEDS_K else shares
        return [{"k": k} for k in self.k] + [{"keep": float(share)} for share in keeps]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _whole(least: int) -> Callable[[object], bool]:
    return lambda value: type(value) is int and least <= value < 2**31


def _optional(rule: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or rule(value)


def _real(rule: Callable[[float], bool]) -> Callable[[object], bool]:
    return lambda value: is_finite_number(value) and rule(cast(float, value))


_POSITIVE = "a whole number in [1, 2^31)"
_SHARE: tuple[Callable[[object], bool], str] = (_real(lambda share: 0 < share <= 1), "numbers in (0, 1]")
# What each field of `Part` may be, and how that is said; those with lists hold for every entry.
_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "dataset": (_name, "the name of a dataset"),
    "model": (_text, "the name of a model"),
    "epochs": (_whole(1), _POSITIVE),
    "lr": (_real(lambda lr: lr > 0), "a number > 0"),
    "schedule": (lambda value: _text(value) and value in SCHEDULES, f"one of {', '.join(SCHEDULES)}"),
    "weight_decay": (_real(lambda decay: decay >= 0), "a number >= 0"),
    "label_smoothing": (_real(lambda share: 0 <= share < 1), "a number in [0, 1)"),
    "batch_size": (_whole(1), _POSITIVE),
    "patience": (_optional(_whole(1)), _POSITIVE),
    "limit": (_optional(_whole(1)), _POSITIVE),
    "sparsity": (_whole(1), _POSITIVE),
    "pairs": (_whole(0), "a whole number >= 0"),
}
_LIST_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "k": (_whole(1), "a list of whole numbers >= 1"),
    "shares": _SHARE,
    "random_shares": _SHARE,
    "methods": (lambda value: _text(value) and value in NAMES, f"some of {', '.join(NAMES)}"),
    "targets": (_name, "names of regression targets"),
    "hops": (_whole(0), "whole numbers >= 0"),
}
_MOST_SEEDS = 10_000

_OF_RUN = {f.name for f in fields(Run)} & {f.name for f in fields(Part)} - {"k"}


def _check(fine: bool, name: str, what: str, got: object) -> None:
    if not fine:
        raise OptionError(f"{name} must be {what}, got {shown(got)}")


@dataclass(frozen=True, kw_only=True)
class Study:
    """A comparison on one dataset or several."""

    name: str
    title: str
    parts: tuple[Part, ...]
    seeds: int = 5

    def __post_init__(self) -> None:
        _check(_name(self.name), "name", "a string", self.name)
        _check(_text(self.title), "title", "a string", self.title)
        _check(isinstance(self.parts, tuple) and len(self.parts) > 0, "parts", "one or more", self.parts)
        _check_seeds(self.seeds)

    def runs(self, seeds: int | None = None) -> list[Run]:
        """All runs, seed by seed, so that a study stopped early still compares every method."""
        if seeds is not None:
            _check_seeds(seeds)
        count = range(self.seeds if seeds is None else seeds)
        return [run for seed in count for part in self.parts for run in part.runs(self.name, seed)]

    def smoke(self) -> Study:
        """The same study in miniature: two epochs, one seed, one budget, 16 graphs of each split, every method."""
        parts = tuple(
            replace(
                part, k=part.k[:1], shares=part.shares[:1], random_shares=part.random_shares[:1], epochs=2, limit=16,
                targets=part.targets[:1], hops=part.hops[:1],
            )
            for part in self.parts
        )  # fmt: skip
        return replace(self, name=f"{self.name}-smoke", parts=parts, seeds=1)

    def only(
        self,
        *,
        datasets: Iterable[str] = (),
        methods: Iterable[str] = (),
        targets: Iterable[str] = (),
        k: Iterable[int] = (),
        epochs: int | None = None,
    ) -> Study:
        """A part of the study: what is not given stays whole. With k, shares are left out."""
        chosen, ks = tuple(self._known(datasets, "dataset", [part.dataset for part in self.parts])), tuple(k)
        parts = [part for part in self.parts if not chosen or part.dataset in chosen]
        wanted = tuple(self._known(methods, "methods", [name for part in parts for name in part.methods]))
        aims = tuple(self._known(targets, "target", [name for part in parts for name in part.targets]))
        for i, part in enumerate(parts):
            part = replace(part, k=ks, shares=(), random_shares=()) if ks else part
            part = replace(part, epochs=part.epochs if epochs is None else epochs)
            part = replace(part, targets=tuple(name for name in part.targets if not aims or name in aims))
            parts[i] = replace(part, methods=tuple(name for name in part.methods if not wanted or name in wanted))
        return replace(self, parts=tuple(parts))

    def _known(self, asked: Iterable[str], name: str, there: list[str]) -> Iterator[str]:
        for one in asked:
            _check(one in there, name, f"some of {', '.join(dict.fromkeys(there)) or 'none'} in study {self.name}", one)
            yield one


def _check_seeds(seeds: object) -> None:
    most = f"a whole number in [1, {_MOST_SEEDS:,}]"
    _check(type(seeds) is int and 1 <= seeds <= _MOST_SEEDS, "seeds", most, seeds)


def names() -> list[str]:
    """The studies that come with lsprune."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def read(name: str) -> Study:
    """The study of that name, or the one in a `.toml` file of one's own.

    A file has a title and the fields of `Part`; a study of several datasets has a table `[[part]]` for each of them,
    whose keys come before those at the top.

    >>> read("cora").parts[0].dataset
    'cora'
    """
    if name.endswith(".toml"):
        text, stem = _read_text(Path(name)), Path(name).stem
    elif name in names():
        text, stem = (_folder() / f"{name}.toml").read_text(encoding="utf8"), name
    else:
        raise OptionError(f"study must be one of {', '.join(names())}, or a .toml file, got {name!r}")
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # of ValueErrors also dates and numbers that cannot be
        raise FormatError(f"{name} is not a TOML file: {error}") from None
    own = {key: table.pop(key) for key in ("title", "seeds") if key in table}
    if not isinstance(own.get("title"), str):
        raise OptionError(f"title must be in the study file {name}, a string")
    parts = table.pop("part", [{}])
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise OptionError(f"part must be one or more tables [[part]] in the study file {name}, got {shown(parts)}")
    return Study(name=stem, parts=tuple(_part({**table, **part}, name) for part in parts), **own)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf8")
    except ValueError as error:  # not UTF-8, or no path at all
        raise FormatError(f"{path} is not a TOML file in UTF-8: {error}") from None


def _part(table: Mapping[str, Any], name: str) -> Part:
    known = {one.name: one for one in fields(Part)}
    for key, value in table.items():
        if key not in known:
            has = ", ".join(sorted({*known, "title", "seeds", "part"}))
            raise OptionError(f"{key} is not a key of a study; it may have {has}")
        kind = _KINDS[str(known[key].type).partition("[")[0].partition(" ")[0]]
        _check(isinstance(value, kind) and not isinstance(value, bool), key, f"{_WORDS[kind[0]]} in {name}", value)
    missing = [key for key, one in known.items() if one.default is MISSING and key not in table]
    if missing:
        raise OptionError(f"{missing[0]} must be in the study file {name}")
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    return Part(**{**table, **lists})


_WORDS: dict[type, str] = {list: "a list", str: "a string", int: "a whole number", float: "a number", dict: "a table"}
_KINDS: dict[str, tuple[type, ...]] = {
    "tuple": (list,),
    "str": (str,),
    "Literal": (str,),
    "int": (int,),
    "float": (float, int),
}


def _folder() -> Any:
    return files("lsprune.lab.studies") / "definitions"


@dataclass(frozen=True)
class Status:
    """How far a study is; `skipped` says for each dataset why its runs cannot be done here."""

    total: int
    done: int
    skipped: dict[str, str] = field(default_factory=dict)

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
    jobs: int = 1,
    device: str = "cpu",
    data: str | UserGraphFiles | None = None,
    watchers: Iterable[Any] = (),
    told: Callable[[Run, dict[str, Any]], None] | None = None,
) -> Status:
    """Do the runs that are missing and append each when it is done; how far the study is afterwards.

    Args:
        seeds: number of seeds, default the study's.
        budget: seconds; no run is started that would likely not end in time, judged by the longest one so far.
        jobs: runs at a time, each in a process of its own: small models leave most of a GPU idle. Times of runs that
            shared a device do not compare with others, so every record says how many there were.
        data: the folder of local datasets, or the files of the one graph that the study is about.
        watchers: `lab.training.callbacks`, called after every epoch; with several jobs, at the start and end of runs.
        told: called with every run and its record.
    """
    _check(type(jobs) is int and jobs >= 1, "jobs", "a whole number >= 1", jobs)
    import_module("lsprune.lab.datasets")  # raises with the command that installs what is missing, before any work
    watching, skipped = tuple(watchers), dict[str, str]()
    clock = _Clock(budget)
    with results.writing():
        there = results.keys()
        missing = (run for run in study.runs(seeds) if run.key not in there)
        wanted = (run for run in missing if run.dataset not in skipped and clock.start())
        work = partial(do_run, device=device, data=data)
        done = _one_by_one(work, wanted, watching) if jobs == 1 else _side_by_side(work, wanted, watching, jobs)
        with closing(done):
            for run, seconds, outcome in done:
                if isinstance(outcome, Lacking):
                    skipped[run.dataset] = str(outcome)
                    continue
                if isinstance(outcome, LspruneError):
                    raise type(outcome)(f"study {study.name}, {run}: {outcome}")
                results.append({**outcome, "jobs": jobs})
                clock.longest = max(clock.longest, seconds)
                if told is not None:
                    told(run, outcome)
    return replace(status(study, results, seeds), skipped=skipped)


def do_run(run: Run, *, device: str, data: str | UserGraphFiles | None, watchers: Iterable[Any] = ()) -> Outcome:
    """(the run, its seconds, its record or the error of ours that it met)."""
    from lsprune.lab.studies import consistency
    from lsprune.lab.studies import neighbourhood_variance as variance
    from lsprune.lab.training import train

    begin = time.monotonic()
    try:
        if run.hops:
            outcome = variance.measure(run, data=data, watchers=watchers)
        elif run.pairs:
            outcome = consistency.measure(run, watchers=watchers)
        else:
            outcome = train.train(run, device=device, data=data, callbacks=watchers)
    except LspruneError as error:
        return run, 0.0, error
    return run, time.monotonic() - begin, outcome


Outcome = tuple[Run, float, Any]
Doing = Generator[Outcome, None, None]


class _Clock:
    """Says whether another run may be started."""

    def __init__(self, budget: float | None) -> None:
        self.budget, self.longest, self.begun = budget, 0.0, time.monotonic()

    def start(self) -> bool:
        return self.budget is None or time.monotonic() - self.begun + 1.2 * self.longest < self.budget


def _one_by_one(work: Callable[..., Outcome], runs: Iterable[Run], watchers: tuple[Any, ...]) -> Doing:
    for run in runs:
        yield work(run, watchers=watchers)


def _begin_process(jobs: int) -> None:
    """End without a word on Ctrl-C, of which the study tells; leave the other processes their part of the cores."""
    _end_with_parent()
    import torch

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    cores = max(1, threads.count() // jobs)
    os.environ.setdefault("LSPRUNE_THREADS", str(cores))
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(cores)


def _end_with_parent() -> None:
    """End this process as soon as the one that started it is gone, even if it was killed: nobody takes the results."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, name="end with parent", daemon=True).start()


def _side_by_side(work: Callable[..., Outcome], runs: Iterator[Run], watchers: tuple[Any, ...], jobs: int) -> Doing:
    """The runs in `jobs` processes; each is started when another one has ended."""
    context = get_context("spawn")  # CUDA does not survive a fork
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_process, initargs=(jobs,))
    try:
        going = {pool.submit(work, run) for run in islice(runs, jobs)}
        while going:
            ended, going = wait(going, return_when=FIRST_COMPLETED)
            for future in ended:
                run, _, outcome = future.result()
                for watcher in watchers if isinstance(outcome, dict) else ():
                    watcher.on_run_start(run)
                    watcher.on_run_end(outcome)
                yield future.result()
            going |= {pool.submit(work, run) for run in islice(runs, jobs - len(going))}
    except BrokenProcessPool:
        raise LspruneError("a process that did a run has died, perhaps for lack of memory; try fewer jobs") from None
    finally:
        pool.shutdown(cancel_futures=True)
