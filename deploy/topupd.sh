#!/bin/sh
# Copy to /usr/local/sbin/topupd, mode 0755.
# Runs a topupd command with the settings and the user of the service, in the current directory, and records the caller's
# name in the audit trail. The command also works if that user cannot enter the directory.
set -eu
settings=/etc/topupd/topupd.env
set -- /usr/bin/node /opt/topupd/packages/server/bin/topupd.js "$@"
caller=$(id -un)

case $caller,${3-} in
  # Writes the settings as root, and all else as the user topupd.
  root,setup) exec "$@" ;;
  root,*) ;;
  # In a container, the settings are variables already. The other commands need none.
  topupd,* | *,demo | *,-V | *,--version | *,-h | *,--help | *,help) exec "$@" ;;
esac
if [ -d /run/systemd/system ]; then
  exec systemd-run --quiet --pipe --wait --collect \
    --property=User=topupd --property=UMask=0077 --property="WorkingDirectory=-$PWD" \
    --property=EnvironmentFile=$settings --setenv=SUDO_USER="${SUDO_USER:-$caller}" "$@"
fi
# Without systemd: reads the settings as systemd does, and executes nothing in them.
while IFS= read -r line || [ -n "$line" ]; do
  case $line in TOPUPD_*=*) ;; *) continue ;; esac
  value=${line#*=}
  case $value in \"*\" | \'*\') value=${value#?} value=${value%?} ;; esac
  export "${line%%=*}=$value"
done <$settings
umask 077
export SUDO_USER="${SUDO_USER:-$caller}"
exec setpriv --reuid=topupd --regid=topupd --init-groups "$@"
