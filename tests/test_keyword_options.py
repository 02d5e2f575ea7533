"""Options are keywords; a value by position is an error with the call that is meant, and nothing else changes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

from lsprune import (
    FAMILIES,
    LSP,
    PRUNERS,
    WEIGHTS,
    Codebook,
    Degree,
    Guarded,
    Identity,
    LocalRandom,
    OptionError,
    PerNode,
    SharedBudget,
    Timed,
    choose,
)
from lsprune.errors import PositionalError
from lsprune.keyword_options import KeywordOptions

CLASSES = [known[name] for known in (PRUNERS, WEIGHTS, FAMILIES) for name in known] + [PerNode, SharedBudget]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LSP(0.5), "LSP takes keywords only, got 0.5: write LSP(keep=0.5)"),
        (lambda: LSP(5, 0.1), "LSP takes keywords only, got 5: write LSP(k=5)"),
        (lambda: LSP("auto"), "LSP takes keywords only, got 'auto': write LSP(keep=0.5) or LSP(k=5)"),
        (lambda: LSP.auto(0.5), "LSP.auto takes keywords only, got 0.5: write LSP.auto(keep=0.5)"),
        (lambda: LocalRandom(5), "LocalRandom takes keywords only, got 5: write LocalRandom(k=5)"),
        (lambda: Degree(0.4), "Degree takes keywords only, got 0.4: write Degree(power=0.4)"),
        (lambda: Codebook(64), "Codebook takes keywords only, got 64: write Codebook(words=64)"),
        (lambda: PerNode(0.3), "PerNode takes keywords only, got 0.3: write PerNode(share=0.3)"),
        (lambda: Identity(3), "Identity takes keywords only, got 3"),
        (lambda: Guarded(LSP(k=3), 1), "Guarded takes keywords only after pruner, got 1: write Guarded(pruner, "),
        (lambda: choose(None, 0.5), "choose takes keywords only after data, got 0.5: write choose(data, keep=0.5)"),
    ],
)  # fmt: skip
def test_a_value_by_position_is_an_error_with_the_call_that_is_meant(call: Any, message: str) -> None:
    with pytest.raises(PositionalError) as error:
        call()
    assert str(error.value).startswith(message)
    assert isinstance(error.value, OptionError) and isinstance(error.value, TypeError)


def test_a_pruner_around_another_one_takes_it_by_position() -> None:
    inner = LSP(keep=0.5)
    assert Guarded(inner, min_keep=1) == Guarded(pruner=inner, min_keep=1)
    assert Timed(inner, until=3) == Timed(pruner=inner, until=3)
    assert SharedBudget(inner) == SharedBudget(pruner=inner)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_signatures_are_those_of_the_options(kind: type) -> None:
    assert issubclass(kind, KeywordOptions)
    signature = inspect.signature(kind)
    assert list(signature.parameters) == [
        f.name for f in sorted(dataclasses.fields(kind), key=lambda f: bool(f.kw_only)) if f.init
    ]
    by_position = [p.name for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert by_position in ([], ["pruner"])
    values = [None] * len(by_position) + [0.5]
    with pytest.raises(PositionalError):
        kind(*values)


@pytest.mark.parametrize("one", [LSP(keep=0.5), Guarded(LSP(k=3), min_keep=1), Degree(power=0.4), PerNode(share=0.5)])
def test_copies_are_equal(one: Any) -> None:
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), dataclasses.replace(one)):
        assert repr(other) == repr(one) and type(other) is type(one)


def test_a_class_with_a_constructor_of_its_own_takes_what_it_says() -> None:
    class Mine(KeywordOptions):
        def __init__(self, first: int, *, second: int = 2) -> None:
            self.total = first + second

    class Any_(KeywordOptions):
        def __init__(self, *values: int) -> None:
            self.total = sum(values)

    assert (Mine(1).total, Mine(1, second=3).total, Any_(1, 2, 3).total) == (3, 4, 6)
    with pytest.raises(
        PositionalError, match=r"Mine takes keywords only after first, got 5: write Mine\(first, second=5\)"
    ):
        Mine(1, 5)  # type: ignore[misc]
