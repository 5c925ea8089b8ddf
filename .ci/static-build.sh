#!/bin/bash
# static-build.sh PACKAGE BINARY [PROFILE]: builds a binary that needs no shared library, as target/PROFILE/BINARY. PROFILE is release, which is
# built soon, or dist, which is small. Static, because what hotset itself maps can't be made cold.
set -euo pipefail
shopt -s nullglob
package=$1 binary=$2 profile=${3:-release}
cd "$(dirname "$0")/.."
triple=$(rustc -vV | sed -n 's/^host: //p')
if [[ $triple != x86_64-unknown-linux-gnu ]]; then
    echo "build: hotset is built on and for x86_64-unknown-linux-gnu; the Rust toolchain here is for $triple" >&2
    exit 1
fi
target=${CARGO_TARGET_DIR:-target}
[[ $target == /* ]] || target=$PWD/$target

cargo fetch --quiet --locked --target "$triple"
# Paths of this host would be in messages and debug information, and make the same sources different binaries. Of several that match, the last counts.
remaps=("$PWD=/hotset" "$target=/target")
for directory in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    remaps+=("$directory=/crates")
done
flags="${RUSTFLAGS-} -C target-feature=+crt-static"
if [[ $profile == dist ]]; then
    # Relocations as a bitmap (glibc 2.36), and functions of the same code once: two megabytes less.
    flags+=" -C link-arg=-Wl,-z,pack-relative-relocs -C link-arg=-Wl,--icf=all"
fi
for remap in "${remaps[@]}"; do
    # These lists of flags are parted by blanks.
    [[ $remap != *[[:space:]]* ]] || continue
    flags+=" --remap-path-prefix=$remap"
    CFLAGS="${CFLAGS-} -ffile-prefix-map=$remap"
done
export CFLAGS
# --target keeps the flags away from build scripts and procedural macros, which can't be static.
RUSTFLAGS=$flags cargo build --locked --profile "$profile" --target "$triple" -p "$package" --bin "$binary"
mkdir -p "$target/$profile"
install -m 755 "$target/$triple/$profile/$binary" "$target/$profile/.$binary.new"
mv -f "$target/$profile/.$binary.new" "$target/$profile/$binary"
if ! ldd "$target/$profile/$binary" 2>&1 | grep -qE 'statically linked|not a dynamic executable'; then
    echo "build: $target/$profile/$binary is not static" >&2
    exit 1
fi
