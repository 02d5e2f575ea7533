"""The examples run and say what they claim."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import parquet_pipeline
import shared_neighbours

FOLDER = Path(shared_neighbours.__file__).parent
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))
WITH_PYG = ("epoch_sampler", "graph_store", "lightning_data", "link_prediction", "train_pruned")


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_says_how_to_call_it(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    if name in WITH_PYG:
        pytest.importorskip("torch_geometric")
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {name}.py")


@pytest.mark.parametrize("arguments", [[], ["edges.parquet"], ["a", "b", "c", "d"]])
def test_the_spark_job_says_what_it_needs(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    import spark_job

    with pytest.raises(SystemExit) as end:
        spark_job.main(arguments)
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("usage: ") and "EDGES NODES OUT" in said
    assert "error: " in said.splitlines()[-1]


def test_shared_neighbours_prints_both_chances(capsys: pytest.CaptureFixture[str]):
    shared_neighbours.main(["--draws", "60"])
    random, consistent = capsys.readouterr().out.splitlines()
    assert "probability 2.7778% (1/36), simulated " in random
    assert "confuses 0 pairs" in consistent


def test_random_pruning_confuses_a_pair_once_in_36():
    assert shared_neighbours.exact_probability() == pytest.approx(1 / 36)
    assert shared_neighbours.simulated(1500) == pytest.approx(1 / 36, abs=0.009)  # 6,000 pairs: four standard errors


def test_consistent_pruning_never_does():
    wrong, seen = shared_neighbours.consistent()
    assert wrong == 0
    assert seen > 20


def test_the_command_line_and_the_library_keep_the_same_payments(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    parquet_pipeline.main(["--smoke", "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    assert "20,000 edges in, 6,000 out (30.0%)" in said
    assert "kept the same edges" in said

    whole, ours, theirs = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("edges", "api", "command"))
    assert ours.num_rows == 6_000
    assert ours.equals(theirs)
    assert theirs.schema.equals(whole.schema)
    kept = np.isin(whole["note"].to_numpy(), theirs["note"].to_numpy())  # notes differ, so they name the rows
    assert whole.filter(kept).equals(theirs)  # whole rows, in order


def test_the_pipeline_notices_when_they_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parquet_pipeline, "LSP", lambda keep: shared_neighbours.LocalRandom(keep=keep))
    with pytest.raises(SystemExit, match="different edges"):
        parquet_pipeline.run(tmp_path, nodes=100, edges=1_000)


def printed(example: Any, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that an example prints at its small size; torch has as many threads afterwards as before."""
    import torch

    threads = torch.get_num_threads()
    try:
        example.main(["--smoke"])
    finally:
        torch.set_num_threads(threads)
    return capsys.readouterr().out.splitlines()


def test_training_on_a_fifth_of_the_edges_takes_a_fifth_of_the_edges(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import train_pruned

    title, head, *rows, last = printed(train_pruned, capsys)
    assert title.startswith("600 nodes, ")
    assert head.split()[0] == "method"
    found = {row.split()[0]: row.split()[1:] for row in rows}
    assert list(found) == ["unpruned", "lsp-auto", "local-random"]

    edges = {name: int(row[0].replace(",", "")) for name, row in found.items()}
    assert edges["local-random"] == edges["lsp-auto"]
    assert edges["lsp-auto"] == pytest.approx(edges["unpruned"] / 5, abs=2)  # `keep` counts pairs: exact to one pair
    for _, share, pruning, epoch, accuracy in found.values():
        assert share in ("100.0%", "20.0%")
        assert 0 <= float(pruning) < 60
        assert float(epoch) > 0
        assert 0 <= float(accuracy) <= 1
    assert float(found["unpruned"][2]) == 0
    assert float(found["lsp-auto"][-1]) > float(found["local-random"][-1])
    gain = 100 * (float(found["lsp-auto"][-1]) - float(found["local-random"][-1]))
    assert last.startswith("With 20% of the edges, LSP.auto is ")
    said = float(last.partition("from all edges and ")[2].split()[0])
    assert said == pytest.approx(gain, abs=0.2) and last.endswith("of the time.")


def test_the_sentence_says_what_is_lost_and_gained():
    pytest.importorskip("torch_geometric")
    import train_pruned

    accuracy, epoch = {"unpruned": 0.9, "lsp-auto": 0.85, "local-random": 0.6}, {"unpruned": 0.4, "lsp-auto": 0.1}
    results = {name: train_pruned.Trained(accuracy[name], epoch.get(name, 0.1)) for name in accuracy}
    assert train_pruned.sentence(results) == (
        "With 20% of the edges, LSP.auto is -5.0 points from all edges and +25.0 from as many random ones; "
        "an epoch takes 0.25 of the time."
    )


def test_the_citations_are_an_undirected_graph_with_a_split():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import train_pruned

    data = train_pruned.citations(nodes=200, edges=1_000)
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert torch.equal(data.train.int() + data.valid.int() + data.test.int(), torch.ones(200, dtype=torch.int))
    again = train_pruned.citations(nodes=200, edges=1_000)
    assert torch.equal(data.edge_index, again.edge_index) and torch.equal(data.x, again.x)


def test_link_prediction_prunes_messages_and_learns(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import link_prediction

    title, head, *rows = printed(link_prediction, capsys)
    assert "10 epochs, 1 seeds" in title
    assert head.startswith("method ") and "test AUC" in head
    found = {row[:20].strip(): [float(word.replace(",", "")) for word in row[20:].split()] for row in rows}
    assert list(found) == ["unpruned", "local-random 0.5", "lsp 0.5", "local-random 0.25", "lsp 0.25"]
    whole = found["unpruned"][0]
    for name, (edges, area, _, top, _, seconds) in found.items():
        share = 1.0 if name == "unpruned" else float(name.split()[1])
        assert edges == pytest.approx(whole * share, abs=1)
        assert 0.6 < area <= 1 and 0.15 < top <= 1 and seconds > 0  # chance: 0.5, and 20 of 200 items


def test_auc_is_the_share_of_pairs_in_the_right_order(monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import link_prediction

    random = torch.Generator().manual_seed(0)
    scores, label = torch.rand(40, generator=random), (torch.rand(40, generator=random) < 0.3).float()
    split = {link_prediction.RATES: type("Store", (), {"edge_label_index": None, "edge_label": label})}
    monkeypatch.setattr(link_prediction, "score", lambda vectors, links: scores)
    pairs = scores[label == 1][:, None] > scores[label == 0][None]
    assert link_prediction.auc(lambda split: None, split) == pytest.approx(float(pairs.float().mean()))


def test_coordinated_pruning_makes_smaller_batches(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch_geometric")
    import epoch_sampler

    epoch_sampler.main(["--smoke"])
    _, _, alone, together = (line.split() for line in capsys.readouterr().out.splitlines())
    assert (alone[0], together[0]) == ("local-random", "lsp-identity")
    assert 64 < float(together[1]) < 0.6 * float(alone[1])


def test_the_epoch_sampler_takes_the_neighbourhood_in_the_pruned_graph():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import epoch_sampler
    from torch_geometric.loader import NodeLoader
    from torch_geometric.utils import k_hop_subgraph

    data = epoch_sampler.graph(smoke=True)
    data.edge_attr = torch.arange(data.num_edges)
    pruner = shared_neighbours.LocalRandom(k=3)
    sampler = epoch_sampler.EpochSampler(data, pruner)
    seen = []
    for epoch in (4, 5):
        sampler.draw(epoch)
        small = epoch_sampler.replace(pruner, seed=epoch).mask(data)
        edges = data.edge_index[:, torch.from_numpy(small)]
        batch = next(iter(NodeLoader(data, sampler, input_nodes=torch.tensor([7, 3, 500]), batch_size=3)))
        nodes, within = k_hop_subgraph([7, 3, 500], 2, edges, num_nodes=data.num_nodes)[:2]
        assert sorted(batch.n_id.tolist()) == nodes.tolist()
        assert batch.n_id[:3].tolist() == [7, 3, 500]
        near = k_hop_subgraph([7, 3, 500], 1, edges, num_nodes=data.num_nodes)[0]
        want = edges[:, torch.isin(edges[1], near)]
        assert sorted(batch.n_id[batch.edge_index].T.tolist()) == sorted(want.T.tolist())
        assert torch.equal(data.edge_index[:, batch.edge_attr], batch.n_id[batch.edge_index])
        assert sum(batch.num_sampled_nodes) == batch.num_nodes and sum(batch.num_sampled_edges) == batch.num_edges
        seen.append(set(batch.e_id.tolist()))
    assert seen[0] != seen[1]


def test_stores_are_pruned_as_the_graph_that_they_hold(capsys: pytest.CaptureFixture[str]):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import graph_store
    from torch_geometric.data import HeteroData

    graph_store.main([])
    assert capsys.readouterr().out == "('user', 'rates', 'item'): 2,000 edges in, 500 out\n"

    random = torch.Generator().manual_seed(1)
    data, edges, features = HeteroData(), graph_store.Edges(), graph_store.Features()
    data["user"].x, data["item"].x = torch.rand(30, 4, generator=random), torch.rand(20, 4, generator=random)
    for kind, counts in {graph_store.RATES: (30, 20), ("user", "knows", "user"): (30, 30)}.items():
        data[kind].edge_index = torch.stack([torch.randint(n, (200,), generator=random) for n in counts])
        edges.put_edge_index(tuple(data[kind].edge_index), edge_type=kind, layout="coo", size=counts)
    data[graph_store.RATES].edge_attr = torch.rand(200, 2, generator=random)
    features.put_tensor(data[graph_store.RATES].edge_attr, graph_store.RATES, "edge_attr", index=None)
    for kind in ("user", "item"):
        features.put_tensor(data[kind].x, kind, "x", index=None)
    pruner = graph_store.LSP(keep=0.3)
    want = graph_store.prune(data, pruner)
    counts = {kind: (200, want[kind].num_edges) for kind in data.edge_types}
    assert graph_store.prune_stores(edges, features, pruner) == counts
    for kind in data.edge_types:
        assert torch.equal(torch.stack(edges.get_edge_index(kind, "coo")), want[kind].edge_index)
    kept = features.get_tensor(graph_store.RATES, "edge_attr", index=None)
    assert torch.equal(kept, want[graph_store.RATES].edge_attr)


def test_lightning_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("torch_geometric")
    import lightning_data

    monkeypatch.setattr(lightning_data, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install lightning"):
        lightning_data.main([])


@pytest.mark.filterwarnings("ignore")  # of Lightning: workers, checkpoints, its own imports
def test_lightning_trains_on_the_pruned_graph(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch_geometric")
    pytest.importorskip("lightning", reason="needs Lightning: pip install lightning")
    import lightning_data

    lightning_data.main([])
    whole, quarter = (line for line in capsys.readouterr().out.splitlines() if line.startswith("keep="))
    edges = [int(line.split()[1].replace(",", "")) for line in (whole, quarter)]
    assert edges[1] == pytest.approx(edges[0] / 4, rel=0.02)  # self-loops are not counted
    assert all(float(line.split()[-1]) > 0.4 for line in (whole, quarter))  # chance is 0.25
