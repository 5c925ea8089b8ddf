#!/usr/bin/env python3
"""What the native engine of `hotset lab` adds to an operation: beside a bare C loop and fio, on the same file in the same round.

Run by `make bench`. The file is warmed in the same way before every run, or read past the cache; each round runs all three in
another order. Prints a Markdown table of CPU and wall nanoseconds an operation with the median difference to the C loop and its exact 95 %
interval, and exits with 1 where a goal was not held; with --write FILE also puts it there.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

import rounds

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = 4096
# Name here, of the C loop, of the native engine, of fio, operations by default, goal.
CASES = [
    ("pread", "pread", "pread", ["--ioengine=psync"], None, ("ns", 5)),
    ("mmap", "mmap", "mmap", ["--ioengine=mmap"], None, ("ns", 5)),
    ("io_uring, 32 in flight", "uring", "io_uring-32-fixed", ["--ioengine=io_uring", "--iodepth=32", "--fixedbufs", "--registerfiles"], None, ("ns", 30)),
    ("O_DIRECT", "direct", "direct", ["--ioengine=psync", "--direct=1"], 5_000, ("fio", 3)),
    ("O_DIRECT io_uring, 32 in flight", "direct-uring", "direct-io_uring-32", ["--ioengine=io_uring", "--iodepth=32", "--direct=1", "--fixedbufs", "--registerfiles"], 20_000, ("fio", 3)),
]


def said(words):
    """Runs it above everything that is not real-time where root may, so that a neighbour costs little."""
    prefix = ["chrt", "-f", str(rounds.REAL_TIME)] if os.geteuid() == 0 else []
    return subprocess.run([*prefix, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def by_c(args, floor, file, case, order, count):
    wall, cpu = said([floor, case[1], file, order, str(BLOCK), str(count)]).split()
    return float(wall), float(cpu)


def by_hotset(args, floor, file, case, order, count):
    words = [f"method={case[2]}", f"order={order}", f"block={BLOCK}", f"operations={count}", "seed=7", f"file={file}", "check=no"]
    answer = json.loads(said([args.hotset, "lab-probe", "access", *words]))
    one = answer["repetitions"][0]
    return one["wall_ns"] / answer["operations"], one["cpu_ns"] / answer["operations"]


def by_fio(args, floor, file, case, order, count):
    """fio's own defaults, but for the cache, which it would evict, and the bytes."""
    pattern = "randread" if order == "random" else "read"
    words = ["fio", "--name=x", f"--filename={file}", f"--rw={pattern}", f"--bs={BLOCK}", f"--io_size={count * BLOCK}", "--invalidate=0",
             "--output-format=json", *case[3]]
    job = json.loads(said(words))["jobs"][0]
    wall = 1e9 / job["read"]["iops"]
    share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    return wall, wall * share


WHO = {"C": by_c, "hotset": by_hotset, "fio": by_fio}


def compare(args, floor, file, case, order):
    """Name -> (wall, CPU) of each round."""
    count = case[4] or os.path.getsize(file) // BLOCK
    times = {who: [] for who in WHO if who != "fio" or shutil.which("fio")}
    for _ in range(args.rounds):
        for who in random.sample(sorted(times), len(times)):
            if not case[4]:
                rounds.warm(file)
            times[who].append(WHO[who](args, floor, file, case, order, count))
    return times


def difference(times, who, reference, which):
    return [a[which] - b[which] for a, b in zip(times[who], times[reference])]


def shown(values):
    bounds = rounds.interval(values)
    span = f" ({bounds[0]:+.1f} to {bounds[1]:+.1f})" if bounds else ""
    return f"{statistics.median(values):+.1f}{span}"


def rows_of(case, order, times, goals):
    name = f"{case[0]}, {order}"
    rows = []
    for who, each in times.items():
        wall, cpu = ([one[which] for one in each] for which in (0, 1))
        added = shown(difference(times, who, "C", 1)) if who != "C" else "–"
        rows.append(f"| {name} | {who} | {min(wall):,.1f} | {statistics.median(wall):,.1f} | {statistics.median(cpu):,.1f} | {added} |")
    kind, limit = case[5]
    if kind == "ns":
        goals.check(f"{name}: CPU added to the C loop", statistics.median(difference(times, "hotset", "C", 1)), limit, "ns")
    elif "fio" in times:
        share = statistics.median(a[0] / b[0] for a, b in zip(times["hotset"], times["fio"]))
        goals.check(f"{name}: over fio", (share - 1) * 100, limit, "%")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the file")
    parser.add_argument("--directory", default="/var/tmp", help="on a disk")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    lines = [rounds.machine(), "", "| 4 KiB reads | by | wall ns, best | wall ns, median | CPU ns, median | CPU ns over the C loop (95 %) |", "|---|---|---|---|---|---|"]
    goals = rounds.Goals()
    with tempfile.TemporaryDirectory(prefix="hotset-bench-", dir=args.directory) as directory:
        floor, file = os.path.join(directory, "floor"), os.path.join(directory, "file")
        subprocess.run(["cc", "-O2", "-Wall", "-o", floor, os.path.join(HERE, "floor.c")], check=True)
        rounds.make_file(file, args.megabytes * rounds.MIB)
        try:
            rounds.evict(file)
        except rounds.Disturbed as error:
            lines.insert(1, f"The file begins cached: {error}.")
        for case in CASES:
            for order in ("sequential", "random"):
                try:
                    lines += rows_of(case, order, compare(args, floor, file, case, order), goals)
                except rounds.Disturbed as error:
                    lines.append(f"| {case[0]}, {order} | not measured: {error} | – | – | – | – |")
                    goals.disturbed(f"{case[0]}, {order}")
                except (subprocess.CalledProcessError, OSError) as error:
                    lines.append(f"| {case[0]}, {order} | not run: {error} | – | – | – | – |")
    lines += ["", *goals.table()]
    text = "\n".join(lines)
    print(text)
    if args.write:
        with open(args.write, "w", encoding="utf-8") as out:
            out.write(text + "\n")
    return 0 if goals.held else 1


if __name__ == "__main__":
    sys.exit(main())
