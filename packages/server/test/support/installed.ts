import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

interface Program {
  /** A command that succeeds if the program is there. */
  readonly shownBy?: readonly [program: string, ...words: string[]];
  /** Files that are there with it. */
  readonly files?: readonly string[];
  readonly install: string;
}

/** The programs that some tests run, and that npm does not bring. */
const PROGRAMS = {
  Python: { shownBy: ["python3", "--version"], install: "apt-get install python3" },
  PHP: { shownBy: ["php", "--version"], install: "apt-get install php-cli" },
  "Python's build": {
    shownBy: [
      "python3",
      "-c",
      "import build, wheel, setuptools; assert int(setuptools.__version__.split('.')[0]) >= 77",
    ],
    install: "pip install build wheel 'setuptools>=77'",
  },
  Composer: { shownBy: ["composer", "--version", "--no-interaction"], install: "apt-get install composer" },
  FreeRADIUS: {
    files: [
      "/usr/sbin/freeradius",
      "/usr/bin/radtest",
      "/usr/lib/freeradius/rlm_sql_postgresql.so",
      "/usr/lib/freeradius/rlm_sql_mysql.so",
      // It may be there, and closed to whoever runs the tests.
      "/etc/freeradius/3.0/mods-config/sql/main/mysql/queries.conf",
    ],
    install: "apt-get install freeradius freeradius-postgresql freeradius-mysql freeradius-utils",
  },
  MariaDB: {
    files: ["/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"],
    install: "apt-get install mariadb-server",
  },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;

/**
 * Whether tests can run the program. If not, they are skipped, and the output says what to install.
 * @throws Error if the program is missing and NEEDED_PROGRAMS, a list with commas, names it.
 */
export function isInstalled(name: ProgramName): boolean {
  const { shownBy, files = [], install }: Program = PROGRAMS[name];
  const missing = shownBy === undefined ? files.find((path) => !existsSync(path)) : missingOf(shownBy);
  if (missing === undefined) return true;
  const said = `no ${name} (${missing}): its tests need ${install}`;
  if ((process.env["NEEDED_PROGRAMS"] ?? "").split(",").includes(name)) throw new Error(said);
  process.stderr.write(`SKIPPED: ${said}\n`);
  return false;
}

function missingOf([program, ...words]: readonly [string, ...string[]]): string | undefined {
  return spawnSync(program, words).status === 0 ? undefined : program;
}
