import { describe, expect, test } from "vitest";
import { type CommandLine, commandLine } from "../support/command-line.ts";
import { addWallet } from "../support/provider-files.ts";

const DAY_MS = 86_400_000;

async function withToken(environment: string, ...more: string[]): Promise<{ line: CommandLine; id: string }> {
  const line = commandLine();
  await addWallet(line);
  const words = ["--partner", "wallet", "--environment", environment, "--json", ...more];
  return { line, id: JSON.parse(await line.mustRun("token", "issue", ...words)).id };
}

async function list(line: CommandLine) {
  return JSON.parse(await line.mustRun("token", "list", "--json"));
}

describe("topupd token rotate", () => {
  test("prints the new token alone to stdout, and to stderr until when the old one holds", async () => {
    const { line, id } = await withToken("production");
    const { code, stdout, stderr } = await line.run("token", "rotate", id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^topup_live_[0-9A-Za-z]{49}\n$/);
    const [old, renewed] = await list(line);
    expect(stderr).toBe(
      `This is the only time that the token is shown. It is a production token of wallet, has the id ${renewed.id}, and holds until it is revoked.\nThe old token ${id} holds until ${old.expiresAt}.\n`,
    );
    expect(old).toMatchObject({ id, state: "valid", replacedBy: renewed.id });
    expect(Date.parse(old.expiresAt) - Date.parse(renewed.createdAt)).toBe(DAY_MS);
    expect(renewed).toMatchObject({ partner: "wallet", environment: "production", expiresAt: null, replacedBy: null });
  });

  test.each([
    ["0s", 0],
    ["30m", 30 * 60_000],
    ["12h", 12 * 3_600_000],
    ["7d", 7 * DAY_MS],
  ])("--overlap %s holds the old token for so long", async (overlap, ms) => {
    const { line, id } = await withToken("production");
    const rotated = JSON.parse(await line.mustRun("token", "rotate", id, "--overlap", overlap, "--json"));
    const [old, renewed] = await list(line);
    expect(rotated).toEqual({
      token: expect.stringMatching(/^topup_live_/),
      id: renewed.id,
      partner: "wallet",
      environment: "production",
      expiresAt: null,
      replaces: { id, expiresAt: old.expiresAt },
    });
    expect(Date.parse(old.expiresAt) - Date.parse(renewed.createdAt)).toBe(ms);
    expect(old.state).toBe(ms === 0 ? "expired" : "valid");
  });

  test.each(["", "24", "1w", "-1h", "1.5h", "24 h", "366d", "9999999999s"])(
    "--overlap %j is refused",
    async (overlap) => {
      const line = commandLine();
      expect(await line.run("token", "rotate", "tok_1", `--overlap=${overlap}`)).toEqual({
        code: 2,
        stdout: "",
        stderr: "topupd: --overlap must be a time such as 0s, 30m, 24h or 7d, of up to 365d\n",
      });
    },
  );

  test("the new token ends when the old one would have, unless --expires says otherwise", async () => {
    const { line, id } = await withToken("production", "--expires", "2099-12-31");
    const rotated = JSON.parse(await line.mustRun("token", "rotate", id, "--json"));
    expect(rotated.expiresAt).toBe("2100-01-01T00:00:00.000Z");
    const again = await line.mustRun("token", "rotate", rotated.id, "--expires", "2098-12-31", "--json");
    expect(JSON.parse(again).expiresAt).toBe("2099-01-01T00:00:00.000Z");
    expect(await line.run("token", "rotate", JSON.parse(again).id, "--expires", "2020-01-01")).toMatchObject({
      code: 2,
      stderr: "topupd: --expires must be in the future\n",
    });
  });

  test("a trial token gets a successor of seven days, and takes no --expires", async () => {
    const { line, id } = await withToken("trial");
    expect(await line.run("token", "rotate", id, "--expires", "2099-12-31")).toEqual({
      code: 2,
      stdout: "",
      stderr: "topupd: --expires is for production tokens: a trial token always ends after 7 days\n",
    });
    const rotated = JSON.parse(await line.mustRun("token", "rotate", id, "--json"));
    expect(rotated.token).toMatch(/^topup_trial_/);
    const [, renewed] = await list(line);
    expect(Date.parse(renewed.expiresAt) - Date.parse(renewed.createdAt)).toBe(7 * DAY_MS);
  });

  test("what has been revoked, has ended or was replaced is not rotated, and no token is issued", async () => {
    const { line, id } = await withToken("production");
    const rotate = async (of: string, ...more: string[]) => {
      const { code, stdout, stderr } = await line.run("token", "rotate", of, ...more);
      expect([code, stdout]).toEqual([1, ""]);
      return stderr;
    };
    const issue = "issue a new one with topupd token issue --environment production\n";
    const first = JSON.parse(await line.mustRun("token", "rotate", id, "--json"));
    expect(await rotate(id)).toBe(`topupd: this token has been replaced by ${first.id} already: rotate that one\n`);
    const second = JSON.parse(await line.mustRun("token", "rotate", first.id, "--overlap", "0s", "--json"));
    expect(await rotate(first.id)).toBe(`topupd: this token has ended: ${issue}`);
    await line.mustRun("token", "revoke", second.id);
    expect(await rotate(second.id)).toBe(`topupd: this token has been revoked: ${issue}`);
    expect(await rotate("tok_1")).toBe("topupd: there is no token with this id: see topupd token list\n");
    expect(await list(line)).toHaveLength(3);
  });

  test("of several at once, one issues a token", async () => {
    const { line, id } = await withToken("production");
    const runs = await Promise.all([1, 2, 3].map(() => line.run("token", "rotate", id)));
    expect(runs.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(runs.filter(({ code, stderr }) => code === 1 && /has been replaced by tok_/.test(stderr))).toHaveLength(2);
    const tokens = await list(line);
    expect(tokens).toHaveLength(2);
    expect(tokens[0].expiresAt).not.toBeNull();
  });
});
