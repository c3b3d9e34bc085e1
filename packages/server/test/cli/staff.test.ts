import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { askSecretly } from "../../src/faces/cli/terminal.ts";
import { findStaff } from "../../src/office/session/sql.ts";
import { type OfficeLine, officeLine } from "../support/office-line.ts";

const PASSWORD = "kettle orbit fjord";
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/);
const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });
const ADD = ["staff", "add", "maya", "--role", "admin"];

async function withMaya(): Promise<OfficeLine> {
  const line = officeLine();
  line.stdin = `${PASSWORD}\n`;
  await line.mustRun(...ADD, "--password-stdin");
  return line;
}

describe("topupd staff", () => {
  test("add takes the password of stdin, or asks for it twice", async () => {
    const line = await withMaya();
    const maya = { name: "maya", role: "admin", createdAt: TIME, hasTotp: false };
    expect(await line.rows("staff", "list")).toEqual([maya]);
    const { password } = (await line.inStore(
      async ({ store }) => (await findStaff(store.engine.db, "maya"))?.secrets ?? {},
    )) as {
      password?: string;
    };
    line.stdin = PASSWORD;
    expect(await line.run(...ADD, "--password-stdin")).toEqual(failed("there is an account named maya already"));
    const asked = ["staff", "add", "ravi", "--role", "viewer"];
    expect(await line.run(...asked)).toMatchObject({ code: 2, stderr: expect.stringContaining("--password-stdin") });
    line.typed = [PASSWORD, `${PASSWORD}!`];
    const twice = "Password: Repeat it: ";
    expect(await line.run(...asked)).toEqual({
      ...failed(""),
      stderr: `${twice}topupd: the passwords differ: try again\n`,
    });
    line.typed = [PASSWORD, PASSWORD];
    expect(await line.run(...asked)).toMatchObject({ code: 0, stderr: twice });
    expect(password).toMatch(/^\$scrypt\$/);
    line.stdin = "password1234";
    expect((await line.run("staff", "add", "x", "--role", "viewer", "--password-stdin")).stderr).toContain(
      "password is among those that are guessed first",
    );
    line.stdin = PASSWORD;
    const badName = await line.run("staff", "add", "key x", "--role", "viewer", "--password-stdin");
    expect(badName).toMatchObject({ code: 2, stderr: expect.stringContaining('not begin with "key "') });
  });

  test("role, password, totp-off and remove change an account that is there, and not the last admin", async () => {
    const line = await withMaya();
    expect(await line.run("staff", "role", "maya", "viewer")).toEqual(
      failed("maya is the last admin: give somebody else the role admin first"),
    );
    await line.mustRun("staff", "add", "ravi", "--role", "admin", "--password-stdin");
    expect(await line.json("staff", "role", "maya", "finance")).toMatchObject({ name: "maya", role: "finance" });
    expect(await line.mustRun("staff", "password", "maya", "--password-stdin")).toMatch(/^NAME .*\nmaya +finance /);
    expect(await line.json("staff", "totp-off", "maya")).toMatchObject({ hasTotp: false });
    expect(await line.mustRun("staff", "remove", "maya")).toBe("removed\n");
    for (const command of [
      ["role", "maya", "admin"],
      ["password", "maya", "--password-stdin"],
      ["totp-off", "maya"],
      ["remove", "maya"],
    ])
      expect(await line.run("staff", ...command)).toEqual(failed("there is no account named maya"));
    const trail = await line.rows("audit", "list");
    expect(trail.map(({ action, subject }) => `${action} ${subject}`).reverse()).toEqual([
      ...["staff.add maya", "staff.add ravi", "staff.role maya", "staff.password maya", "staff.totp_off maya"],
      "staff.remove maya",
    ]);
    expect(JSON.stringify(trail)).not.toContain("scrypt");
  });

  test("key add prints the key alone, once, and list and remove know it by its name", async () => {
    const line = await withMaya();
    const { code, stdout, stderr } = await line.run("staff", "key", "add", "billing", "--role", "admin");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^topup_staff_[0-9A-Za-z]{49}\n$/)]);
    expect(stderr).toBe("This is the only time that the key billing is shown. It has the role admin.\n");
    const crm = { name: "crm", role: "viewer", createdAt: TIME, lastUsedAt: null };
    const added = await line.json("staff", "key", "add", "crm", "--role", "viewer");
    expect(added).toEqual({ key: expect.stringMatching(/^topup_staff_/), ...crm });
    expect(await line.rows("staff", "key", "list")).toEqual([{ ...crm, name: "billing", role: "admin" }, crm]);
    expect(await line.run("staff", "key", "add", "crm", "--role", "viewer")).toEqual(
      failed("there is a key named crm already"),
    );
    expect(await line.mustRun("staff", "key", "remove", "crm")).toBe("removed\n");
    expect(await line.run("staff", "key", "remove", "crm")).toEqual(failed("there is no key named crm"));
  });
});

describe("a question for a password", () => {
  test("is answered by a line, which is not shown", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answer = askSecretly("Password: ", input, output);
    input.write("wrongg\u007f\u007f\u007f\u007f\u007f\u007fright\r");
    expect(await answer).toBe("right");
    output.end();
    expect(await text(output)).toBe("Password: \n");
  });

  test("can be broken off", async () => {
    const input = new PassThrough();
    const answer = askSecretly("Password: ", input, new PassThrough());
    input.write("abc\u0003");
    await expect(answer).rejects.toThrow("nothing was changed");
  });
});
