import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { limitsOf } from "../../src/faces/cli/console.ts";
import { officeLine } from "../support/office-line.ts";

const ADDRESS =
  "must be sqlite: and the path of a file, such as sqlite:./topupd.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE";

const MAIL = "must be smtp:// or smtps:// and a server, such as smtp://USER:PASSWORD@mail.provider.example:587";

/** A value that each setting must refuse, and what it is told to be. */
const BAD: readonly (readonly [flag: string, value: string, said: string])[] = [
  ["host", "", "must be an address"],
  ["port", "65536", "must be a whole number from 0 to 65535"],
  ["database", "sqlite::memory:", ADDRESS],
  ["database", "postgres://host-without-a-database", ADDRESS],
  ["database-connections", "0", "must be a whole number from 1 to 1000"],
  ["reports-database", "sqlite:./topupd.db", "must be postgres://USER:PASSWORD@HOST:PORT/DATABASE"],
  ["prefix", "/api/", "must be a path such as /api/third-party, without a slash at its end"],
  ["public-url", "topup.example", "must be a URL without a path, such as https://topup.provider.example"],
  ["public-url", "https://topup.example/api", "must be a URL without a path, such as https://topup.provider.example"],
  [
    "trusted-proxies",
    "all",
    `names "all", which must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32`,
  ],
  ["trusted-proxies", "0.0.0.0/0", `names "0.0.0.0/0", which must not be all addresses there are`],
  [
    "trusted-proxies",
    "10.0.0.1, 10.0.0.2/8",
    `names "10.0.0.2/8", which must have the range's first address before the slash`,
  ],
  ["time-zone", "+05:45", "must be an IANA time zone such as Asia/Kathmandu"],
  ["currency-exponent", "5", "must be a whole number from 0 to 4"],
  ["number-grouping", "none", "must be one of western, indian"],
  ["default-country", "np", "must be two capital letters of ISO 3166 such as NP"],
  ["provider-name", " ", "must be one line of 1 to 200 characters"],
  ["provider-address", "Main Road 1\nKathmandu", "must be one line of 1 to 200 characters"],
  ["provider-number", "", "must be one line of 1 to 200 characters"],
  ["provider-tax", "9".repeat(201), "must be one line of 1 to 200 characters"],
  ["base-plans", "internet=two", "must be a list such as internet=one,iptv=many,tv=many"],
  ["base-plans", "radio=one", "must be a list such as internet=one,iptv=many,tv=many"],
  ["base-plans", "", "must be a list such as internet=one,iptv=many,tv=many"],
  ["lapsed-days", "-1", "must be a whole number from 0 to 3650"],
  ["log-level", "verbose", "must be one of debug, info, warn, error, silent"],
  ["drain-seconds", "301", "must be a whole number from 0 to 300"],
  ["shutdown-seconds", "0", "must be a whole number from 1 to 300"],
  ["metrics-port", "-1", "must be a whole number from 0 to 65535"],
  ["metrics-host", "", "must be an address"],
  ["console-port", "70000", "must be a whole number from 0 to 65535"],
  ["console-host", "", "must be an address"],
  ["require-totp", "admin,owner", "must be none or a list of viewer, support, finance, admin, seller"],
  ["password-log-in", "maybe", "must be yes or no"],
  ["oidc-issuer", "http://accounts.example", "must be a URL such as https://accounts.provider.example"],
  ["oidc-issuer", "accounts.example", "must be a URL such as https://accounts.provider.example"],
  ["oidc-client", "", "must be one line of 1 to 200 characters"],
  ["oidc-role-claim", "", "must be one line of 1 to 200 characters"],
  ["mail", "https://mail.example", MAIL],
  ["mail", "smtp://mail.example/inbox", MAIL],
  ["mail", "smtp://ravi@mail.example", MAIL],
  ["mail-from", "ravi", "must be a mail address such as alerts@provider.example"],
  ["mail-to", "ravi@example, <maya@example>", "must be a mail address such as alerts@provider.example"],
  ["support-goodwill-days", "some", "must be a whole number from 0 to 99999"],
  ["support-bulk", "-1", "must be a whole number from 0 to 99999"],
  ["second-person-bulk", "all", "must be none, or a whole number from 0 to 99999"],
  ["second-person-reversal", "99.50", "must be none, or a whole number of up to 11 digits"],
  ["second-person-money", "-1", "must be none, or a whole number of up to 11 digits"],
  ["private-targets", "10.0.0.1/8", 'names "10.0.0.1/8", which must have the range\'s first address before the slash'],
  ["v100-deprecated-on", "2027-02-30", "must be a date in the form YYYY-MM-DD"],
  ["v100-sunset-on", "soon", "must be a date in the form YYYY-MM-DD"],
];

const variableOf = (flag: string) => `TOPUPD_${flag.toUpperCase().replaceAll("-", "_")}`;

describe("settings", () => {
  test.each(BAD)("--%s, and its variable, refuse %j by name", async (flag, value, said) => {
    const line = officeLine();
    const refused = (by: string) => `topupd: ${by} ${said}, but is ${JSON.stringify(value)}\n`;
    expect(await line.run("serve", `--${flag}=${value}`)).toEqual({
      code: 2,
      stdout: "",
      stderr: refused(`--${flag}`),
    });
    const told = officeLine({ env: { [variableOf(flag)]: value } });
    expect(await told.run("serve")).toEqual({ code: 2, stdout: "", stderr: refused(variableOf(flag)) });
    expect(readdirSync(line.folder)).toEqual([]);
  });

  test("take their lowest and highest values, and none beyond", () => {
    const BOUNDS = {
      port: [0, 65_535],
      workers: [1, 64],
      databaseConnections: [1, 1_000],
      currencyExponent: [0, 4],
      monthsAhead: [1, 12_000],
      lapsedDays: [0, 3_650],
      drainSeconds: [0, 300],
      shutdownSeconds: [1, 300],
      backupHours: [1, 99_999],
      backupDays: [0, 10_000],
      supportGoodwillDays: [0, 99_999],
      secondPersonBulk: [0, 99_999],
    } as const;
    for (const [name, [least, most]] of Object.entries(BOUNDS)) {
      for (const value of [least, most])
        expect(readConfig({}, { [name]: String(value) }), name).toMatchObject({ [name]: value });
      for (const beyond of [least - 1, most + 1])
        expect(() => readConfig({}, { [name]: String(beyond) })).toThrow(
          `a whole number from ${least} to ${most}, but`,
        );
    }
    for (const name of ["secondPersonReversal", "secondPersonMoney"] as const) {
      expect(readConfig({}, { [name]: "9".repeat(11) })).toMatchObject({ [name]: 99_999_999_999n });
      expect(() => readConfig({}, { [name]: "1".padEnd(12, "0") })).toThrow("must be none, or a whole number");
    }
  });

  test("never repeat a password that stands in a bad address", async () => {
    const bad = [
      "postgres:/topupd:secret1@db/topupd",
      "postgres://topupd:secret1@db",
      "mysql://topupd:sec@ret1@db/topupd",
      "postgres://db?password=secret1",
    ];
    for (const value of bad) {
      const { code, stdout, stderr } = await officeLine({ env: { TOPUPD_DATABASE: value } }).run("check");
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("TOPUPD_DATABASE must be");
      expect(stderr).toContain("***");
      expect(stderr).not.toMatch(/secret1|ret1/);
    }
    for (const value of ["smtp://ravi:secret1%zz@mail", "smtp://ravi:sec/ret1@mail", "ravi:sec#ret1@mail:25"]) {
      const { stderr } = await officeLine({ env: { TOPUPD_MAIL: value } }).run("check", "mail");
      expect(stderr).toMatch(/^topupd: TOPUPD_MAIL must be .*\*\*\*@/);
      expect(stderr).not.toMatch(/sec|ret1/);
    }
  });

  test("variables that are no settings are refused by their names", async () => {
    const env = { TOPUPD_COLOUR: "red", TOPUPD_Port: "1", TOPUPD_PORT: "0" };
    for (const command of ["serve", "demo", "check"])
      expect(await officeLine({ env }).run(command)).toEqual({
        code: 2,
        stdout: "",
        stderr: "topupd: TOPUPD_COLOUR and TOPUPD_Port: there is no such setting\n",
      });
  });

  test("a flag wins over a variable, though that is bad, and a variable over the default", async () => {
    const line = officeLine();
    const made = () => ["topupd.db", "variable.db", "flag.db"].filter((name) => existsSync(join(line.folder, name)));
    await line.mustRun("partner", "add", "wallet");
    line.env["TOPUPD_DATABASE"] = "sqlite:./variable.db";
    await line.mustRun("partner", "add", "wallet");
    expect(made()).toEqual(["topupd.db", "variable.db"]);
    line.env["TOPUPD_DATABASE"] = "nowhere";
    await line.mustRun("partner", "add", "wallet", "--database=sqlite:./flag.db");
    expect(made()).toEqual(["topupd.db", "variable.db", "flag.db"]);
  });

  test("log-in settings that lock everybody out, or lack a half, are refused", () => {
    const issuer = { TOPUPD_OIDC_ISSUER: "http://localhost:9000", TOPUPD_OIDC_CLIENT: "topupd" };
    expect(readConfig({ ...issuer, TOPUPD_PASSWORD_LOG_IN: "no" }, {})).toMatchObject({ passwordLogIn: false });
    expect(() => readConfig({ TOPUPD_PASSWORD_LOG_IN: "no" }, {})).toThrow("nobody can log in");
    for (const name of Object.keys(issuer))
      expect(() => readConfig({ ...issuer, [name]: undefined }, {})).toThrow("need each other");
    expect(readConfig({ TOPUPD_REQUIRE_TOTP: "none" }, {}).requireTotp).toEqual(new Set());
    expect(readConfig({}, {}).requireTotp).toEqual(new Set(["admin", "finance"]));
  });

  test("base plans that are not named have their defaults", () => {
    expect(readConfig({}, {}).basePlans).toEqual({ internet: "one", iptv: "many", tv: "many" });
    expect(readConfig({ TOPUPD_BASE_PLANS: "tv=one, internet=many" }, {}).basePlans).toEqual({
      ...{ internet: "many", iptv: "many", tv: "one" },
    });
  });

  test("limits of staff have defaults, and an amount is in whole units of the currency", () => {
    const flags = {
      supportGoodwillDays: "7",
      supportBulk: "8",
      secondPersonBulk: "none",
      secondPersonReversal: "5000",
      secondPersonMoney: "70",
    };
    expect(limitsOf(readConfig({}, flags), { currencyExponent: 2 })).toEqual({
      ...{ supportGoodwillDays: 7, supportBulk: 8, secondPersonBulk: Number.POSITIVE_INFINITY },
      ...{ secondPersonReversal: 500_000n, secondPersonMoney: 7_000n },
    });
    const none = { TOPUPD_SECOND_PERSON_REVERSAL: "none", TOPUPD_SECOND_PERSON_MONEY: "none" };
    expect(limitsOf(readConfig(none, {}), { currencyExponent: 2 })).toMatchObject({ secondPersonMoney: undefined });
    expect(limitsOf(readConfig({}, {}), { currencyExponent: 0 })).toEqual({
      ...{ supportGoodwillDays: 400, supportBulk: 200, secondPersonBulk: 1000, secondPersonReversal: undefined },
      secondPersonMoney: undefined,
    });
  });

  test("a time zone, currency or country other than the database's own is refused by name", async () => {
    const line = officeLine();
    const row = { service: "tv", code: "TV-1M", name: "TV (MONTHLY)", price: 450 };
    await line.mustRun("import", "catalogue", line.ndjson("c.ndjson", row), "--time-zone", "Asia/Kathmandu");
    for (const [flag, value, filledWith] of [
      ["time-zone", "UTC", "Asia/Kathmandu"],
      ["currency-exponent", "0", "2"],
      ["default-country", "NP", "none"],
    ])
      expect(await line.run("check", `--${flag}`, value ?? "")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(
          `--${flag} (${variableOf(flag ?? "")}) is ${value}, but the database was filled with ${filledWith}`,
        ),
      });
    expect((await line.run("check")).code).toBe(0);
  });
});
