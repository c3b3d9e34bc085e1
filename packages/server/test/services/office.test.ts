import { describe, expect, test } from "vitest";
import { sealingSecret } from "../../src/domain/checkout-secret.ts";
import { listAudit, readAudit, readCheckpoint, verifyAudit } from "../../src/services/staff/audit.ts";
import { pruneHistory, readAge, rotateSecret } from "../../src/services/staff/maintenance.ts";
import { ACTOR, customer, DAY_MS, openWorld, type World } from "./world.ts";

async function withCustomer(): Promise<World> {
  const world = await openWorld();
  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })]);
  return world;
}

describe("letting history go", () => {
  test.each<readonly [string, object | undefined]>([
    ["7y", { months: 84, days: 0 }],
    ["18m", { months: 18, days: 0 }],
    ["400d", { months: 0, days: 400 }],
    ...["", "0d", "7", "-7y", "101y", "1201m", "7 y", "1.5y"].map((text) => [text, undefined] as const),
  ])("takes the age %j for %j", (text, age) => {
    expect(readAge(text)).toEqual(age);
  });

  test("keeps two months, and tells what would go before it goes", async () => {
    const world = await withCustomer();
    for (let month = 0; month < 5; month += 1) {
      await world.topUp("1");
      world.now += 200 * DAY_MS;
    }
    const run = (days: number, dryRun: boolean) =>
      pruneHistory(world.ports, ACTOR, { olderThan: { months: 0, days }, dryRun, reason: "old books" });
    expect(await run(61, true)).toEqual({ kind: "too_young" });
    const would = await run(62, true);
    expect(would).toMatchObject({ kind: "pruned", pruned: { topUps: 4 } });
    expect(await world.store.retention.prunedBefore()).toBeUndefined();
    expect(await run(62, false)).toEqual(would);
    if (would.kind === "pruned") expect(await world.store.retention.prunedBefore()).toBe(would.before);
    expect(await run(62, false)).toMatchObject({ pruned: { entries: 0, topUps: 0 } });
    const { entries } = await listAudit(world.ports, { filter: { action: "history.prune" }, limit: 5 });
    expect(entries.map(({ author, reason }) => [author, reason])).toContainEqual(["tester", "old books"]);
    for await (const event of world.store.check()) expect(event.kind).toBe("checked");
  });
});

test("a new secret seals once every process knows it, and what it is is never told", async () => {
  const world = await openWorld();
  const rotated = await rotateSecret(world.ports, ACTOR);
  if (rotated.kind !== "rotated") throw new Error(rotated.kind);
  const sealing = async (at: number) => sealingSecret(await world.store.checkoutSecrets(), at).id;
  expect(await sealing(rotated.sealsFrom - 1)).not.toBe(rotated.id);
  expect(await sealing(rotated.sealsFrom)).toBe(rotated.id);
  expect(Object.keys(rotated)).toEqual(["kind", "id", "sealsFrom"]);
});

describe("the audit trail", () => {
  test("is listed from the newest on, and tells of one customer what an import did to that one", async () => {
    const world = await openWorld();
    await world.importCustomers([customer("1"), customer("2")]);
    const { entries, next } = await listAudit(world.ports, { filter: { cuid: "2" }, limit: 1 });
    expect(entries.map(({ action, before, after }) => [action, before, JSON.parse(after ?? "{}")])).toEqual([
      ["customers.import", undefined, expect.objectContaining({ first_name: "Sita", "internet net-2": "active" })],
    ]);
    expect(next).toBeUndefined();
    expect((await listAudit(world.ports, { filter: {}, limit: 1 })).next).toBe((entries[0]?.seq ?? 0) - 1);
  });

  test("shows the import of a file once, however many customers it changed", async () => {
    const world = await openWorld();
    const rows = Array.from({ length: 120 }, (_, index) => customer(String(index + 1)));
    await world.importCustomers(rows, { name: "night.ndjson" });
    const [entry] = (await listAudit(world.ports, { filter: {}, limit: 1 })).entries;
    expect(entry).toMatchObject({ action: "customers.import", parts: 3 });
    expect(entry?.reason).toMatch(/^import \d+: night\.ndjson$/);
    const all = await listAudit(world.ports, { filter: { reason: entry?.reason }, limit: 10 });
    expect(all.entries.map(({ parts }) => parts)).toEqual([1, 1, 1]);
  });

  test("is whole, and held against what was noted of it elsewhere", async () => {
    const { ports } = await openWorld();
    const all = [];
    for await (const entry of readAudit(ports)) all.push(entry);
    const last = all.at(-1);
    if (last === undefined) throw new Error("it is empty");
    const verify = (...checkpoints: { seq: number; hash: string }[]) => verifyAudit(ports, { checkpoints });
    expect(await verify()).toMatchObject({ kind: "whole", last: { seq: last.seq }, checkpoints: 0 });
    const noted = readCheckpoint(`${last.seq}:${last.hash}`);
    if (noted === undefined) throw new Error("it is not read");
    expect(await verify(noted)).toMatchObject({ kind: "whole", checkpoints: 1 });
    for (const other of [
      { ...noted, hash: "0".repeat(64) },
      { ...noted, seq: last.seq + 1 },
    ])
      expect(await verify(noted, other)).toMatchObject({ kind: "another", checkpoint: other });
    for (const text of ["", "0:00", `1:${"g".repeat(64)}`, `1:${"0".repeat(63)}`])
      expect(readCheckpoint(text)).toBeUndefined();
  });
});
