"""The spanning forest of a graph that prefers the edges that come first."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array, Graph
from lsprune.selection.csgraph import minimum_forest
from lsprune.selection.items import Items, links_of


def forest(graph: Graph, items: Items, order: Array) -> Array:
    """Mark the items of the spanning forest that prefers those that come first in `order`."""
    from scipy.sparse import coo_array

    links, in_forest = links_of(graph, items), np.zeros(items.draw.shape[0], bool)
    order = order[links.of_item[order] >= 0]
    link, best = np.unique(links.of_item[order], return_index=True)  # the first item of each link
    if link.size == 0:
        return in_forest
    rank = best.astype(np.float64) + 1  # whole and distinct, so that there is one minimum; 0 would be no link
    matrix = coo_array((rank, (links.low, links.high)), shape=(links.nodes, links.nodes))
    in_forest[order[minimum_forest(matrix).astype(np.int64) - 1]] = True
    return in_forest
