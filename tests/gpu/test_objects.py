"""Objects on a real GPU: pruned there to the objects of the host, without leaving it."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_device import DEVICE, torch

# isort: split
from device_objects import OBJECTS, graphs, identical, masks_of, moved, pruners_of
from pyg_helpers import stored

from lsprune import prune


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_become_those_of_the_host(name, request):
    if DEVICE == "cpu":
        request.getfixturevalue("cpu_is_gpu")
    extras = {} if isinstance(OBJECTS[name](), torch.Tensor) else {"e_id": True, "rescale": True}
    for pruner in pruners_of(name):
        expected, masks = prune(OBJECTS[name](), pruner, return_mask=True, executor="cpu", **extras)
        given = moved(OBJECTS[name](), DEVICE)
        found, returned = prune(given, pruner, return_mask=True, **extras)  # HostWarning would be an error
        assert identical(expected, found) and identical(OBJECTS[name](), given)
        for mask, tensor in zip(masks_of(masks), masks_of(returned), strict=True):
            assert tensor.device.type == DEVICE
            np.testing.assert_array_equal(tensor.cpu().numpy(), mask)


def test_datasets_become_those_of_the_host(request):
    if DEVICE == "cpu":
        request.getfixturevalue("cpu_is_gpu")
    for pruner in pruners_of("list"):
        expected = prune(stored(graphs()), pruner, executor="cpu", e_id=True, rescale=True)
        found = prune(stored(graphs()).to(DEVICE), pruner, e_id=True, rescale=True)
        assert found._data.edge_index.device.type == DEVICE and identical(list(expected), list(found))


def test_graphs_in_host_memory_are_pruned_there_on_demand():
    if DEVICE == "cpu":
        pytest.skip("the executor needs a device")
    given = OBJECTS["data"]()
    for pruner in pruners_of("data"):
        mask = pruner.mask(given, executor="gpu")
        np.testing.assert_array_equal(mask, pruner.mask(given))
