#!/usr/bin/env python3
"""Warming, evicting and fetching: hotset beside dd, cat and vmtouch, alternating, medians.

Run by `make bench`. Prints Markdown tables; with --write FILE also puts them there. Every cold run is verified cold right
before, by cachestat(2).
"""

import argparse
import ctypes
import mmap
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

GIB = 1 << 30
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
SYS_CACHESTAT = 451
TRACE = "/sys/kernel/tracing"
ADDED = "filemap/mm_filemap_add_to_page_cache"

libc = ctypes.CDLL(None, use_errno=True)


def cachestat(path):
    """Cached pages of a file, and the seconds that asking took."""
    fd = os.open(path, os.O_RDONLY)
    span, answer = (ctypes.c_uint64 * 2)(0, os.path.getsize(path)), (ctypes.c_uint64 * 5)()
    begun = time.perf_counter()
    result = libc.syscall(SYS_CACHESTAT, fd, span, answer, 0)
    took = time.perf_counter() - begun
    os.close(fd)
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return answer[0], took


def forget(path):
    """Evicts by one advice, and returns the seconds that it took."""
    fd = os.open(path, os.O_RDONLY)
    os.fdatasync(fd)
    begun = time.perf_counter()
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    took = time.perf_counter() - begun
    os.close(fd)
    return took


def cold(path):
    for _ in range(50):
        forget(path)
        if cachestat(path)[0] == 0:
            return
        time.sleep(0.02)
    sys.exit(f"{path} does not get cold: {cachestat(path)[0]} pages stay")


def run(argv):
    """Seconds, the peak of the resident set in MiB, and what went wrong, if anything."""
    begun = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    failed = f"{argv}: {child.returncode}: {said.decode(errors='replace')}" if child.returncode else None
    return took, usage.ru_maxrss / 1024, failed


def timed(argv):
    """The same of what must succeed: seconds and MiB."""
    took, peak, failed = run(argv)
    if failed:
        sys.exit(failed)
    return took, peak


def direct_rate(path, threads=4):
    """Bytes a second of O_DIRECT reads of 1 MiB: what the device gives."""
    offsets, lock = iter(range(0, os.path.getsize(path), MIB)), threading.Lock()
    done = [0] * threads

    def read(index):
        fd, buffer = os.open(path, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, MIB)
        while True:
            with lock:
                offset = next(offsets, None)
            if offset is None:
                break
            done[index] += os.preadv(fd, [buffer], offset)
        os.close(fd)

    workers = [threading.Thread(target=read, args=(index,)) for index in range(threads)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.perf_counter() - begun)


def orders_of(argv, path):
    """How many folios of which order a command adds to the cache for this file, by the kernel's tracepoint."""
    event = os.path.join(TRACE, "events", ADDED)
    size = None
    try:
        # "7 (expanded: 1408)" before anybody has traced.
        with open(os.path.join(TRACE, "buffer_size_kb")) as file:
            size = re.findall(r"\d+", file.read())[-1]
        put(os.path.join(event, "filter"), f"i_ino == {os.stat(path).st_ino}")
        put(os.path.join(TRACE, "buffer_size_kb"), "65536")
        put(os.path.join(TRACE, "trace"), "")
        put(os.path.join(event, "enable"), "1")
        run(argv)
        put(os.path.join(event, "enable"), "0")
        orders = {}
        with open(os.path.join(TRACE, "trace"), errors="replace") as lines:
            for line in lines:
                match = re.search(r" order=(\d+)", line)
                if match:
                    orders[int(match.group(1))] = orders.get(int(match.group(1)), 0) + 1
        return orders
    except OSError:
        return None
    finally:
        for name, value in (("enable", "0"), ("filter", "0")):
            try:
                put(os.path.join(event, name), value)
            except OSError:
                pass
        try:
            put(os.path.join(TRACE, "trace"), "")
            if size:
                put(os.path.join(TRACE, "buffer_size_kb"), size)
        except OSError:
            pass


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def mean_pages(orders):
    folios = sum(orders.values()) if orders else 0
    return sum(count << order for order, count in orders.items()) / folios if folios else None


def spread(values, digits=2):
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def make(path, size):
    with open(path, "wb") as file:
        for _ in range(size // MIB):
            file.write(os.urandom(MIB))
        os.fsync(file.fileno())


def warmers(hotset, path):
    ways = {
        "hotset warm": [hotset, "warm", "-q", path],
        "dd bs=1M": ["dd", f"if={path}", "of=/dev/null", "bs=1M"],
        "cat": ["sh", "-c", 'exec cat "$0" >/dev/null', path],
    }
    if shutil.which("vmtouch"):
        ways["vmtouch -t"] = ["vmtouch", "-q", "-t", path]
    return ways


def in_turn(ways, number):
    """The ways, beginning with another one each round: what ran before leaves its mark on memory."""
    names = list(ways)
    first = number % len(names)
    return [(name, ways[name]) for name in names[first:] + names[:first]]


def filled(argv, path):
    """A run from a cold file, and what was measured of it. None where the file was not whole in the cache afterwards, in any
    of five attempts: hosts that evict idle pages may take the first while the last are read."""
    for _ in range(5):
        cold(path)
        took, peak, failed = run(argv)
        pages, asking = cachestat(path)
        if pages == os.path.getsize(path) // PAGE:
            if failed:
                sys.exit(failed)
            return {"seconds": took, "peak": peak, "asks": asking * 1e3}
    return None


def fetched(argv, path):
    """The same, and what evicting it takes then."""
    done = filled(argv, path)
    return done and {**done, "evictions": forget(path) * 1e3}


def warm_section(hotset, path, rounds):
    """The table of `warm`, and whether its goals were held; None where the host was too noisy to tell."""
    size, ways = os.path.getsize(path), warmers(hotset, path)
    runs = {name: [] for name in ways}
    device = []
    for number in range(rounds):
        cold(path)
        device.append(direct_rate(path) / GIB)
        for name, argv in in_turn(ways, number):
            runs[name].append(fetched(argv, path))

    def of(name, what):
        return [run[what] for run in runs[name] if run]

    out = [f"A cold file of {size / GIB:.0f} GiB; the device gives {spread(device)} GiB/s (O_DIRECT, 1 MiB, 4 threads).", ""]
    out.append("| | seconds | GiB/s | peak RSS, MiB | pages a folio | cachestat(2) of it, ms | evicting it, ms |")
    out.append("|---|---|---|---|---|---|---|")
    for name, argv in ways.items():
        if not of(name, "seconds"):
            out.append(f"| {name} | not measured: pages were evicted during each run | – | – | – | – | – |")
            continue
        cold(path)
        folio = mean_pages(orders_of(argv, path))
        rate = size / GIB / statistics.median(of(name, "seconds"))
        out.append(f"| {name} | {spread(of(name, 'seconds'))} | {rate:.2f} | {max(of(name, 'peak')):,.0f} | "
                   f"{f'{folio:,.0f}' if folio else '–'} | {spread(of(name, 'asks'))} | {spread(of(name, 'evictions'), 1)} |")
    whole = sum(all(runs[name][number] for name in ways) for number in range(rounds))
    if 2 * whole <= rounds:
        return out + ["", f"Goals: too noisy to judge: in {rounds - whole} of {rounds} rounds the host evicted pages while they were fetched."], None
    peers = [name for name in ways if name != "hotset warm"]
    best = min(peers, key=lambda name: statistics.median(of(name, "seconds")))
    fastest, own = statistics.median(of(best, "seconds")), statistics.median(of("hotset warm", "seconds"))
    paired = statistics.median(a["seconds"] / b["seconds"] for a, b in zip(runs["hotset warm"], runs[best]) if a and b)
    fast, small = own <= fastest, max(of("hotset warm", "peak")) <= 32
    large = statistics.median(of("hotset warm", "evictions")) <= 1.25 * statistics.median(of("dd bs=1M", "evictions"))
    out += ["", f"Goals: as fast as the fastest peer: {'held' if fast else '**missed**'} ({own:.2f} s, {best} {fastest:.2f} s; within rounds {paired:.2f}×); "
                f"under 32 MiB: {'held' if small else '**missed**'}; evicted as fast as after dd: {'held' if large else '**missed**'}."]
    if whole < rounds:
        out.append(f"Rounds in which the host evicted pages of a run five times in turn: {rounds - whole} of {rounds}.")
    return out, fast and small and large


def evict_section(hotset, path, rounds):
    """What `evict` of a cached file takes, the start of the program included."""
    ways = {"hotset evict": [hotset, "evict", "-q", path]}
    if shutil.which("vmtouch"):
        ways["vmtouch -e"] = ["vmtouch", "-q", "-e", path]
    took = {name: [] for name in ways}
    for _ in range(rounds):
        for name, argv in ways.items():
            if not filled([hotset, "warm", "-q", path], path):
                continue
            took[name].append(timed(argv)[0] * 1e3)
            if cachestat(path)[0]:
                sys.exit(f"{name} left {cachestat(path)[0]} pages")
    if not all(took.values()):
        return ["", "Evicting it whole: not measured: pages were evicted before each run."], None
    held = statistics.median(took["hotset evict"]) < 100
    said = "; ".join(f"{name} {spread(values, 1)} ms" for name, values in took.items())
    return ["", f"Evicting it whole: {said} (goal < 100 ms: {'held' if held else '**missed**'})."], held


def small_read_ahead(hotset, path, rounds):
    """The same with the read-ahead that most hosts have, where it may be set."""
    device = os.stat(path).st_dev
    knob = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/queue/read_ahead_kb"
    try:
        with open(knob) as file:
            before = file.read().strip()
        put(knob, "128")
    except OSError as error:
        return ["", f"With read_ahead_kb=128: not measured ({error})."]
    try:
        ways = {name: argv for name, argv in warmers(hotset, path).items()}
        seconds, asks = ({name: [] for name in ways} for _ in range(2))
        for number in range(rounds):
            for name, argv in in_turn(ways, number):
                done = fetched(argv, path)
                if done:
                    seconds[name].append(done["seconds"])
                    asks[name].append(done["asks"])
    finally:
        put(knob, before)
        cold(path)
    said = "; ".join(
        f"{name} {spread(seconds[name])} s, cachestat {statistics.median(asks[name]):.2f} ms" if seconds[name]
        else f"{name} not measured: pages were evicted during each run"
        for name in ways)
    return ["", f"With read_ahead_kb=128 (here {before}): {said}."]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--gib", type=int, default=4, help="the file's size")
    parser.add_argument("--directory", default="/var/tmp", help="on a disk, with room for the file")
    parser.add_argument("--file", help="use this file and don't make one")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hotset-bench-", dir=args.directory) as directory:
        path = args.file or os.path.join(directory, "big")
        if not args.file:
            make(path, args.gib * GIB)
        # Room that nobody has touched lately can be dear to touch first: one round that doesn't count.
        cold(path)
        timed(["dd", f"if={path}", "of=/dev/null", "bs=1M"])
        lines, warm_held = warm_section(args.hotset, path, args.rounds)
        more, evict_held = evict_section(args.hotset, path, args.rounds)
        lines += more + small_read_ahead(args.hotset, path, args.rounds)
        cold(path)
    load = " ".join(open("/proc/loadavg").read().split()[:3])
    text = f"Medians (least–most) of {args.rounds} alternating runs; load after {load}.\n\n" + "\n".join(lines) + "\n"
    print(text)
    if args.write:
        put(args.write, text)
    # What the host was too noisy for is no failure.
    sys.exit(1 if warm_held is False or evict_held is False else 0)


if __name__ == "__main__":
    main()
