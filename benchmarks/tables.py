"""The k heaviest edges of each node in a Parquet file: lsprune beside DuckDB, Polars and pandas, one process each.

python benchmarks/tables.py --edges 1e8                       # integers as ids
python benchmarks/tables.py --edges 2e7 --ids text            # text as ids
python benchmarks/tables.py --edges 2e7 --only lsprune-stream,duckdb

Seconds from start to exit and the peak memory of the process; every result must be the same edges. A program that is
not installed, or that is killed for memory, is left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from common import THREADS, header, line

CHUNK = 1 << 21
SQL = (
    "SELECT * FROM read_parquet('{edges}') QUALIFY row_number() OVER (PARTITION BY target ORDER BY weight DESC) <= {k}"
)


def generate(path: Path, edges: int, nodes: int, ids: str) -> None:
    """Random sources, skewed targets, no self-loop, weights that differ; seed 0."""
    rng = np.random.default_rng(0)
    kind = pa.int32() if ids == "integers" else pa.string()
    schema = pa.schema([("source", kind), ("target", kind), ("weight", pa.float64())])
    with parquet.ParquetWriter(path, schema) as writer:
        for lo in range(0, edges, CHUNK):
            count = min(CHUNK, edges - lo)
            target = np.minimum(nodes * rng.random(count) ** 2, nodes - 1).astype(np.int32)
            source = ((target + rng.integers(1, nodes, count)) % nodes).astype(np.int32)
            ends = [pa.array(end) if ids == "integers" else _named(end) for end in (source, target)]
            writer.write_table(pa.table([*ends, pa.array(rng.random(count))], schema=schema), row_group_size=1 << 19)


def _named(numbers: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise("customer-", pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 9, "0"), "")


def with_lsprune_stream(edges: Path, out: Path, k: int) -> list[str]:
    """The command; ids that are text are numbered first."""
    text = parquet.read_schema(edges).field("target").type == pa.string()
    more = ["--map-ids", str(out.with_suffix(".ids.parquet"))] if text else []
    pruner = ["--pruner", "top-weight", "--edge-attr", "weight", "--k", str(k)]
    return ["-m", "lsprune", "prune", str(edges), str(out), *pruner, "--stream", *more]


def with_lsprune(edges: Path, out: Path, k: int) -> list[str]:
    """A table in memory."""
    pruned = f"prune(parquet.read_table({str(edges)!r}), TopWeight(k={k}, column='weight'))"
    imports = "from pyarrow import parquet; from lsprune import prune; from lsprune.baselines import TopWeight"
    return ["-c", f"{imports}; parquet.write_table({pruned}, {str(out)!r})"]


def with_duckdb(edges: Path, out: Path, k: int) -> list[str]:
    """A window function."""
    query = SQL.format(edges=edges, k=k)
    return ["-c", f"import duckdb; duckdb.sql('SET threads={THREADS}'); "
                  f"duckdb.sql({f'COPY ({query}) TO {str(out)!r} (FORMAT parquet)'!r})"]  # fmt: skip


def with_polars(edges: Path, out: Path, k: int) -> list[str]:
    """A lazy frame, ranks over targets."""
    rank = "pl.col('weight').rank('ordinal', descending=True).over('target')"
    return [
        "-c",
        f"import polars as pl; pl.scan_parquet({str(edges)!r}).filter({rank} <= {k}).sink_parquet({str(out)!r})",
    ]


def with_pandas(edges: Path, out: Path, k: int) -> list[str]:
    """A frame, sorted."""
    return ["-c", f"import pandas as pd; df = pd.read_parquet({str(edges)!r}); "
                  f"df.sort_values('weight').groupby('target').tail({k}).to_parquet({str(out)!r})"]  # fmt: skip


PROGRAMS: dict[str, tuple[str, Callable[[Path, Path, int], list[str]]]] = {
    "lsprune-stream": ("lsprune", with_lsprune_stream),
    "lsprune-table": ("lsprune", with_lsprune),
    "duckdb": ("duckdb", with_duckdb),
    "polars": ("polars", with_polars),
    "pandas": ("pandas", with_pandas),
}


def measure(command: list[str]) -> tuple[float, float]:
    """Seconds and peak GB of a Python process; RuntimeError if it fails."""
    environment = {**os.environ, "POLARS_MAX_THREADS": str(THREADS), "LSPRUNE_THREADS": str(THREADS)}
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *command], env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"exit status {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1e6


def edges_of(path: Path) -> tuple[int, float]:
    """How many edges a result has, and the sum of their weights: equal for equal edges, whose weights all differ."""
    weights = np.sort(parquet.read_table(path, columns=["weight"])["weight"].to_numpy())
    return weights.shape[0], float(weights.sum())


def main(argv: Sequence[str] | None = None) -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=float, default=1e8)
    parser.add_argument("--nodes", type=float, help="default: a tenth of the edges")
    parser.add_argument("--ids", choices=["integers", "text"], default="integers")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PROGRAMS))
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args(argv)
    edges, nodes = int(options.edges), int(options.nodes or max(options.edges // 10, 2))
    header(f"The {options.k} heaviest of {edges:,} edges, {options.ids} as ids", "Parquet in, Parquet out")
    folder = Path(tempfile.mkdtemp())
    try:
        generate(folder / "edges.parquet", edges, nodes, options.ids)
        line("input, MB", f"{(folder / 'edges.parquet').stat().st_size / 1e6:.0f}")
        results = {}
        for name in options.only:
            package, command = PROGRAMS[name]
            if importlib.util.find_spec(package) is None:
                print(f"   {name}: not installed")
                continue
            try:
                out = folder / f"{name}.parquet"
                runs = [measure(command(folder / "edges.parquet", out, options.k)) for _ in range(options.runs)]
            except RuntimeError as error:
                print(f"   {name}: failed ({error})")
                continue
            results[name] = edges_of(out)
            line(name, f"{min(seconds for seconds, _ in runs):.1f} s, {max(peak for _, peak in runs):.2f} GB")
        print(f"   the same edges: {len({(count, round(total, 3)) for count, total in results.values()}) == 1}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
