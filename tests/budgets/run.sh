#!/bin/sh
# run.sh HOTSET: makes the files of hotset.toml, and holds hotset to its own budgets.
set -eu
hotset=$(readlink -f "$1")
cd "$(dirname "$0")"
trap 'rm -rf made' EXIT
rm -rf made
mkdir -p made/tree
for file in $(seq 50); do
    head -c 20480 /dev/urandom >"made/tree/$file"
done
sync made/tree/*
# Where a host evicts what is idle, or others evict, a snapshot may lack pages. All are five pages of each file, in one range.
for attempt in $(seq 20); do
    "$hotset" warm -q made/tree
    saved=$(cd made && "$hotset" save tree.snapshot tree 2>&1)
    case $saved in "0.98 MiB of 50 files in 50 ranges"*) break ;; esac
    echo "budgets: attempt $attempt: $saved" >&2
done
PATH=$(dirname "$hotset"):$PATH "$hotset" check
