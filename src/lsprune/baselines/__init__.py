"""Baselines, one per file. To add one: write the file and register its class below."""

from __future__ import annotations

from lsprune.baselines.cosine import Cosine
from lsprune.baselines.degree import LocalDegree, LowDegree
from lsprune.baselines.disparity import Disparity
from lsprune.baselines.dspar import DSpar
from lsprune.baselines.effective_resistance import EffectiveResistance
from lsprune.baselines.first import First
from lsprune.baselines.jaccard import Jaccard
from lsprune.baselines.local_random import LocalRandom
from lsprune.baselines.metric_backbone import MetricBackbone
from lsprune.baselines.no_edges import NoEdges
from lsprune.baselines.random import Random
from lsprune.baselines.spanning_forest import SpanningForest
from lsprune.baselines.top_weight import TopWeight
from lsprune.pruners.registry import PRUNERS

__all__ = [
    "Cosine", "DSpar", "Disparity", "EffectiveResistance", "First", "Jaccard", "LocalDegree", "LocalRandom",
    "LowDegree", "MetricBackbone", "NoEdges", "Random", "SpanningForest", "TopWeight",
]  # fmt: skip

for _baseline in (
    Random, LocalRandom, First, LowDegree, LocalDegree, Jaccard, Cosine, TopWeight, DSpar, EffectiveResistance,
    SpanningForest, NoEdges, Disparity, MetricBackbone,
):  # fmt: skip
    PRUNERS.add(_baseline)
