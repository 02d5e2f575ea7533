"""Made-up results for the report: two datasets with times, one of errors, measurements, names that attack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lab_records import METHODS, comparison, method_fields, record, save

from lsprune.lab.studies.run import Run

MARK = "window.__xss=1"
XSS = (
    f"<script>{MARK}</script>",
    f"</script><script>{MARK}</script>",
    f"<img src=x onerror={MARK}>",
    f'"><img src=x onerror={MARK}>',
    f"'><img src=x onerror={MARK}>",
    f"<svg onload={MARK}>",
    f"<svg><script>{MARK}</script></svg>",
    f"<body onload={MARK}>",
    f"<iframe srcdoc='<script>parent.{MARK[7:]}</script>'>",
    f'<iframe src="javascript:parent.{MARK[7:]}">',
    f"javascript:{MARK}",
    f'<a href="javascript:{MARK}">x</a>',
    f'" onmouseover="{MARK}" x="',
    f"' onfocus='{MARK}' autofocus='",
    f"<input autofocus onfocus={MARK}>",
    f"<details open ontoggle={MARK}>",
    f"<video><source onerror={MARK}></video>",
    f'<math><mi//xlink:href="data:x,{MARK}">',
    f"</title><script>{MARK}</script>",
    f"</style><script>{MARK}</script>",
    f"</textarea><script>{MARK}</script>",
    f"--><script>{MARK}</script>",
    f"]]><script>{MARK}</script>",
    "{{ 7 * 7 }}",
    "{% for x in range(9) %}{% endfor %}",
    "{{ ''.__class__.__mro__ }}",
    f"${{{MARK}}}",
    f"`;{MARK};`",
    f"';{MARK};//",
    f'";{MARK};//',
    f"\\u003cscript\\u003e{MARK}",
    f"\u2028{MARK}\u2029",
    f"&lt;script&gt;{MARK}&lt;/script&gt;",
    f"&#60;script>{MARK}</script>",
    f"<scr<script>ipt>{MARK}</script>",
    f"<IMG SRC=x ONERROR={MARK}>",
    f"<style>@import 'javascript:{MARK}';</style>",
    f"<base href='javascript:{MARK}//'>",
    f"<meta http-equiv=refresh content='0;url=javascript:{MARK}'>",
    f'<object data="javascript:{MARK}">',
)


def results(folder: Path) -> Path:
    """Four studies: `compare` on cora, pubmed and photo, `compare-graphs` on zinc, consistency, neighbourhood sizes."""
    fields = {"test_seconds": 0.02}
    methods = (*METHODS, "basic", "lsp-threshold", "lsp-degree", "jaccard", "low-degree", "dropedge")
    cora = comparison(methods=methods, **fields)
    pubmed = comparison(dataset="pubmed", methods=METHODS, shares=(0.2, 0.4), jobs=4)
    photo = comparison(dataset="photo", test=lambda _, share: 0.8 if share >= 0.25 else 0.6)
    save([*with_maximum(cora), *pubmed, *photo], folder / "compare.jsonl")
    save(comparison(dataset="zinc", study="compare-graphs", seeds=1, mae=True), folder / "compare-graphs.jsonl")
    save(overlaps(), folder / "consistency.jsonl")
    save(sizes(), folder / "neighbourhood-variance.jsonl")
    return folder


def with_maximum(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "test_max": one["test"] + 0.01} for one in records]


def sizes(dataset: str = "cora") -> list[dict[str, Any]]:
    """Neighbourhood sizes of two methods at two shares, by two seeds, within 1 and 3 hops."""
    found = []
    for seed in range(2):
        for method, keep in (
            ("unpruned", None),
            ("random", 0.2),
            ("random", 0.6),
            ("lsp-projection", 0.2),
            ("lsp-projection", 0.6),
        ):
            run = Run(study="v", dataset=dataset, model="", **method_fields(method), keep=keep, seed=seed, hops=(1, 3))
            share = keep or 1.0
            values = {"1": 10 * share + seed, "3": 1000 * share + seed}
            found.append({"key": run.key, "run": run.to_dict(), "share": share, "variance": values, "jobs": 1})
    return found


def overlaps(
    dataset: str = "synthetic-small", methods: tuple[str, ...] = ("random", "lsp-codebook-edge", "first")
) -> list[Any]:
    """How alike two samples are pruned by these methods at k = 1 and 3, by three seeds."""
    found = []
    for seed in range(3):
        for place, method in enumerate(methods):
            for k in (1, 3):
                run = Run(study="c", dataset=dataset, model="", **method_fields(method), k=k, seed=seed, pairs=28)
                value = {"metric": "overlap", "overlap": 0.1 + 0.3 * place + 0.05 * k + 0.01 * seed}
                more = {"higher_is_better": True, "share": 0.11 * k, "prune_seconds": 0.5, "jobs": 1}
                found.append({"key": run.key, "run": run.to_dict(), **value, **more})
    return found


def attacks(folder: Path) -> Path:
    """A file of results for each attack, which is its name, dataset, target, method and device."""
    for number, text in enumerate(XSS):
        records = []
        for method, share, device in (("unpruned", 1.0, text), ("lsp-projection", 0.5, "other"), (text, 0.25, "other")):
            keep = None if method == "unpruned" else share
            run = Run(study=text, dataset=text, model="m", **method_fields(method), keep=keep, target=text)
            records.append(record(run, 0.5 + share / 10, 0.5, share, device=device))
        name = text.replace("/", "\u2215")[:80]
        save(records, folder / f"{name} {number}.jsonl")
        save(overlaps(text, (text,)), folder / f"{name} {number} c.jsonl")
    return folder
