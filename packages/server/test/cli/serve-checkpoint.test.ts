import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { callOperation, commandLine } from "../support/command-line.ts";
import { fillDatabase, SITA_NET } from "../support/provider-files.ts";

test("what was committed is put into the file aside while the service runs, and the file alone is left", async () => {
  const line = commandLine();
  const token = await fillDatabase(line);
  const service = await line.start("serve", "--drain-seconds", "0");
  const file = join(line.folder, "topupd.db");
  const call = async (operation: string, body: object) =>
    (await callOperation(service.url, operation, token, body)).json.body;
  for (let round = 0; round < 3; round += 1) {
    const before = statSync(file).mtimeMs;
    const { checkoutId } = await call("get-subscription-package", SITA_NET);
    await call("subscription-package-topup", { ...SITA_NET, checkoutId, bouquetId: "NET-1M", amt: 1130 });
    let tries = 0;
    for (; statSync(file).mtimeMs === before && tries < 1000; tries += 1) await sleep(10);
    expect(tries).toBeLessThan(1000);
    expect(await call("txn-status", { checkoutId })).toMatchObject({ result: { status: "success" } });
  }
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(await line.run("check")).toMatchObject({ code: 0 });
});
