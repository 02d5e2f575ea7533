"""The recommended edge weights, with and without labels; docs/choosing.md has the figures behind them."""

from __future__ import annotations

from lsprune.weights.base import Weight
from lsprune.weights.degree import Degree
from lsprune.weights.jaccard import Jaccard
from lsprune.weights.labels import Labels
from lsprune.weights.similarity import Similarity

# The same exponents for every graph: each factor guards against the failures of the others.
WITH_LABELS: Weight = Labels(power=2) * Jaccard(power=1) * Degree(power=0.5)
WITHOUT_LABELS: Weight = Jaccard(power=0.5) * Similarity(power=0.25)
