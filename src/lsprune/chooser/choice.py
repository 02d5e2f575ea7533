"""Choice: the pruner that `choose` picked, what it tried, and why."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lsprune.api import prune
from lsprune.chooser.metrics import metric_of
from lsprune.errors import OptionError
from lsprune.measure import plots
from lsprune.pruners import Pruner

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Tried:
    """How the probe judged one candidate at one share.

    Args:
        keep: the share asked for. edges: the number of edges kept.
        score: mean score of the judged nodes or graphs; larger is better: of numbers it is minus the error.
        low, high: 95 % interval of the difference to k random neighbours at the same share; nan for these themselves
            and for a graph with all or no edges.
        seconds: time to prune and to probe.
    """

    name: str
    keep: float
    edges: int
    score: float
    gain: float
    low: float
    high: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Choice:
    """What `choose` found; print it for the table.

    Args:
        name: of the candidate. keep: the share of edges to keep.
        pruner: fitted on the data, ready to prune it and other graphs.
        reason: one sentence.
        metric: what scores are: "accuracy" of the probe, for example; empty without labels.
        tried: the graph with all edges, without edges, and the candidates, in the order of trial.
        finished: whether all candidates were tried in the seconds allowed.
        seconds: time that all of it took.
    """

    name: str
    keep: float
    pruner: Pruner
    reason: str
    metric: str
    tried: tuple[Tried, ...]
    finished: bool
    seconds: float

    def prune(self, data: Any, **options: Any) -> Any:
        """Return `prune(data, choice.pruner, **options)`."""
        return prune(data, self.pruner, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pruner as one file; `lsprune.load` reads it, `lsprune prune --fitted` uses it."""
        self.pruner.save(path)

    def plot(self, title: str = "") -> Figure:
        """Draw the gain of each candidate over k random neighbours, one panel for each share; needs matplotlib."""
        shares = sorted({row.keep for row in self.tried if row.low == row.low})
        if not shares:
            raise OptionError("plot needs scored candidates; without labels there are none")
        figure, axes = plots.canvas(1, len(shares))
        metric = metric_of(self.metric)
        scaled, label = metric.scaled, metric.about_gains[0].upper() + metric.about_gains[1:]
        for share, panel in zip(shares, axes, strict=True):
            rows = [row for row in self.tried if row.keep == share and row.low == row.low]
            gains = {row.name: (scaled(row.gain), scaled(row.low), scaled(row.high)) for row in rows}
            plots.intervals(gains, label, title=f"{100 * share:.3g} % of the edges", axes=panel)
            if panel is not axes[0]:
                panel.set_yticklabels([])
        figure.suptitle(title or self.name, x=0.01, ha="left").set_parse_math(False)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "name": self.name, "keep": self.keep, "pruner": getattr(self.pruner, "options", self.pruner).to_dict(),
            "reason": self.reason, "metric": self.metric, "finished": self.finished, "seconds": self.seconds,
            "tried": [{key: _number(value) for key, value in asdict(row).items()} for row in self.tried],
        }  # fmt: skip

    def __str__(self) -> str:
        lines, metric = [self.reason], metric_of(self.metric)
        if not self.tried:
            return self.reason
        width, gains = max(len(row.name) for row in self.tried), metric.about_gains
        scores = [metric.score(row.score) for row in self.tried]
        wide = max(map(len, (metric.head, *scores)))
        lines.append(f"{'':{width}}   keep  {metric.head:>{wide}}  {gains}  seconds")
        for row, score in zip(self.tried, scores, strict=True):
            low, high = metric.gain(row.low), metric.gain(row.high)
            gain = f"{metric.gain(row.gain):>6} [{low}, {high}]" if row.low == row.low else ""
            lines.append(
                f"{row.name:{width}}  {row.keep:5.3g}  {score:>{wide}}  {gain:{len(gains)}}  {row.seconds:7.2f}"
            )
        return "\n".join(lines)


def _number(value: Any) -> Any:
    """Return None for a number that JSON does not know."""
    return None if isinstance(value, float) and value != value else value
