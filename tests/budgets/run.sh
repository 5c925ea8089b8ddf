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
"$hotset" warm -q made/tree
(cd made && "$hotset" save -q tree.snapshot tree)
PATH=$(dirname "$hotset"):$PATH "$hotset" check
