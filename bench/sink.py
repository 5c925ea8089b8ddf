#!/usr/bin/env python3
"""What the tables of a fleet cost beside `hotset export` alone, on a host with many busy control groups.

Run by `make bench` (bench/run.sh sink), as root. Rounds of `export`, `export --curves` and `export --parquet`, with files of a minute, alternate. CPU is that
of hotset's process while it samples; what its end takes, when the last files are made and the list of inodes is read, stands apart. Prints Markdown; exit code 1 where a goal is missed.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from rounds import KIB, MIB, Goals, machine

GROUP = "hotset-bench-sink"
FILE_BYTES = 4 * MIB
BLOCK = 64 * KIB
# Of a core, of an interval's length, and of resident memory: what a host may pay for it.
MORE_CPU_PERCENT = 0.5
RESIDENT_MIB = 64
TICKS = os.sysconf("SC_CLK_TCK")
ALONE, CURVES, PARQUET = "export", "export --curves", "export --parquet"


def hierarchies():
    """Where groups are made: in that of version 2, and in that which accounts memory if it is another."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        fields = [line.split() for line in mounts]
    fits = [place for _, place, kind, options, *_ in fields if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(","))]
    return [os.path.join(place, GROUP) for place in fits]


def busy(directory, number, pause):
    """A process in a group of its own, which reads a file again and again; its PID."""
    groups = [f"{root}/g{number:03}" for root in hierarchies()]
    for group in groups:
        os.makedirs(group, exist_ok=True)
    path = os.path.join(directory, f"file-{number:03}")
    with open(path, "wb") as file:
        file.write(os.urandom(BLOCK) * (FILE_BYTES // BLOCK))
    pid = os.fork()
    if pid:
        return pid
    for group in groups:
        with open(f"{group}/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write(str(os.getpid()))
    file = os.open(path, os.O_RDONLY)
    offset = number * BLOCK
    while os.getppid() != 1:
        os.pread(file, BLOCK, offset % FILE_BYTES)
        offset += BLOCK
        time.sleep(pause)
    os._exit(0)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid):
    """The most that was resident, without what the sensor's tables share with the kernel."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        fields = dict(re.findall(r"(\w+):\s+(\d+) kB", status.read()))
    return (int(fields["RssAnon"]) + int(fields["RssFile"])) / KIB


def measure(hotset, words, seconds, interval):
    """CPU in per cent of a core, and resident MiB."""
    argv = [hotset, "export", "--listen", "127.0.0.1:0", "--interval", str(interval), *words]
    exporter = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    for line in exporter.stderr:
        if "metrics at" in line:
            break
    else:
        sys.exit(f"bench: {hotset} export ended before it served")
    # The first interval looks up all names.
    time.sleep(1.2 * interval)
    before, began, most = cpu_seconds(exporter.pid), time.monotonic(), 0
    while time.monotonic() - began < seconds:
        time.sleep(0.5)
        most = max(most, resident_mib(exporter.pid))
    took, sampled = time.monotonic() - began, cpu_seconds(exporter.pid)
    exporter.send_signal(signal.SIGTERM)
    _, status, usage = os.wait4(exporter.pid, 0)
    exporter.returncode = os.waitstatus_to_exitcode(status)
    if exporter.returncode:
        sys.exit(f"bench: {' '.join(argv)}: exit code {exporter.returncode}")
    return (sampled - before) / took * 100, most, usage.ru_utime + usage.ru_stime - sampled


def rounds(args, directory):
    kept = {ALONE: [], CURVES: [], PARQUET: []}
    names = list(kept)
    for number in range(args.rounds):
        for name in names[number % 3 :] + names[: number % 3]:
            place = os.path.join(directory, f"round-{number}")
            fleet = ["--parquet", f"{place}/fleet", "--spool", f"{place}/spool", "--parquet-every", "1m"]
            words = {ALONE: [], CURVES: ["--curves"], PARQUET: fleet}[name]
            kept[name].append(measure(args.hotset, words, args.seconds, args.interval))
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--interval", type=float, default=60)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two reads of a group")
    args = parser.parse_args()
    workers = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        try:
            workers = [busy(directory, number, args.pause) for number in range(args.groups)]
            kept = rounds(args, directory)
        finally:
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            for root in hierarchies():
                for number in range(len(workers)):
                    os.rmdir(f"{root}/g{number:03}")
                os.rmdir(root)
    middle = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in kept.items()}
    print(machine())
    print(f"\n{args.groups} groups, an interval of {args.interval:g} s, {args.rounds} rounds of {args.seconds:g} s, medians:\n")
    print("| | CPU, % of a core | resident, MiB | its end, s of CPU |\n|---|---|---|---|")
    for name, (cpu, resident, end) in middle.items():
        print(f"| `{name}` | {cpu:.2f} ({min(row[0] for row in kept[name]):.2f} to {max(row[0] for row in kept[name]):.2f}) | {resident:.1f} | {end:.2f} |")
    goals = Goals()
    print()
    goals.check("CPU more than export alone", middle[PARQUET][0] - middle[ALONE][0], MORE_CPU_PERCENT, "% of a core", digits=2)
    goals.check("resident memory", middle[PARQUET][1], RESIDENT_MIB, "MiB", digits=1)
    print("\n".join(goals.table()))
    return 0 if goals.held else 1


if __name__ == "__main__":
    sys.exit(main())
