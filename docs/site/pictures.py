#!/usr/bin/env python3
"""Make the pictures of the documents: pages that hotset makes here, or that are among them, as a browser shows them. As root.

usage: pictures.py OUT [NAME...]; HOTSET_BIN names the program, HOTSET_PYTHON a Python with its package.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 1000
# The files lie on the disk, and are bound where the pictures say that they are: in a mount namespace, so that nothing is left of it.
ENTER = """
set -euo pipefail
mount -t tmpfs none /srv && mkdir /srv/shop && mount --bind "$FILES" /srv/shop && cd /srv/shop
head -c 64M /dev/urandom >shop.db
sync
"""
# Each command makes the page "$PAGE".
PROFILE = r"""
cat >orders.py <<'END'
import json, os

with open("orders.log", "w") as log:
    for number in range(400):
        log.write(json.dumps({"order": number, "state": "paid"}) + "\n")
        log.flush()
        os.fsync(log.fileno())
END
hotset run -q --html "$PAGE" -- /usr/bin/python3 orders.py
"""
BENCH = """
hotset bench -q --runs 15 --html "$PAGE" -- wc -l shop.db
"""
# A query by an index whose rows lie all over the table.
TRACE = """
/usr/bin/python3 - <<'END'
import sqlite3

with sqlite3.connect("orders.db") as orders:
    orders.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, note TEXT)")
    rows = ((number, number * 7919 % 20000, f"{number:0120}") for number in range(200000))
    orders.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
    orders.execute("CREATE INDEX by_customer ON orders (customer)")
END
cat >query.py <<'END'
import sqlite3

query = "SELECT sum(length(note)) FROM orders WHERE customer BETWEEN 1000 AND 1199"
print(sqlite3.connect("file:orders.db?mode=ro", uri=True).execute(query).fetchone())
END
hotset evict -q --sync orders.db
hotset record -q -o query.parquet -- /usr/bin/python3 query.py >query.txt
hotset report query.parquet -o "$PAGE"
"""
# Reads of which some pages are wanted far more often than others.
SIZE = """
cat >job.py <<'END'
import os, random

random.seed(1)
shop = os.open("shop.db", os.O_RDONLY)
for _ in range(60000):
    os.pread(shop, 4096, int(16384 * random.random() ** 4) * 4096)
END
hotset record -q -o job.parquet -- /usr/bin/python3 job.py
hotset size -q --html "$PAGE" job.parquet
"""
# A fleet that is made up, as the page that shows it says.
FLEET = """
PYTHONPATH=$ROOT/python/tests "$HOTSET_PYTHON" -m fleetgen /srv/fleet --hosts 40 --groups 25
"$HOTSET_PYTHON" -m hotset.fleet report /srv/fleet -o "$PAGE"
"""
# The page of the experiments, which take an hour, is a document itself.
LAB = """
cp "$ROOT/docs/experiments.html" "$PAGE"
"""


@dataclass
class Picture:
    """A part of the page that commands make: from the heading that begins with `start` (else the top) to the end of the next chart."""

    name: str
    commands: str
    start: str = ""


PICTURES = [
    Picture("profile.png", PROFILE),
    Picture("bench.png", BENCH),
    Picture("trace.png", TRACE, "Where in /srv/shop/orders.db"),
    Picture("size.png", SIZE),
    Picture("fleet.png", FLEET),
    Picture("lab-reread-1gib.png", LAB, "How much does the kind of memory matter that the file is read into? (size: 1 GiB)"),
]
PLACE = """(() => {
    const top = element => element.getBoundingClientRect().top + scrollY;
    const heading = [...document.querySelectorAll('h2, h3')].find(e => e.textContent.startsWith(START));
    if (START && !heading) return null;
    const from = START ? Math.max(0, top(heading) - 16) : 0;
    const drawn = [...document.querySelectorAll('.uplot, canvas')].filter(e => !e.parentElement.closest('.uplot'));
    const chart = drawn.find(e => top(e) > from && e.getBoundingClientRect().height > 0);
    return chart ? [from, chart.getBoundingClientRect().bottom + scrollY] : null;
})()"""


def make(page: pathlib.Path, commands: str) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        home = pathlib.Path(scratch)
        (home / "files").mkdir()
        (home / "bin").mkdir()
        (home / "bin" / "hotset").symlink_to(pathlib.Path(os.environ["HOTSET_BIN"]).resolve())
        environment = {**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "ROOT": str(ROOT),
                       "FILES": str(home / "files"), "PAGE": str(page)}
        shell = ["unshare", "--mount", "--propagation", "private", "bash", "-c", ENTER + commands]
        subprocess.run(shell, check=True, env=environment)


def main() -> None:
    out, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    if unknown := set(names) - {picture.name for picture in PICTURES}:
        sys.exit(f"docs: no picture is called {', '.join(sorted(unknown))}; there are {', '.join(picture.name for picture in PICTURES)}")
    with tempfile.TemporaryDirectory() as pages, Browser() as browser:
        for picture in PICTURES:
            if names and picture.name not in names:
                continue
            page = pathlib.Path(pages, picture.name).with_suffix(".html")
            make(page, picture.commands)
            browser.size(WIDTH, 800)
            browser.open(page.as_uri())
            # Charts are drawn after the page is loaded.
            browser.run("new Promise(done => setTimeout(done, 500))")
            place = browser.run(PLACE.replace("START", repr(picture.start)))
            if place is None:
                sys.exit(f"docs: the page of {picture.name} has no chart below \"{picture.start}\"")
            browser.picture(out / picture.name, {"x": 0, "y": place[0], "width": WIDTH, "height": place[1] - place[0]})
            print(f"docs: {picture.name}, {(out / picture.name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
