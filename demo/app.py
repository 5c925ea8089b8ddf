"""A program to profile: prices every order in DIR/orders against DIR/prices.csv and writes each order back.

It is written as such programs are: the price list is read line by line, an order may have a correction beside it, and an
order is written to a new file, synced, and renamed over the old one.
"""

import csv
import json
import os
import sys


def read_prices(path):
    with open(path, newline="") as file:
        return {row["article"]: int(row["cents"]) for row in csv.DictReader(file)}


def read_order(path):
    try:
        with open(path.removesuffix(".json") + ".correction.json") as file:
            return json.load(file)
    except FileNotFoundError:
        with open(path) as file:
            return json.load(file)


def write_order(path, order):
    beside = path + ".new"
    with open(beside, "w") as file:
        json.dump(order, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.rename(beside, path)


def main(directory):
    prices = read_prices(os.path.join(directory, "prices.csv"))
    orders = os.path.join(directory, "orders")
    total = 0
    for name in sorted(os.listdir(orders)):
        path = os.path.join(orders, name)
        order = read_order(path)
        order["cents"] = sum(line["count"] * prices[line["article"]] for line in order["lines"])
        total += order["cents"]
        write_order(path, order)
    print(f"{len(os.listdir(orders))} orders, {total / 100:.2f} in all")


if __name__ == "__main__":
    main(sys.argv[1])
