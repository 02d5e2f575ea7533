"""The masks of released versions, kept as files for ever.

`tests/released_masks` has for each version `VERSION.json`, the digests of all configurations of `golden_masks.py` that
it knew, and `VERSION.npz`, some of the masks as they were, to see what differs. These files never change: `SHA256SUMS`
holds their checksums. `changed.json` lists by version the configurations whose masks were changed on purpose, each with
a text from a section "Breaking" of the changelog.

`python tests/helpers/released_masks.py VERSION` adds the files of a release. It never writes over one.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from golden_graphs import graph_named
from golden_masks import CONFIGURATIONS, digest_of, promised

FOLDER = Path(__file__).parents[1] / "released_masks"
WHOLE_MASKS = (  # one of each kind
    "lsp", "lsp keep", "lsp bottom", "threshold", "identity", "union", "paper p", "paper t", "published p",
    "published t", "hub", "hub bottom", "random", "local random", "codebook k", "signs k", "bins k", "structure k",
    "both k", "projection degree", "signs jaccard", "several keep", "bipartite out k", "top-weight k", "jaccard k",
    "guarded lsp min_keep",
)  # fmt: skip


def versions() -> list[str]:
    """Return the released versions whose masks are kept."""
    return sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "changed")


def released_digests(version: str) -> dict[str, str]:
    """Return the digests of a version by the name of the configuration."""
    return dict(json.loads((FOLDER / f"{version}.json").read_text(encoding="utf8"))["digests"])


def released_masks(version: str) -> dict[str, np.ndarray]:
    """Return the masks of a version that are kept whole."""
    with np.load(FOLDER / f"{version}.npz") as file:
        return {name: file[name] for name in file.files}


def changed(version: str) -> dict[str, str]:
    """Return why masks of a version are no longer the same, by the name of the configuration."""
    return dict(json.loads((FOLDER / "changed.json").read_text(encoding="utf8")).get(version, {}))


def checksums() -> dict[str, str]:
    """Return the SHA-256 of each file, as it was written down."""
    lines = (FOLDER / "SHA256SUMS").read_text(encoding="utf8").splitlines()
    return {name: checksum for checksum, name in (line.split("  ") for line in lines)}


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write(version: str, about: str, masks: dict[str, np.ndarray], folder: Path = FOLDER) -> None:
    """Write the files of a version and add their checksums."""
    paths = folder / f"{version}.json", folder / f"{version}.npz"
    for path in paths:
        if path.exists():
            raise SystemExit(f"{path} is there; files of a release never change")
    digests = {name: digest_of(mask) for name, mask in masks.items()}
    content = {"version": version, "about": about, "digests": digests}
    paths[0].write_text(json.dumps(content, indent=1) + "\n", encoding="utf8")
    np.savez_compressed(paths[1], **{name: masks[name] for name in WHOLE_MASKS if name in masks})
    with (folder / "SHA256SUMS").open("a", encoding="utf8") as file:
        file.writelines(f"{checksum(path)}  {path.name}\n" for path in paths)


def main(arguments: list[str]) -> int:
    """Add the files of the version that is named, from the code as it is."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    warnings.simplefilter("ignore")
    masks = {}
    for name in promised():
        make, graph = CONFIGURATIONS[name]
        masks[name] = make().mask(graph_named(graph))
    write(arguments[0], "Computed by the code of this release.", masks)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
