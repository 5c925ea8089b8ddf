#!/bin/bash
# make.sh [NAME…]: plays docs/casts/NAME.script, all of them if none is named, and draws docs/images/NAME.svg of what the terminal showed. As root.
set -euo pipefail
cd "$(dirname "$0")/../.."
TERMTOSVG=1.1.0
target=${CARGO_TARGET_DIR:-$PWD/target}
hotset=${HOTSET_BIN:-$target/release/hotset}
venv=$target/casts/venv-$TERMTOSVG

[[ -x $hotset ]] || { echo "casts: there is no $hotset; \`make build\` builds it, HOTSET_BIN names another" >&2; exit 1; }
((EUID == 0)) || { echo "casts: they show what needs root; run this as root" >&2; exit 1; }
if [[ ! -e $venv/done ]]; then
    python3 -m venv "$venv"
    # It asks setuptools for its own version, which newer ones do not answer.
    "$venv/bin/pip" install --quiet --disable-pip-version-check "termtosvg==$TERMTOSVG" 'setuptools<81'
    touch "$venv/done"
fi

# In a directory that is /srv/shop to what is played, as in the documents' examples.
play() {
    local name=$1 files
    files=$(mktemp -d -p "${TMPDIR:-/var/tmp}" hotset-cast-XXXXXX)
    mkdir "$files/bin" "$files/shop"
    ln -s "$hotset" "$files/bin/hotset"
    printf '#!/bin/sh\nexec "$@"\n' >"$files/bin/sudo"
    chmod +x "$files/bin/sudo"
    # shellcheck disable=SC2016
    env -u COLUMNS -u LINES PATH="$files/bin:$PATH" EXAMPLE_SOURCE="$PWD" setsid unshare --mount --propagation private bash -c '
        mount -t tmpfs none /srv && mkdir /srv/shop && mount --bind "$1/shop" /srv/shop && cd /srv/shop
        "$EXAMPLE_SOURCE/docs/casts/record.py" "$EXAMPLE_SOURCE/docs/casts/$2.script" "$1/$2.cast"
        kill -- -$$ 2>/dev/null' casts "$files" "$name" 2>/dev/null || true
    [[ -s $files/$name.cast ]] || { echo "casts: $name was not played" >&2; rm -rf "$files"; return 1; }
    "$venv/bin/termtosvg" render "$files/$name.cast" "docs/images/$name.svg" --template window_frame --min-frame-duration 30 --loop-delay 10000 >/dev/null 2>&1
    rm -rf "$files"
    echo "casts: docs/images/$name.svg, $(stat -c %s "docs/images/$name.svg") bytes"
}

names=("$@")
((${#names[@]})) || mapfile -t names < <(basename -s .script docs/casts/*.script)
for name in "${names[@]}"; do
    play "$name"
done
