#!/bin/bash
# static-build.sh PACKAGE BINARY: builds a binary that needs no shared library, as target/release/BINARY. Static, because
# what hotset itself maps can't be made cold.
set -euo pipefail
package=$1 binary=$2
cd "$(dirname "$0")/.."
triple=$(rustc -vV | sed -n 's/^host: //p')
if [[ $triple != x86_64-unknown-linux-gnu ]]; then
    echo "build: hotset is built on and for x86_64-unknown-linux-gnu; the Rust toolchain here is for $triple" >&2
    exit 1
fi
target=${CARGO_TARGET_DIR:-target}
# --target keeps the flags away from build scripts and procedural macros, which can't be static.
RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static $(.ci/link-flags.sh)" \
    cargo build --locked --release --target "$triple" -p "$package" --bin "$binary"
mkdir -p "$target/release"
install -m 755 "$target/$triple/release/$binary" "$target/release/.$binary.new"
mv -f "$target/release/.$binary.new" "$target/release/$binary"
if ! ldd "$target/release/$binary" 2>&1 | grep -qE 'statically linked|not a dynamic executable'; then
    echo "build: $target/release/$binary is not static" >&2
    exit 1
fi
