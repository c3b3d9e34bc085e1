import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";

const ADDRESS =
  "must be sqlite: and the path of a file, such as sqlite:./topupd.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/** A value that each setting must refuse, and what it is told to be. */
const BAD: readonly (readonly [flag: string, value: string, said: string])[] = [
  ["host", "", "must be an address"],
  ["port", "65536", "must be a whole number from 0 to 65535"],
  ["database", "sqlite::memory:", ADDRESS],
  ["database", "postgres://host-without-a-database", ADDRESS],
  ["database-connections", "0", "must be a whole number from 1 to 1000"],
  ["prefix", "/api/", "must be a path such as /api/third-party, without a slash at its end"],
  ["trusted-proxies", "", "must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32"],
  ["trusted-proxies", "all", "must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32"],
  ["trusted-proxies", "0.0.0.0/0", "must not be all addresses there are"],
  [
    "trusted-proxies",
    "10.0.0.1, 10.0.0.2/8",
    'names "10.0.0.2/8", which must be 10.0.0.0/8 where that range is meant, or 10.0.0.2 alone',
  ],
  ["time-zone", "+05:45", "must be an IANA time zone such as Asia/Kathmandu"],
  ["currency-exponent", "5", "must be a whole number from 0 to 4"],
  ["lapsed-days", "-1", "must be a whole number from 0 to 3650"],
  ["log-level", "verbose", "must be one of debug, info, warn, error, silent"],
  ["drain-seconds", "301", "must be a whole number from 0 to 300"],
  ["shutdown-seconds", "0", "must be a whole number from 1 to 300"],
  ["metrics-port", "-1", "must be a whole number from 0 to 65535"],
  ["metrics-host", "", "must be an address"],
  ["v100-deprecated-on", "2027-02-30", "must be a date in the form YYYY-MM-DD"],
  ["v100-sunset-on", "soon", "must be a date in the form YYYY-MM-DD"],
];

const variableOf = (flag: string) => `TOPUPD_${flag.toUpperCase().replaceAll("-", "_")}`;

describe("settings", () => {
  test("are refused by the flag that gave a bad value", async () => {
    const line = commandLine();
    const runs = await Promise.all(BAD.map(([flag, value]) => line.run("serve", `--${flag}=${value}`)));
    const stderr = BAD.map(([flag, value, said]) => `topupd: --${flag} ${said}, but is ${JSON.stringify(value)}\n`);
    expect(runs).toEqual(stderr.map((each) => ({ code: 2, stdout: "", stderr: each })));
    expect(readdirSync(line.folder)).toEqual([]);
  });

  test("never repeat a password that stands in a bad address", async () => {
    const bad = [
      "postgres:/topupd:secret1@db/topupd",
      "postgres://topupd:secret1@db",
      "mysql://topupd:sec@ret1@db/topupd",
      "postgres://db?password=secret1",
    ];
    for (const value of bad) {
      const { code, stdout, stderr } = await commandLine({ env: { TOPUPD_DATABASE: value } }).run("check");
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("TOPUPD_DATABASE must be");
      expect(stderr).toContain("***");
      expect(stderr).not.toMatch(/secret1|ret1/);
    }
  });

  test("are refused by the variable that gave a bad value", async () => {
    const runs = await Promise.all(
      BAD.map(([flag, value]) => commandLine({ env: { [variableOf(flag)]: value } }).run("serve")),
    );
    const stderr = BAD.map(
      ([flag, value, said]) => `topupd: ${variableOf(flag)} ${said}, but is ${JSON.stringify(value)}\n`,
    );
    expect(runs).toEqual(stderr.map((each) => ({ code: 2, stdout: "", stderr: each })));
  });

  test("variables that are no settings are refused by their names", async () => {
    const line = commandLine({ env: { TOPUPD_COLOUR: "red", TOPUPD_Port: "1", TOPUPD_PORT: "0" } });
    const runs = await Promise.all(["serve", "demo", "check"].map((command) => line.run(command)));
    for (const { code, stdout, stderr } of runs) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(
        /^topupd: TOPUPD_(COLOUR and TOPUPD_Port|Port and TOPUPD_COLOUR): there is no such setting\n$/,
      );
    }
    expect(readdirSync(line.folder)).toEqual([]);
  });

  test("a flag wins over a variable, which wins over the default", async () => {
    const plain = commandLine();
    const told = commandLine({ folder: plain.folder, env: { TOPUPD_DATABASE: "sqlite:./variable.db" } });
    const made = () => ["topupd.db", "variable.db", "flag.db"].filter((name) => existsSync(join(plain.folder, name)));
    await plain.mustRun("partner", "add", "wallet");
    expect(made()).toEqual(["topupd.db"]);
    await told.mustRun("partner", "add", "wallet");
    expect(made()).toEqual(["topupd.db", "variable.db"]);
    await told.mustRun("partner", "add", "wallet", "--database", "sqlite:./flag.db");
    expect(made()).toEqual(["topupd.db", "variable.db", "flag.db"]);
  });

  test("a bad variable does no harm where a flag is given", async () => {
    const line = commandLine({ env: { TOPUPD_DATABASE: "nowhere" } });
    await line.mustRun("partner", "add", "wallet", "--database", "sqlite:./flag.db");
    expect(existsSync(join(line.folder, "flag.db"))).toBe(true);
  });

  test("a flag may be written with = or with a blank", async () => {
    const line = commandLine();
    await line.mustRun("partner", "add", "wallet", "--database=sqlite:./a b.db", "--currency-exponent", "0");
    expect(await line.mustRun("partner", "list", "--json", "--database", "sqlite:./a b.db")).toContain("wallet");
  });

  test("a time zone or currency other than the database's own is refused by name", async () => {
    const line = commandLine();
    const row = { service: "tv", code: "TV-1M", name: "TV (MONTHLY)", price: 450 };
    await line.mustRun("import", "catalogue", line.ndjson("c.ndjson", row), "--time-zone", "Asia/Kathmandu");
    expect(await line.run("check", "--time-zone", "UTC")).toEqual({
      code: 2,
      stdout: "",
      stderr: "topupd: --time-zone (TOPUPD_TIME_ZONE) is UTC, but the database was filled with Asia/Kathmandu\n",
    });
    expect(await line.run("serve", "--currency-exponent", "0")).toEqual({
      code: 2,
      stdout: "",
      stderr: "topupd: --currency-exponent (TOPUPD_CURRENCY_EXPONENT) is 0, but the database was filled with 2\n",
    });
    expect((await line.run("check")).code).toBe(0);
  });
});
