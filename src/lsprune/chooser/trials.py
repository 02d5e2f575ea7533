"""Trials: prune a graph with each candidate, and judge what is left with a probe."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from lsprune.chooser.candidates import BASELINE, NO_EDGES, UNPRUNED, Candidate
from lsprune.chooser.known_labels import KnownLabels
from lsprune.chooser.scores import Scores
from lsprune.chooser.trial_file import Trial, TrialFile
from lsprune.errors import LspruneWarning
from lsprune.graph import Array, Graph
from lsprune.kernels import runtime
from lsprune.pruners import Pruner
from lsprune.pruners.relations import is_undirected

if TYPE_CHECKING:
    from lsprune.chooser.probe import Probe

MIN_SPARSE_COLUMNS, MAX_SPARSE_SHARE = 64, 0.05  # of attributes that are worked on as a sparse matrix

Progress = Callable[[int, int, str], None]
Results = dict[tuple[str, float], Trial]  # by name and share


@dataclass(frozen=True)
class Step:
    """A trial: a candidate at a share; no candidate: all or no edges."""

    name: str
    keep: float
    candidate: Candidate | None = None


class Trials:
    """Trials on one graph; what candidates share is computed once."""

    def __init__(self, graph: Graph, labels: KnownLabels, seed: int, threads: int | None) -> None:
        self.graph, self.labels, self.seed, self.threads = compact(graph), labels, seed, threads
        self.fits: dict[Any, Any] = {}  # fitted pruners, for other shares and powers

    @cached_property
    def probe(self) -> Probe:
        """The probe that judges; it imports scipy."""
        probe: Probe = import_module("lsprune.chooser.probe").Probe(self.graph, self.labels, self.seed)
        return probe

    @cached_property
    def undirected(self) -> bool:
        """Whether every edge has its reverse, so that both sides have the same neighbours and learn the same."""
        return is_undirected(self.graph, runtime(self.threads, None))

    def run(self, step: Step) -> tuple[Scores, int]:
        """Return the scores of a candidate and the number of edges that it keeps."""
        if step.candidate is None:
            mask = np.full(self.graph.num_edges, step.keep == 1)
            return self.probe.score((mask, mask)), int(mask.sum())
        if not step.candidate.needs_labels:
            mask = self._mask(step.candidate, step.keep, None)
            return self.probe.score((mask, mask)), int(mask.sum())
        first, second = (self._mask(step.candidate, step.keep, number) for number in (0, 1))
        return self.probe.score((first, second)), int(first.sum())

    def _mask(self, candidate: Candidate, keep: float, number: int | None) -> Array:
        """Return what a candidate keeps; with the labels of one of the rounds, or without labels."""
        pruner = candidate.at(keep, self.seed)
        if number is not None:
            fitted = self._taught(pruner, number)
        elif getattr(pruner, "chosen_by_fit", False):
            fitted = self.fit(pruner, None)  # what is chosen depends on the share
        else:
            if candidate.name not in self.fits:
                self.fits[candidate.name] = self.fit(pruner, None)
            fitted = self.fits[candidate.name].with_budget(keep=keep)
        mask: Array = fitted.mask(self.graph, threads=self.threads)
        return mask

    def _taught(self, pruner: Pruner, number: int) -> Pruner:
        """Return a pruner that has learned from the labels of a round; pruners by weight share what they learn."""
        teaching = self.labels.rounds[number].teaching
        options = getattr(pruner, "scored", None)
        if options is None:
            return self.fit(pruner, teaching)
        key = number, "" if self.undirected else options.side, options.weight.roles
        if key not in self.fits:
            self.fits[key] = self.fit(options, teaching)
        taught: Pruner = replace(self.fits[key], options=options)
        return taught

    def fit(self, pruner: Pruner, teaching: Array | None) -> Pruner:
        """Return a pruner that has learned from the graph, with the labels of some nodes or without labels."""
        graph = replace(self.graph, y=None, train_mask=None)
        if teaching is not None and self.labels.level == "nodes":
            graph = replace(graph, y=self.labels.as_y(graph.num_nodes), train_mask=teaching)
        return pruner.fit(graph, threads=self.threads)


def compact(graph: Graph) -> Graph:
    """Return the graph with node attributes as a sparse matrix if nearly all entries are 0: the same, but faster.

    A bag of words is often stored as a dense tensor.
    """
    x = graph.x_target
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.shape[1] < MIN_SPARSE_COLUMNS:
        return graph
    if x.dtype.kind not in "iu" and x.dtype not in (np.float32, np.float64):  # SciPy has no float16
        return graph
    if graph.x_source is not x or np.count_nonzero(x) > MAX_SPARSE_SHARE * x.size:
        return graph
    sparse = import_module("scipy.sparse").csr_array(x)
    return replace(graph, x_source=sparse, x_target=sparse)


def plan_trials(options: Sequence[Candidate], graph: Graph, labels: KnownLabels, shares: Sequence[float]) -> list[Step]:
    """Return the trials: the whole graph and no edges first, then candidate by candidate."""
    able = [option for option in options if option.fits(graph) and (labels.level == "nodes" or not option.needs_labels)]
    steps = [Step(option.name, share, option) for option in able for share in shares]
    return [Step(UNPRUNED, 1.0), Step(NO_EDGES, 0.0), *steps]


def run_trials(
    trials: Trials, plan: list[Step], file: TrialFile, seconds: float, start: float, progress: Progress | None
) -> tuple[Results, bool]:
    """Do the trials that fit into the time; what is needed for any choice is always done."""
    results: Results = {}
    for number, step in enumerate(plan):
        late = time.perf_counter() - start > seconds
        if late and step.candidate is not None and step.name != BASELINE:
            return results, False
        if progress is not None:
            progress(number, len(plan), step.name)
        pruner = "" if step.candidate is None else repr(step.candidate.at(step.keep, trials.seed))
        known = file.get(step.name, step.keep, pruner)
        if known is None:
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LspruneWarning)  # about a candidate that the caller did not name
                scores, edges = trials.run(step)
            known = scores, edges, time.perf_counter() - began
            file.add(step.name, step.keep, pruner, known)
        results[step.name, step.keep] = known
    if progress is not None:
        progress(len(plan), len(plan), "")
    return results, True
