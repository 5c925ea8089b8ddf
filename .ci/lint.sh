#!/bin/bash
# lint.sh [CHECK…]: fmt, clippy, tidy, msrv, deny, machete, shellcheck, c, probes, python if none is named; doc is there too. cargo-deny and cargo-machete
# are taken from the PATH or installed, once for all clones, into ~/.cache/hotset/tools (HOTSET_TOOLS names another place).
set -euo pipefail
DENY_VERSION=0.20.2
MACHETE_VERSION=0.9.2
cd "$(dirname "$0")/.."
tools=${HOTSET_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/hotset/tools}
export PATH=$PATH:$tools/bin

# Not optimised: each runs for a second or two, and optimising them takes minutes.
tool() {
    local name=$1 version=$2
    command -v "$name" >/dev/null && return
    echo "lint: installing $name $version into $tools"
    CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_DEV_INCREMENTAL=false CARGO_TARGET_DIR=$tools/build RUSTFLAGS='' \
        cargo install --quiet --locked --debug --root "$tools" "$name@$version"
    rm -rf "$tools/build"
}

component() {
    cargo "$1" --version >/dev/null 2>&1 && return
    command -v rustup >/dev/null || { echo "lint: there is no cargo $1; install the toolchain's $2" >&2; exit 1; }
    rustup component add "$2"
}

check_fmt() {
    component fmt rustfmt
    cargo fmt --all --check
    cargo fmt --manifest-path fuzz/Cargo.toml --check
}

check_clippy() {
    component clippy clippy
    cargo clippy --workspace --all-targets --locked -- -D warnings
}

# The source against what ARCHITECTURE.md and CONTRIBUTING.md promise of it.
check_tidy() {
    cargo test --quiet --package hotset-tidy --locked
}

# The oldest toolchain that Cargo.toml promises. It may not be had where the network reaches package registries only.
oldest() {
    local version
    version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    cargo "+$version" --version >/dev/null 2>&1 || rustup toolchain install "$version" --profile minimal >/dev/null 2>&1 || return
    echo "$version"
}

check_msrv() {
    local version
    if ! version=$(oldest); then
        echo "lint: the oldest Rust can't be had here: that the project compiles with it is NOT checked"
        return
    fi
    # What users build, and what tests share; the tests themselves may ask for more.
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/msrv cargo "+$version" check --quiet --workspace --locked
    echo "msrv: compiles with $(rustc "+$version" --version)"
}

# By the oldest toolchain, if it is there: it has just checked all that the crates are made of.
check_doc() {
    local version
    version=$(oldest) || version=
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/msrv RUSTDOCFLAGS='-D warnings' cargo ${version:+"+$version"} doc \
        --workspace --no-deps --document-private-items --locked
}

# Advisories come from a git host, which a network that reaches only package registries doesn't offer.
check_deny() {
    tool cargo-deny "$DENY_VERSION"
    if cargo deny --log-level off fetch db; then
        cargo deny --locked check
    else
        echo "lint: the advisory database can't be had; advisories are NOT checked, the rest is"
        cargo deny --locked check licenses bans sources
    fi
}

check_machete() {
    tool cargo-machete "$MACHETE_VERSION"
    cargo machete
}

check_shellcheck() {
    local scripts
    mapfile -t scripts < <(git ls-files --cached --others --exclude-standard |
        while read -r file; do
            [[ -f $file ]] && head -c 64 "$file" | head -n 1 | tr -d '\0' | grep -qE '^#!.*sh\b|^# shellcheck shell=' &&
                echo "$file"
        done)
    shellcheck -x -P SCRIPTDIR "${scripts[@]}"
    echo "shellcheck: ${#scripts[@]} scripts"
}

# The form of the C sources, as the .clang-format beside them says it.
check_c() {
    local sources
    mapfile -t sources < <(git ls-files 'crates/observe/bpf/*.[ch]' 'crates/lab/probes/c/*.c')
    clang-format --dry-run -Werror "${sources[@]}"
    echo "clang-format: ${#sources[@]} sources"
}

# Each language's own checks: warnings are errors, and the form is the formatter's where the language has one.
check_probes() {
    local made
    made=$(mktemp -d)
    cc -std=c11 -Wall -Wextra -Wconversion -Werror -fsyntax-only crates/lab/probes/c/probe.c
    [[ -z $(gofmt -l crates/lab/probes/go) ]] || { gofmt -d crates/lab/probes/go; return 1; }
    (cd crates/lab/probes/go && GOFLAGS='' GOPROXY=off go vet ./...)
    python3 -W error -c 'import ast, pathlib, sys
for path in sys.argv[1:]: ast.parse(pathlib.Path(path).read_bytes(), path)' crates/lab/probes/python/*.py
    python3 -W error .ci/python27.py crates/lab/probes/python/*.py
    local script
    for script in crates/lab/probes/ruby/*.rb; do ruby -wc "$script" >/dev/null; done
    ruby -w .ci/ruby18.rb crates/lab/probes/ruby/*.rb
    node --check crates/lab/probes/node/probe.js
    javac -Xlint:all -Werror -d "$made" crates/lab/probes/java/*.java
    rm -rf "$made"
    echo "probes: 6 languages"
}

# Types and style of the Python package, and the classes that are written from schema/.
check_python() {
    .ci/python.sh lint
}

checks=("$@")
((${#checks[@]})) || checks=(fmt clippy tidy msrv deny machete shellcheck c probes python)
for check in "${checks[@]}"; do
    "check_$check"
done
