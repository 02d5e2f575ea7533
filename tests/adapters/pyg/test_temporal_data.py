"""`TemporalData`: events as edges, the same kind back, all that belongs to an event in step."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_helpers import KEPT  # noqa: F401  (skips where PyG is missing)

# isort: split
import torch
from torch_geometric.data import TemporalData

from lsprune import LSP, Graph, GraphError, LocalRandom, Timed, mask, prune
from lsprune.baselines import TopWeight

BIG = 2**60
RNG = np.random.default_rng(0)
SRC, DST = RNG.integers(0, 9, (2, 120))
T = RNG.permutation(120) + BIG
MSG = RNG.normal(size=(120, 3)).astype(np.float32)


def events(**more) -> TemporalData:
    ends = {"src": torch.from_numpy(SRC), "dst": torch.from_numpy(DST)}
    return TemporalData(**{**ends, "t": torch.from_numpy(T), "msg": torch.from_numpy(MSG), **more})


@pytest.mark.parametrize("pruner", [LSP(k=2), LocalRandom(keep=0.3), TopWeight(k=2, column=1)], ids=repr)
def test_masks_are_those_of_the_edges_with_messages_as_attributes(pruner):
    graph = Graph.from_edges((SRC, DST), edge_attr=MSG)
    np.testing.assert_array_equal(mask(events(), pruner), pruner.mask(graph))


def test_everything_of_an_event_stays_in_step_and_the_rest_stays():
    given = events(y=torch.arange(120), names=[f"event {i}" for i in range(120)], note=torch.tensor([1, 2]))
    small, found = prune(given, Timed(pruner=TopWeight(k=3, column="t"), until=BIG + 60), return_mask=True, e_id=True)
    assert type(small) is TemporalData and 0 < found.sum() < 60
    for name in ("src", "dst", "t", "msg", "y"):
        assert torch.equal(small[name], given[name][torch.from_numpy(found)]), name
    assert small.names == [name for name, keep in zip(given.names, found, strict=True) if keep]
    assert small.note is given.note
    assert small.e_id.tolist() == np.flatnonzero(found).tolist()
    assert given.num_events == 120


def test_time_is_found_under_its_two_names_exactly():
    for name in ("t", "time"):
        found = mask(events(), Timed(pruner=LocalRandom(k=500, self_loops="edge"), time=name, until=BIG + 7))
        assert found.tolist() == (T <= BIG + 7).tolist()
    own = events(time=torch.zeros(120, dtype=torch.int64))  # an entry of that name comes first
    assert mask(own, Timed(pruner=LocalRandom(k=500), until=0)).all()


def test_weights_have_a_place():
    small, found = prune(events(), LocalRandom(k=1, self_loops="edge"), rescale=True, return_mask=True)
    degree = np.bincount(DST, minlength=9)
    assert small.edge_weight.tolist() == degree[DST[found]].tolist()
    again = prune(small, LocalRandom(k=1, self_loops="edge"), rescale=True)
    assert again.edge_weight.tolist() == small.edge_weight.tolist()


def test_what_is_missing_is_named():
    with pytest.raises(GraphError, match="time 'when' needs a value of each edge.* there are 'src', 'dst', 't', 'msg'"):
        mask(events(), Timed(pruner=LSP(k=1), time="when", until=3))
    with pytest.raises(GraphError, match=r"src and dst of a TemporalData, got only \['t'\]"):
        mask(TemporalData(t=torch.arange(3)), LSP(k=1))
    plain = events(msg=None)
    assert "msg" not in prune(plain, LocalRandom(k=1))._store


def test_a_device_takes_the_host_path(cpu_is_gpu, monkeypatch):
    from lsprune.errors import HostWarning

    monkeypatch.setattr("lsprune.adapters.pyg.temporal_data.on_gpu", lambda tensor: tensor.device)
    with pytest.warns(HostWarning, match="TemporalData has no GPU path"):
        small = prune(events(), LocalRandom(k=1))
    assert torch.equal(small.t, prune(events(), LocalRandom(k=1), executor="cpu").t)
