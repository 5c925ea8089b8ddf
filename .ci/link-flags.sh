#!/bin/bash
# Prints the compiler flags that linking libelf.a needs on this host beyond -lelf and -lz: newer builds of it call zstd.
set -euo pipefail
for library in $(pkg-config --static --libs-only-l libelf 2>/dev/null); do
    case $library in
    -lelf | -lz) ;;
    *) printf -- '-C link-arg=%s ' "$library" ;;
    esac
done
echo
