import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import { giveTo } from "./postgres-files.ts";
import { keep } from "./postgres-keeper.ts";

export interface MariaDb {
  /** Of a user who may make databases. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a MariaDB with data of its own in a temporary folder, on a free port of the loopback address. */
export async function startMariaDb(): Promise<MariaDb> {
  const folder = mkdtempSync(join(process.getuid?.() === 0 ? "/tmp" : tmpdir(), "topupd-mariadb-"));
  const keeper = keep(folder);
  const user = systemUser("mysql");
  const port = randomInt(20_000, 32_768);
  const url = `mysql://tester:secret@127.0.0.1:${port}/mysql`;
  try {
    writeFileSync(join(folder, "init.sql"), "GRANT ALL ON *.* TO 'tester'@'127.0.0.1' IDENTIFIED BY 'secret';\n");
    giveTo(user, folder);
    const data = `--datadir=${join(folder, "data")}`;
    const install = ["--no-defaults", data, "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=16M"];
    await keeper.run({ command: "/usr/bin/mariadb-install-db", args: install, user });
    const args = [
      ...["--no-defaults", data, `--port=${port}`, "--bind-address=127.0.0.1", `--socket=${join(folder, "socket")}`],
      ...[`--pid-file=${join(folder, "pid")}`, `--init-file=${join(folder, "init.sql")}`, "--skip-name-resolve"],
      ...["--innodb-log-file-size=16M", "--innodb-buffer-pool-size=32M"],
    ];
    const ended = keeper.run({ command: "/usr/sbin/mariadbd", args, user }).then(
      () => new Error("MariaDB has ended"),
      (error: unknown) => error,
    );
    await readyOn(url, ended);
  } catch (error) {
    await keeper.close();
    throw error;
  }
  return { url, close: () => keeper.close() };
}

async function readyOn(url: string, ended: Promise<unknown>): Promise<void> {
  let end: unknown;
  void ended.then((error) => {
    end = error;
  });
  for (let attempt = 1; end === undefined && attempt <= 300; attempt += 1) {
    try {
      await (await createConnection(url)).end();
      return;
    } catch {
      await delay(50);
    }
  }
  throw end ?? new Error("MariaDB is not ready after 15 s");
}

/** Whom a program of a package runs as; the tests' own user, unless that is root. */
export function systemUser(name: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, "m").exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  return uid === undefined ? {} : { uid: Number(uid), gid: Number(gid) };
}
