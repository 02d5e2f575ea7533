"""Masks of released versions, computed once more by the code of today."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from golden_graphs import graph_named
from golden_masks import CONFIGURATIONS, digest_of, promised

from released_masks import changed, released_digests, versions
from soak.check import Check, expect


@cache
def _promised_masks() -> tuple[tuple[str, str], ...]:
    """Return the version and the name of each mask that this type of machine must still give."""
    here = set(promised())
    return tuple(
        (version, name)
        for version in versions()
        for name in released_digests(version)
        if name in here and name not in changed(version)
    )


def released_mask(number: int, folder: Path) -> int:
    """Compare a mask with the digest that a released version gave."""
    masks = _promised_masks()
    version, name = masks[number % len(masks)]
    make, graph = CONFIGURATIONS[name]
    found = digest_of(make().mask(graph_named(graph)))
    expect(found == released_digests(version)[name], f"{name!r} is no longer the mask of {version}")
    return 1


CHECKS = (
    Check(
        name="released-masks", promise="Stable masks", about="a mask of a released version, computed again",
        run_case=released_mask, share=0.5, quick_cases=0,
    ),
)  # fmt: skip
