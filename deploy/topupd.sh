#!/bin/sh
# Runs a command of topupd with the settings of the service, as its user, in the current directory, and says in the audit
# trail who called it. The user need not be able to enter that directory.
exec systemd-run --quiet --pipe --wait --collect \
  --property=User=topupd --property=UMask=0077 --property="WorkingDirectory=-$PWD" \
  --property=EnvironmentFile=/etc/topupd/topupd.env --setenv=SUDO_USER="${SUDO_USER:-$(id -un)}" \
  /usr/bin/node /opt/topupd/packages/server/bin/topupd.js "$@"
