"""Masks of released versions are kept: each is the mask of today, or the changelog says why not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from golden_graphs import graph_named
from golden_masks import CONFIGURATIONS, digest_of, known, promised

import released_masks
from released_masks import FOLDER, changed, checksum, checksums, released_digests, versions

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
WHOLE = [(version, name) for version in versions() for name in released_masks.released_masks(version)]


def breaking() -> str:
    """All sections "Breaking" of the changelog, on one line."""
    sections = re.findall(r"### Breaking\n(.*?)(?=\n##)", CHANGELOG.read_text(encoding="utf8"), re.DOTALL)
    return " ".join(" ".join(sections).split())


def test_there_are_released_masks():
    assert "0.1.0" in versions()
    assert len(released_digests("0.1.0")) == 601


@pytest.mark.parametrize("version", versions())
def test_every_released_digest_is_that_of_today_or_listed(version):
    """`test_reproducible.py` compares today's digests with masks."""
    now, listed = known(), changed(version)
    differ = {name for name, digest in released_digests(version).items() if now.get(name) != digest}
    assert differ == set(listed)


@pytest.mark.parametrize("version", versions())
def test_the_changelog_has_every_change(version):
    for name, reason in changed(version).items():
        assert reason in breaking(), name


@pytest.mark.parametrize(("version", "name"), WHOLE)
def test_whole_masks_are_those_of_today(version, name):
    if name not in promised():
        pytest.skip("promised on another type of machine")
    make, place = CONFIGURATIONS[name]
    graph = graph_named(place)
    before, now = released_masks.released_masks(version)[name], make().mask(graph)
    assert digest_of(before) == released_digests(version)[name]
    if name in changed(version):
        assert (before != now).any()
        return
    edges = np.flatnonzero(before != now)
    source, target = (end[edges].tolist() for end in graph.ends())
    kept = zip(edges.tolist(), source, target, before[edges].tolist(), strict=True)
    assert not edges.size, f"(edge, source, target, kept in {version}): {list(kept)[:20]}"


def test_files_of_a_release_never_change():
    assert {path.name: checksum(path) for path in FOLDER.iterdir() if path.stem in versions()} == checksums()


def test_a_release_adds_its_files_once(tmp_path):
    masks = {"lsp": np.array([True, False, True]), "another": np.array([False])}
    released_masks.write("9.9.9", "a test", masks, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["9.9.9.json", "9.9.9.npz", "SHA256SUMS"]
    written = [(tmp_path / name).read_bytes() for name in ("9.9.9.json", "9.9.9.npz")]
    assert b'"lsp": "' in written[0] and digest_of(masks["another"]).encode() in written[0]
    with np.load(tmp_path / "9.9.9.npz") as file:
        assert file.files == ["lsp"] and (file["lsp"] == masks["lsp"]).all()
    with pytest.raises(SystemExit, match="never change"):
        released_masks.write("9.9.9", "again", masks, tmp_path)
    assert written == [(tmp_path / name).read_bytes() for name in ("9.9.9.json", "9.9.9.npz")]
