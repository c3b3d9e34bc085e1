import { createHash } from "node:crypto";
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
  test("add shows the partner that was added", async () => {
    const line = officeLine();
    const wallet = { id: 1, name: "wallet", status: "active", createdAt: TIME, allowedAddresses: null };
    expect(await line.json("partner", "add", "wallet")).toEqual(wallet);
    const table = await line.mustRun("partner", "add", "The Bank of आज");
    expect(table).toMatch(
      /^ID {2}NAME +STATUS {2}CREATED AT +ALLOWED ADDRESSES\n2 {3}The Bank of आज +active {2}\d{4}-/,
    );
    expect(await line.json("partner", "list")).toEqual([wallet, expect.objectContaining({ id: 2 })]);
  });

  test("add refuses a name that is taken, and one that nobody may have", async () => {
    const line = await withPartner();
    expect(await line.run("partner", "add", "wallet")).toEqual(failed("there is a partner named wallet already"));
    for (const name of ["", " wallet", "wallet ", "a\tb", "x".repeat(65)])
      expect(await line.run("partner", "add", name)).toEqual(
        misused("NAME must have 1 to 64 characters, and no blank at either end"),
      );
    expect(await line.json("partner", "list")).toHaveLength(1);
  });

  test("suspend and resume say what holds from then on, and twice is no error", async () => {
    const line = await withPartner();
    for (const [verb, status] of [
      ["suspend", "suspended"],
      ["suspend", "suspended"],
      ["resume", "active"],
    ] as const)
      expect(await line.json("partner", verb, "wallet")).toMatchObject({ name: "wallet", status });
    expect(await line.run("partner", "suspend", "bank")).toEqual(failed("there is no partner named bank"));
  });

  test("allow sets the addresses in place of any former ones, or lifts the limit", async () => {
    const line = await withPartner();
    const allow = (...words: string[]) => line.run("partner", "allow", "wallet", ...words);
    const two = await line.json("partner", "allow", "wallet", "--address", "203.0.113.7", "--address", "2001:db8::/32");
    expect(two.allowedAddresses).toEqual(["203.0.113.7", "2001:db8::/32"]);
    expect((await allow("--address", "203.0.113.0/24")).stdout).toMatch(/ 203\.0\.113\.0\/24\n$/);
    expect((await line.json("partner", "allow", "wallet", "--any")).allowedAddresses).toBeNull();
    expect(await allow()).toEqual(misused("say either --address, once or more, or --any"));
    expect((await allow("--any", "--address", "203.0.113.7")).code).toBe(2);
    for (const bad of ["0.0.0.0/0", "203.0.113.7/24", "wallet.example"])
      expect(await allow("--address", bad)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("--address must"),
      });
    expect((await line.run("partner", "allow", "bank", "--any")).code).toBe(1);
  });
});

describe("topupd token", () => {
  const ISSUE = ["token", "issue", "--partner", "wallet", "--environment"];

  test("issue prints the token alone to stdout, and the rest to stderr", async () => {
    const line = await withPartner();
    const { code, stdout, stderr } = await line.run(...ISSUE, "production");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^topup_live_[0-9A-Za-z]{49}\n$/);
    expect(stderr).toMatch(
      /^This is the only time that the token is shown\. It is a production token of wallet, has the id tok_[0-9a-f]{18}, and holds until it is revoked\.\n$/,
    );
    expect(await line.json(...ISSUE, "trial")).toEqual({
      ...{ token: expect.stringMatching(/^topup_trial_/), id: expect.stringMatching(/^tok_[0-9a-f]{18}$/) },
      ...{ partner: "wallet", environment: "trial", expiresAt: new Date(line.now + 7 * DAY_MS).toISOString() },
    });
  });

  test.each([
    ["UTC", "2099-12-31", "2099-12-31T23:59:59.999Z"],
    ["Asia/Kathmandu", "2099-12-31", "2099-12-31T18:14:59.999Z"],
    ["America/New_York", "2099-03-08", "2099-03-09T03:59:59.999Z"],
  ])("in %s, --expires %s is %s, and every text shows that day", async (zone, date, end) => {
    const line = await withPartner({ TOPUPD_TIME_ZONE: zone });
    expect((await line.json(...ISSUE, "production", "--expires", date)).expiresAt).toBe(end);
    const { stderr } = await line.run(...ISSUE, "production", "--expires", date);
    expect(stderr).toContain(`holds until ${date} 23:59:59.`);
    expect(await line.mustRun("token", "list")).toContain(`${date} 23:59:59`);
  });

  test("issue refuses an end that is none, is past or is a trial token's, and a partner who is not there", async () => {
    const line = await withPartner();
    for (const text of ["tomorrow", "2099-02-30", "2099-12-31T18:00:00Z", ""])
      expect(await line.run(...ISSUE, "production", "--expires", text)).toEqual(
        misused(`--expires must be a day such as 2026-11-20, but is ${JSON.stringify(text)}`),
      );
    const past = await line.run(...ISSUE, "production", "--expires", "2020-01-01");
    expect(past).toEqual(misused("--expires must be in the future"));
    expect(await line.run(...ISSUE, "trial", "--expires", "2099-12-31")).toEqual(
      misused("--expires is for production tokens: a trial token always ends after 7 days"),
    );
    expect(await line.run("token", "issue", "--partner", "bank", "--environment", "trial")).toEqual(
      failed("there is no partner named bank: add it with topupd partner add"),
    );
    expect(await line.mustRun("token", "list", "--json")).toBe("[]\n");
  });

  test("list shows each token's state, and nothing that is secret", async () => {
    const line = await withPartner();
    const token = (await line.mustRun(...ISSUE, "production")).trim();
    line.now += 1;
    await line.mustRun(...ISSUE, "trial");
    line.now += 1;
    const { id } = await line.json(...ISSUE, "production");
    expect(await line.json("token", "revoke", id)).toMatchObject({ id, state: "revoked", revokedAt: TIME });
    line.now += 8 * DAY_MS;
    const [table, json] = [await line.mustRun("token", "list"), await line.mustRun("token", "list", "--json")];
    expect(JSON.parse(json)).toMatchObject([
      { environment: "production", state: "valid", expiresAt: null, lastUsedAt: null, replacedBy: null },
      { environment: "trial", state: "expired", expiresAt: TIME },
      { id, state: "revoked" },
    ]);
    const digest = createHash("sha256").update(token).digest();
    for (const secret of [token.slice(-20), digest.toString("hex"), digest.toString("base64")])
      expect(table + json).not.toContain(secret);
    expect(await line.run("token", "revoke", "tok_1")).toEqual(
      failed("there is no token with this id: see topupd token list"),
    );
  });

  test.each([
    ["0s", 0, "expired"],
    ["30m", 30 * 60_000, "valid"],
    ["7d", 7 * DAY_MS, "valid"],
  ])("rotate --overlap %s holds the old token for so long", async (overlap, ms, state) => {
    const line = await withPartner();
    const { id } = await line.json(...ISSUE, "production", "--expires", "2099-12-31");
    const rotated = await line.json("token", "rotate", id, "--overlap", overlap);
    const [old, renewed] = await line.json("token", "list");
    const formerEnd = new Date(line.now + ms).toISOString();
    expect(rotated).toEqual({
      ...{ token: expect.stringMatching(/^topup_live_/), id: renewed.id, partner: "wallet", environment: "production" },
      ...{ expiresAt: "2099-12-31T23:59:59.999Z", replaces: { id, expiresAt: formerEnd } },
    });
    expect(old).toMatchObject({ id, state, replacedBy: renewed.id, expiresAt: formerEnd });
  });

  test("rotate takes no token that was revoked, has ended or was replaced, and no overlap that is none", async () => {
    const line = await withPartner();
    const { id } = await line.json(...ISSUE, "production");
    const rotate = (of: string, ...more: string[]) => line.run("token", "rotate", of, ...more);
    const first = await line.json("token", "rotate", id);
    expect(await rotate(id)).toEqual(failed(`this token was replaced by ${first.id} already: rotate that one`));
    const second = await line.json("token", "rotate", first.id, "--overlap", "0s");
    expect((await rotate(first.id)).stderr).toContain("this token is ended: issue a new one");
    await line.mustRun("token", "revoke", second.id);
    expect((await rotate(second.id)).stderr).toContain("this token is revoked: issue a new one");
    expect((await rotate("tok_1")).stderr).toContain("there is no token with this id");
    expect(await line.json("token", "list")).toHaveLength(3);
    for (const overlap of ["", "24", "1w", "1.5h", "366d"])
      expect(await rotate(id, `--overlap=${overlap}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("is invalid. It must be a time such as 0s, 30m, 24h or 7d, of up to 365d."),
      });
  });
});

describe("topupd secret", () => {
  test("rotate adds one that seals a little later, and waits where checkouts may be in use that the oldest has sealed", async () => {
    const line = await withPartner();
    line.now += 1_000;
    const sealsFrom = new Date(line.now + 10_000).toISOString();
    expect(await line.mustRun("secret", "rotate")).toBe(`The new secret 1 seals from ${sealsFrom} on.\n`);
    expect(await line.json("secret", "list")).toEqual([
      { id: 1, state: "new", createdAt: TIME },
      { id: 0, state: "sealing", createdAt: TIME },
    ]);
    line.now += 10_000;
    expect(await line.mustRun("secret", "list")).toMatch(
      /^ID {2}STATE +CREATED AT\n1 {3}sealing {2}\S+Z\n0 {3}former /,
    );
    for (let id = 2; id <= 15; id += 1) expect(await line.json("secret", "rotate")).toMatchObject({ id });
    expect(await line.run("secret", "rotate")).toEqual(
      failed("too many secrets may still be in use: rotate again in a quarter of an hour"),
    );
    line.now += 15 * 60_000;
    expect((await line.run("secret", "rotate")).code).toBe(0);
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
