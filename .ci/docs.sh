#!/bin/bash
# docs.sh build | check | serve [PORT] | pictures [NAME...]: the site of the documents, in target/docs/site. HOTSET_BIN names the program whose help
# becomes pages, target/release/hotset if it is not set.
#   build     makes the site from docs/, the documents beside it, and the program's help
#   check     looks for links that lead nowhere, and at every page in a browser: 390 pixels wide, and search
#   serve     shows the site at http://127.0.0.1:8000/
#   pictures  makes docs/images/ anew: pages of hotset as a browser shows them (as root)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
target=${CARGO_TARGET_DIR:-$root/target}
[[ $target == /* ]] || target=$root/$target
binary=${HOTSET_BIN:-$target/release/hotset}
book=$target/docs
export PYTHONDONTWRITEBYTECODE=1

# An environment with mdBook and lychee, made once for each version of them.
environment() {
    venv=$book/venv-$(sha256sum docs/site/requirements.txt | head -c 12)
    [[ -e $venv/done ]] && return
    echo "docs: installing mdBook and lychee into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --requirement docs/site/requirements.txt
    touch "$venv/done"
}

require_binary() {
    [[ -x $binary ]] || { echo "docs: there is no $binary; \`make build\` builds it, HOTSET_BIN names another" >&2; exit 1; }
}

require_site() {
    [[ -e $book/site/index.html ]] || { echo "docs: there is no $book/site; \`make docs\` builds it" >&2; exit 1; }
}

build() {
    require_binary
    environment
    HOTSET_BIN=$binary python3 docs/site/stage.py "$book"
    cp docs/site/book.toml docs/site/site.css "$book/"
    local log=$book/mdbook.log
    if ! "$venv/bin/mdbook" build "$book" >"$log" 2>&1 || grep -qE '^ *(WARN|ERROR)' "$log"; then
        cat "$log" >&2
        exit 1
    fi
    echo "docs: $(find "$book/site" -name '*.html' | wc -l) pages in $book/site"
}

check() {
    require_site
    environment
    # The directory itself, not a pattern: a site without pages is a failure.
    "$venv/bin/lychee" --offline --include-fragments --no-progress --root-dir "$book/site" --extensions html "$book/site"
    python3 docs/site/look.py "$book/site"
}

pictures() {
    require_binary
    local with_package
    with_package=$(HOTSET_BIN=$binary .ci/python.sh installed)
    HOTSET_BIN=$binary HOTSET_PYTHON=$with_package python3 docs/site/pictures.py "$root/docs/images" "$@"
}

verb=${1-}
shift || true
case $verb in
build) build ;;
check) check ;;
serve) require_site && exec python3 -m http.server --bind 127.0.0.1 --directory "$book/site" "${1-8000}" ;;
pictures) pictures "$@" ;;
*) echo "usage: docs.sh build | check | serve [PORT] | pictures [NAME...]" >&2; exit 2 ;;
esac
