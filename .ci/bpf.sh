#!/bin/bash
# bpf.sh make: compiles the BPF objects anew. bpf.sh check: fails if the committed ones are not what the sources give.
# Another clang gives other bytes, so .ci/bpf-objects keeps which clang made them, and from which sources: with that clang
# the bytes are compared, with any other the sources.
set -euo pipefail
cd "$(dirname "$0")/.."
sources=crates/observe/bpf
objects=crates/observe/objects
made=.ci/bpf-objects

compiler() {
    "${CLANG:-clang}" --version | head -n 1
}

source_sum() {
    (cd "$sources" && find . -name '*.[ch]' -o -name build.sh -o -name '*.py' | LC_ALL=C sort | xargs sha256sum) | sha256sum | cut -d ' ' -f 1
}

describe() {
    echo "compiler $(compiler)"
    echo "sources $(source_sum)"
    (cd "$objects" && sha256sum -- *.bpf.o | sed 's/^\([^ ]*\) *\(.*\)/\2 \1/')
}

fail() {
    echo "check-bpf: $*; run make bpf" >&2
    exit 1
}

check() {
    local fresh object
    fresh=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$fresh'" EXIT
    "$sources/build.sh" "$fresh"
    [[ -e $made ]] || fail "there is no $made"
    if [[ $(sed -n 's/^compiler //p' "$made") == "$(compiler)" ]]; then
        for object in "$objects"/*.bpf.o; do
            cmp "$object" "$fresh/${object##*/}" || fail "$object is not what the sources give"
        done
        [[ $(<"$made") == "$(describe)" ]] || fail "$made does not describe the objects"
        echo "check-bpf: the objects are what the sources give"
        return
    fi
    [[ $(sed -n 's/^sources //p' "$made") == "$(source_sum)" ]] || fail "the sources changed since the objects were made"
    for object in "$objects"/*.bpf.o; do
        [[ $(sed -n "s/^${object##*/} //p" "$made") == "$(sha256sum <"$object" | cut -d ' ' -f 1)" ]] ||
            fail "$object is not the one that $made describes"
    done
    echo "check-bpf: the sources compile, and the objects are those that $(sed -n 's/^compiler //p' "$made") made from them;" \
        "the bytes were not compared, for here is $(compiler)"
}

case ${1-} in
make) "$sources/build.sh" && describe >"$made" ;;
check) check ;;
*) echo "usage: bpf.sh make|check" >&2 && exit 2 ;;
esac
