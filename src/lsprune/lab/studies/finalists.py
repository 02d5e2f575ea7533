"""The finalists of `choose` as methods of a study, so that only they are trained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lsprune.chooser import Choice, choose
from lsprune.chooser.candidates import CANDIDATES, Candidate
from lsprune.chooser.trials import Progress
from lsprune.lab.studies.methods import BUDGET, LOCAL_RANDOM, Method, find_method

FINALISTS = 2  # at each share


def find_finalists(
    data: Any,
    shares: Sequence[float],
    *,
    count: int = FINALISTS,
    resume: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Method, ...]:
    """Return k random neighbours and the candidates that a probe ranks first at each share; see `lsprune.choose`.

    Without attributes to judge by, there are no finalists: return no method at all.

    Args:
        data: a `Data` with `y` and the masks that training uses; test labels are never looked at.
        resume: a file of trials, as for `choose`.
    """
    choice = choose(data, shares=tuple(shares), resume=resume, progress=progress)
    names = [name for share in shares for name in best_names(choice, share, count)]
    by_name = {candidate.name: candidate for candidate in CANDIDATES}
    methods = [method_of(by_name[name]) for name in dict.fromkeys(names)]
    return (find_method(LOCAL_RANDOM), *methods) if methods else ()


def best_names(choice: Choice, share: float, count: int) -> Iterable[str]:
    """Return the candidates with the highest scores at a share, and the one that was chosen."""
    rows = [row for row in choice.tried if row.keep == share and row.gain == row.gain]  # the baseline has no gain
    ranked = sorted(rows, key=lambda row: (row.name != choice.name or share != choice.keep, -row.score))
    return [row.name for row in ranked[:count]]


def method_of(candidate: Candidate) -> Method:
    """Return a candidate as a method of the same name.

    >>> [method_of(candidate).name for candidate in CANDIDATES[:3]]
    ['local-random', 'top-labels-jaccard-degree', 'top-jaccard-similarity']
    """
    options = {option: value for option, value in candidate.pruner.to_dict().items() if option not in BUDGET}
    return Method.from_table({**options, "name": candidate.name})
