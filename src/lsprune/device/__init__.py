"""Pruning on a GPU: the steps of `selection` for graphs whose arrays are tensors on a device, with the same bits.

`graph` has the graph, `pruning` the walk: group by owner, count, make keys, choose, mask. Kernels are in `kernels.gpu`.
"""
