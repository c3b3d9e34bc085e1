import { describe, expect, test } from "vitest";
import { sealingSecret } from "../../src/domain/checkout-secret.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
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
    const entries = await listEntries(world.store.engine.db, { action: "history.prune" }, 5);
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
