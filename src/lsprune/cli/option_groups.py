"""Groups of options as dataclasses, so that commands can share them.

Each field is an option: its type is an `Annotated[..., typer.Option(...)]`, its default is the option's default.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a dataclass by one option for each of its fields.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> @with_groups
    ... def area(size: Size, unit: str = "m") -> None:
    ...     print(size.width * size.height, unit)
    >>> list(inspect.signature(area).parameters), area(width=3, height=4, unit="km")
    12 km
    (['width', 'height', 'unit'], None)
    """
    hints = typing.get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _fields(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def flat(**options: Any) -> None:
        for name, group in groups.items():
            own = {f.name: options.pop(f.name) for f in dataclasses.fields(group)}
            options[name] = group(**own)
        command(**options)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default,
            annotation=hints[f.name],
        )
        for f in dataclasses.fields(group)
    ]
