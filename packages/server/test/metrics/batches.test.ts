import { describe, expect, test } from "vitest";
import { startMeasuredService, TICK_SECONDS } from "../support/measured-service.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { prepareTopUp } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ openStore: makePostgresDatabase().open })],
] as const)("batches of %s", (_store, options) => {
  test("are counted with their size and the time of their commit", async () => {
    const { service, read } = await startMeasuredService(options());
    const before = await read();
    const names = ["topupd_batch_size_count", "topupd_commit_duration_seconds_count", "topupd_failed_batches_total"];
    expect(names.map((name) => before.value(name))).toEqual([0, 0, 0]);
    for (let time = 0; time < 3; time += 1) {
      const purchase = await prepareTopUp(service, FIBER);
      expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
    }
    const { value } = await read();
    expect(names.map((name) => value(name))).toEqual([3, 3, 0]);
    expect(value("topupd_batch_size_sum")).toBe(3);
    expect(value("topupd_batch_size_bucket", { le: "1.0" })).toBe(3);
    expect(value("topupd_commit_duration_seconds_sum")).toBe(3 * TICK_SECONDS);
    const upTo = (le: string) => value("topupd_commit_duration_seconds_bucket", { le });
    expect([upTo("0.1"), upTo("0.25")]).toEqual([0, 3]);
  });
});
