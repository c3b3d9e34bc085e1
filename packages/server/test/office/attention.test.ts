import { expect, test } from "vitest";
import { listAttention } from "../../src/office/alerts/operations.ts";
import { replaceHeldBack } from "../../src/office/imports/runs.ts";
import { noteBackup, noteCheck } from "../../src/office/maintenance/backups.ts";
import type { Desk } from "../../src/office/office.ts";
import { issueToken } from "../../src/office/partners/tokens.ts";
import { listEvents } from "../../src/office/targets/events.ts";
import { addTarget, pauseTarget, removeTarget, showTarget } from "../../src/office/targets/operations.ts";
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
    ).items.map(({ title, text }) => `${title}: ${text}`);
  };
  const { zone } = store.provider;
  const time = (at: number) => `${zone.wallTime(at)} (${zone.name})`;
  expect(await found()).toEqual([
    "No backup: The last backup: none.",
    "No check of the database: The last check without a finding: none.",
  ]);
  await noteBackup(store.engine, world.now);
  await noteCheck(store.engine, world.now);
  expect(await found()).toEqual([]);

  await run(world.desk, addTarget, { name: "crm" });
  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })]);
  await world.topUp("1");
  const soldAt = world.now;
  const state = async () => (await run(world.desk, showTarget, { name: "crm" })).state;
  world.now += 2 * DAY_MS;
  await noteBackup(store.engine, world.now);
  expect([await found(), await state()]).toEqual([[], "up_to_date"]);
  world.now += 1;
  expect(await found()).toEqual([
    `crm: feed is not fetched: Events that its reader has not fetched: 2, the oldest since ${time(soldAt)}.`,
  ]);
  await run(world.desk, addTarget, { name: "tv", webhook: { url: "http://127.0.0.1:9/" } });
  await world.topUp("1");
  world.now += 5 * MINUTE_MS;
  expect((await found()).length).toBe(1);
  world.now += 1;
  expect((await found())[1]).toBe(
    `tv: target is behind: Events that it lacks: 1, the oldest since ${time(world.now - 5 * MINUTE_MS - 1)}.`,
  );
  await run(world.desk, removeTarget, { name: "tv" });
  const { state: paused, behind } = await run(world.desk, pauseTarget, { name: "crm", paused: true });
  expect([paused, await found()]).toEqual([
    "paused",
    [`crm: target is paused: It gets no events until it is resumed. It lacks ${behind}.`],
  ]);
  expect(await run(world.desk, pauseTarget, { name: "crm", paused: false })).toMatchObject({ state: "behind" });
  const { cursor } = await run(world.desk, listEvents, { target: "crm" });
  await run(world.desk, listEvents, { target: "crm", after: cursor ?? "" });
  expect(await found({ state: { ...wellState(), recordingFailsSince: 5 } })).toEqual([
    `Top-ups fail: They have failed since ${time(5)}. Partners get an answer to try again.`,
  ]);
  expect(await found({ state: { ...wellState(), clockSetBackFrom: 5 } })).toEqual([
    expect.stringContaining(`The clock was set back: It has shown ${time(5)}.`),
  ]);
  expect(await found({ free: 2 ** 31, log: 2 ** 30 })).toEqual([]);
  expect(await found({ free: 2 ** 31 - 1, log: 2 ** 30 + 2 ** 20 })).toEqual([
    "The disk is almost full: The disk of the database has only 2047 MiB left.",
    "The write-ahead log is large: The write-ahead log has grown to 1025 MiB.",
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
    "Processes ended or hung: Started again in the last five minutes: 2.",
    "subscription-package-topup: answers are slow: One answer of a hundred takes over 1250 milliseconds.",
  ]);

  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })], {
    ...{ name: "night.ndjson", asOf: iso(world.now - MINUTE_MS) },
  });
  expect(await found()).toEqual([
    "Subscriptions are held back: Subscriptions that wait for a decision: 1. Decide on Imports.",
  ]);
  await replaceHeldBack(store.engine, "production", new Set(["1"]), [], world.now);

  const expiresAt = world.now + 30 * DAY_MS;
  const { id } = await run(world.desk, issueToken, { partner: "wallet", expiresAt: iso(expiresAt) });
  world.now = expiresAt - 14 * DAY_MS + 1;
  await noteBackup(store.engine, world.now - 2 * DAY_MS);
  await noteCheck(store.engine, world.now - 7 * DAY_MS);
  expect(await found()).toEqual([]);
  await store.recordTokenUses(new Map([[id, world.now]]));
  expect(await found()).toEqual([`wallet: access token ends: An access token in use ends at ${time(expiresAt)}.`]);
  world.now += 1;
  expect((await found()).slice(-2)).toEqual([
    `No backup: The last backup: ${time(world.now - 1 - 2 * DAY_MS)}.`,
    `No check of the database: The last check without a finding: ${time(world.now - 1 - 7 * DAY_MS)}.`,
  ]);
});
