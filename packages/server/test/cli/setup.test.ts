import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type OfficeLine, officeLine } from "../support/office-line.ts";
import { CATALOGUE, SITA } from "../support/provider-files.ts";

const setup = (line: OfficeLine, ...words: readonly string[]) =>
  line.run("setup", "--settings-file", "topupd.env", ...words);

test("a person at a terminal is asked for all steps in order, and again only for those that are not done", async () => {
  const line = officeLine();
  line.started = "";
  const files = [line.ndjson("catalogue.ndjson", ...CATALOGUE), line.ndjson("customers.ndjson", SITA)] as const;
  const settings = ["", "Nepal/Kathmandu", "", "npr", "NPR", "", "", "Blue Cable", "", "", "", "", ""];
  const yes = "";
  line.typed = [...settings, "maya", files[0], yes, "", "Blue Wallet", "no", "no"];
  const first = await setup(line);
  expect(line.typed).toEqual([]);
  expect(first.stderr.split("\n")).toEqual(
    expect.arrayContaining([
      "Database [sqlite:./topupd.db]: ",
      "Time zone [Asia/Kathmandu]: Nepal/Kathmandu",
      "It must be an IANA time zone such as Asia/Kathmandu.",
      "Currency: npr",
      "Decimals of the currency [2]: ",
      "Country [NP]: ",
      "Your name on settlements [none]: Blue Cable",
      "File of the customers [later]: ",
    ]),
  );
  expect([first.code, line.started]).toEqual([3, ""]);
  expect(line.read("topupd.env").split("\n")).toEqual([
    ...["TOPUPD_TIME_ZONE=Asia/Kathmandu", "TOPUPD_CURRENCY=NPR", "TOPUPD_CURRENCY_EXPONENT=2"],
    ...["TOPUPD_DEFAULT_COUNTRY=NP", 'TOPUPD_PROVIDER_NAME="Blue Cable"', ""],
  ]);
  expect(statSync(join(line.folder, "topupd.env")).mode & 0o777).toBe(0o600);
  const [, password = ""] = /^Password of maya: (\S{16})$/m.exec(first.stdout) ?? [];
  expect(password).not.toBe("");
  expect(await line.rows("staff", "list")).toMatchObject([{ name: "maya", role: "admin" }]);
  expect((await line.rows("audit", "list")).map(({ author }) => author)).not.toContain("topupd");

  line.typed = [files[1], yes, yes, yes];
  const second = await setup(line);
  expect([line.typed, second.code, line.started]).toEqual([[], 0, "topupd"]);
  expect(second.stdout).toMatch(/^topup_trial_\w+$/m);
  expect(second.stdout).not.toContain(password);
  expect((await line.json("customer", "show", SITA.cuid)).cuid).toBe(SITA.cuid);
  const written = line.read("topupd.env");
  const refused = await setup(line, "--yes", "--time-zone", "Europe/Berlin", "--no-start");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("the database is not ready")]);
  expect(line.read("topupd.env")).toBe(written);
  line.typed = ["no"];
  expect(await setup(line)).toMatchObject({ code: 0, stderr: expect.not.stringContaining("later") });
});

test("a time zone gives the country if one alone has it, and a currency its decimals", async () => {
  const line = officeLine();
  line.typed = ["", "UTC", "JPY", "", "JP"];
  const { stderr } = await setup(line);
  expect(stderr).toContain("Decimals of the currency [0]: \nCountry: JP\n");
  expect(line.read("topupd.env")).toContain("TOPUPD_CURRENCY_EXPONENT=0\nTOPUPD_DEFAULT_COUNTRY=JP\n");
});

test("files are read as the person, whose folder the service's user cannot enter, and only counts are shown", async () => {
  const line = officeLine();
  line.ndjson("catalogue.ndjson", ...CATALOGUE);
  const [file, elsewhere] = [join(line.folder, "catalogue.ndjson"), join(line.folder, "elsewhere")];
  line.asServiceUser = async (work) => {
    renameSync(file, elsewhere);
    return work().finally(() => renameSync(elsewhere, file));
  };
  const { stdout } = await setup(line, "--yes", "--currency", "NPR", "--catalogue", file);
  expect(stdout).toMatch(/^Catalogue +yes/m);
  expect(stdout).not.toContain("nothing ->");
});

test("the zone of a machine in UTC is no default, and a partner's first values are shown", async () => {
  const line = officeLine();
  line.timeZone = "UTC";
  expect(await setup(line, "--yes", "--currency", "NPR")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--time-zone is needed"),
  });
  const zone = ["--time-zone", "Asia/Kathmandu", "--public-url", "https://topup.example", "--prefix", "/pay"];
  const { stderr } = await setup(line, "--yes", "--currency", "NPR", "--partner", "Bank", ...zone);
  expect(stderr).toContain("BASE=https://topup.example/pay/v1.0.1\n");
  expect(stderr).toContain("set TOPUPD_CONSOLE_PORT");
});

test("nobody is added by password where only OpenID Connect logs in", async () => {
  const line = officeLine();
  const issuer = ["OIDC_ISSUER=https://a.example", "OIDC_CLIENT=topupd", "PASSWORD_LOG_IN=no"];
  line.write("topupd.env", issuer.map((each) => `TOPUPD_${each}\n`).join(""));
  const { code, stderr } = await setup(line, "--yes", "--currency", "NPR", "--partner", "Bank");
  expect([code, stderr]).toEqual([3, expect.stringContaining("The first log-in of an admin with OpenID Connect")]);
  expect(await line.rows("staff", "list")).toEqual([]);
});
