"""ACM and DBLP: kinds, relations and their reverses, labels that may be used, damaged files."""

from __future__ import annotations

import numpy as np
import pytest
from real_data import DATA

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.errors import FormatError  # noqa: E402
from lsprune.lab.datasets import load  # noqa: E402
from lsprune.lab.datasets.hgb import Schema, read_hgb_npz  # noqa: E402

TINY = Schema(("paper", "author"), {1: ("author", "writes", "paper"), 0: ("paper", "rev_writes", "author")})
# nodes, edges, columns and classes of the labelled kind, sizes of the splits
SIZES = {"acm": (10_942, 547_872, 1_902, 3, [362, 181, 364]), "dblp": (26_128, 239_566, 334, 4, [486, 243, 488])}


def arrays(**changed):
    """Papers 0, 2 and 4, authors 1 and 3; author 1 wrote 0 and 2, author 3 wrote 4."""
    edges = np.array([[1, 1, 3, 0, 2, 4], [0, 2, 4, 1, 1, 3]])
    whole = {"node_type": [0, 1, 0, 1, 0], "edge_type": [1, 1, 1, 0, 0, 0], "edge_index": edges}
    whole |= {"y": [2, -1, 0, -1, 1], "train_mask": np.array([True, False, False, False, True])}
    whole |= {"x_type0": np.array([[1, 0], [0, 1], [1, 1]], np.uint8)}
    return {key: np.asarray(value) for key, value in (whole | changed).items()}


def test_nodes_are_numbered_by_kind_and_those_without_attributes_get_one_of_their_own(tmp_path):
    np.savez(tmp_path / "g.npz", **arrays())
    data = read_hgb_npz(tmp_path / "g.npz", TINY)
    assert data["author", "writes", "paper"].edge_index.tolist() == [[0, 0, 1], [0, 1, 2]]
    assert data["paper", "rev_writes", "author"].edge_index.tolist() == [[0, 1, 2], [0, 0, 1]]
    assert data["paper"].x.tolist() == [[1, 0], [0, 1], [1, 1]] and data["paper"].x.dtype == torch.float32
    assert data["author"].x.equal(torch.eye(2))
    assert data["paper"].y.tolist() == [2, 0, 1] and data["paper"].known_mask.tolist() == [True, False, True]
    assert "y" not in data["author"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"edge_index": np.full((2, 6), 5)}, "an entry for each node that edge_index numbers"),
        ({"y": [0, 1]}, "an entry for each node that edge_index numbers"),
        ({"node_type": [0, 1, 0, 2, 0]}, "node_type must number 2 kinds and edge_type 2 relations"),
        ({"edge_type": [1, 1, 1, 0, 0, 7]}, "node_type must number 2 kinds and edge_type 2 relations"),
        ({"edge_type": [1, 0]}, "node_type must number 2 kinds and edge_type 2 relations"),
        ({"x_type0": np.zeros((2, 2))}, "x_type0 must have a row for each of 3 nodes, got 2"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, changed, says):
    np.savez(tmp_path / "g.npz", **arrays(**changed))
    with pytest.raises(FormatError, match=says):
        read_hgb_npz(tmp_path / "g.npz", TINY)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "g.npz").write_bytes(b"nothing")
    with pytest.raises(FormatError, match=r"g\.npz cannot be read"):
        read_hgb_npz(tmp_path / "g.npz", TINY)


@pytest.fixture(params=SIZES)
def real(request):
    if not (DATA / "graphs" / f"hgb_{request.param}.npz").is_file():
        pytest.skip(f"real graph hgb_{request.param}.npz not found; set LSPRUNE_DATA to a folder that has it")
    return load(request.param, data=DATA)


def test_the_real_graphs_have_their_sizes_and_reverses(real):
    nodes, edges, columns, classes, splits = SIZES[real.name]
    graph = real.train
    assert real.single and real.hetero and real.redraw is not None and real.task == "node-classification"
    assert (graph.num_nodes, graph.num_edges, real.num_features, real.num_classes) == (nodes, edges, columns, classes)
    labelled = next(store for store in graph.node_stores if "y" in store)
    assert [int(labelled[key].sum()) for key in ("train_mask", "val_mask", "test_mask")] == splits
    for source, name, target in graph.edge_types:
        if not name.startswith("rev_"):
            ends, back = graph[source, name, target].edge_index, graph[target, f"rev_{name}", source].edge_index
            assert set(zip(*ends.tolist(), strict=True)) == set(zip(*back.flip(0).tolist(), strict=True))


def test_the_labels_of_the_other_nodes_say_nothing(real):
    """Linked nodes, or those that share a neighbour, have the same class by chance: this is why they are left out."""
    graph = real.train
    kind = "paper" if real.name == "acm" else "author"
    known, y = graph[kind].known_mask, graph[kind].y
    if real.name == "acm":
        a, b = graph["paper", "cites", "paper"].edge_index
    else:
        paper, author = graph["paper", "has", "author"].edge_index
        order = torch.argsort(paper, stable=True)
        a, b = author[order][:-1], author[order][1:]
        same_paper = paper[order][:-1] == paper[order][1:]
        a, b = a[same_paper], b[same_paper]
    inside, outside = known[a] & known[b], ~known[a] & ~known[b]
    assert float((y[a] == y[b])[inside].float().mean()) > 0.75
    assert abs(float((y[a] == y[b])[outside].float().mean()) - 1 / real.num_classes) < 0.05
