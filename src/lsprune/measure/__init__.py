"""What a mask did to a graph."""

from __future__ import annotations

from lsprune.measure.neighbourhoods import neighbourhood_sizes, neighbourhood_variance
from lsprune.measure.summary import Summary, summary

__all__ = ["Summary", "neighbourhood_sizes", "neighbourhood_variance", "summary"]
