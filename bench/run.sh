#!/bin/sh
# Compares work with and without observation, and with the peers that are installed. Arguments go to overhead.py.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release --package hotset-bench
exec python3 bench/overhead.py --hotset "${HOTSET_BIN:-target/release/hotset}" --loops target/release/loops "$@"
