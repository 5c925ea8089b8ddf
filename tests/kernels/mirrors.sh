# shellcheck shell=bash
# Where the host itself gets Debian from: its apt sources name the mirror and the keyring, so that no registry is named
# here. Sourced by fetch.sh.

# Prints "URI KEYRING" for every source of the host; KEYRING is "-" where apt's own trusted keys apply.
host_sources() {
    local list parts
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    # One-line format: deb [signed-by=FILE …] URI SUITE COMPONENT…
    cat "$list" "$parts"*.list 2>/dev/null | awk '
        $1 == "deb" {
            key = "-"
            if (match($0, /signed-by=[^] ]+/)) key = substr($0, RSTART + 10, RLENGTH - 10)
            sub(/^deb +(\[[^]]*\] *)?/, "")
            print $1, key
        }'
    # deb822 format: paragraphs of "Field: value"; a key given inline is no file, so it can't be named again.
    local file
    for file in "$parts"*.sources; do
        [ -r "$file" ] && awk '
            function flush(   n, i, uri) {
                n = split(uris, uri, " ")
                for (i = 1; i <= n; i++) print uri[i], key
                uris = ""; key = "-"
            }
            BEGIN { key = "-" }
            /^[ \t]*$/ { flush() }
            tolower($1) == "uris:" { uris = substr($0, index($0, ":") + 1) }
            tolower($1) == "signed-by:" && $2 ~ /^\// { key = $2 }
            END { flush() }' "$file"
    done
    return 0
}

# debian_mirror archive|security → "URI KEYRING" of the first source that serves it, or nothing.
debian_mirror() {
    case $1 in
    archive) host_sources | awk '$1 ~ /\/debian\/?$/' ;;
    security) host_sources | awk '$1 ~ /debian-security\/?$/' ;;
    esac | awk 'NR == 1 { print; found = 1 } END { exit !found }'
}
