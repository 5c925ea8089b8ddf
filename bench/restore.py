#!/usr/bin/env python3
"""How fast a scattered set of pages comes back, beside the device's own sequential rate, alternating, medians.

Run by `make bench`. Saves every second MiB of a 4 GiB file, evicts it, and restores it; in the same rounds reads the file
with O_DIRECT (1 MiB by four threads) and with `dd bs=1M` from a cold cache. Prints a Markdown table; with --write FILE also
puts it there.
"""

import argparse
import ctypes
import json
import mmap
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from rounds import Disturbed

GIB = 1 << 30
MIB = 1 << 20
GOAL_PERCENT = 80
ATTEMPTS = 20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


def resident(path):
    """A byte a page by mincore(2): 1 where it is cached and up to date."""
    size = os.path.getsize(path)
    fd = os.open(path, os.O_RDONLY)
    address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    vector = (ctypes.c_ubyte * (size // mmap.PAGESIZE))()
    if libc.mincore(address, size, vector) != 0:
        sys.exit(f"mincore {path}: {os.strerror(ctypes.get_errno())}")
    libc.munmap(address, size)
    os.close(fd)
    return bytes(vector).translate(bytes(byte & 1 for byte in range(256)))


def evict(path):
    fd = os.open(path, os.O_RDONLY)
    os.fdatasync(fd)
    for _ in range(ATTEMPTS):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        if not any(resident(path)):
            os.close(fd)
            return
        time.sleep(0.05)
    raise Disturbed(f"{path} can't be evicted")


class Bench:
    def __init__(self, args, directory):
        self.args = args
        self.big = os.path.join(directory, "big")
        self.snapshot = os.path.join(directory, "snapshot")
        pages = MIB // mmap.PAGESIZE
        self.wanted = (bytes(pages) + b"\1" * pages) * (args.mib // 2)
        self.bytes = args.mib // 2 * MIB

    def prepare(self):
        blocks = [os.urandom(16 * MIB) for _ in range(4)]
        with open(self.big, "wb") as file:
            for number in range(self.args.mib // 16):
                file.write(blocks[number % 4])
            os.fsync(file.fileno())
        for _ in range(ATTEMPTS):
            evict(self.big)
            self.touch()
            subprocess.run([self.args.hotset, "save", "-q", self.snapshot, self.big], check=True)
            said = json.loads(self.hotset("--dry-run").stdout)
            if said["pages"] * mmap.PAGESIZE == self.bytes and resident(self.big) == self.wanted:
                return
        raise Disturbed("the scattered set can't be held long enough to be saved: something evicts idle pages")

    def touch(self):
        """Every second MiB, by plain reads without read-ahead."""
        fd = os.open(self.big, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        buffer = bytearray(MIB)
        for offset in range(MIB, self.args.mib * MIB, 2 * MIB):
            os.preadv(fd, [buffer], offset)
        os.close(fd)

    def hotset(self, *words):
        argv = [self.args.hotset, "restore", "--json", *words, self.snapshot]
        return subprocess.run(argv, stdout=subprocess.PIPE, text=True)

    def restore(self):
        """Bytes a second of the whole command, its start, verification and end included; None where a page is lacking."""
        evict(self.big)
        start = time.perf_counter()
        done = self.hotset()
        wall = time.perf_counter() - start
        after = resident(self.big)
        if any(is_there and not wanted for is_there, wanted in zip(after, self.wanted)):
            sys.exit("restore read pages that nobody saved")
        said = json.loads(done.stdout)
        exact = done.returncode == 0 and after == self.wanted
        return self.bytes / wall, self.bytes / (said["read_ns"] / 1e9), exact

    def direct(self):
        """The device: O_DIRECT reads of 1 MiB, every second one, by four threads; as much as restore reads."""
        return self.direct_reads(range(MIB, self.args.mib * MIB, 2 * MIB))

    def direct_sequential(self):
        """The device: O_DIRECT reads of 1 MiB in order, by four threads."""
        return self.direct_reads(range(0, self.bytes, MIB))

    def direct_reads(self, offsets):
        evict(self.big)
        fd = os.open(self.big, os.O_RDONLY | os.O_DIRECT)
        left = iter(offsets)
        lock = threading.Lock()

        def work():
            buffer = mmap.mmap(-1, MIB)
            while True:
                with lock:
                    offset = next(left, None)
                if offset is None:
                    return
                os.preadv(fd, [buffer], offset)

        threads = [threading.Thread(target=work) for _ in range(4)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wall = time.perf_counter() - start
        os.close(fd)
        return self.bytes / wall

    def dd(self):
        evict(self.big)
        argv = ["dd", f"if={self.big}", "of=/dev/null", "bs=1M", f"count={self.bytes // MIB}"]
        start = time.perf_counter()
        subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)
        return self.bytes / (time.perf_counter() - start)


def spread(values):
    rates = [value / 1e9 for value in values]
    return f"{statistics.median(rates):.2f} ({min(rates):.2f}–{max(rates):.2f}) GB/s"


def machine():
    load = " ".join(open("/proc/loadavg").read().split()[:3])
    return f"{os.cpu_count()} CPUs, Linux {platform.release()}, load before {load}"


def report(bench, args):
    where = machine()
    samples = {"restore": [], "reading": [], "sequential": [], "scattered": [], "dd": []}
    lacking = 0
    for _ in range(args.rounds):
        whole, reading, exact = bench.restore()
        lacking += not exact
        samples["restore"].append(whole)
        samples["reading"].append(reading)
        samples["sequential"].append(bench.direct_sequential())
        samples["scattered"].append(bench.direct())
        samples["dd"].append(bench.dd())
    share = 100 * statistics.median(a / b for a, b in zip(samples["restore"], samples["sequential"]))
    held = share >= GOAL_PERCENT
    out = [
        f"Machine: {where}. Medians (least–most) of {args.rounds} alternating runs over {bench.bytes // MIB} MiB: "
        f"every second MiB of a file of {args.mib} MiB.",
        "",
        "| work | rate |",
        "|---|---|",
        f"| `hotset restore`, whole command | {spread(samples['restore'])} |",
        f"| its reading alone | {spread(samples['reading'])} |",
        f"| O_DIRECT, 1 MiB by 4 threads, in order | {spread(samples['sequential'])} |",
        f"| the same, every second MiB | {spread(samples['scattered'])} |",
        f"| `dd bs=1M`, cold, in order | {spread(samples['dd'])} |",
        "",
        f"restore is at {share:.0f} % of the device's sequential rate in the same round (goal ≥ {GOAL_PERCENT} %: "
        f"{'held' if held else '**missed**'}); {statistics.median(a / b for a, b in zip(samples['restore'], samples['dd'])) * 100:.0f} % of dd's.",
    ]
    if lacking:
        out.append(f"In {lacking} of {args.rounds} rounds pages were evicted by others before they were looked at.")
    return "\n".join(out) + "\n", held


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mib", type=int, default=4096, help="size of the file; half of it is restored")
    parser.add_argument("--directory", default="/var/tmp", help="on a disk, with as much free")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    if not shutil.which("dd"):
        sys.exit("dd is missing")
    with tempfile.TemporaryDirectory(prefix="hotset-bench-", dir=args.directory) as directory:
        bench = Bench(args, directory)
        try:
            bench.prepare()
            text, held = report(bench, args)
        except Disturbed as error:
            text, held = f"restore: not measured: {error}.\n", True
    print(text)
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(text)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
