"""Classes by name: hash families, edge weights, pruners; ours, and those of plugins.

A plugin is a package with an entry point in the group `lsprune.plugins` that names a function or a module. Plugins are
loaded when a name is not known, or when `lsprune methods` lists all names: functions are called, modules are imported,
and each calls `lsprune.register`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from lsprune.checks import did_you_mean, shown
from lsprune.errors import LspruneError, OptionError

PLUGINS = "lsprune.plugins"  # the group of entry points
T = TypeVar("T")
_loaded: list[bool] = []  # not empty once the plugins were loaded in this process


def load_plugins() -> None:
    """Load every installed plugin, once in a process."""
    if _loaded:
        return
    for entry in entry_points(group=PLUGINS):
        try:
            plugin = entry.load()
            if not inspect.ismodule(plugin):
                plugin()
        except LspruneError:
            raise
        except Exception as error:  # a plugin may raise anything
            raise LspruneError(f"the plugin {entry.name!r} cannot be loaded: {error}") from error
    _loaded.append(True)


class Registry(Mapping[str, type[T]], Generic[T]):
    """Classes by their `name`, in the order in which they were added."""

    def __init__(self, option: str, *classes: type[T]) -> None:
        self.option = option  # as error messages call it
        self._classes: dict[str, type[T]] = {}
        for known in classes:
            self.add(known)

    def add(self, new: type[T]) -> None:
        """Add a class; adding it again does nothing, another class of the same name is an error."""
        name = getattr(new, "name", None)
        if not isinstance(name, str) or not name or not getattr(new, "about", ""):
            raise OptionError(f"{new.__name__} must have a name and a line about it, as class attributes")
        known = self._classes.get(name)
        if known is not None and (known.__module__, known.__qualname__) != (new.__module__, new.__qualname__):
            raise OptionError(
                f"the name {name!r} of {new.__name__} is taken by {known.__module__}.{known.__qualname__}"
            )
        self._classes[name] = new

    def remove(self, name: str) -> None:
        """Remove a class, such as one that was registered to try something out."""
        del self._classes[name]

    def find(self, name: Any) -> type[T]:
        """Find the class of that name, among plugins too; raise OptionError with all names."""
        if isinstance(name, str):
            if name not in self._classes:
                load_plugins()
            if name in self._classes:
                return self._classes[name]
        raise OptionError(
            f"{self.option} must be one of {', '.join(self)}, got {shown(name)}{did_you_mean(name, self)}"
        )

    def __getitem__(self, name: str) -> type[T]:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)
