#!/bin/sh
# Runs a topupd command with the settings and the user of the service, in the current directory, and records the caller's
# name in the audit trail. The command also works if that user cannot enter the directory.
exec systemd-run --quiet --pipe --wait --collect \
  --property=User=topupd --property=UMask=0077 --property="WorkingDirectory=-$PWD" \
  --property=EnvironmentFile=/etc/topupd/topupd.env --setenv=SUDO_USER="${SUDO_USER:-$(id -un)}" \
  /usr/bin/node /opt/topupd/packages/server/bin/topupd.js "$@"
