"""What a mask did to a graph."""

from __future__ import annotations

from lsprune.measure.summary import Summary, summary

__all__ = ["Summary", "summary"]
