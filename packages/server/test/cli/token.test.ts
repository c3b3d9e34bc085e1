import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CommandLine, commandLine } from "../support/command-line.ts";
import { addWallet } from "../support/provider-files.ts";
import { tamper } from "../support/sqlite-database.ts";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

async function withPartner(timeZone?: string): Promise<CommandLine> {
  const line = commandLine();
  await addWallet(line, timeZone);
  return line;
}

const issue = (line: CommandLine, environment: string, ...more: string[]) =>
  line.run("token", "issue", "--partner", "wallet", "--environment", environment, ...more);

describe("topupd token issue", () => {
  test("prints the token alone to stdout, and the rest to stderr", async () => {
    const { code, stdout, stderr } = await issue(await withPartner(), "production");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^topup_live_[0-9A-Za-z]{49}\n$/);
    expect(stderr).toMatch(
      /^This is the only time that the token is shown\. It is a production token of wallet, has the id tok_[0-9a-f]{18}, and holds until it is revoked\.\n$/,
    );
    expect(stderr).not.toContain(stdout.trim());
  });

  test("--json prints the token with its id, partner, environment and end", async () => {
    const { code, stdout, stderr } = await issue(await withPartner(), "production", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.endsWith("}\n")).toBe(true);
    expect(Object.entries(JSON.parse(stdout))).toEqual([
      ["token", expect.stringMatching(/^topup_live_[0-9A-Za-z]{49}$/)],
      ["id", expect.stringMatching(/^tok_[0-9a-f]{18}$/)],
      ["partner", "wallet"],
      ["environment", "production"],
      ["expiresAt", null],
    ]);
  });

  test("a trial token ends exactly 7 days after its issue", async () => {
    const line = await withPartner();
    const issued = JSON.parse((await issue(line, "trial", "--json")).stdout);
    expect(issued).toMatchObject({ token: expect.stringMatching(/^topup_trial_/), environment: "trial" });
    const [listed] = JSON.parse(await line.mustRun("token", "list", "--json"));
    expect(Date.parse(issued.expiresAt) - Date.parse(listed.createdAt)).toBe(WEEK_MS);
  });

  test("a trial token with --expires is refused", async () => {
    const line = await withPartner();
    expect(await issue(line, "trial", "--expires", "2099-12-31")).toEqual({
      code: 2,
      stdout: "",
      stderr: "topupd: --expires is for production tokens: a trial token always ends after 7 days\n",
    });
    expect(await line.mustRun("token", "list", "--json")).toBe("[]\n");
  });

  test.each([
    ["UTC", "2099-12-31", "2100-01-01T00:00:00.000Z"],
    ["Asia/Kathmandu", "2099-12-31", "2099-12-31T18:15:00.000Z"],
    ["America/New_York", "2099-03-08", "2099-03-09T04:00:00.000Z"],
  ])("in %s, %s is counted to its end", async (zone, date, end) => {
    const line = await withPartner(zone);
    expect(JSON.parse((await issue(line, "production", "--expires", date, "--json")).stdout).expiresAt).toBe(end);
  });

  test("a time with its offset is taken as it is, in any zone", async () => {
    const line = await withPartner("Asia/Kathmandu");
    const end = async (time: string) => (await issue(line, "production", "--expires", time)).stderr.split(" until ")[1];
    expect(await end("2099-12-31T18:00:00.250Z")).toBe("2099-12-31T18:00:00.250Z.\n");
    expect(await end("2099-12-31T18:00+05:45")).toBe("2099-12-31T12:15:00.000Z.\n");
  });

  test("what is no date to expire on is refused", async () => {
    const line = await withPartner();
    const texts = ["tomorrow", "2099-02-30", "31.12.2099", "2099-12-31 18:00:00", "2099-12-31T18:00:00", ""];
    const runs = await Promise.all(texts.map((text) => issue(line, "production", "--expires", text)));
    const stderr = "topupd: --expires must be a date such as 2027-12-31, or a time such as 2027-12-31T18:00:00Z\n";
    expect(runs).toEqual(texts.map(() => ({ code: 2, stdout: "", stderr })));
  });

  test("a date that is past is refused", async () => {
    const line = await withPartner();
    for (const past of ["2020-01-01", "2020-01-01T00:00:00Z"]) {
      expect(await issue(line, "production", "--expires", past)).toEqual({
        code: 2,
        stdout: "",
        stderr: "topupd: --expires must be in the future\n",
      });
    }
    expect(await line.mustRun("token", "list", "--json")).toBe("[]\n");
  });

  test("a partner that is not there gets no token", async () => {
    const line = await withPartner();
    expect(await line.run("token", "issue", "--partner", "bank", "--environment", "trial")).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: there is no partner named bank: add it with topupd partner add\n",
    });
  });
});

describe("topupd token list", () => {
  test("shows every token's state, and nothing that is secret", async () => {
    const line = await withPartner();
    const [first, second] = [await issue(line, "production"), await issue(line, "trial")];
    const { id } = JSON.parse((await issue(line, "production", "--json")).stdout);
    await line.mustRun("token", "revoke", id);
    const table = await line.mustRun("token", "list");
    const json = await line.mustRun("token", "list", "--json");
    expect(table.split("\n")[0]).toMatch(/^ID +PARTNER +ENVIRONMENT +STATE +CREATED +EXPIRES +REVOKED +LAST USED$/);
    expect(JSON.parse(json)).toEqual([
      {
        id: expect.any(String),
        partner: "wallet",
        environment: "production",
        state: "valid",
        createdAt: TIME,
        expiresAt: null,
        revokedAt: null,
        replacedBy: null,
        lastUsedAt: null,
      },
      {
        id: expect.any(String),
        partner: "wallet",
        environment: "trial",
        state: "valid",
        createdAt: TIME,
        expiresAt: TIME,
        revokedAt: null,
        replacedBy: null,
        lastUsedAt: null,
      },
      {
        id,
        partner: "wallet",
        environment: "production",
        state: "revoked",
        createdAt: TIME,
        expiresAt: null,
        revokedAt: TIME,
        replacedBy: null,
        lastUsedAt: null,
      },
    ]);
    for (const token of [first.stdout.trim(), second.stdout.trim()]) {
      const digest = createHash("sha256").update(token).digest();
      for (const secret of [token.slice(-20), digest.toString("hex"), digest.toString("base64")]) {
        expect(table + json).not.toContain(secret);
      }
    }
  });

  test("shows an expired token as expired", async () => {
    const line = await withPartner();
    await issue(line, "production", "--expires", "2099-12-31");
    tamper(join(line.folder, "topupd.db"), "UPDATE access_token SET expires_at = created_at + 1");
    expect(JSON.parse(await line.mustRun("token", "list", "--json"))).toMatchObject([{ state: "expired" }]);
  });
});

describe("the database", () => {
  test("holds no token, only its hash", async () => {
    const line = await withPartner();
    const token = (await issue(line, "production")).stdout.trim();
    const files = readdirSync(line.folder).map((name) => readFileSync(join(line.folder, name)));
    expect(files.some((bytes) => bytes.includes(createHash("sha256").update(token).digest()))).toBe(true);
    for (const bytes of files) expect(bytes.includes(token.slice("topup_live_".length))).toBe(false);
  });
});
