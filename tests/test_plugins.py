"""What a plugin may import, and what `register` takes; tests/user_plugin shows a plugin at work."""

from __future__ import annotations

import pytest

from lsprune import FAMILIES, PRUNERS, WEIGHTS, Degree, OptionError, Random, Signs, plugins, register


def test_every_public_name_is_there():
    assert all(hasattr(plugins, name) for name in plugins.__all__)
    assert plugins.__all__ == sorted(plugins.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name))


@pytest.mark.parametrize(("kind", "registry"), [(Signs, FAMILIES), (Degree, WEIGHTS), (Random, PRUNERS)])
def test_a_known_class_may_be_registered_again_and_another_of_its_name_may_not(kind, registry):
    before = list(registry.items())
    assert register(kind) is kind
    assert list(registry.items()) == before
    with pytest.raises(OptionError, match=f"the name {kind.name!r} of Other is taken by {kind.__module__}"):
        register(type("Other", (kind,), {}))
    assert list(registry.items()) == before


@pytest.mark.parametrize("wrong", [int, 3, Signs(), lambda: None])
def test_other_things_are_refused(wrong):
    with pytest.raises(OptionError, match="register takes classes derived from Family, Weight, Pruner, Adapter"):
        register(wrong)
