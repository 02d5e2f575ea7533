"""Measures of what a mask did to a graph."""

from __future__ import annotations

from lsprune.measure.collisions import CollisionCurve, collision_curve
from lsprune.measure.consistency import Consistency, Stability, aligned_consistency, consistency, stability
from lsprune.measure.neighbourhoods import neighbourhood_sizes, neighbourhood_variance
from lsprune.measure.spectral import Spectral, quadratic_error
from lsprune.measure.structure import Structure, structure
from lsprune.measure.summary import Summary, summary

__all__ = [
    "CollisionCurve", "Consistency", "Spectral", "Stability", "Structure", "Summary", "aligned_consistency",
    "collision_curve", "consistency", "neighbourhood_sizes", "neighbourhood_variance", "quadratic_error", "stability",
    "structure", "summary",
]  # fmt: skip
