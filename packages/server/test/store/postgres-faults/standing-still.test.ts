import { expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { LIMITS } from "../../../src/store/postgres/session/session.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { openFaultyProvider, untilWell } from "./faulty-provider.ts";

test("a process that stands still between reading and writing finds its transaction ended by PostgreSQL", async ({
  onTestFinished,
}) => {
  const opened = await openFaultyProvider({ onTestFinished });
  const { store, now } = opened;
  const command = opened.command(SITA_NET, "NET-1M");
  let stillMs = LIMITS.serving.idleInTransaction + 1_000;
  // Time is first asked for when the decision is due, once everything is read, and locked.
  Object.defineProperty(opened, "now", {
    get: () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stillMs);
      stillMs = 0;
      return now;
    },
  });
  await expect(store.settleTopUp(command)).rejects.toThrow(StoreUnavailable);
  expect(stillMs).toBe(0);
  expect(await countRows(opened, "top_up")).toBe(0);
  await untilWell(() => store.ping());
  expect(await store.settleTopUp(command)).toMatchObject({ kind: "recorded" });
  expect(await countRows(opened, "top_up")).toBe(1);
  expect(await findWrong(store)).toEqual([]);
});
