"""Prune a graph on a Spark cluster: `spark-submit --py-files lsprune.zip examples/spark_job.py EDGES NODES OUT`.

EDGES is Parquet with columns source and target, NODES with id and x (an array of numbers). `lsprune.zip` is the wheel
under another name, for Spark ships no file that ends in .whl; see docs/scale.md.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from lsprune import LSP
from lsprune.scale.spark import prune_spark

if __name__ == "__main__":
    edges, nodes, out = sys.argv[1:]
    read = SparkSession.builder.appName("lsprune").getOrCreate().read.parquet
    prune_spark(read(edges), read(nodes), LSP(k=8)).write.parquet(out)
