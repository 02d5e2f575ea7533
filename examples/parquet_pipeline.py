"""Prune an edge list in Parquet twice, from the command line and from Python, and see that both keep the same edges.

A generated graph of payments: an edge goes from who pays to who is paid and has an amount, a time and a note. The
amount and the time describe an edge to the hash; the note does not, and comes along all the same.
Run it: `python examples/parquet_pipeline.py`, or with `--smoke` for a small graph.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lsprune import LSP, Graph

KEEP = 0.3  # the share of edges to keep
ATTRIBUTES = ("amount", "time")  # the columns that describe an edge


def make_files(folder: Path, nodes: int, edges: int, seed: int = 0) -> tuple[Path, Path]:
    """An edge list with attributes, and one row of features for each node."""
    random = np.random.default_rng(seed)
    # Few accounts get most of the payments, as in real life.
    popular = (np.arange(nodes) + 10.0) ** -0.5
    paid = random.choice(nodes, edges, p=popular / popular.sum())
    payer = (paid + random.integers(1, nodes, edges)) % nodes  # nobody pays themselves
    table = pa.table(
        {
            "source": payer,
            "target": paid,
            "amount": random.lognormal(3, 1, edges).astype(np.float32),
            "time": random.random(edges, dtype=np.float32),
            "note": pa.array([f"payment {number}" for number in range(edges)]),
        }
    )
    parquet.write_table(table, folder / "edges.parquet")
    np.save(folder / "x.npy", random.standard_normal((nodes, 16), dtype=np.float32))
    return folder / "edges.parquet", folder / "x.npy"


def by_command(edges: Path, features: Path, out: Path) -> dict[str, object]:
    """Prune with the command line; what it says with --json."""
    command = [
        sys.executable, "-m", "lsprune", "prune", str(edges), str(out), "--features", str(features),
        "--edge-attr", ",".join(ATTRIBUTES), "--keep", str(KEEP), "--json",
    ]  # fmt: skip
    found: dict[str, object] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def by_api(edges: Path, features: Path, out: Path) -> int:
    """Prune with the library; how many edges are kept."""
    table = parquet.read_table(edges)
    graph = Graph.from_edges(
        np.stack([table["source"].to_numpy(), table["target"].to_numpy()]),
        x=np.load(features),
        edge_attr=np.stack([table[name].to_numpy() for name in ATTRIBUTES], axis=1),
    )
    mask = LSP(keep=KEEP).mask(graph)  # True = kept, in the order of the rows
    parquet.write_table(table.filter(pa.array(mask)), out)
    return int(mask.sum())


def run(folder: Path, nodes: int, edges: int) -> None:
    """Make the files, prune both ways, compare and read back."""
    edge_file, feature_file = make_files(folder, nodes, edges)
    said = by_command(edge_file, feature_file, folder / "command.parquet")
    kept = by_api(edge_file, feature_file, folder / "api.parquet")

    ours, theirs = (parquet.read_table(folder / name) for name in ("api.parquet", "command.parquet"))
    if not ours.equals(theirs):
        raise SystemExit("the command line and the library kept different edges")
    print(f"{edges:,} edges in, {kept:,} out ({kept / edges:.1%}); columns {', '.join(theirs.column_names)}")
    print(f"the command line and the library kept the same edges; pruning took {said['seconds']:.3f} s")

    degree = np.bincount(theirs["target"].to_numpy(), minlength=nodes)
    whole = np.bincount(parquet.read_table(edge_file)["target"].to_numpy(), minlength=nodes)
    print(f"payments received by the busiest account: {whole.max():,} before, {degree.max():,} after")


def main(arguments: list[str] | None = None) -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a small graph, to see that it works")
    parser.add_argument("--folder", type=Path, help="where to leave the files (default: a temporary folder)")
    given = parser.parse_args(arguments)
    size = {"nodes": 2_000, "edges": 20_000} if given.smoke else {"nodes": 100_000, "edges": 2_000_000}
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
        run(given.folder, **size)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            run(Path(temporary), **size)


if __name__ == "__main__":
    main()
