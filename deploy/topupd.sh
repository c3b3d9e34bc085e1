#!/bin/sh
# Runs a command of topupd with the settings of the service, as its user, and says in the audit trail who called it.
exec systemd-run --quiet --pipe --wait --collect \
  --property=User=topupd --property=UMask=0077 --property=WorkingDirectory=/var/lib/topupd \
  --property=EnvironmentFile=/etc/topupd/topupd.env --setenv=SUDO_USER="${SUDO_USER:-$(id -un)}" \
  /usr/bin/node /opt/topupd/packages/server/bin/topupd.js "$@"
