"""Choose a pruner for a graph: try candidates, judge each pruned graph with a probe, pick one."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, Never

import numpy as np

from lsprune import adapters
from lsprune.checks import check_number, check_seed
from lsprune.chooser.candidates import CANDIDATES, UNPRUNED, Candidate, own_candidates, recommended_first
from lsprune.chooser.choice import Choice
from lsprune.chooser.goals import Goal, parse_goal
from lsprune.chooser.known_labels import MIN_JUDGED, KnownLabels, empty_masks, known_labels, states_labels
from lsprune.chooser.picking import best_at, is_lossless, reason_for, table_row
from lsprune.chooser.trial_file import TrialFile, fingerprint
from lsprune.chooser.trials import Progress, Results, Trials, plan_trials, run_trials
from lsprune.errors import BudgetWarning, GraphError, OptionError, RowError, warn
from lsprune.graph import Array, Graph
from lsprune.kernels import threads as thread_pool
from lsprune.keyword_options import positional_error
from lsprune.pruners import LSP, Pruner
from lsprune.pruners.graph_of_row import naming_graph_of_row

SECONDS = 300.0  # for all trials, unless the caller says otherwise


def choose(
    data: Any,
    *values: Never,
    keep: float | None = None,
    shares: Sequence[float] | None = None,
    goal: str | None = None,
    candidates: Mapping[str, Pruner] | None = None,
    y: Any = None,
    train_mask: Any = None,
    val_mask: Any = None,
    seconds: float = SECONDS,
    resume: Any = None,
    seed: int = 0,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Choice:
    """Choose the pruner that suits a graph, in seconds; test labels are never looked at.

    Every candidate prunes the graph, and a cheap model (the probe) is trained on the pruned graph with the labels of
    training nodes and judged on validation nodes. Without labels or node attributes there is nothing to judge by: the
    choice is `LSP.auto`.

    Args:
        data: a graph of any kind that `prune` takes, with labels: `y`, `train_mask` and `val_mask` of a PyG `Data`, or
            the arguments of these names; a list of graphs with a `y` each is fine too.
        keep: the share of edges to keep; or
        shares: several of them, of which the smallest lossless one is chosen; or
        goal: "lossless" (the same with shares of 5, 10, 25 and 50 %), or "2x faster": half the edges.
        candidates: pruners to try instead of ours, by name; k random neighbours are always tried.
        y: labels of the nodes, or of the graphs of a list: integers are classes, floats are numbers to predict, also
            whole ones (`y.long()` makes them classes); floats 0 and 1 are labels that are there or not.
        train_mask, val_mask: which of them may be looked at.
        seconds: begin no further trial after this time.
        resume: a file that trials are written to, and read from if it is there.
        progress: called with (trials done, all trials, name of the next).
        threads: of kernels; default LSPRUNE_THREADS, else all cores. BLAS has one.

    >>> import numpy as np
    >>> from lsprune import Graph
    >>> graph = Graph.from_edges(np.random.default_rng(0).integers(0, 50, (2, 600)))
    >>> choose(graph, keep=0.25).pruner
    LSP(keep=0.25, hash=Identity())
    """
    start = time.perf_counter()
    if values:
        raise positional_error("choose", ("keep",), values[0], before=("data",))
    check_seed(seed)
    check_number("seconds", seconds, 0, math.inf)
    aim = parse_goal(keep, shares, goal)
    graph = _single_graph(data)
    given = {"y": y, "train_mask": train_mask, "val_mask": val_mask}
    own = None if candidates is None else own_candidates(candidates)
    labels = known_labels(data, graph, given, seed)
    if labels is None or graph.x_target is None:
        missing = _what_is_missing(labels is None, states_labels(data, graph, y), empty_masks(data, given))
        choice = _without_labels(data, graph, missing, aim, seed, threads, start)
    else:
        _check_finite(graph)
        options = _candidates(graph, labels) if own is None else own
        trials = Trials(graph, labels, seed, threads)
        file = TrialFile(resume, lambda: fingerprint(graph, labels, seed))
        plan = plan_trials(options, graph, labels, aim.shares)
        with thread_pool.blas(1):  # with more, small equations take far longer on a busy machine
            results, finished = run_trials(trials, plan, file, seconds, start, progress)
            choice = _pick(trials, options, aim, results, finished, start)
    _warn_small(graph, choice.keep)
    return choice


def _candidates(graph: Graph, labels: KnownLabels) -> tuple[Candidate, ...]:
    return recommended_first(graph, labels) if labels.level == "nodes" else CANDIDATES


def _single_graph(data: Any) -> Graph:
    graphs = adapters.find(data).graphs(data)
    graph = graphs.get(None)
    if len(graphs) != 1 or graph is None or graph.bipartite:
        raise OptionError("choose must be given one kind of nodes and edges; take a relation out of the HeteroData")
    if not graph.num_edges:
        raise GraphError("the graph has no edges: there is nothing to prune")
    return graph


def _what_is_missing(no_usable_labels: bool, some_labels: bool, empty: list[str]) -> str:
    """Say why candidates cannot be judged.

    Args:
        empty: names of masks that select no node.
    """
    if not no_usable_labels:
        return "there are no node attributes to judge candidates by"
    if not some_labels:
        return "there are no labels to judge candidates by"
    if empty:
        return f"{' and '.join(empty)} select{'s' * (len(empty) == 1)} no node, so candidates cannot be judged"
    return (
        f"candidates are judged on at least {MIN_JUDGED} nodes or graphs with a label, which must not be among those "
        "trained on, and there are fewer"
    )


def _check_finite(graph: Graph) -> None:
    """Raise GraphError for attributes that a probe cannot be trained on."""
    for name, values in (("x", graph.x_target), ("edge_attr", graph.edge_attr)):
        if values is None:
            continue
        sparse = hasattr(values, "tocsr")
        rows: Any = values.tocsr() if sparse else np.asarray(values)
        numbers: Array = rows.data if sparse else rows.reshape(-1)
        bad = np.flatnonzero(~np.isfinite(numbers)) if numbers.dtype.kind == "f" else np.empty(0, np.int64)
        if bad.size:
            ends = rows.indptr[1:] if sparse else np.arange(1, len(rows) + 1) * (rows.size // len(rows))
            row = int(np.searchsorted(ends, bad[0], side="right"))
            with naming_graph_of_row({None: graph}):
                raise RowError.at(f"{name} must be finite, got {numbers[bad[0]]}", name, row)


def _warn_small(graph: Graph, share: float) -> None:
    mean = graph.num_edges / max(graph.num_nodes, 1)
    if share * mean < 1:
        warn(
            f"a node has {mean:.1f} edges on average: at {100 * share:.3g} % of them many nodes keep none, and no "
            "choice of edges can repair that; keep more",
            BudgetWarning,
        )


def _without_labels(
    data: Any, graph: Graph, missing: str, aim: Goal, seed: int, threads: int | None, start: float
) -> Choice:
    """Return what is recommended where candidates cannot be judged."""
    keep = aim.shares[-1]
    bare = graph.x_target is None and graph.edge_attr is None
    pruner: Pruner = LSP(keep=keep, hash="identity", seed=seed) if bare else LSP.auto(keep=keep, seed=seed)
    fitted = pruner if bare else pruner.fit(data, threads=threads)
    learned = Candidate("lsp-auto", getattr(fitted, "options", fitted)).needs_labels
    name = "lsp-identity" if bare else "lsp-auto-labels" if learned else "lsp-auto"
    reason = f"{name} at {100 * keep:.3g} % of the edges: {missing}."
    if aim.lossless:
        reason += " Which share is lossless cannot be said either: this is the largest one that was asked for."
    return Choice(name, keep, fitted, reason, "", (), True, time.perf_counter() - start)


def _pick(
    trials: Trials, options: Sequence[Candidate], aim: Goal, results: Results, finished: bool, start: float
) -> Choice:
    """Return the choice: the best candidate at the share asked for, or at the smallest lossless share."""
    by_name = {option.name: option for option in options}
    picks = {share: best_at(share, results, list(by_name)) for share in aim.shares}
    whole, metric = results[UNPRUNED, 1.0][0], trials.labels.metric
    share, reason_end = aim.shares[-1], ""
    if aim.lossless:
        lossless = [share for share in aim.shares if is_lossless(results[picks[share], share][0], whole, metric)]
        share = lossless[0] if lossless else share
        reason_end = "" if lossless else " No share that was tried is lossless; this is the largest."
    name = picks[share]
    pruner = trials.fit(by_name[name].at(share, trials.seed), trials.labels.training)
    reason = reason_for(name, share, results, metric) + reason_end
    tried = tuple(table_row(key, results) for key in results)
    took = time.perf_counter() - start
    return Choice(name, share, pruner, reason, metric.name, tried, finished, took)
