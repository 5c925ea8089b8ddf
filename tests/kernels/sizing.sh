#!/bin/busybox sh
# shellcheck shell=dash
# Runs in the guest: programs with known references under memory limits, with each policy that the kernel has, and leaves what the
# kernel did in /results for the host to compare with predictions.
# The device of single pages is memory, so that a miss takes no longer than it must. Programs read a disk.
RAM_DISK=/dev/ram0
DIR=/mnt

set=short
grep -qw hotset.sizing=wide /proc/cmdline && set=wide
grep -qw hotset.sizing=full /proc/cmdline && set=full

# sizing_to FILE JOB…: leaves what a job prints in a file, and on the console; its own words only in the log.
sizing_to() {
    file=$1
    shift
    { sizing "$@" 2>>/results/sizing.log || echo FAIL; } | tee "$file"
    ! grep -q '^FAIL$' "$file"
}

# said CODE NAME: says whether what ended with the code ended well.
said() {
    if [ "$1" -eq 0 ]; then echo "SIZING $2: RAN"; else echo "SIZING $2: FAIL $(tail -n 1 /results/sizing.log)"; fi
}

# The programs of the set, each recorded once without a limit: what it asks for does not depend on the policy.
recorded() {
    sizing policy --name classic
    for name in $(sizing list --set $set); do
        sizing files --name "$name" --dir $DIR 2>>/results/sizing.log &&
            hotset record --force -q -o "/results/$name.parquet" -- sizing program --name "$name" --dir $DIR >>/results/sizing.log 2>&1
        said $? "record $name"
    done
}

# limited POLICY: the programs under their limits.
limited() {
    sizing policy --name "$1" || return
    for name in $(sizing list --set $set); do
        sizing_to "/results/$1-$name.csv" limited --name "$name" --dir $DIR --set $set
        said $? "$1 $name"
    done
}

# khugepaged makes huge pages of memory that was there before a limit began, and charges them to the limited group.
[ ! -e /sys/kernel/mm/transparent_hugepage/enabled ] || echo never >/sys/kernel/mm/transparent_hugepage/enabled

mkdir /ram
cat /dev/vdc >$RAM_DISK && mount -t ext4 $RAM_DISK /ram && sizing_to /results/pages.csv pages --file /ram/pages --set $set
said $? pages
sizing_to /results/high.csv pages --file /ram/pages --set high
said $? high
umount /ram

recorded
limited classic
[ ! -e /sys/kernel/mm/lru_gen ] || limited mglru
echo "SIZING done"
