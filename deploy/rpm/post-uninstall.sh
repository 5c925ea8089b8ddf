if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || :
    # An upgrade: services that run are those of the new version from now on.
    [ "$1" = 0 ] || systemctl try-restart hotset-export.service hotset-pin.service || :
fi
# The last version goes, and with it what services kept. The tool that makes the package can give it no directory.
if [ "$1" = 0 ]; then
    rmdir /usr/share/doc/hotset 2>/dev/null || :
    for name in hotset hotset-restore; do
        rm -rf "/var/lib/private/$name"
        if [ -L "/var/lib/$name" ]; then rm -f "/var/lib/$name"; else rm -rf "/var/lib/$name"; fi
    done
fi
