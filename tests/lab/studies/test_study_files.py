from __future__ import annotations

import dataclasses
import re

import pytest
from typer.testing import CliRunner

from lsprune import LSP, FormatError, Guarded, OptionError
from lsprune.cli import app
from lsprune.lab.studies.methods import catalogue
from lsprune.lab.studies.study import Part, Study
from lsprune.lab.studies.study_files import names, read

PAPER = {"cora", "citeseer", "pubmed", "ppi", "github", "zinc", "qm9", "synthetic", "neighbourhood-variance"}
SHORT = "paper-short"  # some points of the paper's figures, with the methods of these figures alone
COMPARED = {"compare", "compare-graphs", "compare-points", "compare-seeds", "compare-synthetic"}


def test_every_study_reads_and_has_what_it_needs():
    assert set(names()) == PAPER | {"choose", "computers", "consistency", "cs", "demo", "hetero", SHORT, *COMPARED}
    for name in set(names()) - {SHORT}:
        study = read(name)
        assert study.name == name
        assert study.seeds >= {"demo": 2, "compare-graphs": 3, "compare-synthetic": 3, "choose": 3}.get(name, 5)
        for part in study.parts:
            methods = [method for one in study.parts if one.dataset == part.dataset for method in one.methods]
            roles = {method.role for method in methods}
            assert {"random", "local-random"} <= roles
            assert any(method.is_lsp for method in methods)
            assert ("unpruned" in roles) == (name != "consistency") == (not part.pairs)
            assert bool(part.hops) == (name == "neighbourhood-variance")
            assert bool(part.model) == ("no-edges" in roles)
        keys = [run.key for run in study.runs()]
        assert len(set(keys)) == len(keys)
    assert len(read("qm9").parts[0].targets) == 12
    assert [part.dataset for part in read("neighbourhood-variance").parts] == ["cora", "citeseer", "pubmed"]


def test_the_short_study_has_the_methods_of_the_papers_figures_and_all_targets():
    ppi, qm9 = read(SHORT).parts
    theirs = {"unpruned", "random", "lsp-projection-published", "lsp-threshold-published"}
    assert {method.name for method in ppi.methods} == theirs | {"basic", "lsp-projection"}
    assert {method.name for method in qm9.methods} == theirs
    assert qm9.targets == read("qm9").parts[0].targets
    assert ppi.epochs < read("ppi").parts[0].epochs and qm9.epochs < read("qm9").parts[0].epochs


def test_a_file_may_have_parts_that_share_keys(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        "title = 't'\nseeds = 2\nepochs = 7\nk = [1]\nmethods = ['unpruned']\n"
        "[[part]]\ndataset = 'cora'\nmodel = 'planetoid-gat'\n"
        "[[part]]\ndataset = 'cs'\nmodel = 'node-gat'\nepochs = 9\n"
    )
    study = read(str(path))
    assert (study.name, study.seeds) == ("mine", 2)
    assert [(run.dataset, run.model, run.epochs) for run in study.runs(1)] == [
        ("cora", "planetoid-gat", 7), ("cs", "node-gat", 9),
    ]  # fmt: skip


def test_a_part_may_be_for_several_datasets(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("title = 't'\nk = [1]\nmodel = 'm'\nmethods = ['unpruned']\ndataset = ['cora', 'cs']\n")
    assert [part.dataset for part in read(str(path)).parts] == ["cora", "cs"]


def test_choose_has_every_graph_with_a_gat_and_with_sage_and_the_most_valuable_runs_first():
    study, shares, methods = read("choose"), {0.05, 0.1, 0.25, 0.5}, 10
    runs = study.runs()
    datasets = {run.dataset for run in runs}
    assert len(datasets) == 17 and "ppi" in datasets
    for dataset in datasets:
        models = {run.model for run in runs if run.dataset == dataset}
        assert len(models) == 2 and "node-sage-skip" in models and any("gat" in model for model in models)
        for model in models:
            cells = [
                (run.method, run.keep) for run in runs if (run.dataset, run.model, run.seed) == (dataset, model, 2)
            ]
            assert len(set(cells)) == len(cells) == 2 + (methods - 2) * len(shares)
    first = study.only(models=sorted({run.model for run in runs} - {"node-sage-skip"}), shares=[0.1, 0.25]).runs()
    assert [run.key for run in runs[: len(first)]] == [run.key for run in first]
    assert {run.seed for run in first} == {0, 1, 2} and len(first) == 17 * 3 * (2 + (methods - 2) * 2)


def test_the_models_and_datasets_of_every_study_are_there():
    pytest.importorskip("torch_geometric")
    from lsprune.lab.datasets import NAMES
    from lsprune.lab.datasets.hetero_small import HETERO_SMALL
    from lsprune.lab.datasets.synthetic import GENERATED
    from lsprune.lab.models import HETERO_MODELS, MODELS
    from lsprune.lab.training.prepare import GENERATED_GRAPHS

    for part in (part for name in names() for part in read(name).parts):
        hetero = part.dataset in ("acm", "dblp", HETERO_SMALL)
        assert part.dataset in {*NAMES, *GENERATED, *GENERATED_GRAPHS}
        assert part.model in (HETERO_MODELS if hetero else {"", *MODELS})


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (
            "title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = [1]\nlearning_rate = 3\n",
            OptionError,
            "learning_rate is not a key",
        ),
        ("title = 't'\ndataset = 'cora'\nk = [1]\n", OptionError, "one of a model, hops and pairs must be given"),
        (
            "title = 't'\ndataset = 'd'\nmodel = 'm'\npairs = 3\nk = [1]\n",
            OptionError,
            "one of a model, hops and pairs must be given",
        ),
        ("title = 't'\ndataset = 'd'\npairs = -1\nk = [1]\n", OptionError, "pairs must be a whole number >= 0"),
        ("title = 't'\nmodel = 'm'\nk = [1]\n", OptionError, "dataset must be in the study file"),
        ("dataset = 'cora'\nmodel = 'm'\nk = [1]\n", OptionError, "title must be in the study file"),
        ("title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = []\n", OptionError, "k or shares must be given"),
        ("title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = ['a']\n", OptionError, "k must be a list of whole numbers"),
        ("title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = 3\n", OptionError, "k must be a list in .* got 3"),
        ("title = 't'\ndataset = 'd'\nmodel = 'm'\nshares = [2.0]\n", OptionError, "shares must be numbers in"),
        ("title = 't'\ndataset = 'd'\nhops = [-1]\nk = [1]\n", OptionError, "hops must be whole numbers >= 0"),
        ("title = 't'\ndataset = 'd'\nmodel = 'm'\nk = [1]\nmethods = ['x']\n", OptionError, "methods must be some of"),
        ("title = ", FormatError, "is not a TOML file"),
    ],
)
def test_bad_study_files_are_named(text, error, says, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(error, match=says):
        read(str(path))


def test_unknown_studies_are_named():
    with pytest.raises(OptionError, match="study must be one of choose, citeseer, .* got 'imagenet'"):
        read("imagenet")


ODD = [
    "5", "-1", "0", "1.5", "-0.0", "nan", "inf", "-inf", "9" * 400, "1e400", '"abc"', '""', '"\\u0000\\u001b"', "true",
    "[]", "[[]]", "[{}]", "{}", "{a = 1}", "[1, 'a']", "[true]", "[nan]", "['']", "[-1]", "[1e300]", "1979-05-27",
    "07:32:00", "[1979-05-27T07:32:00Z]", "[[[[1]]]]", '"' + "x" * 5000 + '"', "[" + "9" * 400 + "]",
]  # fmt: skip
FIELDS = [*(one.name for one in dataclasses.fields(Part)), *(one.name for one in dataclasses.fields(Study)), "part"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_any_other_kind_is_named_in_one_line(tmp_path, field):
    path = tmp_path / "mine.toml"
    whole = {"title": "'t'", "dataset": "'cora'", "model": "'m'", "k": "[1]"}
    for value in ODD:
        table = {**whole, field: value}
        path.write_text("".join(f"{name} = {one}\n" for name, one in table.items()), encoding="utf8")
        done = CliRunner().invoke(app, ["study", "status", str(path), "--out", str(tmp_path)])
        if done.exit_code == 0:
            assert done.stdout.startswith("mine: 0 of "), (field, value)
            continue
        assert isinstance(done.exception, SystemExit), (field, value, done.exception)
        assert done.exit_code == 1
        assert re.fullmatch(r"error: .*\n", done.stderr), (field, value)
        assert any(word in done.stderr for word in (field, "is not a key", "TOML")), (field, value, done.stderr)
        assert len(done.stderr) < 200 + len(str(path)) + len(", ".join(catalogue()))  # the value itself is shortened
    assert {one.name for one in tmp_path.iterdir()} == {"mine.toml"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"title = 't'\nseeds = 'abc'\n", "seeds must be a whole number in"),
        (b"title = 't'\nseeds = 100000000000\n", "seeds must be a whole number in"),
        (b"title = 't'\npart = 5\n", "part must be one or more tables"),
        (b"title = 't'\npart = []\n", "part must be one or more tables"),
        (b"title = 't'\n[part]\nk = [1]\n", "part must be one or more tables"),
        (b"title = '\xff\xfe'\n", "mine.toml is not a TOML file in UTF-8"),
        (b"title = 't'\nk = " + b"[" * 5000, "is not a TOML file"),
        (b"title = 't'\nk" + b".a" * 3000 + b" = 1\n", "k must be a list"),
        (b"title = 't'\n" + b"k = 1\n" * 2, "is not a TOML file"),
        (b"\x00", "is not a TOML file"),
        (b"", "title must be in the study file"),
    ],
    ids=range(11),
)
def test_study_files_that_are_none(tmp_path, content, says):
    path = tmp_path / "mine.toml"
    head = b"" if not content.startswith(b"title") else b"dataset = 'd'\nmodel = 'm'\n"
    if b"k" not in content:
        head += b"k = [1]\n" if head else b""
    path.write_bytes(head + content)
    for command in ("run", "status"):
        done = CliRunner().invoke(app, ["study", command, str(path), "--out", str(tmp_path)])
        assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done.exception
        assert says in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_method_may_be_a_table_or_a_short_form(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("""
title = "t"
dataset = "cora"
model = "planetoid-gat"
shares = [0.5]
methods = [
    "lsp-signs",
    "(lsp:hash=signs,weights=degree)",
    { name = "mine", pruner = "lsp", hash = "signs:bits=4", weights = { name = "degree", power = 0.4 } },
    { name = "held", pruner = "guarded", inner = "lsp:hash=signs", min_keep = 1 },
    { name = "again", pruner = "random", every_epoch = true },
    { name = "plain", basic = true },
]
""")
    runs = {run.method: run for run in read(str(path)).runs(1)}
    assert list(runs) == ["lsp-signs", "lsp:hash=signs,weights=degree", "mine", "held", "again", "plain"]
    assert runs["lsp-signs"].pruner == {"pruner": "lsp", "hash": {"name": "signs", "bits": 6}}
    assert runs["lsp:hash=signs,weights=degree"].make_pruner() == LSP(keep=0.5, hash="signs", weights="degree")
    assert runs["mine"].make_pruner() == LSP(keep=0.5, hash="signs:bits=4", weights="degree:power=0.4")
    assert runs["held"].make_pruner() == Guarded(pruner=LSP(keep=0.5, hash="signs"), min_keep=1)
    assert (runs["again"].every_epoch, runs["plain"].basic, runs["plain"].make_pruner()) == (True, True, None)


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ("{ pruner = 'lsp' }", "methods must have a name, got {'pruner': 'lsp'}"),
        ("{ name = 'x', hash = 'signs' }", "method x must name its pruner"),
        ("{ name = 'x', pruner = 'lsp', k = 3 }", "k must not be an option of method x: a study sets it"),
        ("{ name = 'x', pruner = 'magic' }", "pruner must be one of lsp, .*, got 'magic'"),
        ("{ name = 'x', pruner = 'lsp', bits = 4 }", "bits is not an option of lsp"),
        ("{ name = 'x', pruner = 'lsp', every_epoch = true }", "every_epoch must go with the pruner random"),
        ("{ name = 'x', basic = 1 }", "basic of method x must be"),
        ("'random', { name = 'random', pruner = 'lsp' }", "names of their own, got two that are called 'random'"),
        ("'(lsp:hash=signs'", "methods must be some of"),
        ("3", "methods must be some of unpruned, .*, or a pruner, got 3"),
    ],
)
def test_methods_that_cannot_be_are_named(tmp_path, methods, says):
    path = tmp_path / "mine.toml"
    path.write_text(f"title = 't'\ndataset = 'd'\nmodel = 'm'\nk = [1]\nmethods = [{methods}]\n")
    with pytest.raises(OptionError, match=says):
        read(str(path))
