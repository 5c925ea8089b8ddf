#!/bin/bash
# s3a.sh DIR: brings what Spark needs to read a bucket into DIR, by Maven, and prints its jars with commas between them, as spark-submit takes them.
set -euo pipefail

dir=${1:?usage: s3a.sh DIR}
# That of the Hadoop which PySpark 4.0.1 has (.ci/python.sh), and the AWS SDK which it was built with.
jars=(
    org.apache.hadoop:hadoop-aws:3.4.1 hadoop-aws-3.4.1.jar 01334a07e179cae2b7e251f24857f11e3759108c9d6a79dcbe362a4295227da2
    software.amazon.awssdk:bundle:2.24.6 bundle-2.24.6.jar 890bf9f2a80488f7a8aa8277d64d13a9ea3a3cdff8607ef3b63a878d8b467b41
)
found=()
for ((at = 0; at < ${#jars[@]}; at += 3)); do
    jar=$dir/${jars[at + 1]}
    fits() {
        [[ -f $jar ]] && sha256sum --check --status <<<"${jars[at + 2]}  $jar"
    }
    if ! fits; then
        mkdir -p "$dir"
        mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
            -Dartifact="${jars[at]}" -DoutputDirectory="$dir" -Dmdep.overWriteReleases=true >&2
        fits || { echo "s3a.sh: $jar is not what was expected; remove it and try again" >&2 && exit 1; }
    fi
    found+=("$(readlink -f "$jar")")
done
(IFS=, && echo "${found[*]}")
