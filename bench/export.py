#!/usr/bin/env python3
"""What a scrape of `hotset export` takes, and whether thousands of them leave anything behind.

Run by `make bench` (bench/run.sh export), as root. Prints Markdown; exit code 1 where a goal is missed.
"""

import argparse
import http.client
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from rounds import Goals, machine

PROGRAMS = 40
SERIES = 1_000
SCRAPES = 10_000
SCRAPE_MS = 20
# What allocators may keep of a few scrapes; a leak of one series a scrape would be a hundred times this.
GROWTH_KIB = 2_048


def start(hotset):
    words = [hotset, "export", "--listen", "127.0.0.1:0", "--interval", "0.2", "--commands", "1000", "--cgroups", "1000", "--mounts"]
    exporter = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    for line in exporter.stderr:
        if found := re.search(r"http://([^/]+)/metrics", line):
            return exporter, found[1]
    sys.exit(f"bench: {hotset} export ended before it served")


def busy(directory):
    """Programs with names of their own, so that there are series."""
    for n in range(PROGRAMS):
        name = os.path.join(directory, f"reader-{n:02}")
        shutil.copy("/bin/cat", name)
        subprocess.run([name, "/etc/passwd"], check=True, stdout=subprocess.DEVNULL)


def scrape(connection):
    began = time.perf_counter()
    connection.request("GET", "/metrics")
    body = connection.getresponse().read()
    return (time.perf_counter() - began) * 1e3, body


def used(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        # Tables that the sensor shares with the kernel are resident as far as they were used, and are none of a scrape's.
        kib = int(re.search(r"RssAnon:\s+(\d+)", status.read())[1])
    return kib, len(os.listdir(f"/proc/{pid}/fd"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--scrapes", type=int, default=SCRAPES)
    args = parser.parse_args()
    goals = Goals()
    exporter, address = start(args.hotset)
    try:
        with tempfile.TemporaryDirectory() as directory:
            busy(directory)
            time.sleep(1)
        connection = http.client.HTTPConnection(address)
        _, body = scrape(connection)
        series = sum(1 for line in body.splitlines() if not line.startswith(b"#"))
        # Every third on a connection of its own, as different servers would come.
        for _ in range(args.scrapes // 10):
            scrape(connection)
        before, took = used(exporter.pid), []
        for n in range(args.scrapes):
            took.append(scrape(connection if n % 3 else http.client.HTTPConnection(address))[0])
        time.sleep(1)
        after = used(exporter.pid)
    finally:
        exporter.send_signal(signal.SIGTERM)
        exporter.wait()
    took.sort()
    worst, median = took[int(len(took) * 0.99)], statistics.median(took)
    print(machine())
    print(f"\n{series} series, {len(body)} bytes, {len(took)} scrapes: median {median:.2f} ms, 99 % within {worst:.2f} ms.")
    print(f"Anonymous memory {before[0]} KiB before and {after[0]} KiB after, descriptors {before[1]} and {after[1]}.\n")
    goals.check("series", series, SERIES, "", at_most=False, digits=0)
    goals.check("99 % of scrapes", worst, SCRAPE_MS, "ms")
    goals.check("growth of anonymous memory", after[0] - before[0], GROWTH_KIB, "KiB", digits=0)
    goals.check("descriptors more", after[1] - before[1], 0, "", digits=0)
    print("\n".join(goals.table()))
    return 0 if goals.held else 1


if __name__ == "__main__":
    sys.exit(main())
