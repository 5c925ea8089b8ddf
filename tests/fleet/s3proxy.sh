#!/bin/bash
# s3proxy.sh DIR: brings the S3 server that tests run against into DIR, by Maven, and prints its path.
set -euo pipefail

version=3.1.0
sum=7e348225287f2efa580b1f9be170a3efe187bc6cfa9cd3730968863d1c7363ac
dir=${1:?usage: s3proxy.sh DIR}
jar=$dir/s3proxy-$version-jar-with-dependencies.jar

fits() {
    [[ -f $jar ]] && sha256sum --check --status <<<"$sum  $jar"
}

if ! fits; then
    mkdir -p "$dir"
    mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
        -Dartifact="org.gaul:s3proxy:$version:jar:jar-with-dependencies" -DoutputDirectory="$dir" \
        -Dmdep.overWriteReleases=true >&2
    fits || { echo "s3proxy.sh: $jar is not what was expected; remove it and try again" >&2 && exit 1; }
fi
readlink -f "$jar"
