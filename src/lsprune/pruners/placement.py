"""Where a graph is pruned: on the GPU if it is there and the pruner has a GPU path, else on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from lsprune.adapters.base import Adapter, Key
from lsprune.errors import HostWarning, NoGpuPath, warn
from lsprune.graph import Graph
from lsprune.kernels import Runtime, runtime
from lsprune.numeric.random_numbers import is_tensor
from lsprune.pruners.graph_of_row import naming_graph_of_row

if TYPE_CHECKING:
    from lsprune.pruners.contract import Pruner

T = TypeVar("T")
Work = Callable[[Mapping[Key, Graph], Runtime], T]
_warned: set[str] = set()  # what the host was taken for already, in this process


def where_it_is(
    adapter: Adapter, data: Any, pruners: Iterable[Pruner], threads: int | None, executor: str | None, work: Work[T]
) -> T:
    """Return work(graphs, runtime), with graphs on the GPU or on the host.

    With `executor=None`, a graph on a GPU is worked on there. If there is no GPU path, a warning says so, once, and it
    is copied to the host. With `executor="gpu"`, a graph on the host is copied to the GPU, and NoGpuPath is raised if
    there is no GPU path.
    """
    run, work = runtime(threads, executor), _naming_graphs(work)
    device = adapter.device(data) if executor in (None, "gpu") else None
    if device is None and executor != "gpu":
        return work(adapter.graphs(data), run)
    try:
        return _on_device(adapter, data, pruners, run, device, work)
    except NoGpuPath as error:
        if executor == "gpu":
            advice = 'use executor=None or "cpu" to prune on the host, with the same result'
            raise NoGpuPath(f"{error}; {advice}") from None
        _warn(str(error))
    return work(adapter.graphs(data), run)


def _naming_graphs(work: Work[T]) -> Work[T]:
    """Return the same work, whose errors say which graph of several they are about."""

    def named(graphs: Mapping[Key, Graph], run: Runtime) -> T:
        with naming_graph_of_row(graphs):
            return work(graphs, run)

    return named


def own_arrays(adapter: Adapter, data: Any, arrays: Mapping[Key, Any]) -> dict[Key, Any]:
    """Return arrays where the caller's data is: tensors are copied to the host unless the data is on a device."""
    if not arrays or adapter.device(data) is not None:
        return dict(arrays)
    return {key: array.cpu().numpy() if is_tensor(array) else array for key, array in arrays.items()}


def _on_device(adapter: Adapter, data: Any, pruners: Iterable[Pruner], run: Runtime, device: Any, work: Work[T]) -> T:
    for pruner in pruners:
        if not pruner.needs.gpu:
            raise NoGpuPath(f"{pruner!r} has no GPU path")
    tools = import_module("lsprune.device.graph")
    place = device or tools.default_device()
    with tools.working_on(place):
        if device is not None:
            graphs = adapter.device_graphs(data)
        else:
            graphs = {key: tools.upload(graph, place) for key, graph in adapter.graphs(data).items()}
        return work(graphs, Runtime(run.executor, run.threads, device=place))


def _warn(reason: str) -> None:
    if reason not in _warned:
        _warned.add(reason)
        warn(f"{reason}; the graph is pruned on the host, with the same result", HostWarning)
