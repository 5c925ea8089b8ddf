# $1 is 0 when the last version goes.
if [ "$1" = 0 ] && command -v systemctl >/dev/null; then
    systemctl --no-reload disable hotset-export.service hotset-pin.service hotset-restore.service hotset-save.timer || :
    if [ -d /run/systemd/system ]; then
        systemctl stop hotset-export.service hotset-pin.service hotset-restore.service hotset-save.timer || :
    fi
fi
