#!/bin/bash
# Prints the compiler flags that linking this host's libelf.a needs beyond -lelf and -lz, if any: newer builds of it call
# zstd, and one version lacks two of its own functions.
set -euo pipefail
cd "$(dirname "$0")/.."
archives=/usr/lib/x86_64-linux-gnu
for library in $(pkg-config --static --libs-only-l libelf 2>/dev/null); do
    case $library in
    -lelf | -lz) ;;
    # The archive by its name: -l alone would take the shared library, even into a static binary.
    *) printf -- '-C link-arg=%s/lib%s.a ' "$archives" "${library#-l}" ;;
    esac
done
if [[ -e $archives/libelf.a ]]; then
    symbols=$(nm "$archives/libelf.a" 2>/dev/null)
    if grep -q ' U eu_search_tree_init$' <<<"$symbols" && ! grep -q ' T eu_search_tree_init$' <<<"$symbols"; then
        directory=${CARGO_TARGET_DIR:-$PWD/target}/libelf
        mkdir -p "$directory"
        # Compiled once: its name is among the flags, and its time would be among cargo's reasons to link anew.
        [[ -e $directory/missing.o ]] || cc -O2 -fPIC -c .ci/libelf-0.192.c -o "$directory/missing.o"
        printf -- '-C link-arg=%s ' "$directory/missing.o"
    fi
fi
echo
