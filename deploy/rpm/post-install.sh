# Services stay as they are: none is enabled or started by the package.
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || :
fi
