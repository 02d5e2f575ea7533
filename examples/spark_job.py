"""Prune a graph on a Spark cluster: `spark-submit --py-files lsprune.zip examples/spark_job.py EDGES NODES OUT`.

EDGES is Parquet with columns source and target, NODES with id and x (an array of numbers). `lsprune.zip` is the wheel
under another name, for Spark ships no file that ends in .whl; see docs/scale.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Read the arguments, prune and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("edges", metavar="EDGES", help="Parquet with columns source and target")
    parser.add_argument("nodes", metavar="NODES", help="Parquet with columns id and x")
    parser.add_argument("out", metavar="OUT", help="the folder to write; it must not exist")
    options = parser.parse_args(argv)

    from pyspark.sql import SparkSession

    from lsprune import LSP
    from lsprune.spark import prune_spark

    read = SparkSession.builder.appName("lsprune").getOrCreate().read.parquet
    prune_spark(read(options.edges), read(options.nodes), LSP(k=8)).write.parquet(options.out)


if __name__ == "__main__":
    main()
