#!/bin/sh
# Runs a topupd command with the settings and the user of the service, in the current directory, and records the caller's
# name in the audit trail. The command also works if that user cannot enter the directory.
# Setup needs a terminal, and root for the settings. It does all else as that user.
[ "${1:-}" != setup ] || exec /usr/bin/node /opt/topupd/packages/server/bin/topupd.js "$@"
exec systemd-run --quiet --pipe --wait --collect \
  --property=User=topupd --property=UMask=0077 --property="WorkingDirectory=-$PWD" \
  --property=EnvironmentFile=/etc/topupd/topupd.env --setenv=SUDO_USER="${SUDO_USER:-$(id -un)}" \
  /usr/bin/node /opt/topupd/packages/server/bin/topupd.js "$@"
