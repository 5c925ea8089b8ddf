# shellcheck shell=bash
# root.sh: sourced by the tests of this folder that install into a bare root. They set `suite` before they make one.
# shellcheck disable=SC2034,SC2154 # It is sourced: what is set here is used there, and the other way round.
# shellcheck source=tests/packages/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

say() {
    echo "test-packages: $suite: $*"
}

# Where a command's exit code or words are not what they should be, the suite has failed.
fail() {
    say "FAILED: $*" >&2
    exit 1
}

# make_root PACKAGES: a bare root with these besides, in $root until the shell ends.
make_root() {
    root=$(mktemp -d -p "${TMPDIR:-/var/tmp}" hotset-root-XXXXXX)
    trap remove_root EXIT
    bootstrap "$1"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --make-rslave "$root/sys"
}

mounted_below() {
    findmnt --list --noheadings --output TARGET | sed 's/ *$//' | awk -v root="$root/" 'index($0, root) == 1'
}

remove_root() {
    local mounted
    # What is nearer to the root was mounted first.
    while read -r mounted; do
        umount --lazy "$mounted" 2>/dev/null || true
    done < <(mounted_below | tac)
    # A directory of the host that is still mounted would be emptied, too.
    if mounted_below | grep -q .; then
        echo "test-packages: $root is left behind: something is still mounted there" >&2
        return
    fi
    rm -rf --one-file-system "$root"
}
