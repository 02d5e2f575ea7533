"""The contract of the GPU path: for any graph and pruner, what the host gives, errors included.

The tests here run it on CPU tensors, with plain torch instead of Triton; `tests/gpu` runs the same on a real device.
"""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import any_graph, any_pruner, both

CASES = 12  # graphs for each seed


@pytest.mark.parametrize("fit", [False, True], ids=["as it is", "fitted before"])
@pytest.mark.parametrize("seed", range(7))
def test_masks_fits_isolated_nodes_and_errors_are_those_of_the_host(seed, fit):
    rng, masks = np.random.default_rng(seed), 0
    for _ in range(CASES):
        graph = any_graph(rng, edges=(0, 1, 5, 100, 500))
        pruner = any_pruner(rng, graph)
        host, device = both(pruner, graph, fit=fit)
        assert device == host, pruner
        masks += not isinstance(host, str)
    assert masks  # not errors alone
