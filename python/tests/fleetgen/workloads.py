"""Programs whose need of page cache is known, because which pages they read, in which order, follows from a seed.

``python -m fleetgen.workloads NAME DIR`` runs one until it is stopped.
"""

from __future__ import annotations

import dataclasses
import mmap
import os
import pathlib
import random
import sys
import time
from collections.abc import Callable, Iterator

PAGE = 4096
MIB = 1 << 20
#: Pages are read in batches, with a pause between them.
BATCH = 50
#: What a program without a buffer asks for at a time.
SMALL = 64
#: Directories in which a program looks for a file before the one that has it.
IN_VAIN = 9


@dataclasses.dataclass(frozen=True)
class Program:
    """A program, and what it is made of."""

    name: str
    #: Pages of its file.
    pages: int
    #: Which pages it reads, for ever.
    order: Callable[[int], Iterator[int]]
    #: Pages per second.
    rate: int
    #: Anonymous memory that it fills, in MiB.
    anon_mib: int = 8
    #: How it reads: ``read``, ``search``, ``mapped``, ``direct``, ``write``, ``small-reads`` or ``small-syncs``.
    how: str = "read"
    #: Memory limit of its control group in MiB, beyond what it needs without page cache; 0 for none.
    cache_limit_mib: int = 0


def loop(pages: int) -> Iterator[int]:
    """All pages in turn: least recently used keeps all or nothing."""
    while True:
        yield from range(pages)


def uniform(pages: int) -> Iterator[int]:
    """Any page, each as often as the others."""
    chance = random.Random(pages)
    while True:
        yield chance.randrange(pages)


def skewed(pages: int) -> Iterator[int]:
    """Nine of ten from a tenth of the pages, the others from all."""
    chance = random.Random(pages)
    while True:
        yield chance.randrange(pages // 10) if chance.random() < 0.9 else chance.randrange(pages)


def once(pages: int) -> Iterator[int]:
    """A file from its beginning to its end, and then no more: nothing is read twice."""
    yield from range(pages)
    while True:
        time.sleep(60)


PROGRAMS = {
    program.name: program
    for program in [
        Program("loop", 12_288, loop, 2_000),
        Program("uniform", 8_192, uniform, 2_000, anon_mib=24),
        Program("skewed", 32_768, skewed, 2_000, anon_mib=16),
        Program("mapped", 8_192, uniform, 1_500, how="mapped"),
        Program("once", 786_432, once, 280),
        Program("heap", 1_024, uniform, 200, anon_mib=160),
        Program("log", 65_536, loop, 400, how="write"),
        Program("direct", 16_384, loop, 500, how="direct"),
        Program("search", 1_024, uniform, 100, how="search"),
        Program("starved-loop", 12_288, loop, 2_000, cache_limit_mib=40),
        Program("starved-skewed", 32_768, skewed, 2_000, anon_mib=16, cache_limit_mib=8),
    ]
}

#: Programs that do what a rule is about, and the rule.
FAULTY = {
    "small-reads": Program("small-reads", 4_096, loop, 1_000, how="small-reads"),
    "fsync-per-write": Program("fsync-per-write", 1_024, loop, 200, how="small-syncs"),
    "cache-thrash": dataclasses.replace(PROGRAMS["starved-loop"], rate=4_000),
}
ALL = PROGRAMS | {f"faulty-{rule}": dataclasses.replace(program, name=f"faulty-{rule}") for rule, program in FAULTY.items()}


def make_file(path: pathlib.Path, pages: int) -> None:
    """Writes a file of so many pages, that no file system makes holes of."""
    chance = random.Random(pages)
    with open(path, "wb") as out:
        for _ in range(0, pages, 256):
            out.write(chance.randbytes(256 * PAGE))
        out.truncate(pages * PAGE)
        os.fsync(out.fileno())


def reader(program: Program, path: pathlib.Path) -> Callable[[int], object]:
    """What reads, or writes, one page."""
    if program.how == "write":
        log = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        data = bytes(PAGE)

        def write(page: int) -> None:
            os.pwrite(log, data, page * PAGE)
            if page % 100 == 0:
                os.fdatasync(log)

        return write
    if program.how == "small-syncs":
        journal = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

        def commit(page: int) -> None:
            os.write(journal, bytes(200))
            os.fsync(journal)

        return commit
    if program.how == "small-reads":
        unbuffered = os.open(path, os.O_RDONLY)

        def pieces(page: int) -> None:
            if page == 0:
                os.lseek(unbuffered, 0, os.SEEK_SET)
            for _ in range(PAGE // SMALL):
                os.read(unbuffered, SMALL)

        return pieces
    if program.how == "search":
        return searcher(path)
    direct = os.O_DIRECT if program.how == "direct" else 0
    file = os.open(path, os.O_RDONLY | direct)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    if program.how == "mapped":
        mapped = mmap.mmap(file, 0, prot=mmap.PROT_READ)
        mapped.madvise(mmap.MADV_RANDOM)

        def touch(page: int) -> int:
            # Unmapped again each time, or the kernel would not say that it was used.
            value = mapped[page * PAGE]
            mapped.madvise(mmap.MADV_DONTNEED, page * PAGE, PAGE)
            return value

        return touch
    buffer = mmap.mmap(-1, PAGE)
    return lambda page: os.preadv(file, [buffer], page * PAGE)


def searcher(path: pathlib.Path) -> Callable[[int], object]:
    """Before each read it looks for the file along a path of directories, as an interpreter does for what it imports."""
    places = [f"{path}.{number}/{path.name}" for number in range(IN_VAIN)] + [str(path)]
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)

    def search(page: int) -> None:
        if any(os.access(place, os.R_OK) for place in places):
            os.pread(file, PAGE, page * PAGE)

    return search


def run(program: Program, folder: pathlib.Path) -> None:
    """Runs it until it is stopped."""
    path = folder / program.name
    make_file(path, program.pages)
    heap = bytearray(program.anon_mib * MIB)
    heap[::PAGE] = b"x" * (len(heap) // PAGE)
    read = reader(program, path)
    (folder / f"{program.name}.ready").touch()
    while not (folder / "go").exists():
        time.sleep(0.1)
    began = time.monotonic()
    for done, page in enumerate(program.order(program.pages)):
        read(page)
        if done % BATCH == 0:
            ahead = done / program.rate - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)


if __name__ == "__main__":
    run(ALL[sys.argv[1]], pathlib.Path(sys.argv[2]))
