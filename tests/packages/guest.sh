#!/bin/bash
# guest.sh: inside the virtual machine of systemd.sh, once it is up. Says GUEST ok or GUEST FAILED on the console for each thing looked at, and switches off.
# shellcheck source=tests/packages/said.sh
. "$(dirname "$0")/said.sh"
boot=$(cat /guest/boot 2>/dev/null || echo 0)
echo $((boot + 1)) >/guest/boot

metric() {
    exec 3<>/dev/tcp/127.0.0.1/9467 || return
    printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
    grep -E "^$1" <&3
}

main_pid() {
    systemctl show --property MainPID --value "$1"
}

not_root() {
    local pid
    pid=$(main_pid "$1")
    [[ $pid != 0 ]] && awk '/^Uid:/ {exit $2 == 0}' "/proc/$pid/status"
}

# Capabilities of a unit's process, as the kernel writes them.
capabilities() {
    grep -q "^CapEff:.*$2$" "/proc/$(main_pid "$1")/status"
}

cached() {
    hotset ls "$1" | grep -E "100 ?%"
}

not_cached() {
    ! cached "$1"
}

# has UNIT PROPERTY VALUE
has() {
    [[ $(systemctl show --property "$2" --value "$1") == "$3" ]]
}

another_process() {
    local pid
    pid=$(main_pid hotset-export)
    [[ $pid != 0 && $pid != "$1" ]]
}

restarts_after_a_crash() {
    local pid
    pid=$(main_pid hotset-export)
    kill -KILL "$pid"
    soon another_process "$pid"
}

held_when_caches_are_dropped() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
    cached /srv/pinned
}

# The same version once more: what runs is restarted as by a newer one.
upgrade() {
    local pid restored
    pid=$(main_pid hotset-export)
    restored=$(systemctl show --property ExecMainStartTimestampMonotonic --value hotset-restore)
    dpkg --install /packages/*.deb && soon another_process "$pid" &&
        has hotset-restore ExecMainStartTimestampMonotonic "$restored" && soon cached /srv/pinned
}

nothing_is_left() {
    local left
    left=$(find / -xdev -iname '*hotset*' -not -path '/guest/*' -not -path '/packages/*' -not -path '/var/log/*' -not -path '/var/cache/*' -not -path '/tmp/*')
    [[ -z $left ]] || { echo "$left"; return 1; }
    ! getent passwd hotset-export hotset-restore
}

first_boot() {
    check "hotset-export runs" soon systemctl is-active --quiet hotset-export
    check "it counts" soon metric 'hotset_read_pages_total [1-9]'
    check "it is not root" not_root hotset-export
    check "it has its capabilities and no more" capabilities hotset-export 000000c000000004
    check "restart" systemctl restart hotset-export
    check "it counts after a restart" soon metric 'hotset_read_pages_total [1-9]'
    check "it comes back after a crash" restarts_after_a_crash
    check "it counts after a crash" soon metric 'hotset_read_pages_total [1-9]'
    check "hotset-pin runs" soon systemctl is-active --quiet hotset-pin
    check "it is not root" not_root hotset-pin
    check "it has its capabilities and no more" capabilities hotset-pin 000000000000400c
    check "it holds files" soon cached /srv/pinned
    check "it holds them when caches are dropped" held_when_caches_are_dropped
    check "other files are gone from the cache" not_cached /srv/db
    check "hotset-restore did not run without a snapshot" has hotset-restore ConditionResult no
    cat /srv/db/* >/dev/null
    check "the file is cached" cached /srv/db
    check "hotset-save" systemctl start hotset-save.service
    check "the snapshot is the service's alone" test "$(stat -c %a /var/lib/private/hotset-restore)" = 700
    check "the timer waits" systemctl is-active --quiet hotset-save.timer
}

second_boot() {
    check "hotset-restore ran" soon systemctl is-active --quiet hotset-restore
    check "all of it was restored" has hotset-restore ExecMainStatus 0
    check "what was cached before the boot is cached" cached /srv/db
    check "hotset-export runs after the boot" soon metric 'hotset_read_pages_total [1-9]'
    check "hotset-pin runs after the boot" soon cached /srv/pinned
    check "an upgrade restarts what runs, and restores nothing" upgrade
    check "hotset-export counts after an upgrade" soon metric 'hotset_read_pages_total [1-9]'
    check "purge" dpkg --purge hotset
    check "services are stopped" test "$(pgrep --count hotset)" = 0
    check "nothing is left" nothing_is_left
}

systemctl --no-pager --plain list-units 'hotset*' | sed 's/^/GUEST unit /' >/dev/console
if ((boot == 0)); then first_boot; else second_boot; fi
journalctl --no-pager --quiet --unit 'hotset-*' | sed 's/^/GUEST log /' >/dev/console
finish
