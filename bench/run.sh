#!/bin/bash
# run.sh [PART] [ARGUMENT…]: measures hotset beside the peers that are installed. PART is overhead, record, ls, control, restore, command, live, export, sink,
# lab, proofs, fidelity, size, sampling, curves or baseline; without one all of them run, and the exit code says whether every goal was held. Arguments go to the part's script.
set -euo pipefail
cd "$(dirname "$0")/.."
parts=(overhead record ls control restore command live export sink lab proofs fidelity size sampling curves baseline)
export PYTHONDONTWRITEBYTECODE=1

run_part() {
    local part=$1
    shift
    echo "--- $part"
    case $part in
    overhead) python3 bench/overhead.py --hotset "$hotset" --loops "$loops" "$@" ;;
    record) python3 bench/record.py --hotset "$hotset" --loops "$loops" "$@" ;;
    ls) python3 bench/ls.py --hotset "$hotset" --loops "$loops" "$@" ;;
    control) python3 bench/cache_control.py --hotset "$hotset" "$@" ;;
    restore) python3 bench/restore.py --hotset "$hotset" "$@" ;;
    command) python3 bench/command.py --loops "$loops" "$@" ;;
    live) python3 bench/live.py --hotset "$hotset" --loops "$loops" "$@" ;;
    export) python3 bench/export.py --hotset "$hotset" "$@" ;;
    sink) python3 bench/sink.py --hotset "$hotset" "$@" ;;
    lab) python3 bench/lab.py --hotset "$hotset" "$@" ;;
    fidelity) python3 bench/fidelity.py --hotset "$hotset" "$@" ;;
    size) python3 bench/size.py --loops "$loops" "$@" ;;
    curves) HOTSET_BIN=$hotset .ci/python.sh bench "$@" ;;
    sampling) python3 bench/sampling.py --loops "$loops" "$@" ;;
    baseline)
        local directory status=0
        directory=$(mktemp -d -p /var/tmp hotset-baseline-XXXXXX)
        python3 bench/baseline.py "$hotset" "${HOTSET_SESSIONS:-40}" "$directory" --loops "$loops" "$@" || status=$?
        rm -r "$directory"
        return "$status"
        ;;
    proofs) python3 bench/proofs.py --hotset "$hotset" "$@" ;;
    *) echo "bench: there is no part \"$part\"; there are ${parts[*]}" >&2 && return 2 ;;
    esac
}

target=${CARGO_TARGET_DIR:-target}
hotset=${HOTSET_BIN:-$target/release/hotset}
loops=$target/release/loops
cargo build --quiet --release --package hotset-bench
if (($#)); then
    run_part "$@"
    exit
fi
failed=0
for part in "${parts[@]}"; do
    run_part "$part" || failed=1
done
exit "$failed"
