import { existsSync } from "node:fs";

/** What the tests of RADIUS run, where Debian's packages put it. */
const PROGRAMS = {
  mariadb: ["/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"],
  freeradius: [
    "/usr/sbin/freeradius",
    "/usr/bin/radtest",
    "/usr/lib/freeradius/rlm_sql_postgresql.so",
    "/usr/lib/freeradius/rlm_sql_mysql.so",
    // It may be there, and closed to whoever runs the tests.
    "/etc/freeradius/3.0/mods-config/sql/main/mysql/queries.conf",
  ],
} as const;

const PACKAGES = {
  mariadb: "mariadb-server",
  freeradius: "freeradius freeradius-postgresql freeradius-mysql freeradius-utils",
} as const;

/** Says what to install where a program is missing. */
export function isInstalled(name: keyof typeof PROGRAMS): boolean {
  const missing = PROGRAMS[name].find((path) => !existsSync(path));
  if (missing === undefined) return true;
  process.stderr.write(`SKIPPED: no ${missing}: its tests need apt-get install ${PACKAGES[name]}\n`);
  return false;
}
