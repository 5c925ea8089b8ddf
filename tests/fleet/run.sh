#!/bin/bash
# run.sh: the tests of a fleet that need a JVM or packages of Python. Fetches them into the target directory first.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}/fleet
HOTSET_S3PROXY=$(tests/fleet/s3proxy.sh "$target")
HOTSET_S3A=$(tests/fleet/s3a.sh "$target")
if ! "$target/venv/bin/python" -c 'import duckdb, pyarrow' 2>/dev/null; then
    python3 -m venv "$target/venv"
    "$target/venv/bin/pip" install --quiet duckdb==2.0.1 pyarrow==26.0.1
fi
HOTSET_FLEET_PYTHON=$(readlink -f "$target/venv")/bin/python
export HOTSET_S3PROXY HOTSET_S3A HOTSET_FLEET_PYTHON
cargo test --package hotset-tests --locked --test exporter -- --ignored bucket
.ci/python.sh external
