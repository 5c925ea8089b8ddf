#!/bin/bash
# demo.sh: profiles a program that reads, parses and rewrites files, once with none of them in the page cache and once with
# all of them, and prints the two reports. DEMO_ORDERS and DEMO_MIB say how many small files there are and how large the big
# one is; DEMO_DIR, where they are made.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
hotset=${HOTSET_BIN:-$here/../target/release/hotset}
orders=${DEMO_ORDERS:-200}
mib=${DEMO_MIB:-32}

die() {
    echo "demo: $*" >&2
    exit 1
}

# A memory file system has no device to be cold from.
place() {
    local candidate
    for candidate in "${DEMO_DIR:-}" /var/tmp "$(dirname "$hotset")" "$HOME"; do
        [[ -n $candidate && -w $candidate ]] || continue
        case $(stat -f -c %T "$candidate") in tmpfs | ramfs) ;; *) echo "$candidate" && return ;; esac
    done
    die "no writable directory on a disk; DEMO_DIR can name one"
}

heading() {
    printf '\n== %s ==\n\n' "$*"
}

profile() {
    "$hotset" run -- "$python" "$here/app.py" "$files" 2>&1
}

[[ -x $hotset ]] || die "no hotset at $hotset; make build makes it"
# The interpreter itself: a wrapper in the PATH would be profiled with it.
python=$(python3 -c 'import sys; print(sys.executable)')
parent=$(place)
files=$(mktemp -d "$parent/hotset-demo.XXXXXX")
trap 'rm -rf "$files"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "Making $orders JSON files and a CSV file of $mib MiB in $files"
"$python" "$here/files.py" make "$files" "$orders" "$mib"

state=$("$python" "$here/files.py" cold "$files")
heading "Cold: $state when the program starts"
profile
state=$("$python" "$here/files.py" warm "$files")
heading "Warm: $state when the program starts"
profile
