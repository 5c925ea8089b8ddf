#!/bin/bash
# newcomer.sh SUITE…: what somebody new does, in bare roots of these suites of Debian or Ubuntu: installs hotset from the package of dist/, from these sources by make, and by
# Cargo alone, each in a root of its own, and profiles a program. The commands are those of docs/start.md and docs/install.md, as they stand there; it says
# how long they took, with all that they download. As root, with a Rust toolchain of rustup. Exit code: 0 each gave the finding; 1 one did not; 2 something is missing.
# shellcheck source=tests/packages/root.sh
. "$(dirname "$0")/root.sh"
START=docs/start.md
HOME_IN_ROOT=/root
SHOP=/srv/shop
SOURCES=/srv/hotset

# shown PAGE PATTERN: the one command that the page shows and that matches.
shown() {
    local found
    found=$(sed -nE "s|^\\\$ ($2)\$|\\1|p" "$1")
    [[ -n $found && $found != *$'\n'* ]] || die "$1 does not show one command that matches $2"
    echo "$found"
}

# The page's example of a program.
write_program() {
    local setup
    setup=$(awk '/^```/ {inside = ($0 == "```sh setup"); next} inside' "$START")
    mkdir -p "$root$SHOP"
    inside sh -c "cd $SHOP && $setup"
    [[ -s $root$SHOP/orders.py ]] || die "$START has no set-up that writes orders.py"
}

# Rust as rustup installs it, and nothing that this host has downloaded or built.
bring_rust() {
    local name cargo=${CARGO_HOME:-$HOME/.cargo} rustup=${RUSTUP_HOME:-$HOME/.rustup}
    mkdir -p "$root$HOME_IN_ROOT"/{.cargo/bin,.rustup}
    for name in cargo rustc rustup; do
        [[ -x $cargo/bin/$name ]] || die "there is no $cargo/bin/$name, which rustup installs"
        cp -L "$cargo/bin/$name" "$root$HOME_IN_ROOT/.cargo/bin/$name"
    done
    # Where another registry is to be asked.
    [[ ! -e $cargo/config.toml ]] || cp "$cargo/config.toml" "$root$HOME_IN_ROOT/.cargo"
    mount --bind "$rustup" "$root$HOME_IN_ROOT/.rustup"
    mount -o remount,bind,ro "$root$HOME_IN_ROOT/.rustup"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # A network may have a certificate of its own.
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    git clone --quiet "$PWD" "$root$SOURCES"
}

# in_shell DIRECTORY COMMAND: as at a prompt of root's, with Cargo's directory in PATH as rustup's installer leaves it.
in_shell() {
    inside env "HOME=$HOME_IN_ROOT" bash -c "PATH=$HOME_IN_ROOT/.cargo/bin:\$PATH && cd $1 && $2"
}

# finding_after NAME DIRECTORY COMMAND PROGRAM: the command installs hotset; then the page's program is run below PROGRAM.
finding_after() {
    local name=$1 started=$SECONDS said installed run
    said=$(in_shell "$2" "$3" 2>&1) || fail "$name: $3: exit code $?: $(tail -c 2000 <<<"$said")"
    installed=$((SECONDS - started))
    run=$(shown "$START" 'sudo hotset run -- /usr/bin/python3 orders\.py')
    said=$(in_shell "$SHOP" "${run/hotset/$4}" 2>&1) || fail "$name: $run: exit code $?: $said"
    grep -qE 'CRITICAL +One fsync per' <<<"$said" || fail "$name: no finding about the syncs in: $said"
    # Seen from the host's root.
    grep -qF "in $root$SHOP/orders.log" <<<"$said" || fail "$name: the finding does not name $SHOP/orders.log: $said"
    say "$name: a finding after $((SECONDS - started)) s, of which $installed s to install"
}

from_package() {
    local install
    install=$(shown "$START" 'sudo apt install .*')
    make_root python3,sudo
    write_program
    cp "$deb" "$root$SHOP"
    finding_after "package" "$SHOP" "$install" hotset
}

from_sources() {
    local install
    install=$(shown "$START" 'make build .*')
    make_root python3,sudo,make,ca-certificates
    write_program
    bring_rust
    finding_after "sources, make" "$SOURCES" "$install" hotset
}

# The packages are those that docs/install.md names; sudo looks in no directory of Cargo's.
from_sources_by_cargo() {
    local row packages
    row=$(grep -F 'cargo install --locked --path crates/cli' docs/install.md)
    packages=$(sed -nE 's/.*Cargo alone \(with (.*)\) \|.*/\1/p' <<<"$row" | tr -d '`,' | sed 's/ and / /')
    [[ -n $packages ]] || die "docs/install.md does not say what cargo install needs"
    make_root "python3,sudo,ca-certificates,${packages// /,}"
    write_program
    bring_rust
    finding_after "sources, Cargo" "$SOURCES" "cargo install --locked --path crates/cli" "$HOME_IN_ROOT/.cargo/bin/hotset"
}

needs mmdebstrap git
find_deb
(($# > 0)) || die "usage: newcomer.sh SUITE…"
for suite; do
    (from_package)
    (from_sources)
    (from_sources_by_cargo)
done
echo "test-packages: newcomer: passed"
