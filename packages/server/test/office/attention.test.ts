import { expect, test } from "vitest";
import { listAttention } from "../../src/office/alerts/operations.ts";
import { replaceHeldBack } from "../../src/office/imports/runs.ts";
import { noteBackup, noteCheck } from "../../src/office/maintenance/backups.ts";
import type { Desk } from "../../src/office/office.ts";
import { issueToken } from "../../src/office/partners/tokens.ts";
import { listEvents } from "../../src/office/targets/events.ts";
import { addTarget, pauseTarget } from "../../src/office/targets/operations.ts";
import type { Space } from "../../src/store/store.ts";
import { wellState } from "../../src/system/service-state.ts";
import { run } from "../support/desk.ts";
import { customer, DAY_MS, iso, MINUTE_MS, openWorld } from "../support/world.ts";

test("what needs attention is told once it does, and not before", async () => {
  const world = await openWorld();
  const { store } = world;
  const space = { database: 4096, log: 0, free: 2 ** 40 };
  const found = async ({ state, ...sizes }: Partial<Desk & Space> = {}) => {
    const measured = { ...world.desk.store, space: async () => ({ ...space, ...sizes }) };
    return (
      await run({ ...world.desk, store: measured, ...(state && { state }) }, listAttention, {
        environment: "production",
      })
    ).items.map(({ kind, count, subject, at }) => [kind, count, subject, at].filter((part) => part !== null));
  };
  expect(await found()).toEqual([["no_backup"], ["no_check"]]);
  await noteBackup(store.engine, world.now);
  await noteCheck(store.engine, world.now);
  expect(await found()).toEqual([]);

  await run(world.desk, addTarget, { name: "crm" });
  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })]);
  await world.topUp("1");
  const soldAt = world.now;
  world.now += 5 * MINUTE_MS;
  expect(await found()).toEqual([]);
  world.now += 1;
  expect(await found()).toEqual([["target_behind", expect.any(Number), "crm", iso(soldAt)]]);
  const { state, behind } = await run(world.desk, pauseTarget, { name: "crm", paused: true });
  expect([state, await found()]).toEqual(["paused", [["target_paused", behind, "crm"]]]);
  expect(await run(world.desk, pauseTarget, { name: "crm", paused: false })).toMatchObject({ state: "behind" });
  const { cursor } = await run(world.desk, listEvents, { target: "crm" });
  await run(world.desk, listEvents, { target: "crm", after: cursor ?? "" });
  expect(await found({ state: { ...wellState(), recordingFailsSince: 5 } })).toEqual([["recording_fails", iso(5)]]);
  expect(await found({ state: { ...wellState(), clockSetBackFrom: 5 } })).toEqual([["clock_set_back", iso(5)]]);
  expect(await found({ free: 2 ** 31, log: 2 ** 30 })).toEqual([]);
  expect(await found({ free: 2 ** 31 - 1, log: 2 ** 30 + 2 ** 20 })).toEqual([
    ["disk_low", 2_047],
    ["log_large", 1_025],
  ]);
  const answers = [
    { operation: "txn-status", count: 19, p50: 2, p99: 2 },
    { operation: "subscription-package-topup", count: 20, p50: 0.1, p99: 1.25 },
  ];
  const figures = {
    minutes: 5,
    topUpsAMinute: 0.2,
    callsAMinute: 0,
    refused: 0,
    answers,
    refusals: [],
    processes: [],
    restarts: 2,
    allRestarts: 2,
  };
  expect(await found({ state: { ...wellState(), figures } })).toEqual([
    ["restarts", 2],
    ["slow", 1_250, "subscription-package-topup"],
  ]);

  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })], {
    ...{ name: "night.ndjson", asOf: iso(world.now - MINUTE_MS) },
  });
  expect(await found()).toEqual([["held_back", 1]]);
  await replaceHeldBack(store.engine, "production", [], world.now);

  const expiresAt = world.now + 30 * DAY_MS;
  const { id } = await run(world.desk, issueToken, { partner: "wallet", expiresAt: iso(expiresAt) });
  world.now = expiresAt - 14 * DAY_MS + 1;
  await noteBackup(store.engine, world.now - 2 * DAY_MS);
  await noteCheck(store.engine, world.now - 7 * DAY_MS);
  expect(await found()).toEqual([]);
  await store.recordTokenUses(new Map([[id, world.now]]));
  expect(await found()).toEqual([["token_ending", "wallet", iso(expiresAt)]]);
  world.now += 1;
  expect((await found()).slice(-2)).toEqual([
    ["no_backup", iso(world.now - 1 - 2 * DAY_MS)],
    ["no_check", iso(world.now - 1 - 7 * DAY_MS)],
  ]);
});
