import { describe, expect, test } from "vitest";
import { type OfficeLine, officeLine } from "../support/office-line.ts";

const DAY_MS = 86_400_000;
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });
const misused = (stderr: string) => ({ code: 2, stdout: "", stderr: `topupd: ${stderr}\n` });

async function withPartner(env?: Record<string, string>): Promise<OfficeLine> {
  const line = officeLine(env === undefined ? {} : { env });
  await line.mustRun("partner", "add", "wallet");
  return line;
}

describe("topupd partner", () => {
  test("add, suspend and resume show the partner, and list shows all of them", async () => {
    const line = officeLine();
    const wallet = { id: 1, name: "wallet", status: "active", createdAt: TIME, allowedAddresses: null };
    expect(await line.json("partner", "add", "wallet")).toEqual(wallet);
    const table = await line.mustRun("partner", "add", "The Bank of आज");
    expect(table).toMatch(
      /^ID {2}NAME +STATUS {2}CREATED AT +ALLOWED ADDRESSES\n2 {3}The Bank of आज +active {2}\d{4}-/,
    );
    for (const [verb, status] of [
      ["suspend", "suspended"],
      ["suspend", "suspended"],
      ["resume", "active"],
    ] as const)
      expect(await line.json("partner", verb, "wallet")).toEqual({ ...wallet, status });
    expect(await line.rows("partner", "list")).toEqual([
      { ...wallet, validTokens: 0, lastUsedAt: null },
      expect.objectContaining({ id: 2 }),
    ]);
    expect(await line.run("partner", "add", "wallet")).toEqual(failed("there is a partner named wallet already"));
    expect(await line.run("partner", "suspend", "bank")).toEqual(failed("there is no partner named bank"));
  });

  test.each(["", " wallet", "wallet ", "a\tb", "a\u00a0b", "x".repeat(65)])("add refuses the name %j", async (name) => {
    expect(await officeLine().run("partner", "add", name)).toEqual(
      misused("NAME must have 1 to 64 characters, no blank at either end, and no blank but the space"),
    );
  });

  test("allow sets the addresses in place of any former ones, or lifts the limit", async () => {
    const line = await withPartner();
    const allow = (...words: string[]) => line.run("partner", "allow", "wallet", ...words);
    const two = await line.json("partner", "allow", "wallet", "--address", "203.0.113.7", "--address", "2001:db8::/32");
    expect(two.allowedAddresses).toEqual(["203.0.113.7", "2001:db8::/32"]);
    expect((await allow("--address", "203.0.113.0/24")).stdout).toMatch(/ 203\.0\.113\.0\/24\n$/);
    expect((await line.json("partner", "allow", "wallet", "--any")).allowedAddresses).toBeNull();
    expect(await allow()).toEqual(misused("use either --address, once or more, or --any"));
    expect((await allow("--any", "--address", "203.0.113.7")).code).toBe(2);
    expect(await allow("--address", "0.0.0.0/0")).toEqual(
      misused('--address must not be all addresses there are, but one is "0.0.0.0/0"'),
    );
    expect((await line.run("partner", "allow", "bank", "--any")).code).toBe(1);
  });
});

describe("topupd token", () => {
  const ISSUE = ["token", "issue", "--partner", "wallet"];

  test("issue prints the token alone to stdout, and the rest to stderr", async () => {
    const line = await withPartner({ TOPUPD_TIME_ZONE: "Asia/Kathmandu" });
    const { code, stdout, stderr } = await line.run(...ISSUE);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^topup_live_[0-9A-Za-z]{49}\n$/);
    expect(stderr).toMatch(
      /^This is the only time that the token is shown\. It is a production token of wallet, has the id tok_[0-9a-f]{18}, and is valid until it is revoked\.\n$/,
    );
    const ending = await line.run(...ISSUE, "--expires-at", "2099-12-31");
    expect(ending.stderr).toContain("is valid until 2099-12-31 23:59:59.");
    expect(await line.mustRun("token", "list")).toContain("2099-12-31 23:59:59");
    expect(await line.json(...ISSUE, "--environment", "trial")).toMatchObject({
      ...{ token: expect.stringMatching(/^topup_trial_/), id: expect.stringMatching(/^tok_[0-9a-f]{18}$/) },
      ...{ partner: "wallet", environment: "trial", expiresAt: new Date(line.now + 7 * DAY_MS).toISOString() },
    });
    expect((await line.run(...ISSUE, "--expires-at", "tomorrow")).stderr).toMatch(
      /^topupd: --expires-at must be a day/,
    );
  });

  test("rotate says until when the old token is valid, and list shows both", async () => {
    const line = await withPartner();
    const { id } = await line.json(...ISSUE);
    const { stdout, stderr } = await line.run("token", "rotate", id, "--overlap-hours", "0.5");
    expect(stdout).toMatch(/^topup_live_/);
    expect(stderr).toMatch(new RegExp(`\\.\\nThe old token ${id} is valid until 2026-11-23 09:30:00\\.\\n$`));
    const [old, renewed] = await line.rows("token", "list");
    expect(old).toMatchObject({ id, partner: "wallet", state: "valid", replacedBy: renewed.id });
    const replaced = `this token was replaced by ${renewed.id} already: rotate that one`;
    expect(await line.run("token", "rotate", id)).toEqual(failed(replaced));
    for (const overlap of ["1w", "-1", "8761"])
      expect(await line.run("token", "rotate", id, `--overlap-hours=${overlap}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("--overlap-hours must "),
      });
    expect(await line.json("token", "revoke", renewed.id)).toMatchObject({ state: "revoked", revokedAt: TIME });
    expect(await line.run("token", "revoke", "tok_1")).toEqual(
      failed("there is no token with this id: look at the list of tokens"),
    );
  });
});

describe("topupd secret", () => {
  test("rotate says from when on the new secret seals, and list shows both", async () => {
    const line = await withPartner();
    line.now += 1_000;
    const sealsFrom = new Date(line.now + 10_000).toISOString();
    expect(await line.mustRun("secret", "rotate")).toBe(`The new secret 1 seals from ${sealsFrom} on.\n`);
    expect(await line.rows("secret", "list")).toEqual([
      { id: 1, state: "new", createdAt: TIME },
      { id: 0, state: "sealing", createdAt: TIME },
    ]);
    line.now += 10_000;
    expect(await line.mustRun("secret", "list")).toMatch(
      /^ID {2}STATE +CREATED AT\n1 {3}sealing {2}\S+Z\n0 {3}former /,
    );
  });
});

describe("who stands in the audit trail", () => {
  test.each([
    ["the one who called sudo", { SUDO_USER: "maya" }, [], "maya"],
    ["the user, where sudo was not called", {}, [], "somebody"],
    ["whom --as names, before all others", { SUDO_USER: "maya" }, ["--as", "ramesh"], "ramesh"],
  ] as const)("is %s", async (_, env, flags, author) => {
    const line = officeLine({ env: { ...env } });
    await line.mustRun("partner", "add", "wallet", ...flags);
    expect(await line.rows("audit", "list")).toMatchObject([{ author }]);
  });
});
