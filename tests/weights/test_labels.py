"""Edges whose ends have the same predicted label are preferred; labels of other than training nodes are not read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

import lsprune
from graphs import communities, random_graph, reordered, same_kind
from lsprune import LSP, Graph, GraphError, Labels, prune
from lsprune.baselines import TopWeight
from lsprune.errors import ConstantWarning, LabelsWarning
from lsprune.weights.labels import training_labels

GRAPH, KIND = communities()
TRAINING = np.arange(240) % 4 == 0
LABELLED = replace(GRAPH, y=KIND, train_mask=TRAINING)
PRUNER = TopWeight(keep=0.2, weights="labels")


@pytest.mark.parametrize("hash", ["projection", "identity", "constant"])
def test_neighbours_of_the_same_label_are_kept_and_executors_agree(hash):
    pruner = LSP(keep=0.2, hash=hash, weights=Labels(power=2)).fit(LABELLED)
    mask = pruner.mask(GRAPH)  # a fitted pruner needs no labels
    assert same_kind(GRAPH, KIND, mask) > same_kind(GRAPH, KIND, LSP(keep=0.2, hash=hash).mask(GRAPH)) + 0.25
    np.testing.assert_array_equal(pruner.mask(GRAPH, executor="reference"), mask)
    np.testing.assert_array_equal(pruner.mask(GRAPH, threads=3), mask)
    order = np.random.default_rng(0).permutation(GRAPH.num_edges)
    np.testing.assert_array_equal(pruner.mask(reordered(GRAPH, order)), mask[order])
    sparse = Graph.from_edges(GRAPH.ends(), num_nodes=240, x=scipy.sparse.csr_array(GRAPH.x))
    np.testing.assert_array_equal(pruner.mask(sparse), mask)


@pytest.mark.parametrize("garbage", [np.nan, -7, 10**9, "shuffled"])
@pytest.mark.parametrize("kind", ["classes", "labels", "numbers"])
def test_only_labels_of_training_nodes_are_read(kind, garbage):
    y = {"classes": KIND, "labels": np.eye(3)[KIND], "numbers": KIND * 1.5 + GRAPH.x[:, 0]}[kind]
    if garbage is np.nan and y.dtype.kind == "i":
        garbage = np.iinfo(y.dtype).min
    poisoned = y.copy()
    poisoned[~TRAINING] = np.roll(y[~TRAINING], 1, axis=0) if garbage == "shuffled" else garbage
    assert not np.array_equal(poisoned, y)
    fits = [PRUNER.fit(replace(GRAPH, y=labels, train_mask=TRAINING)) for labels in (y, poisoned)]
    assert fits[0] == fits[1] and fits[0].weights_learned is not None
    changed = y.copy()
    changed[np.flatnonzero(TRAINING)[:30]] = y[np.flatnonzero(TRAINING)[30:60] + 1]
    assert PRUNER.fit(replace(GRAPH, y=changed, train_mask=TRAINING)) != fits[0]


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_several_labels_and_numbers_are_compared_by_their_predictions(kind):
    y = np.eye(3)[KIND] if kind == "labels" else np.array([-1.0, 0.5, 4.0])[KIND]
    mask = PRUNER.mask(replace(GRAPH, y=y, train_mask=TRAINING))
    assert same_kind(GRAPH, KIND, mask) > 0.75 > 0.6 > KIND.shape[0] * 0 + same_kind(GRAPH, KIND, np.ones_like(mask))


def test_kinds_of_labels_are_told_by_their_types_and_values():
    def told(y, mask=None):
        kind, nodes, targets = training_labels(replace(GRAPH, y=y, train_mask=mask))
        return kind, nodes.shape[0], targets.shape[1]

    assert told(KIND) == told(KIND[:, None]) == ("classes", 240, 3)
    assert told(np.where(TRAINING, KIND * 100, -1)) == ("classes", 60, 3)  # a negative number is no label
    assert told(KIND, TRAINING.astype(np.uint8)) == ("classes", 60, 3)
    assert told(np.eye(3, dtype=int)[KIND]) == told(np.eye(3, dtype=bool)[KIND]) == ("labels", 240, 3)
    assert told((KIND > 0) * 1.0) == ("labels", 240, 1)
    assert told(np.where(TRAINING, KIND * 0.5, np.nan)) == ("numbers", 60, 1)


def test_classes_that_no_training_node_has_and_few_labels_are_no_trouble():
    some = TRAINING & (KIND < 2)
    mask = PRUNER.mask(replace(GRAPH, y=KIND, train_mask=some))
    known = KIND < 2
    source, target = GRAPH.ends()
    both = known[source] & known[target] & mask
    assert (KIND[source] == KIND[target])[both].mean() > 0.8
    few = np.zeros(240, bool)
    few[:9] = True  # three of each kind: none is left out
    assert same_kind(GRAPH, KIND, PRUNER.mask(replace(GRAPH, y=KIND, train_mask=few))) > 0.6
    with pytest.warns(ConstantWarning, match="all training nodes have the same label"):
        PRUNER.mask(replace(GRAPH, y=KIND, train_mask=KIND == 1))


def test_a_saved_fit_prunes_new_graphs(tmp_path):
    pruner = LSP(k=3, weights="labels:2*jaccard:0.5*degree:0.5").fit(LABELLED)
    pruner.save(tmp_path / "fit.npz")
    loaded = lsprune.load(tmp_path / "fit.npz")
    assert loaded == pruner
    other, _ = communities(nodes=90, seed=3)
    np.testing.assert_array_equal(loaded.mask(other), pruner.mask(other))
    np.testing.assert_array_equal(loaded.mask(other, executor="reference"), pruner.mask(other))


def test_categories_are_attributes_too():
    x = (KIND + 3 * (np.arange(240) % 5)) % 15
    graph = Graph.from_edges(GRAPH.ends(), num_nodes=240, x=x, y=KIND, train_mask=TRAINING)
    mask = PRUNER.mask(graph)
    assert same_kind(GRAPH, KIND, mask) > 0.8
    np.testing.assert_array_equal(PRUNER.mask(graph, executor="reference"), mask)


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (GRAPH, r'weights="labels" needs node labels \(y\) to be fitted'),
        (replace(LABELLED, train_mask=np.zeros(240, bool)), "needs training nodes with a label"),
        (replace(LABELLED, y=np.full(240, -1)), "needs training nodes with a label"),
        (replace(LABELLED, y=KIND[:100]), r"y must be numbers, 240 rows, got int64 \[100\]"),
        (replace(LABELLED, y=KIND.astype(str)), "y must be numbers"),
        (replace(LABELLED, train_mask=TRAINING.astype(float)), r"train_mask\.bool\(\)"),
        (replace(LABELLED, train_mask=np.arange(240)), "look like indices"),
        (replace(LABELLED, train_mask=np.ones((240, 10), bool)), "train_mask must hold one truth value .* choose one"),
        (Graph.from_edges(GRAPH.ends(), y=KIND), r'weights="labels" needs node attributes \(x\)'),
        (Graph.from_edges(GRAPH.ends(), num_nodes=(240, 240)), 'weights="labels" needs one kind of nodes'),
    ],
)
def test_what_is_missing_is_named(graph, says):
    with pytest.raises(GraphError, match=says):
        LSP(k=2, hash="identity", weights="labels").mask(graph)


def test_other_widths_of_x_are_refused_by_a_fitted_pruner():
    fitted = PRUNER.fit(LABELLED)
    with pytest.raises(GraphError, match="x must have 12 columns as when fitted, got 5"):
        fitted.mask(random_graph(0))


def test_labels_of_pyg_data_are_read_and_stay_where_they_are():
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.data import Data

    ends = torch.from_numpy(np.stack(GRAPH.ends()))
    data = Data(x=torch.from_numpy(GRAPH.x), edge_index=ends, y=torch.from_numpy(KIND))
    data.train_mask = torch.from_numpy(TRAINING)
    np.testing.assert_array_equal(PRUNER.mask(data), PRUNER.mask(LABELLED))
    pruned = prune(data, PRUNER)
    assert torch.equal(pruned.y, data.y) and torch.equal(pruned.train_mask, data.train_mask)
    two = [data, data.clone()]
    joined = Graph.concat([LABELLED, LABELLED])
    np.testing.assert_array_equal(np.concatenate(PRUNER.mask(two)), PRUNER.mask(joined))
    data.y = torch.zeros(1)  # of the graph, not of its nodes
    with pytest.raises(GraphError, match="y must be an array or a tensor with a row for each of the 240 nodes"):
        PRUNER.mask(data)


UNUSABLE = {  # masks of training nodes that do not say which labels may be looked at
    "positions": lambda mask: mask.nonzero().view(-1), "too short": lambda mask: mask[:50],
    "a list": lambda mask: mask.tolist(), "splits first": lambda mask: mask.repeat(3, 1),
    "splits last": lambda mask: mask.repeat(3, 1).t(), "sparse": lambda mask: mask.float().to_sparse(),
}  # fmt: skip


def as_data():
    """Return the graph as PyG's `Data`, on the host or on what stands for a GPU."""
    import torch
    from torch_geometric.data import Data

    ends, mask = torch.from_numpy(np.stack(GRAPH.ends())), torch.from_numpy(TRAINING)
    return Data(x=torch.from_numpy(GRAPH.x), edge_index=ends, y=torch.from_numpy(KIND), train_mask=mask)


def as_dataset(*graphs):
    from lsprune.lab.datasets.collated import CollatedDataset

    return CollatedDataset(*CollatedDataset.collate(list(graphs)))


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("form", [*UNUSABLE, "of one graph only", "short of one graph", "of a dataset"])
def test_with_a_mask_that_does_not_fit_no_label_is_looked_at(form, where, request):
    pytest.importorskip("torch_geometric")
    if where == "device":
        request.getfixturevalue("cpu_is_gpu")
    data, other = as_data(), as_data()
    mask, given = data.train_mask, data
    if form in UNUSABLE:
        data.train_mask = UNUSABLE[form](mask)
    elif form == "of a dataset":
        data.train_mask, other.train_mask = mask[:7], mask[:9]
        given = as_dataset(data, other)
    else:
        given = [data, other]
        other.train_mask = mask[:9]
        if form == "of one graph only":
            del other["train_mask"]
    with pytest.raises(GraphError, match="train_mask must hold one truth value for each of the"):
        PRUNER.fit(given)
    with pytest.warns(LabelsWarning, match="labels are not used: train_mask must hold") as said:
        chosen = LSP.auto(keep=0.2).fit(given)
    assert ("choose one" if form == "splits last" else "indices become a mask by") in str(said[0].message)
    assert chosen.options == LSP.auto(keep=0.2, labels=False).fit(given).options
    prune(given, LSP(k=2))  # other pruners do not mind


MISFITS = {"one row too few": lambda y: y[:-1], "strings": lambda y: [str(label) for label in y.tolist()]}


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("form", [*MISFITS, "of one graph only", "of a list", "of a dataset"])
def test_labels_that_do_not_fit_the_nodes_are_not_left_out_silently(form, where, request):
    pytest.importorskip("torch_geometric")
    if where == "device":
        request.getfixturevalue("cpu_is_gpu")
    data, other = as_data(), as_data()
    given = data
    if form in MISFITS:
        data.y = MISFITS[form](data.y)
    elif form == "of a dataset":
        other.y = other.y[:-1]
        given = as_dataset(data, other)
    else:
        given = [data, other]
        other.y = other.y[:-1]
        if form == "of one graph only":
            del other["y"]
    with pytest.raises(GraphError, match=r"y must be an array or a tensor with a row for each of the \d+ nodes"):
        PRUNER.fit(given)
    with pytest.warns(LabelsWarning, match="labels are not used: y must be an array"):
        chosen = LSP.auto(keep=0.2).fit(given)
    assert chosen.options == LSP.auto(keep=0.2, labels=False).fit(given).options
    prune(given, LSP(k=2))  # other pruners do not mind


@pytest.mark.parametrize("with_mask", [False, True])
def test_labels_of_whole_graphs_are_left_out_without_a_warning(with_mask):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import Data

    ends, y = torch.from_numpy(np.stack(GRAPH.ends())), torch.tensor([1])
    more = {"train_mask": torch.tensor([True])} if with_mask else {}
    data = Data(x=torch.from_numpy(GRAPH.x), edge_index=ends, y=y, **more)
    assert LSP.auto(keep=0.2).fit([data, data]).options == LSP.auto(keep=0.2, labels=False).fit([data, data]).options


@pytest.mark.usefixtures("cpu_is_gpu")
def test_data_on_a_device_is_pruned_there_like_on_the_host():
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.data import Data

    data = Data(x=torch.from_numpy(GRAPH.x), edge_index=torch.from_numpy(np.stack(GRAPH.ends())))
    data.y, data.train_mask = torch.from_numpy(KIND), torch.from_numpy(TRAINING)
    fits = [PRUNER.fit(data), PRUNER.fit(data, executor="cpu"), PRUNER.fit(LABELLED)]
    assert fits[0] == fits[1] == fits[2]
    found = fits[0].mask(data)
    np.testing.assert_array_equal(np.asarray(found), fits[0].mask(GRAPH))
    lists = PRUNER.mask([data, data.clone()])
    np.testing.assert_array_equal(np.concatenate(lists), PRUNER.mask(Graph.concat([LABELLED, LABELLED])))


def test_rare_classes_are_predicted_too():
    """One node in 24 is of a fourth kind, which its attributes tell as clearly as those of the others."""
    rare = np.arange(240) % 24 == 5
    y = np.where(rare, 3, KIND)
    x = np.concatenate([GRAPH.x, 20.0 * rare[:, None]], 1).astype(np.float32)
    source, target = GRAPH.ends()
    extra = np.flatnonzero(rare)
    ends = np.concatenate([source, np.roll(extra, 1)]), np.concatenate([target, extra])
    graph = Graph.from_edges(ends, num_nodes=240, x=x, y=y, train_mask=np.arange(240) % 24 < 12)
    mask = TopWeight(k=1, weights="labels").mask(graph)
    kept = mask & rare[ends[1]] & (ends[0] != ends[1])
    assert kept.sum() == extra.size and rare[ends[0][kept]].all()  # of some ten edges, one of the few to its kind
