"""Edges that carry logarithms are chosen as if the weights were computed where they are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import communities
from lsprune import LSP, Degree, Jaccard
from lsprune.baselines import TopWeight
from lsprune.kernels import Runtime
from lsprune.outofcore.partial_selection import EdgeRows, Selector
from lsprune.selection.owners import group
from lsprune.weights import Product, weight
from lsprune.weights.carried import Carried

GRAPH, _ = communities()


@pytest.mark.parametrize("power", [0.5, 1, 3])
@pytest.mark.parametrize("hash", ["constant", "identity", "projection"])
def test_carried_logarithms_decide_as_the_weight_itself(power, hash):
    pruner, run = LSP(k=3, hash=hash, attributes=("neighbour",), weights=Jaccard(power=power)).fit(GRAPH), Runtime()
    owned = group(GRAPH, pruner.rules, run)
    logs = pruner.options.weight.logs(GRAPH, pruner.view(GRAPH, owned, 3, run), "in", {}).of_slot
    owner = owned.owners(0, GRAPH.num_nodes)
    rows = EdgeRows(
        owner=owner, neighbour=owned.neighbour, quota=np.full(owner.shape, 3), carried=logs[:, None],
        x_neighbour=GRAPH.x[owned.neighbour] if pruner.needs.neighbour else None,
    )  # fmt: skip
    kept, held = Selector(pruner.carrying(), run).split(rows)
    mask = np.equal(*GRAPH.ends())  # self-loops stay
    mask[owned.edge[kept | held]] = True
    np.testing.assert_array_equal(mask, pruner.mask(GRAPH))
    wrong, last = Selector(pruner.carrying(), run).split(EdgeRows(**{**vars(rows), "carried": -logs[:, None]}))
    assert not np.array_equal(wrong | last, kept | held)


def test_factors_that_compare_neighbourhoods_are_carried_in_their_order():
    product = weight("degree:0.5*jaccard:2*neighbour:1*similarity")
    assert product.carried(0) == Product(
        factors=(Degree(power=0.5), Carried(power=2), weight("neighbour:1"), Carried(place=1))
    )
    assert Degree().carried(3) == Degree()
    needs = product.carried(0).needs
    assert (needs.scope, needs.carried, needs.degree, needs.by_neighbour) == ("edge", True, True, False)


def test_a_pruner_that_carries_needs_no_fit():
    fitted = TopWeight(k=2, weights="similarity").fit(GRAPH)
    assert fitted.carrying().options.weights == Carried() and not fitted.carrying().scales
    assert TopWeight(k=2, weights="jaccard").carrying() == LSP(k=2, hash="constant", weights=Carried(), select="bottom")
    assert TopWeight(k=2).carrying() == TopWeight(k=2) and TopWeight(k=2).comparisons() == ()
    assert LSP(k=2).carrying() == LSP(k=2)
