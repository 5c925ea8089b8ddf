#!/bin/bash
# fuzz.sh [SECONDS]: builds the fuzz targets and runs each for so long (30 s). The compiler's coverage pass is all that
# they need, so stable Rust will do; what they find stays in target/fuzz. cargo-fuzz understands fuzz/ as well.
set -euo pipefail
seconds=${1:-30}
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
triple=$(rustc -vV | sed -n 's/^host: //p')
coverage=(--cfg fuzzing -C passes=sancov-module -C codegen-units=1
    -C llvm-args=-sanitizer-coverage-level=4 -C llvm-args=-sanitizer-coverage-inline-8bit-counters
    -C llvm-args=-sanitizer-coverage-pc-table -C llvm-args=-sanitizer-coverage-trace-compares)
RUSTFLAGS="${RUSTFLAGS-} ${coverage[*]}" CARGO_TARGET_DIR=$target \
    cargo build --locked --release --manifest-path fuzz/Cargo.toml --target "$triple"
for source in fuzz/fuzz_targets/*.rs; do
    name=$(basename "$source" .rs)
    mkdir -p "$target/corpus/$name" "$target/found"
    echo "fuzz: $name for $seconds s"
    log=$target/$name.log
    if ! "$target/$triple/release/$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="$target/found/$name-" "$target/corpus/$name" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        echo "fuzz: $name failed; the input is in $target/found" >&2
        exit 1
    fi
    sed -n 's/^stat::number_of_executed_units: */fuzz: inputs tried: /p' "$log"
done
