#!/bin/busybox sh
# shellcheck shell=dash
# Runs in the guest: puts files on the disk into a known cache state, profiles a workload with hotset, and leaves the
# profile and the workload's own truth in /results/CASE for the host to compare. Says of each case whether it ran.
FILE=/mnt/data
SIZE_MIB=32

# profile CASE WORKLOAD_ARGUMENT…
profile() {
    name=$1
    shift
    observe "$name" "run" "$@"
}

# The same with a record of each request, and the code that made it; what the trace says is left too.
record() {
    name=$1
    shift
    observe "$name" "record --sites --force -o /mnt/trace.parquet" "$@" &&
        hotset trace info --json /mnt/trace.parquet >"/results/$name/info.json" 2>>"/results/$name/output"
}

# observe CASE COMMAND WORKLOAD_ARGUMENT…
observe() {
    dir=/results/$1
    command=$2
    mkdir -p "$dir"
    name=$1
    shift 2
    # Longer than any case takes, far shorter than the host's patience: one hanging case must not take the others along.
    # shellcheck disable=SC2086 # words of hotset's own
    timeout -s KILL 120 hotset $command --json "$dir/profile.json" -q -- workload "$@" --truth "$dir/truth.json" >"$dir/output" 2>&1
    code=$?
    if [ $code -eq 0 ]; then
        echo "CASE $name: RAN"
    else
        echo "CASE $name: FAIL hotset ${command%% *} ended with code $code: $(tail -n 1 "$dir/output")"
        return 1
    fi
}

# The state of $FILE before the next case: evict, warm or half.
state() {
    workload "$1" --file $FILE >/results/state.log 2>&1 || echo "GUEST can't reach the state $1: $(tail -n 1 /results/state.log)"
}

# The same in a group of cgroup v2 whose limit holds the file and not the sensor's tables as well: it may not be reached.
profile_limited() {
    group=/sys/fs/cgroup/limited
    if ! { echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir $group && echo 96M >$group/memory.max; }; then
        echo "CASE $1: FAIL no group with a limit of memory"
        return
    fi
    (sh -c "echo \$PPID" >$group/cgroup.procs && profile "$@")
    grep -q '^max 0$' $group/memory.events || echo "CASE $1: FAIL the limit was reached: $(tr '\n' ' ' <$group/memory.events)"
}

# live CASE MODE WORKLOAD_ARGUMENT…: a live session for some intervals (`loops`, of bench/) beside a workload; MODE is the exponent of a sample of
# pages, "off" without one, or "lookups" for path lookups. The sensor is loaded with the code for each and without it.
live() {
    name=$1
    dir=/results/$name
    mkdir -p "$dir"
    timeout -s KILL 120 loops curves "$2" 8 >"$dir/intervals" 2>"$dir/output" &
    shift 2
    tries=1200
    until grep -q ready "$dir/intervals" 2>/dev/null || [ $tries -eq 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
    workload "$@" --truth "$dir/truth.json" >>"$dir/output" 2>&1
    if wait $!; then
        echo "CASE $name: RAN"
    else
        echo "CASE $name: FAIL loops ended: $(tail -n 1 "$dir/output")"
    fi
}

# What the kernel offers, and what the loader and the verifier say.
hotset doctor >/results/doctor 2>&1
timeout -s KILL 120 hotset run -v -- true >/results/loader 2>&1
workload make --file $FILE --size-mib $SIZE_MIB || { echo "GUEST can't make $FILE"; exit 1; }

state evict && profile cold-seq seq --file $FILE --block 1048576
state warm && profile warm-seq seq --file $FILE --block 1048576
state evict && profile cold-random random --file $FILE --count 500 --advise-random
state half && profile half-seq seq --file $FILE --block 1048576
state evict && profile odd odd --file $FILE --block 1000
state evict && profile direct-read direct-read --file $FILE --block 1048576
state evict && profile write-partial write-partial --file $FILE --count 500
rm -f /mnt/new && profile write-new write-new --file /mnt/new --size-mib 8
state evict && profile copy-within copy-within --file $FILE
state evict && profile mmap-random mmap-random --file $FILE --count 500 --advise-random
state evict && profile uring uring --file $FILE --count 500 --random
state evict && profile uring-fixed uring --file $FILE --count 500 --random --fixed
state evict && profile children children --file $FILE
state evict && record record-cold-seq seq --file $FILE --block 1048576
state half && record record-half-seq seq --file $FILE --block 1048576
state evict && record record-cold-random random --file $FILE --count 500 --advise-random
state evict && record record-write-partial write-partial --file $FILE --count 500
state evict && record record-mmap-random mmap-random --file $FILE --count 500 --advise-random
state evict && record record-uring uring --file $FILE --count 500 --random
state evict && record record-children children --file $FILE
state evict && profile_limited limited seq --file $FILE --block 1048576
state evict && live curves-off off seq --file $FILE --block 1048576
state evict && live curves-16 4 seq --file $FILE --block 1048576
state warm && live curves-128 7 seq --file $FILE --block 1048576
mkdir -p /mnt/a /mnt/b && live live-lookups lookups lookups --file $FILE --dirs /mnt/a,/mnt/b --count 2000
echo "KERNEL-TESTS done"
