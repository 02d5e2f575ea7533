from __future__ import annotations

import inspect

import pytest

from lsprune.kernels import cpu, reference


def test_every_function_of_the_definition_is_there():
    assert set(reference.__all__) - set(cpu.__all__) == {"mix", "tie_order"}
    assert set(cpu.__all__) <= set(reference.__all__)


@pytest.mark.parametrize("name", [name for name in cpu.__all__ if callable(getattr(cpu, name))])
def test_parameters_are_those_of_the_definition(name):
    compiled = getattr(cpu, name)
    ours = inspect.signature(getattr(compiled, "py_func", compiled))
    assert list(ours.parameters) == list(inspect.signature(getattr(reference, name)).parameters)
