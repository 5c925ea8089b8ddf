"""files.py make DIR ORDERS MIB | cold DIR | warm DIR: makes the demo's files, or brings them to a state and checks that."""

import ctypes
import json
import mmap
import os
import random
import sys

LINES_PER_ORDER = 60


def make(directory, orders, mib):
    pick = random.Random(1)
    articles = 0
    with open(os.path.join(directory, "prices.csv"), "w") as file:
        file.write("article,cents,text\n")
        while file.tell() < mib << 20:
            rows = range(articles, articles + 1000)
            file.write("".join(f"A{n:07},{pick.randrange(100, 99999)},article number {n} of the list\n" for n in rows))
            articles += 1000
    os.mkdir(os.path.join(directory, "orders"))
    for number in range(orders):
        lines = [
            {"article": f"A{pick.randrange(articles):07}", "count": pick.randrange(1, 9)} for _ in range(LINES_PER_ORDER)
        ]
        with open(os.path.join(directory, "orders", f"{number:05}.json"), "w") as file:
            json.dump({"order": number, "cents": None, "lines": lines}, file, indent=1)


def paths(directory):
    for parent, _, names in os.walk(directory):
        yield from (os.path.join(parent, name) for name in names)


def evict(path):
    """Only clean pages can be evicted, hence the sync."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def read(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def pages(path):
    """How many pages of the file are cached, and how many it has."""
    size = os.path.getsize(path)
    count = -(-size // mmap.PAGESIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), size) as mapping:
        start = ctypes.byref(ctypes.c_char.from_buffer(mapping))
        answer = (ctypes.c_ubyte * count)()
        if libc.mincore(start, ctypes.c_size_t(size), answer) != 0:
            raise OSError(ctypes.get_errno(), "mincore", path)
        del start
        return sum(byte & 1 for byte in answer), count


def bring(directory, state):
    change = {"cold": evict, "warm": read}[state]
    for path in paths(directory):
        change(path)
    cached, count = (sum(column) for column in zip(*map(pages, paths(directory))))
    if cached != {"cold": 0, "warm": count}[state]:
        sys.exit(f"demo: the files could not be made {state}: {cached} of {count} pages are cached")
    print(f"{cached} of {count} pages are cached")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        bring(sys.argv[2], sys.argv[1])
