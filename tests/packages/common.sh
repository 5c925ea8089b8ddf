# shellcheck shell=bash
# common.sh: sourced by root.sh and machine.sh: where things are, how a test ends that can't run, and commands inside a root of Debian.
# shellcheck disable=SC2034,SC2154 # It is sourced: what is set here is used there, and the other way round.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dist=${HOTSET_DIST:-$PWD/dist}
PATH=$PATH:/usr/sbin:/sbin

die() {
    echo "test-packages: $*" >&2
    exit 2
}

# needs PROGRAM…: root, and these on the host.
needs() {
    local program
    ((EUID == 0)) || die "root is needed: bare roots are made and entered"
    for program in "$@"; do
        command -v "$program" >/dev/null || die "there is no $program; .ci/packages.sh bare installs it"
    done
}

# inside COMMAND…: in $root, with nothing of this shell's environment.
inside() {
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# The package of dist/ as $deb, and its $version.
find_deb() {
    deb=$(echo "$dist"/hotset_*_amd64.deb)
    [[ -e $deb ]] || die "there is no package in $dist; make dist makes it"
    version=${deb##*/hotset_} version=${version%_amd64.deb}
}
