#!/bin/bash
# tests.sh build | hotset | run [OPTION…] | doc | with COMMAND… | path: the tests of the workspace, and the hotset that they run, from one build without optimisation.
#   build  compiles all of it, and lints it in the same pass where HOTSET_LINT=yes: clippy takes the compiler's place
#   hotset compiles only the hotset that they run, in the same way
#   run    runs the test programs (tests/run.py, with its options)
#   doc    runs the examples in comments
#   with   runs a command with the flags of this build, and the hotset in HOTSET_BIN
#   path   prints where the hotset is that they run
# That hotset is static, as the one that users get: what it maps itself can't be made cold.
set -euo pipefail
cd "$(dirname "$0")/.."
triple=x86_64-unknown-linux-gnu
export CARGO_BUILD_TARGET=$triple CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
[[ $CARGO_TARGET_DIR == /* ]] || CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR
RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static"
export RUSTFLAGS
hotset=$CARGO_TARGET_DIR/$triple/debug/hotset

# The other steps must see the same flags, or cargo builds all of it anew.
if [[ ${HOTSET_LINT-} == yes ]]; then
    RUSTC_WORKSPACE_WRAPPER=$(rustc --print sysroot)/bin/clippy-driver
    RUSTFLAGS+=" -D warnings"
    export RUSTC_WORKSPACE_WRAPPER
    [[ -x $RUSTC_WORKSPACE_WRAPPER ]] || { echo "tests: there is no $RUSTC_WORKSPACE_WRAPPER; rustup component add clippy" >&2; exit 1; }
fi

# lints SOURCE: whether the linter takes it.
lints() {
    local scratch code=0
    scratch=$(mktemp -d)
    echo "$1" | "$RUSTC_WORKSPACE_WRAPPER" "$(rustc --print sysroot)/bin/rustc" --crate-type lib --emit metadata --out-dir "$scratch" -D warnings - 2>/dev/null || code=1
    rm -rf "$scratch"
    return "$code"
}

# What says nothing of a fault says nothing at all.
check_linter() {
    if lints 'pub fn same(x: u8) -> bool { x == x }' || ! lints 'pub fn one(x: u8) -> bool { x == 1 }'; then
        echo "tests: $RUSTC_WORKSPACE_WRAPPER does not lint: it takes \`x == x\`, or refuses what is right" >&2
        exit 1
    fi
}

build() {
    [[ -z ${RUSTC_WORKSPACE_WRAPPER-} ]] || check_linter
    # The Python module can't be part of something static; its own tests build it.
    cargo build --workspace --exclude hotset-py --all-targets --locked
}

case ${1-} in
build) build ;;
hotset) cargo build --package hotset-cli --bin hotset --locked ;;
run)
    shift
    HOTSET_BIN=${HOTSET_BIN:-$hotset} tests/run.py "$@"
    ;;
with)
    shift
    HOTSET_BIN=${HOTSET_BIN:-$hotset} "$@"
    ;;
doc) cargo test --quiet --workspace --exclude hotset-py --doc --locked ;;
path) echo "$hotset" ;;
*) sed -n '2,8s/^# //p' "$0" >&2; exit 2 ;;
esac
