"""Which objects the PyTorch and PyG adapters are found for, and what every one of them leaves whole."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from device_helpers import no_numpy_reads
from device_objects import OBJECTS, identical, masks_of, pruners_of
from pyg_helpers import Stored, data, hetero, same, several, stored

# isort: split
import torch
from torch_geometric.data import Batch

from lsprune import prune
from lsprune.adapters.pyg import find


def test_same_tells_a_difference():
    assert same(several(), several())
    changed = several()
    changed[2].edge_index[0, 0] = 1
    assert not same(several(), changed)


def test_nothing_is_found_for_other_objects():
    assert find([]) is None
    assert find([1, 2]) is None
    assert find(np.zeros((2, 3), int)) is None


def test_tensors_need_no_pyg():
    code = (
        "import sys, torch, numpy as np; from lsprune.adapters.pyg import find; from lsprune.adapters.base import Kept;"
        "t = torch.tensor([[0, 1], [1, 0]]); out = find(t).rebuild(t, {None: Kept(mask=np.array([False, True]))});"
        "assert out.tolist() == [[1], [0]]; assert 'torch_geometric' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("make", [data, several, hetero, stored, lambda: Batch.from_data_list(several())])
def test_what_has_no_mask_stays_whole(make):
    out = find(make()).rebuild(make(), {})
    assert same(list(out), list(stored())) if isinstance(out, Stored) else same(out, make())


# On a GPU ------------------------------------------------------------------------------------------------------------


def test_identical_tells_a_difference():
    for name, make in OBJECTS.items():
        pruner = pruners_of(name)[0]
        assert identical(make(), make())
        assert not identical(make(), prune(make(), pruner, executor="cpu"))


@pytest.mark.parametrize("extras", [{}, {"e_id": True, "rescale": True}], ids=["plain", "with extras"])
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_on_a_gpu_become_those_of_the_host(name, extras, cpu_is_gpu):
    if extras and isinstance(OBJECTS[name](), torch.Tensor):
        pytest.skip("a bare tensor has no place for them")
    for pruner in pruners_of(name):
        expected, masks = prune(OBJECTS[name](), pruner, return_mask=True, executor="cpu", **extras)
        given = OBJECTS[name]()
        with no_numpy_reads():  # HostWarning would be an error
            found, returned = prune(given, pruner, return_mask=True, **extras)
        assert identical(expected, found)
        assert identical(given, OBJECTS[name]())  # as it was
        for mask, tensor in zip(masks_of(masks), masks_of(returned), strict=True):
            assert isinstance(tensor, torch.Tensor) and tensor.dtype == torch.bool
            np.testing.assert_array_equal(tensor.numpy(), mask)
