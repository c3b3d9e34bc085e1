import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callOperation, commandLine } from "../support/command-line.ts";
import { addWallet, fillDatabase, SITA_NET } from "../support/provider-files.ts";
import { tamper } from "../support/sqlite-database.ts";

describe("topupd secret", () => {
  test("list shows which one seals, and none of them", async () => {
    const line = commandLine();
    await addWallet(line);
    expect(await line.mustRun("secret", "list")).toMatch(
      /^ID +STATE +CREATED\n0 +sealing +\d{4}-\d\d-\d\dT[\d:.]+Z\n$/,
    );
    expect(JSON.parse(await line.mustRun("secret", "list", "--json"))).toEqual([
      { id: 0, state: "sealing", createdAt: expect.any(String) },
    ]);
  });

  test("rotate adds one that seals ten seconds later, and says from when on", async () => {
    const line = commandLine();
    await addWallet(line);
    const { code, stdout, stderr } = await line.run("secret", "rotate", "--json");
    const [added, former] = JSON.parse(stdout);
    expect([code, added.id, added.state, former.id, former.state]).toEqual([0, 1, "new", 0, "sealing"]);
    const sealsFrom = new Date(Date.parse(added.createdAt) + 10_000).toISOString();
    expect(stderr).toBe(`The new secret seals from ${sealsFrom} on.\n`);
    tamper(join(line.folder, "topupd.db"), "UPDATE checkout_secret SET created_at = created_at - 10000");
    expect(await line.mustRun("secret", "list")).toMatch(/\n1 +sealing .*\n0 +former /);
  });

  test("rotate while serving leaves checkoutIds as good as they were, without a restart", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const { url } = await line.start("serve");
    const call = (operation: string, body: object) => callOperation(url, operation, token, body);
    const list = async () => (await call("get-subscription-package", SITA_NET)).json.body.checkoutId as string;
    const buy = (checkoutId: string) =>
      call("subscription-package-topup", { ...SITA_NET, checkoutId, bouquetId: "NET-1M", amt: "1130" });
    const before = await list();
    await line.mustRun("secret", "rotate");
    const between = await list();
    tamper(join(line.folder, "topupd.db"), "UPDATE checkout_secret SET created_at = created_at - 10000 WHERE id = 1");
    const after = await list();
    expect([before, between, after].map((checkoutId) => Buffer.from(checkoutId, "base64url")[0])).toEqual([
      0x10, 0x10, 0x11,
    ]);
    for (const checkoutId of [before, between, after]) expect((await buy(checkoutId)).status).toBe(200);
    const replay = await buy(before);
    expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  });

  test("rotate is refused where the oldest of sixteen may still be in use", async () => {
    const line = commandLine();
    await addWallet(line);
    const rows = Array.from({ length: 15 }, (_, id) => `(${id + 1}, randomblob(32), ${Date.now() + id})`);
    tamper(
      join(line.folder, "topupd.db"),
      `INSERT INTO checkout_secret (id, key, created_at) VALUES ${rows.join(", ")}`,
    );
    const { code, stdout, stderr } = await line.run("secret", "rotate");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("rotate again in a quarter of an hour");
  });
});
