"""The methods that a study compares: pruners with options, and training on the unpruned graph.

`methods.toml` lists those that come with lsprune; a study file may define others by tables of the same form.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from lsprune.baselines import Random
from lsprune.checks import check_flag, did_you_mean, shown
from lsprune.chooser import candidates
from lsprune.errors import OptionError
from lsprune.lab.studies.chosen_pruner import CHOOSE, ChosenPruner
from lsprune.pruners import PRUNERS, Pruner, SharedBudget, from_dict
from lsprune.pruners.registry import table_of
from lsprune.specs import parse_spec

UNPRUNED, BASIC, NO_EDGES = REFERENCES = (candidates.UNPRUNED, "basic", candidates.NO_EDGES)
RANDOM, LOCAL_RANDOM = Random.name, candidates.BASELINE
BUDGET = ("k", "keep", "seed")  # options that a run sets
SHARED = SharedBudget.name


@dataclass(frozen=True)
class Method:
    """A pruner without its budget and seed, under a name.

    Args:
        name: what results and reports call it.
        pruner: the options of the pruner that differ from the defaults; None: the graph is not pruned.
        every_epoch: draw a new mask in every epoch, and validate and test on the unpruned graph (DropEdge).
        basic: train the plain variant of the model.
    """

    name: str
    pruner: Mapping[str, Any] | None = None
    every_epoch: bool = False
    basic: bool = False

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Method:
        """Read a method from a table: `name`, `pruner`, `every_epoch`, `basic` and the options of the pruner.

        >>> Method.from_table({"name": "mine", "pruner": "lsp", "hash": "signs:bits=4", "side": "in"}).pruner
        {'pruner': 'lsp', 'hash': {'name': 'signs', 'bits': 4}}
        """
        rest = _with_inner_table(table)
        name, every_epoch, basic = rest.pop("name", None), rest.pop("every_epoch", False), rest.pop("basic", False)
        if not isinstance(name, str) or not name:
            raise OptionError(f"methods must have a name, got {shown(dict(table))}")
        for flag, value in (("every_epoch", every_epoch), ("basic", basic)):
            check_flag(f"{flag} of method {name}", value)
        if "pruner" not in rest:
            if rest or every_epoch:
                raise OptionError(f"method {name} must name its pruner, got {shown(dict(table))}")
            return cls(name, basic=basic)
        for option in BUDGET:
            if option in rest:
                raise OptionError(f"{option} must not be an option of method {name}: a study sets it for each run")
        budget = {"keep": 0.5} if rest["pruner"] == SHARED else {"k": 1}
        method = cls(name, brief(_with_budget(rest, budget)), every_epoch, basic)
        if every_epoch and method.pruner != {"pruner": RANDOM}:
            raise OptionError(f"every_epoch must go with the pruner random, without options, got {shown(dict(table))}")
        return method

    @property
    def role(self) -> str:
        """What reports use the method for: a reference, a random baseline, or an empty string.

        >>> Method("whole graph").role, Method("mine", {"pruner": "lsp"}).role
        ('unpruned', '')
        """
        if self.pruner is None:
            return BASIC if self.basic else UNPRUNED
        name = self.pruner["pruner"]
        if name == NO_EDGES:
            return NO_EDGES
        return name if name in (RANDOM, LOCAL_RANDOM) and not (self.every_epoch or self.is_out) else ""

    @property
    def is_lsp(self) -> bool:
        """Whether the pruner is an LSP, and not one of the paper's presets."""
        return self._innermost.get("pruner") == "lsp"

    @property
    def is_paper_preset(self) -> bool:
        """Whether the pruner is an LSP with options that only the paper has."""
        return self._innermost.get("pruner") == "lsp-paper"

    @property
    def is_out(self) -> bool:
        """Whether the source of an edge owns it."""
        return self._innermost.get("side") == "out"

    def is_in_partner(self, other: Method) -> bool:
        """Return whether the methods are the same, except that the target owns an edge here and the source there."""
        return (
            not self.is_out
            and other.is_out
            and self == replace(other, name=self.name, pruner=_without_side(other.pruner))
        )

    @property
    def is_shared(self) -> bool:
        """Whether all relations of a heterogeneous graph share its budget."""
        return self.pruner is not None and self.pruner["pruner"] == SHARED

    def is_separate_partner(self, other: Method) -> bool:
        """Return whether relations share the budget of the other, and this is its pruner with a budget for each."""
        shared = other.pruner if other.is_shared else None
        return shared is not None and self == replace(other, name=self.name, pruner=shared["inner"])

    @property
    def _innermost(self) -> Mapping[str, Any]:
        """The options of the pruner, or of the pruner within `Guarded` or a shared budget."""
        options: Mapping[str, Any] = self.pruner or {}
        while isinstance(options.get("inner"), Mapping):
            options = options["inner"]
        return options

    @property
    def has_budget(self) -> bool:
        """Whether the method has a budget: k or a share of the edges."""
        return self.pruner is not None and _takes(self.pruner, "k")

    @property
    def takes_k(self) -> bool:
        """Whether its budget may be a number of edges per node; a budget that relations share is a share."""
        return self.has_budget and not self.is_shared

    @property
    def takes_share(self) -> bool:
        """Whether its budget may be a share of the edges."""
        try:
            return self.has_budget and self.make_plan(keep=0.5) is not None
        except OptionError:  # the hash depends on k
            return False

    def make(self, *, k: int | None = None, keep: float | None = None, seed: int = 0) -> Pruner | None:
        """Build the pruner with a budget and a seed; None if the graph is not pruned."""
        plan = self.make_plan(k=k, keep=keep, seed=seed)
        if isinstance(plan, SharedBudget):
            raise OptionError(f"methods must be pruners here, got {self.name!r}: a budget that relations share")
        return plan

    def make_plan(
        self, *, k: int | None = None, keep: float | None = None, seed: int = 0
    ) -> Pruner | SharedBudget | None:
        """Build the pruner or the shared budget with a budget and a seed; None if the graph is not pruned."""
        if self.pruner is None:
            return None
        if self.has_budget and k is None and keep is None:
            raise OptionError(f"k or keep must be given for method {self.name}")
        budget = {"k": k} if keep is None else {"keep": keep}
        return build_plan(_with_budget(self.pruner, {**budget, "seed": seed}))


def _with_inner_table(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table in which the pruner within another is a table too, if it was written as `lsp:hash=signs`."""
    inner = table.get("inner")
    if isinstance(inner, str):
        inner = table_of(parse_spec(inner))
    return {**table, "inner": dict(inner)} if isinstance(inner, Mapping) else dict(table)


def _without_side(options: Mapping[str, Any] | None) -> dict[str, Any]:
    rest = {name: value for name, value in (options or {}).items() if name != "side"}
    return {**rest, "inner": _without_side(rest["inner"])} if isinstance(rest.get("inner"), Mapping) else rest


def _takes(options: Mapping[str, Any], option: str) -> bool:
    if isinstance(options.get("inner"), Mapping):
        return _takes(options["inner"], option)
    name = options.get("pruner")
    if name == SHARED:  # without a pruner: an error that `build_plan` raises
        return False
    return option in {f.name for f in dataclasses.fields(ChosenPruner if name == CHOOSE else PRUNERS.find(name))}


def build_plan(options: Mapping[str, Any]) -> Pruner | SharedBudget:
    """Build a pruner of the library, a shared budget, or the pruner that `choose` picks."""
    if options.get("pruner") == SHARED:
        return SharedBudget.from_dict(options)
    return (ChosenPruner.from_dict if options.get("pruner") == CHOOSE else from_dict)(options)


def _with_budget(options: Mapping[str, Any], budget: Mapping[str, Any]) -> dict[str, Any]:
    """Add a budget and a seed to the options of a pruner, or of the pruner within another."""
    inner = options.get("inner")
    if isinstance(inner, Mapping):
        own = {"keep": budget["keep"]} if options["pruner"] == SHARED and "keep" in budget else {}
        return {**options, "inner": _with_budget(inner, budget), **own}
    return {**options, **{option: value for option, value in budget.items() if _takes(options, option)}}


def brief(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a pruner that differ from the defaults, without budget and seed, as plain data."""
    pruner = build_plan(options)
    table = _differing(pruner)
    inner = getattr(pruner, "pruner", None)
    if isinstance(inner, Pruner):  # promises on another pruner
        table = {**{name: value for name, value in table.items() if name != "pruner"}, "inner": brief(inner.to_dict())}
    return {"pruner": pruner.name, **{name: value for name, value in table.items() if name not in BUDGET}}


def _differing(options: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults."""
    table = {}
    for f in dataclasses.fields(options):
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        if (value := getattr(options, f.name)) != default:
            table[f.name] = _plain(value)
    return table


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and hasattr(value, "name"):  # a hash family or a weight
        return {"name": value.name, **_differing(value)}
    if isinstance(value, Mapping):  # by edge type
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@cache
def catalogue() -> dict[str, Method]:
    """Return the methods of `methods.toml` by name."""
    text = (files("lsprune.lab.studies") / "methods.toml").read_text(encoding="utf8")
    return {name: Method.from_table({"name": name, **table}) for name, table in tomllib.loads(text).items()}


def find_method(spec: Any) -> Method:
    """Return a method by its name, by a table, or by a pruner with options in brackets: `(lsp:hash=signs)`.

    >>> find_method("lsp-degree").pruner
    {'pruner': 'lsp', 'weights': {'name': 'degree', 'power': 0.4}}
    """
    if isinstance(spec, Method):
        return spec
    if isinstance(spec, Mapping):
        return Method.from_table(spec)
    if isinstance(spec, str) and spec in catalogue():
        return catalogue()[spec]
    if isinstance(spec, str) and spec.startswith("(") and spec.endswith(")"):
        return Method.from_table({**table_of(parse_spec(spec[1:-1])), "name": spec[1:-1]})
    if isinstance(spec, str):
        try:
            return Method.from_table({"name": PRUNERS.find(spec).name, "pruner": spec})
        except OptionError:
            pass
    names = catalogue()
    raise OptionError(
        f"methods must be some of {', '.join(names)}, or a pruner, got {shown(spec)}{did_you_mean(spec, names)}"
    )


def find_methods(specs: Iterable[Any]) -> tuple[Method, ...]:
    """Return methods, each once; raise OptionError if one name stands for two of them."""
    methods: dict[str, Method] = {}
    for method in map(find_method, specs):
        if methods.setdefault(method.name, method) != method:
            raise OptionError(f"methods must have names of their own, got two that are called {method.name!r}")
    return tuple(methods.values())


PAPER = (
    UNPRUNED, NO_EDGES, BASIC, RANDOM, LOCAL_RANDOM, "lsp-projection", "lsp-threshold", "lsp-projection-paper",
    "lsp-threshold-paper", "lsp-projection-published", "lsp-threshold-published",
)  # fmt: skip
