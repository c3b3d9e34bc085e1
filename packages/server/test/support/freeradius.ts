import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemUser } from "./mariadb.ts";
import { giveTo } from "./postgres-files.ts";
import { keep } from "./postgres-keeper.ts";

export interface RadiusAnswer {
  readonly accepted: boolean;
  /** In seconds. */
  readonly sessionTimeout: number | undefined;
  readonly filterId: string | undefined;
}

export interface FreeRadius {
  /** A login by `radtest`. */
  test(username: string): Promise<RadiusAnswer>;
  /** Sends attributes by `radclient`, as a device that begins or ends a session. */
  account(attributes: string): Promise<void>;
  /** It plays a device too: it knows neither the session `unknown` nor the user `stripped`, and ends every other session. */
  readonly device: { readonly address: string; readonly port: number; readonly secret: string };
  close(): Promise<void>;
}

export const PASSWORD = "open sesame";

const SECRET = "testing123";
const QUERIES = "/etc/freeradius/3.0/mods-config/sql/main";

/** Starts a FreeRADIUS on a free port of the loopback address, whose clock shows a zone and whose users are in a database. */
export async function startFreeRadius(database: string, timeZone: string): Promise<FreeRadius> {
  const folder = mkdtempSync(join(process.getuid?.() === 0 ? "/tmp" : tmpdir(), "topupd-radius-"));
  const keeper = keep(folder);
  const user = systemUser("freerad");
  const port = randomInt(20_000, 32_768);
  writeFileSync(join(folder, "radiusd.conf"), configuration(folder, port, new URL(database)));
  giveTo(user, folder);
  const args = [`TZ=${timeZone}`, "/usr/sbin/freeradius", "-f", "-l", "stdout", "-d", folder, "-n", "radiusd"];
  let end: unknown;
  void keeper.run({ command: "/usr/bin/env", args, user }).then(
    () => {
      end = new Error("FreeRADIUS has ended");
    },
    (error: unknown) => {
      end = error;
    },
  );
  const test = async (username: string): Promise<RadiusAnswer> => {
    const said = await radtest(username, port);
    const accepted = said.includes("Received Access-Accept");
    if (!accepted && !said.includes("Received Access-Reject")) throw end ?? new Error(`radtest says ${said}`);
    const timeout = /Session-Timeout = (\d+)/.exec(said)?.[1];
    const filterId = /Filter-Id = "(.*)"/.exec(said)?.[1];
    return { accepted, sessionTimeout: timeout === undefined ? undefined : Number(timeout), filterId };
  };
  for (let attempt = 1; end === undefined && attempt <= 100; attempt += 1) {
    if (await answers(port))
      return {
        ...{ test, close: () => keeper.close() },
        device: { address: "127.0.0.1", port: port + 2, secret: SECRET },
        account: async (attributes) => {
          const said = await radclient(["-t", "5", `127.0.0.1:${port + 1}`, "acct", SECRET], attributes);
          if (!said.includes("Received Accounting-Response")) throw new Error(`radclient says ${said}`);
        },
      };
    await delay(50);
  }
  await keeper.close();
  throw end ?? new Error("FreeRADIUS is not ready");
}

function radtest(username: string, port: number): Promise<string> {
  const args = [username, PASSWORD, `127.0.0.1:${port}`, "0", SECRET];
  return new Promise((resolve) => {
    execFile("/usr/bin/radtest", args, { timeout: 10_000 }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

/** Without the patience of radtest. */
async function answers(port: number): Promise<boolean> {
  const said = await radclient(["-r", "1", "-t", "0.2", `127.0.0.1:${port}`, "auth", SECRET], "User-Name = nobody");
  return said.includes("Received Access-Reject");
}

function radclient(args: readonly string[], attributes: string): Promise<string> {
  return new Promise((resolve) => {
    const client = execFile("/usr/bin/radclient", args, { timeout: 10_000 }, (_, stdout) => resolve(stdout));
    client.stdin?.end(attributes);
  });
}

/** As Debian's, without what logins do not need. */
function configuration(
  folder: string,
  port: number,
  { protocol, hostname, port: sqlPort, username, password, pathname }: URL,
) {
  const dialect = protocol.startsWith("postgres") ? "postgresql" : "mysql";
  return `
prefix = /usr
libdir = /usr/lib/freeradius
logdir = ${folder}
run_dir = ${folder}
pidfile = ${folder}/radiusd.pid
security {
  reject_delay = 0
  max_attributes = 200
  status_server = no
}
client tests {
  ipaddr = 127.0.0.1
  secret = ${SECRET}
}
thread pool {
  start_servers = 1
  max_servers = 2
  min_spare_servers = 1
  max_spare_servers = 1
}
modules {
  expr {
  }
  pap {
  }
  expiration {
  }
  always ok {
    rcode = ok
  }
  always reject {
    rcode = reject
  }
  sql {
    dialect = "${dialect}"
    driver = "rlm_sql_${dialect}"
    server = "${hostname}"
    port = ${sqlPort}
    login = "${username}"
    password = "${password}"
    radius_db = "${pathname.slice(1)}"
    acct_table1 = "radacct"
    acct_table2 = "radacct"
    postauth_table = "radpostauth"
    authcheck_table = "radcheck"
    groupcheck_table = "radgroupcheck"
    authreply_table = "radreply"
    groupreply_table = "radgroupreply"
    usergroup_table = "radusergroup"
    client_table = "nas"
    group_attribute = "SQL-Group"
    pool {
      start = 1
      min = 1
      max = 2
      spare = 1
    }
    $INCLUDE ${QUERIES}/${dialect}/queries.conf
  }
}
server default {
  listen {
    type = auth
    ipaddr = 127.0.0.1
    port = ${port}
  }
  listen {
    type = acct
    ipaddr = 127.0.0.1
    port = ${port + 1}
  }
  preacct {
    update request {
      &Acct-Unique-Session-Id := "%{md5:%{User-Name},%{Acct-Session-Id},%{NAS-IP-Address}}"
    }
  }
  accounting {
    sql
  }
  authorize {
    sql
    expiration
    pap
  }
  authenticate {
    Auth-Type PAP {
      pap
    }
  }
}
server coa {
  listen {
    type = coa
    ipaddr = 127.0.0.1
    port = ${port + 2}
  }
  recv-coa {
    if (&Acct-Session-Id == "unknown" || &User-Name == "stripped") {
      update reply {
        &Error-Cause := 503
      }
      reject
    }
    ok
  }
}
`;
}
