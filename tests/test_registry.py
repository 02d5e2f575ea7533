"""Classes by name: no name twice, unknown names with all known ones, plugins loaded when a name is not known."""

from __future__ import annotations

import types

import pytest

from lsprune import registry as module
from lsprune.errors import OptionError
from lsprune.registry import PLUGINS, Registry


class Plain:
    name = "plain"
    about = "a class with a name"


class Other:
    name = "other"
    about = "another one"


class SameName:
    name = "plain"
    about = "a name that is taken"


class EntryPoint:
    """What `importlib.metadata` returns for an installed plugin."""

    def __init__(self, plugin) -> None:
        self.plugin = plugin

    def load(self):
        return self.plugin


@pytest.fixture
def installed(monkeypatch):
    """A function that installs plugins; none were loaded before."""
    asked = []

    def install(*plugins):
        def entry_points(*, group):
            asked.append(group)
            return [EntryPoint(plugin) for plugin in plugins]

        monkeypatch.setattr(module, "_loaded", [])
        monkeypatch.setattr(module, "entry_points", entry_points)
        return asked

    return install


def test_classes_are_found_by_name_in_the_order_in_which_they_came():
    known = Registry("thing", Plain)
    known.add(Other)
    assert list(known) == ["plain", "other"] and len(known) == 2
    assert known.find("other") is known["other"] is Other
    assert dict(known) == {"plain": Plain, "other": Other}
    known.remove("plain")
    assert list(known) == ["other"]


def test_a_name_is_taken_once():
    known = Registry("thing", Plain)
    with pytest.raises(OptionError, match=r"the name 'plain' of SameName is taken by .*Plain"):
        known.add(SameName)
    assert known["plain"] is Plain
    known.add(Plain)  # the same class again, as when a module is loaded anew
    assert len(known) == 1


@pytest.mark.parametrize("attributes", [{}, {"name": "x"}, {"about": "x"}, {"name": "", "about": "x"}, {"name": 3}])
def test_a_class_must_say_what_it_is(attributes):
    with pytest.raises(OptionError, match="Nameless must have a name and a line about it, as class attributes"):
        Registry("thing").add(type("Nameless", (), attributes))


@pytest.mark.parametrize("name", ["magic", "", None, 3, ["plain"], {"name": "plain"}])
def test_unknown_names_are_answered_with_all_known_ones(installed, name):
    installed()
    with pytest.raises(OptionError, match="thing must be one of plain, other, got ") as error:
        Registry("thing", Plain, Other).find(name)
    assert repr(name) in str(error.value)


def test_plugins_are_loaded_when_a_name_is_not_known(installed):
    known = Registry("thing", Plain)
    asked = installed(lambda: known.add(Other))
    assert known.find("plain") is Plain and not asked
    assert known.find("other") is Other
    assert asked == [PLUGINS]


def test_plugins_are_loaded_once(installed):
    calls = []
    installed(lambda: calls.append(1))
    known = Registry("thing", Plain)
    for _ in range(3):
        with pytest.raises(OptionError, match="thing must be one of plain, got 'magic'"):
            known.find("magic")
    assert calls == [1]


def test_a_plugin_may_be_a_module_that_registers_when_imported(installed):
    installed(types.ModuleType("my_package.pruning"))  # not called
    with pytest.raises(OptionError, match="thing must be one of plain, got 'magic'"):
        Registry("thing", Plain).find("magic")


def test_a_plugin_cannot_take_a_name_of_ours(installed):
    known = Registry("thing", Plain)
    installed(lambda: known.add(SameName))
    with pytest.raises(OptionError, match="the name 'plain' of SameName is taken"):
        known.find("magic")
