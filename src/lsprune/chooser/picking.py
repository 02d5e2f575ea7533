"""Pick a candidate: the recommended one unless another is clearly better, at the smallest lossless share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lsprune.chooser.candidates import BASELINE, NO_EDGES, UNPRUNED
from lsprune.chooser.choice import Tried
from lsprune.chooser.metrics import Metric
from lsprune.chooser.scores import Scores, paired_gain
from lsprune.chooser.trials import Results

CLEAR = 1.96  # standard errors of a clear difference
SWITCH = 2.0  # by which another candidate must be better than the recommended one: the best of many is partly luck
LOSSLESS_POINTS = 0.005  # of a share of right answers that a lossless graph may lose
LOSSLESS_ERROR = 0.01  # by which its error may be larger, as a part of the error on the whole graph


def best_at(share: float, results: Results, names: Sequence[str]) -> str:
    """Return the recommended candidate, unless another one is clearly better; then the best of these."""
    there = [name for name in names if (name, share) in results]
    default = there[1] if len(there) > 1 else there[0]
    reference = results[default, share][0]
    gains = {name: paired_gain(results[name, share][0].hits, reference.hits) for name in there if name != default}
    clear = {name: mean for name, (mean, error) in gains.items() if mean > SWITCH * error}
    return max(clear, key=lambda name: clear[name]) if clear else default


def is_lossless(scores: Scores, whole: Scores, metric: Metric) -> bool:
    """Return whether a pruned graph is judged like the whole one: not clearly worse, and by half a point at most.

    Of numbers: by an error that is at most one per cent larger, in any unit.
    """
    mean, error = paired_gain(scores.hits, whole.hits)
    allowed = LOSSLESS_ERROR * -float(whole.hits.mean()) if metric.is_error else LOSSLESS_POINTS
    return mean >= -allowed and mean + CLEAR * error >= 0


def table_row(key: tuple[str, float], results: Results) -> Tried:
    name, keep = key
    scores, edges, seconds = results[key]
    base = results.get((BASELINE, keep))
    gain = low = high = math.nan
    if base is not None and name != BASELINE:
        gain, error = paired_gain(scores.hits, base[0].hits)
        low, high = gain - CLEAR * error, gain + CLEAR * error
    return Tried(name, keep, edges, float(scores.hits.mean()), gain, low, high, seconds)


def reason_for(name: str, share: float, results: Results, metric: Metric) -> str:
    """Return one sentence that says what was picked and how it compares."""
    scores = {key: float(results[key][0].hits.mean()) for key in results}
    chosen = scores[name, share]
    references = {"k random neighbours": (BASELINE, share), "all edges": (UNPRUNED, 1.0), "no edges": (NO_EDGES, 0.0)}
    others = ", ".join(f"{words} {metric.score(scores[key])}" for words, key in references.items())
    text = f"{name} at {100 * share:.3g} % of the edges: {metric.of_probe(chosen)}, {others}."
    rivals = [score for (other, keep), score in scores.items() if keep == share and other not in (UNPRUNED, name)]
    if any(score > chosen for score in rivals):
        text += f" Candidates that {metric.is_better} are not clearly better (by {SWITCH:g} standard errors)."
    mean, error = paired_gain(results[UNPRUNED, 1.0][0].hits, results[NO_EDGES, 0.0][0].hits)
    if mean <= CLEAR * error:
        text += " Edges do not clearly help the probe here: try a model without them first."
    return text
