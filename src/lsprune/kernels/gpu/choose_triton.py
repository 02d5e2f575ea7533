"""Selection in Triton: owners by degree class, a row of lanes for each owner; hubs in chunks that merge exactly.

An owner with d edges gets a row of G >= d lanes, one edge each. A lane holds the keys of all functions of its edge in
registers; a step is a minimum over the row. Steps are first taken as if no keys were equal. If a row then has taken
more edges than steps, some keys were equal, and the block is done again by the tie rule (`kernels/reference/ties.py`).
Where ranks are wanted, an owner may take all its edges, so that their number says nothing: there the rule goes first.

An owner with more than CHUNK edges (a hub) is cut into chunks, each of which takes its steps by itself. An edge that
its chunk does not take is not taken by the hub either: at every step, what is left of the chunk in the hub includes
what is left in the chunk alone. So the hub takes its steps among what its chunks took.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.choose import MAX_BOTTOM_STEPS, Block
from lsprune.kernels.gpu.launch_triton import launch
from lsprune.kernels.gpu.splitmix_triton import mix

SMALL = (16, 32, 64, 128)  # lanes of a row; one launch for these classes
LARGE = (256, 512, 1024)  # and one for these and the chunks of hubs, which need more registers
CLASSES = SMALL + LARGE
CHUNK = LARGE[-1]
SMALL_LANES, LARGE_LANES = 256, 1024  # lanes of a program
_OWNERS = 1024  # owners that one program sorts into classes
_HUGE = {dtype: torch.iinfo(dtype).max for dtype in (torch.int32, torch.int64)}
FACTS = len(CLASSES) + 5  # owners of each class and hubs, kept edges, most steps, chunks, owners of loops alone


@triton.jit(do_not_specialize=["k", "owners", "first", "stride"])
def _classify_kernel(
    indptr, loops, quota, k, owners, first, facts, lists, stride, hub_start, PER_OWNER: tl.constexpr,
    RANKED: tl.constexpr, LOOPS: tl.constexpr, COUNT: tl.constexpr, SMALLEST: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    u = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = u < owners
    degree = tl.load(indptr + u + 1, mask=inside, other=0) - tl.load(indptr + u, mask=inside, other=0)
    most = degree * 0 + k
    if PER_OWNER:
        most = tl.load(quota + u, mask=inside, other=0).to(tl.int64)
    counted = degree
    if LOOPS:
        counted = degree - tl.load(loops + u, mask=inside, other=0)
        tl.atomic_add(facts + COUNT + 4, tl.sum(((counted == 0) & (degree > 0)).to(tl.int64), 0))
    kept = tl.minimum(counted, most)
    chooses = kept > first if RANKED else (counted > most) & ((most > first) | (first == 0))
    chooses = chooses & inside
    tl.atomic_add(facts + COUNT + 1, tl.sum(tl.where(inside, kept, 0), 0))
    tl.atomic_max(facts + COUNT + 2, tl.max(tl.where(chooses, kept, 0), 0))
    for c in tl.static_range(COUNT + 1):
        low = (SMALLEST << c) // 2 if c else -1
        here = chooses & (degree > low)
        if c < COUNT:
            here = here & (degree <= (SMALLEST << c))
        count = tl.sum(here.to(tl.int32), 0)
        if count > 0:
            base = tl.atomic_add(facts + c, count.to(tl.int64))
            place = base + tl.cumsum(here.to(tl.int32), 0) - 1
            tl.store(lists + (base * 0 + c) * stride + place, u, mask=here)
            if c == COUNT:  # hubs: each gets a range of chunks
                size: tl.constexpr = SMALLEST << (COUNT - 1)
                chunks = (degree + size - 1) // size
                start = tl.atomic_add(facts + COUNT + 3 + u * 0, chunks, mask=here)
                tl.store(hub_start + place, start, mask=here)


@triton.jit
def _chunk_kernel(
    owner_list, hub_start, indptr, chunk_hub, candidates, SIZE: tl.constexpr, G: tl.constexpr, WIDTH: tl.constexpr
):
    """Write down the hub of each chunk, and that it has no candidates yet."""
    hub = tl.program_id(0)
    u = tl.load(owner_list + hub)
    start = tl.load(hub_start + hub)
    stop = start + (tl.load(indptr + u + 1) - tl.load(indptr + u) + G - 1) // G
    while start < stop:  # the interpreter has no range over tensors
        at = start + tl.arange(0, SIZE)
        tl.store(chunk_hub + at, (at * 0 + hub).to(tl.int32), mask=at < stop)
        for z in tl.static_range(WIDTH):
            tl.store(candidates + at * WIDTH + z, at * 0 - 1, mask=at < stop)
        start += SIZE


@triton.jit
def _load4(pointer):
    """Load four int32 from an address that is a multiple of 16, in one instruction."""
    return tl.inline_asm_elementwise(
        "ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l", [pointer],
        dtype=(tl.int32, tl.int32, tl.int32, tl.int32), is_pure=True, pack=1,
    )  # fmt: skip


@triton.jit
def _take(key, z, steps, free, got, HUGE: tl.constexpr):
    """Take the smallest key of each row, or all that are equal to it."""
    key = tl.where(free, key, HUGE)
    best = tl.min(key, axis=1)
    wins = free & (key == best[:, None]) & (z < steps)[:, None]
    return free & (wins == 0), tl.where(wins, z + 1, got)


@triton.jit
def _take_by_rule(
    key, z, steps, free, got, local, slot, start, HUGE: tl.constexpr, TIES: tl.constexpr,
):  # fmt: skip
    """Take the smallest key of each row; of equal ones that which the tie rule puts first."""
    key = tl.where(free, key, HUGE)
    best = tl.min(key, axis=1)
    wins = free & (key == best[:, None]) & (z < steps)[:, None]
    last: tl.constexpr = 9223372036854775807
    if TIES != 2:
        order = local
        if TIES == 0:  # unsigned order, compared as signed numbers
            order = (mix(start ^ local.to(tl.uint64, bitcast=True)) ^ (1 << 63)).to(tl.int64, bitcast=True)
        order = tl.where(wins, order, last)
        wins = wins & (order == tl.min(order, axis=1)[:, None])
    place = tl.where(wins, slot, last)
    wins = wins & (slot == tl.min(place, axis=1)[:, None])
    return free & (wins == 0), tl.where(wins, z + 1, got)


@triton.jit
def _choose_tile(
    slot, node, free, steps, base, table, starts, WIDTH: tl.constexpr, STRIDE: tl.constexpr, BY_SLOT: tl.constexpr,
    VECTOR: tl.constexpr, TIES: tl.constexpr, EXPECT_TIES: tl.constexpr, BOTTOM: tl.constexpr, HUGE: tl.constexpr,
):  # fmt: skip
    """Return the step at which each lane is taken, 0 for none."""
    row = node
    if BY_SLOT:
        row = tl.where(free, slot, 0)
    at = table + row * STRIDE
    got = tl.zeros_like(node).to(tl.int32)
    before = free
    if not EXPECT_TIES:
        if VECTOR:
            k0, k1, k2, k3 = _load4(at)
            k4, k5, k6, k7 = _load4(at + 4)
            free, got = _take(k0, 0, steps, free, got, HUGE)
            free, got = _take(k1, 1, steps, free, got, HUGE)
            free, got = _take(k2, 2, steps, free, got, HUGE)
            free, got = _take(k3, 3, steps, free, got, HUGE)
            free, got = _take(k4, 4, steps, free, got, HUGE)
            free, got = _take(k5, 5, steps, free, got, HUGE)
            free, got = _take(k6, 6, steps, free, got, HUGE)
            free, got = _take(k7, 7, steps, free, got, HUGE)
            if WIDTH == 16:
                k0, k1, k2, k3 = _load4(at + 8)
                k4, k5, k6, k7 = _load4(at + 12)
                free, got = _take(k0, 8, steps, free, got, HUGE)
                free, got = _take(k1, 9, steps, free, got, HUGE)
                free, got = _take(k2, 10, steps, free, got, HUGE)
                free, got = _take(k3, 11, steps, free, got, HUGE)
                free, got = _take(k4, 12, steps, free, got, HUGE)
                free, got = _take(k5, 13, steps, free, got, HUGE)
                free, got = _take(k6, 14, steps, free, got, HUGE)
                free, got = _take(k7, 15, steps, free, got, HUGE)
        elif BOTTOM:
            key = tl.load(at, mask=free, other=HUGE)
            for z in range(WIDTH):
                free, got = _take(key, z, steps, free, got, HUGE)
        else:
            for z in range(WIDTH):
                free, got = _take(tl.load(at + z, mask=free, other=HUGE), z, steps, free, got, HUGE)
        expected = tl.minimum(steps, tl.sum(before.to(tl.int32), axis=1))
        surplus = tl.sum((got > 0).to(tl.int32), axis=1) - expected
        again = tl.max(surplus, axis=0) > 0
    else:
        again = tl.max(steps, axis=0) > 0
    if again:
        local = node - base[:, None]
        free = before
        got = tl.zeros_like(got)
        for z in range(WIDTH):
            column = z
            if BOTTOM:
                column = 0
            key = tl.load(at + column, mask=free, other=HUGE)
            start = tl.load(starts + column).to(tl.uint64, bitcast=True)
            free, got = _take_by_rule(key, z, steps, free, got, local, slot, start, HUGE, TIES)
    return got


@triton.jit
def _choose_rows(
    program, owner_list, count, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit, origin,
    chunk_hub, hub_start, candidates, CHUNKED: tl.constexpr, ROWS: tl.constexpr, G: tl.constexpr,
    PER_OWNER: tl.constexpr, SEVERAL: tl.constexpr, RANKED: tl.constexpr, LOOPS: tl.constexpr, LATER: tl.constexpr,
    WIDTH: tl.constexpr, STRIDE: tl.constexpr, BY_SLOT: tl.constexpr, VECTOR: tl.constexpr, TIES: tl.constexpr,
    EXPECT_TIES: tl.constexpr, BOTTOM: tl.constexpr, HUGE: tl.constexpr,
):  # fmt: skip
    """Take the steps of ROWS owners of a list, or of a chunk of a hub."""
    row = program * ROWS + tl.arange(0, ROWS)
    valid = row < count
    if CHUNKED:
        hub = tl.load(chunk_hub + row, mask=valid, other=0)
        u = tl.load(owner_list + hub, mask=valid, other=0)
        piece = row.to(tl.int64) - tl.load(hub_start + hub, mask=valid, other=0)
        start = tl.load(indptr + u, mask=valid, other=0) + piece * G
        stop = tl.minimum(tl.load(indptr + u + 1, mask=valid, other=0), start + G)
    else:
        u = tl.load(owner_list + row, mask=valid, other=0)
        start = tl.load(indptr + u, mask=valid, other=0)
        stop = tl.load(indptr + u + 1, mask=valid, other=0)
    most = start * 0 + k
    if PER_OWNER:
        most = tl.load(quota + u, mask=valid, other=0).to(tl.int64)
    steps = tl.where(valid, tl.minimum(most - first, limit), 0).to(tl.int32)
    base = start * 0
    if SEVERAL:
        base = tl.load(bases + u, mask=valid, other=0)
    slot = start[:, None] + tl.arange(0, G)[None, :].to(tl.int64)
    inside = (slot < stop[:, None]) & valid[:, None]
    node = tl.load(neighbour + slot, mask=inside, other=0).to(tl.int64)
    free = inside
    if LATER:
        free = free & (tl.load(taken + slot, mask=inside, other=1) == 0)
    if LOOPS:
        free = free & (node != (u + origin)[:, None])
    got = _choose_tile(slot, node, free, steps, base, table, starts, WIDTH, STRIDE, BY_SLOT, VECTOR, TIES,
                       EXPECT_TIES, BOTTOM, HUGE)  # fmt: skip
    if CHUNKED:
        place = row.to(tl.int64)[:, None] * WIDTH + got - 1
        tl.store(candidates + place, slot, mask=free & (got > 0))
        if not RANKED and not LATER:
            tl.store(taken + slot, (got * 0).to(tl.uint8), mask=free)
    elif RANKED:
        tl.store(taken + slot, got + first, mask=inside & (got > 0))
    elif LATER:
        tl.store(taken + slot, (got > 0).to(tl.uint8), mask=inside & (got > 0))
    else:
        tl.store(taken + slot, (got > 0).to(tl.uint8), mask=free)


@triton.jit(do_not_specialize=["owners", "n0", "n1", "n2", "n3", "k", "first", "limit", "origin"])
def _small_kernel(
    lists, owners, n0, n1, n2, n3, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit, origin,
    PER_OWNER: tl.constexpr, SEVERAL: tl.constexpr, RANKED: tl.constexpr, LOOPS: tl.constexpr, LATER: tl.constexpr,
    WIDTH: tl.constexpr, STRIDE: tl.constexpr, BY_SLOT: tl.constexpr, VECTOR: tl.constexpr, TIES: tl.constexpr,
    EXPECT_TIES: tl.constexpr, BOTTOM: tl.constexpr, HUGE: tl.constexpr,
):  # fmt: skip
    """Let the owners of the four small classes choose: programs for the widest rows come first."""
    program = tl.program_id(0)
    p3 = (n3 + 1) // 2
    p2 = p3 + (n2 + 3) // 4
    p1 = p2 + (n1 + 7) // 8
    far = lists + tl.cast(owners, tl.int64)
    if program < p3:
        _choose_rows(
            program, far + 2 * tl.cast(owners, tl.int64), n3, indptr, neighbour, table, quota, k, bases, taken, starts,
            first, limit, origin, indptr, indptr, indptr, False, 2, 128, PER_OWNER, SEVERAL, RANKED, LOOPS, LATER,
            WIDTH, STRIDE, BY_SLOT, VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip
    elif program < p2:
        _choose_rows(
            program - p3, far + tl.cast(owners, tl.int64), n2, indptr, neighbour, table, quota, k, bases, taken,
            starts, first, limit, origin, indptr, indptr, indptr, False, 4, 64, PER_OWNER, SEVERAL, RANKED, LOOPS,
            LATER, WIDTH, STRIDE, BY_SLOT, VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip
    elif program < p1:
        _choose_rows(
            program - p2, far, n1, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit, origin,
            indptr, indptr, indptr, False, 8, 32, PER_OWNER, SEVERAL, RANKED, LOOPS, LATER, WIDTH, STRIDE, BY_SLOT,
            VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip
    else:
        _choose_rows(
            program - p1, lists, n0, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit, origin,
            indptr, indptr, indptr, False, 16, 16, PER_OWNER, SEVERAL, RANKED, LOOPS, LATER, WIDTH, STRIDE, BY_SLOT,
            VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip


@triton.jit(do_not_specialize=["owners", "n0", "n1", "n2", "chunks", "k", "first", "limit", "origin"])
def _large_kernel(
    lists, owners, hubs, n0, n1, n2, chunks, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit,
    origin, chunk_hub, hub_start, candidates, PER_OWNER: tl.constexpr, SEVERAL: tl.constexpr, RANKED: tl.constexpr,
    LOOPS: tl.constexpr, LATER: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, BY_SLOT: tl.constexpr,
    VECTOR: tl.constexpr, TIES: tl.constexpr, EXPECT_TIES: tl.constexpr, BOTTOM: tl.constexpr, HUGE: tl.constexpr,
):  # fmt: skip
    """Let the owners of the three large classes and the chunks of hubs choose."""
    program = tl.program_id(0)
    p2 = chunks + n2
    p1 = p2 + (n1 + 1) // 2
    far = tl.cast(owners, tl.int64)
    if program < chunks:
        _choose_rows(
            program, hubs, chunks, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit, origin,
            chunk_hub, hub_start, candidates, True, 1, 1024, PER_OWNER, SEVERAL, RANKED, LOOPS, LATER, WIDTH, STRIDE,
            BY_SLOT, VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip
    elif program < p2:
        _choose_rows(
            program - chunks, lists + 2 * far, n2, indptr, neighbour, table, quota, k, bases, taken, starts, first,
            limit, origin, indptr, indptr, indptr, False, 1, 1024, PER_OWNER, SEVERAL, RANKED, LOOPS, LATER, WIDTH,
            STRIDE, BY_SLOT, VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip
    elif program < p1:
        _choose_rows(
            program - p2, lists + far, n1, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit,
            origin, indptr, indptr, indptr, False, 2, 512, PER_OWNER, SEVERAL, RANKED, LOOPS, LATER, WIDTH, STRIDE,
            BY_SLOT, VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip
    else:
        _choose_rows(
            program - p1, lists, n0, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit, origin,
            indptr, indptr, indptr, False, 4, 256, PER_OWNER, SEVERAL, RANKED, LOOPS, LATER, WIDTH, STRIDE, BY_SLOT,
            VECTOR, TIES, EXPECT_TIES, BOTTOM, HUGE,
        )  # fmt: skip


@triton.jit(do_not_specialize=["k", "first", "limit", "origin"])
def _merge_kernel(
    owner_list, indptr, neighbour, table, quota, k, bases, taken, starts, first, limit, origin, hub_start, candidates,
    PER_OWNER: tl.constexpr, SEVERAL: tl.constexpr, RANKED: tl.constexpr, LOOPS: tl.constexpr, LATER: tl.constexpr,
    WIDTH: tl.constexpr, STRIDE: tl.constexpr, BY_SLOT: tl.constexpr, VECTOR: tl.constexpr, TIES: tl.constexpr,
    EXPECT_TIES: tl.constexpr, BOTTOM: tl.constexpr, HUGE: tl.constexpr, G: tl.constexpr,
):  # fmt: skip
    """Let one hub choose among the candidates of its chunks, G at a time; winners move into the next G."""
    one = tl.arange(0, 1)
    hub = tl.program_id(0) + one
    u = tl.load(owner_list + hub)
    chunks = (tl.load(indptr + u + 1) - tl.load(indptr + u) + G - 1) // G
    low = tl.sum(tl.load(hub_start + hub), 0) * WIDTH
    high = low + tl.sum(chunks, 0) * WIDTH
    most = u.to(tl.int64) * 0 + k
    if PER_OWNER:
        most = tl.load(quota + u).to(tl.int64)
    steps = tl.minimum(most - first, limit).to(tl.int32)
    base = u.to(tl.int64) * 0
    if SEVERAL:
        base = tl.load(bases + u)
    lane = tl.arange(0, G)[None, :].to(tl.int64)
    last_tile = tl.maximum(high - low - WIDTH - 1, 0) // (G - WIDTH)
    tile = last_tile * 0
    while tile <= last_tile:
        at = low + tile * (G - WIDTH) + lane
        slot = tl.load(candidates + at, mask=at < high, other=-1)
        inside = slot >= 0
        slot = tl.where(inside, slot, 0)
        node = tl.load(neighbour + slot, mask=inside, other=0).to(tl.int64)
        got = _choose_tile(slot, node, inside, steps, base, table, starts, WIDTH, STRIDE, BY_SLOT, VECTOR, TIES,
                           EXPECT_TIES, BOTTOM, HUGE)  # fmt: skip
        if tile == last_tile:
            if RANKED:
                tl.store(taken + slot, got + first, mask=inside & (got > 0))
            else:
                tl.store(taken + slot, (got > 0).to(tl.uint8), mask=inside & (got > 0))
        else:
            overlap = low + (tile + 1) * (G - WIDTH)
            tl.debug_barrier()  # all lanes have read the candidates that are replaced now
            tl.store(candidates + overlap + lane, lane * 0 - 1, mask=lane < WIDTH)
            tl.debug_barrier()
            tl.store(candidates + overlap + got - 1, slot, mask=inside & (got > 0))
            tl.debug_barrier()
        tile += 1


def classify(
    indptr: Tensor, quota: Tensor | int, first: int, facts: Tensor, *, ranked: bool, loops: Tensor | None = None
) -> Tensor:
    """Count what FACTS names in `facts`, int64 zeros; return the owners of each class that have to choose.

    Lists are `[classes + 3, owners]` int32: one for each class, the hubs, and the first chunk of each hub as int64. The
    order of a list is arbitrary: no result depends on it.
    """
    owners = indptr.shape[0] - 1
    lists = torch.empty((len(CLASSES) + 3, owners + owners % 2), dtype=torch.int32, device=indptr.device)
    per_owner = isinstance(quota, Tensor)
    if owners:
        arguments = (
            indptr, indptr if loops is None else loops, quota if isinstance(quota, Tensor) else indptr,
            0 if isinstance(quota, Tensor) else quota, owners, first, facts, lists, lists.shape[1], _hub_start(lists),
        )  # fmt: skip
        constants = (per_owner, ranked, loops is not None, len(CLASSES), CLASSES[0], _OWNERS)
        launch(_classify_kernel, (-(-owners // _OWNERS),), arguments, constants)
    return lists


def _hub_start(lists: Tensor) -> Tensor:
    return lists[len(CLASSES) + 1 :].view(-1).view(torch.int64)


def choose_block(block: Block, facts: list[int], lists: Tensor) -> None:
    """Take the steps of a block, for the owners in `lists`; `facts` are those of `classify`."""
    table, indptr, per_owner = block.table, block.indptr, isinstance(block.quota, Tensor)
    width = MAX_BOTTOM_STEPS if block.bottom else table.shape[1]
    flags = (
        per_owner, block.bases is not None, block.ranked, block.loops is not None, block.first > 0, width,
        table.shape[1], block.by_slot, _loads_four(block), block.ties, block.expect_ties or block.ranked, block.bottom,
        _HUGE[table.dtype],
    )  # fmt: skip
    most, k = (block.quota, 0) if isinstance(block.quota, Tensor) else (indptr, block.quota)
    base = indptr if block.bases is None else block.bases
    arrays = (
        indptr, block.neighbour, table, most, k, base, block.taken, block.starts, block.first, block.count,
        block.origin,
    )  # fmt: skip
    small, large = facts[: len(SMALL)], facts[len(SMALL) : len(CLASSES)]
    if programs := _programs(small, SMALL, SMALL_LANES):
        launch(_small_kernel, (programs,), (lists, lists.shape[1], *small, *arrays), flags)
    hubs, chunks = facts[len(CLASSES)], facts[len(CLASSES) + 3]
    owner, start = lists[len(CLASSES)], _hub_start(lists)
    chunk_hub, candidates = owner, start  # not looked at without hubs
    if hubs:
        chunk_hub = torch.empty(chunks, dtype=torch.int32, device=indptr.device)
        candidates = torch.empty(chunks * width, dtype=torch.int64, device=indptr.device)
        launch(_chunk_kernel, (hubs,), (owner, start, indptr, chunk_hub, candidates), (128, CHUNK, width))
    if programs := chunks + _programs(large, LARGE, LARGE_LANES):
        of_large: Any = (lists[len(SMALL)], lists.shape[1], owner, *large, chunks)
        launch(_large_kernel, (programs,), (*of_large, *arrays, chunk_hub, start, candidates), flags, num_warps=8)
    if hubs:
        launch(_merge_kernel, (hubs,), (owner, *arrays, start, candidates), (*flags, CHUNK), num_warps=8)


def _programs(counts: list[int], classes: tuple[int, ...], lanes: int) -> int:
    return sum(-(-count // (lanes // row)) for count, row in zip(counts, classes, strict=True))


def _loads_four(block: Block) -> bool:
    """Return whether rows of the table can be loaded four keys at a time; the interpreter knows no assembly."""
    return block.table.is_cuda and not block.bottom and block.table.dtype == torch.int32
