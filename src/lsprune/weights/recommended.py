"""The recommended edge weights, with and without labels; docs/choosing.md has the figures behind them."""

from __future__ import annotations

import dataclasses

from lsprune.weights.base import Weight
from lsprune.weights.degree import Degree
from lsprune.weights.jaccard import Jaccard
from lsprune.weights.labels import Labels
from lsprune.weights.product import Product
from lsprune.weights.similarity import Similarity

# The same powers for every graph: each factor guards against the failures of the others.
WITH_LABELS = Product(factors=(Labels(power=2), Jaccard(power=1), Degree(power=0.5)))
WITHOUT_LABELS = Product(factors=(Jaccard(power=1), Similarity(power=0.5)))


def scaled(product: Product, power: float) -> Weight:
    """Return a product to a power: a weaker or stronger preference, in the same order."""
    return Product(factors=tuple(dataclasses.replace(factor, power=factor.power * power) for factor in product.factors))
