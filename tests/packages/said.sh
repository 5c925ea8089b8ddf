# shellcheck shell=bash
# said.sh: sourced by what runs inside a virtual machine: how it says on the console what it saw.

say() {
    echo "GUEST $*" >/dev/console
}

check() {
    local what=$1
    shift
    if said=$("$@" 2>&1); then say "ok $what"; else say "FAILED $what: $(tail -c 400 <<<"$said")"; fi
}

# Within half a minute, under emulation.
soon() {
    local _
    for _ in {1..60}; do
        "$@" && return
        sleep 0.5
    done
    return 1
}

# The last that is said. Switches off.
finish() {
    say "done"
    sync
    poweroff --force
}
