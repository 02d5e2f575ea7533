"""A study: what is compared on which datasets, and the runs that make it up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar, cast

from lsprune.checks import shown
from lsprune.errors import OptionError
from lsprune.lab.reporting.records import is_finite_number
from lsprune.lab.studies.methods import PAPER, RANDOM, Method, find_methods
from lsprune.lab.studies.run import SCHEDULES, Run

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Part:
    """What is compared on one dataset; the fields are keys of a study file.

    Args:
        model: one of `lab.models.MODELS`; empty if `hops` or `pairs` are given.
        k: the most edges that a node keeps, for every method that has a budget.
        shares: shares of the edges to keep, for every such method.
        methods: what is compared: names, or tables of a name, a pruner and its options.
        random_shares: further shares for random pruning alone, which the paper did not run at the k of the others.
        targets: regression targets, each with runs of its own. The other fields are those of `Run`.
        stage: runs of a stage come before those of a later one, with all their seeds.
    """

    dataset: str
    model: str = ""
    k: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()
    random_shares: tuple[float, ...] = ()
    methods: tuple[Any, ...] = PAPER  # names, tables or `Method`s; see `methods.find_method`
    targets: tuple[str, ...] = ()
    hops: tuple[int, ...] = ()
    epochs: int = 200
    lr: float = 0.01
    schedule: Literal["constant", "cosine"] = "constant"
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    batch_size: int = 512
    patience: int | None = None
    limit: int | None = None
    pairs: int = 0
    stage: int = 1

    def __post_init__(self) -> None:
        for name, (rule, words) in _RULES.items():
            check_value(rule(getattr(self, name)), name, words, getattr(self, name))
        for name, (rule, words) in _LIST_RULES.items():
            values = getattr(self, name)
            check_value(isinstance(values, tuple | list), name, f"a list: {words}", values)
            for value in values:
                check_value(rule(value), name, words, value)
        object.__setattr__(self, "methods", find_methods(self.methods))
        if not (self.k or self.shares):
            raise OptionError("k or shares must be given, a list of at least one")
        if sum(map(bool, (self.model, self.hops, self.pairs))) != 1:
            raise OptionError("one of a model, hops and pairs must be given")

    @property
    def all_shares(self) -> tuple[float, ...]:
        """The shares of all methods, and those of random pruning alone."""
        return (*self.shares, *self.random_shares)

    def at_shares(self, shares: Sequence[float]) -> Part:
        """Return the part with those of its shares that are among these, and without k; references stay.

        If none is left, only methods without a budget stay, and no method if there are none.
        """
        kept = tuple(share for share in self.shares if share in shares)
        kept_random = tuple(share for share in self.random_shares if share in shares)
        if kept:
            return replace(self, k=(), shares=kept, random_shares=kept_random)
        methods = tuple(m for m in self.methods if not m.has_budget or (kept_random and m.role == RANDOM))
        shares = kept_random or (1.0,)  # a part must have a share, also if no method that is left uses it
        return replace(self, k=(), shares=shares, random_shares=(), methods=methods)

    def with_methods(self, names: Sequence[str]) -> Part:
        """Return the part with those of its methods that have one of these names; all of them without names."""
        return replace(self, methods=tuple(method for method in self.methods if not names or method.name in names))

    def with_targets(self, names: Sequence[str]) -> Part:
        """Return the part with those of its targets that are among these; all of them without names."""
        return replace(self, targets=tuple(name for name in self.targets if not names or name in names))

    def runs(self, study: str, seed: int) -> Iterator[Run]:
        """Yield all runs of a seed."""
        same: Any = {f.name: getattr(self, f.name) for f in fields(self) if f.name in _OF_RUN}
        for target in self.targets or (None,):
            for method in self.methods:
                what = {"pruner": method.pruner, "every_epoch": method.every_epoch, "basic": method.basic}
                for budget in self._budgets(method):
                    yield Run(study=study, method=method.name, seed=seed, target=target, **same, **what, **budget)

    def _budgets(self, method: Method) -> list[dict[str, Any]]:
        if not method.has_budget:
            return [{}]
        shares = (*self.shares, *(self.random_shares if method.role == RANDOM else ()))
        ks, keeps = self.k if method.takes_k else (), shares if method.takes_share else ()
        return [{"k": k} for k in ks] + [{"keep": float(share)} for share in keeps]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _whole(least: int) -> Callable[[object], bool]:
    return lambda value: type(value) is int and least <= value < 2**31


def _optional(rule: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or rule(value)


def _real(rule: Callable[[float], bool]) -> Callable[[object], bool]:
    return lambda value: is_finite_number(value) and rule(cast(float, value))


_POSITIVE = "a whole number in [1, 2^31)"
_SHARE: tuple[Callable[[object], bool], str] = (_real(lambda share: 0 < share <= 1), "numbers in (0, 1]")
# What each field of `Part` must be, as a rule and in words; rules of lists hold for every entry.
_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "dataset": (_name, "the name of a dataset"),
    "model": (_text, "the name of a model"),
    "epochs": (_whole(1), _POSITIVE),
    "lr": (_real(lambda lr: lr > 0), "a number > 0"),
    "schedule": (lambda value: _text(value) and value in SCHEDULES, f"one of {', '.join(SCHEDULES)}"),
    "weight_decay": (_real(lambda decay: decay >= 0), "a number >= 0"),
    "label_smoothing": (_real(lambda share: 0 <= share < 1), "a number in [0, 1)"),
    "batch_size": (_whole(1), _POSITIVE),
    "patience": (_optional(_whole(1)), _POSITIVE),
    "limit": (_optional(_whole(1)), _POSITIVE),
    "pairs": (_whole(0), "a whole number >= 0"),
    "stage": (_whole(1), _POSITIVE),
}
_LIST_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "k": (_whole(1), "a list of whole numbers >= 1"),
    "shares": _SHARE,
    "random_shares": _SHARE,
    "targets": (_name, "names of regression targets"),
    "hops": (_whole(0), "whole numbers >= 0"),
}
MAX_SEEDS = 10_000
_OF_RUN = {f.name for f in fields(Run)} & {f.name for f in fields(Part)} - {"k"}


def check_value(valid: bool, name: str, words: str, value: object) -> None:
    """Raise OptionError, which says in words what the value must be, unless it is valid."""
    if not valid:
        raise OptionError(f"{name} must be {words}, got {shown(value)}")


@dataclass(frozen=True, kw_only=True)
class Study:
    """A comparison on one dataset or several."""

    name: str
    title: str
    parts: tuple[Part, ...]
    seeds: int = 5

    def __post_init__(self) -> None:
        check_value(_name(self.name), "name", "a string", self.name)
        check_value(_text(self.title), "title", "a string", self.title)
        check_value(isinstance(self.parts, tuple) and len(self.parts) > 0, "parts", "one or more", self.parts)
        _check_seeds(self.seeds)

    def runs(self, seeds: int | None = None) -> list[Run]:
        """Return all runs, by stage and then by seed, so that a study stopped early still compares every method."""
        if seeds is not None:
            _check_seeds(seeds)
        count = range(self.seeds if seeds is None else seeds)
        stages = [[part for part in self.parts if part.stage == stage] for stage in self._stages]
        return [run for parts in stages for seed in count for part in parts for run in part.runs(self.name, seed)]

    @property
    def _stages(self) -> list[int]:
        return sorted({part.stage for part in self.parts})

    def smoke(self) -> Study:
        """Return a small version: two epochs, one seed, one budget, 16 graphs of each split, every method."""
        parts = tuple(
            replace(
                part, k=part.k[:1], shares=part.shares[:1], random_shares=part.random_shares[:1], epochs=2, limit=16,
                targets=part.targets[:1], hops=part.hops[:1],
            )
            for part in self.parts
        )  # fmt: skip
        return replace(self, name=f"{self.name}-smoke", parts=parts, seeds=1)

    def only(
        self,
        *,
        datasets: Iterable[str] = (),
        models: Iterable[str] = (),
        methods: Iterable[str] = (),
        targets: Iterable[str] = (),
        k: Iterable[int] = (),
        shares: Iterable[float] = (),
        epochs: int | None = None,
    ) -> Study:
        """Return the part of the study with these datasets, models, methods, targets and budgets.

        Args:
            k: any k; shares are then left out.
            shares: some of the study's shares; k are then left out. Methods without a budget stay.
        """
        datasets = self._checked(datasets, "dataset", [part.dataset for part in self.parts])
        parts = [part for part in self.parts if not datasets or part.dataset in datasets]
        models = self._checked(models, "models", [part.model for part in parts])
        parts = [part for part in parts if not models or part.model in models]
        methods = self._checked(methods, "methods", [method.name for part in parts for method in part.methods])
        targets = self._checked(targets, "target", [name for part in parts for name in part.targets])
        shares = self._checked(shares, "shares", [share for part in parts for share in part.all_shares])
        ks = tuple(k)
        parts = [replace(part, k=ks, shares=(), random_shares=()) if ks else part for part in parts]
        parts = [part.at_shares(shares) if shares and not ks else part for part in parts]
        parts = [part.with_methods(methods).with_targets(targets) for part in parts]
        parts = [part if epochs is None else replace(part, epochs=epochs) for part in parts]
        return replace(self, parts=tuple(parts))

    def _checked(self, values: Iterable[T], option: str, known: list[T]) -> tuple[T, ...]:
        """Return the values; raise OptionError for one that the study does not have."""
        values, words = tuple(values), ", ".join(map(str, dict.fromkeys(known))) or "none"
        for value in values:
            check_value(value in known, option, f"some of {words} in study {self.name}", value)
        return values


def _check_seeds(seeds: object) -> None:
    most = f"a whole number in [1, {MAX_SEEDS:,}]"
    check_value(type(seeds) is int and 1 <= seeds <= MAX_SEEDS, "seeds", most, seeds)
