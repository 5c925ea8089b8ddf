"""What page cache the programs of :mod:`fleetgen.workloads` need, computed from the pages that they read: exact LRU, by stack distances."""

from __future__ import annotations

import itertools
from collections import Counter

from .workloads import Program

#: References that only fill the cache, and those that are counted, in passes over the file.
WARM_PASSES, PASSES = 40, 8
MOST_REFERENCES = 1_500_000
#: The share of the hits of unlimited cache that is enough, as in ``hotset size``.
ENOUGH = 0.99


def stack_distances(references: list[int], warm: int) -> Counter[int]:
    """How often, after ``warm`` references, a page was used again with so many pages used meanwhile, itself included (Mattson 1970, with a
    Fenwick tree)."""
    size = len(references) + 1
    tree = [0] * size
    last: dict[int, int] = {}
    distances: Counter[int] = Counter()

    def add(at: int, value: int) -> None:
        while at < size:
            tree[at] += value
            at += at & -at

    def count(to: int) -> int:
        total = 0
        while to > 0:
            total += tree[to]
            to -= to & -to
        return total

    for now, page in enumerate(references, start=1):
        before = last.get(page)
        if before is not None:
            if now > warm:
                distances[count(now - 1) - count(before) + 1] += 1
            add(before, -1)
        add(now, 1)
        last[page] = now
    return distances


def need_pages(program: Program) -> int:
    """The smallest cache with enough of the hits."""
    order = program.order(program.pages)
    references = list(itertools.islice(order, min(program.pages * (WARM_PASSES + PASSES), MOST_REFERENCES)))
    distances = stack_distances(references, len(references) * WARM_PASSES // (WARM_PASSES + PASSES))
    wanted = ENOUGH * sum(distances.values())
    hits = 0
    for distance in sorted(distances):
        hits += distances[distance]
        if hits >= wanted:
            return distance
    return 0
