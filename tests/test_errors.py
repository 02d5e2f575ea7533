from __future__ import annotations

import inspect
import warnings

import pytest

from lsprune import errors
from lsprune.errors import LspruneError, LspruneWarning, SymmetryWarning, warn

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_and_warning_has_one_of_two_bases_and_says_what_it_is(kind):
    assert issubclass(kind, (LspruneError, LspruneWarning))
    assert kind.__doc__


def test_a_warning_names_the_line_of_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("look here", SymmetryWarning)
    assert caught[0].filename == __file__
    assert caught[0].category is SymmetryWarning and str(caught[0].message) == "look here"
