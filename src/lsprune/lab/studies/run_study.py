"""Run a study: do the runs that are missing, each once, also after an interruption."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any

from lsprune.errors import DatasetNotFound, Lacking, LspruneError
from lsprune.kernels import threads
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run import Run
from lsprune.lab.studies.study import Study, check_value
from lsprune.lab.user_graph import UserGraphFiles


@dataclass(frozen=True)
class Status:
    """How many runs of a study are done; `skipped` has the reason for each dataset whose runs cannot be done here."""

    total: int
    done: int
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """Runs still to do."""
        return self.total - self.done


def status(study: Study, results: Results, seeds: int | None = None) -> Status:
    """Return how many runs of the study the results contain."""
    keys = {run.key for run in study.runs(seeds)}
    return Status(len(keys), len(keys & results.keys()))


def run_study(
    study: Study,
    results: Results,
    *,
    seeds: int | None = None,
    budget: float | None = None,
    jobs: int = 1,
    device: str = "cpu",
    data: str | UserGraphFiles | None = None,
    callbacks: Iterable[Any] = (),
    on_record: Callable[[Run, dict[str, Any]], None] | None = None,
    skip_missing_datasets: bool = False,
) -> Status:
    """Do the runs that are missing and append each when it is done; return how many are done afterwards.

    Args:
        seeds: number of seeds, default the study's.
        budget: seconds; a run that would not end in time, if it took as long as the longest so far, is not started.
        jobs: number of parallel runs, each in its own process; small models leave most of a GPU idle. Times of runs
            that share a device cannot be compared, so every record has this number.
        data: the folder of local datasets, or the files of the user's graph.
        callbacks: `lab.training.callbacks`, called after every epoch; with several jobs, at the start and end of runs.
        on_record: called with every run and its record.
        skip_missing_datasets: go on past a dataset that is not there, and name it under `skipped`; False: raise.
    """
    check_value(type(jobs) is int and jobs >= 1, "jobs", "a whole number >= 1", jobs)
    import_module("lsprune.lab.datasets")  # raises with the command that installs what is missing, before any work
    callbacks, skipped = tuple(callbacks), dict[str, str]()
    clock = Clock(budget)
    skippable = (Lacking, DatasetNotFound) if skip_missing_datasets else Lacking
    with results.writing():
        keys = results.keys()
        missing = (run for run in study.runs(seeds) if run.key not in keys)
        runs = (run for run in missing if run.dataset not in skipped and clock.may_start())
        work = partial(do_run, device=device, data=data)
        outcomes = _one_by_one(work, runs, callbacks) if jobs == 1 else _in_parallel(work, runs, callbacks, jobs)
        with closing(outcomes):
            for run, seconds, outcome in outcomes:
                if isinstance(outcome, skippable):
                    skipped[run.dataset] = str(outcome)
                    continue
                if isinstance(outcome, LspruneError):
                    raise type(outcome)(f"study {study.name}, {run}: {outcome}")
                results.append({**outcome, "jobs": jobs})
                clock.longest = max(clock.longest, seconds)
                if on_record is not None:
                    on_record(run, outcome)
    return replace(status(study, results, seeds), skipped=skipped)


def do_run(run: Run, *, device: str, data: str | UserGraphFiles | None, callbacks: Iterable[Any] = ()) -> Outcome:
    """Do a run; return it, its seconds, and its record or the error that it raised."""
    from lsprune.lab.studies import consistency
    from lsprune.lab.studies import neighbourhood_variance as variance
    from lsprune.lab.training import train

    begin = time.monotonic()
    try:
        if run.hops:
            outcome = variance.measure(run, data=data, callbacks=callbacks)
        elif run.pairs:
            outcome = consistency.measure(run, callbacks=callbacks)
        else:
            outcome = train.train(run, device=device, data=data, callbacks=callbacks)
    except LspruneError as error:
        return run, 0.0, error
    return run, time.monotonic() - begin, outcome


Outcome = tuple[Run, float, Any]
Outcomes = Generator[Outcome, None, None]


class Clock:
    """Decides whether there is time for another run; `longest` is the seconds of the longest so far."""

    def __init__(self, budget: float | None) -> None:
        self.budget, self.longest, self.begun = budget, 0.0, time.monotonic()

    def may_start(self) -> bool:
        """Return whether a run that takes as long as the longest so far would end in time."""
        return self.budget is None or time.monotonic() - self.begun + 1.2 * self.longest < self.budget


def _one_by_one(work: Callable[..., Outcome], runs: Iterable[Run], callbacks: tuple[Any, ...]) -> Outcomes:
    for run in runs:
        yield work(run, callbacks=callbacks)


def _begin_process(jobs: int) -> None:
    """End silently on Ctrl-C, which the parent reports; leave the other processes their part of the cores."""
    _end_with_parent()
    import torch

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    cores = max(1, threads.count() // jobs)
    os.environ.setdefault("LSPRUNE_THREADS", str(cores))
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(cores)


def _end_with_parent() -> None:
    """End this process as soon as its parent is gone, even if that was killed: nobody would read the results."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, name="end with parent", daemon=True).start()


def _in_parallel(work: Callable[..., Outcome], runs: Iterator[Run], callbacks: tuple[Any, ...], jobs: int) -> Outcomes:
    """Do the runs in `jobs` processes; each is started when another one has ended.

    If the caller is stopped or stops, the runs in progress are ended: nobody would read their results.
    """
    others = set(active_children())
    context = get_context("spawn")  # CUDA does not survive a fork
    running: set[Future[Outcome]] = set()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_process, initargs=(jobs,))
    try:
        running = {pool.submit(work, run) for run in islice(runs, jobs)}
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                run, _, outcome = future.result()
                for callback in callbacks if isinstance(outcome, dict) else ():
                    callback.on_run_start(run)
                    callback.on_run_end(outcome)
                yield future.result()
            running |= {pool.submit(work, run) for run in islice(runs, jobs - len(running))}
    except BrokenProcessPool:
        raise LspruneError("a process of a run was killed, perhaps because memory ran out; try fewer jobs") from None
    finally:
        for process in set(active_children()) - others if running else ():
            process.terminate()
        pool.shutdown(cancel_futures=True)
