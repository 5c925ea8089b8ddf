"""``python -m fleetgen OUT --hosts 200 --days 1``: the tables of a fleet, and what is true of it in OUT/truth.json."""

from __future__ import annotations

import argparse
import datetime
import pathlib

from .write import write_fleet


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m fleetgen", description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--groups", type=int, default=50, help="control groups of each host")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hours-per-file", type=int, default=1)
    parser.add_argument("--first-day", type=datetime.date.fromisoformat, default=datetime.date(2026, 11, 20))
    parser.add_argument("--faults", action="store_true", help="with what goes wrong in a real one")
    write_fleet(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
