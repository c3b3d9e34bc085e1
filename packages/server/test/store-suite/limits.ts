import { expect, test } from "vitest";
import type { Authority, StaffRole } from "../../src/domain/authority.ts";
import { showBulk, startBulk } from "../../src/office/bulk/operations.ts";
import { previewBulk, showLimits } from "../../src/office/bulk/preview.ts";
import { grantGoodwill, reverseGoodwill } from "../../src/office/corrections/operations.ts";
import type { Limits } from "../../src/office/limits.ts";
import type { Actor } from "../../src/office/office.ts";
import { by } from "../support/by.ts";
import { deskOf, listOf, NO_LIMITS, refusal, run } from "../support/desk.ts";
import { staffOf } from "../support/staff.ts";
import { plain } from "./customers.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { endOf, FIBER, importRows, openProvider, SITA, SITA_NET, SITA_TV } from "./provider.ts";

const DAY_MS = 86_400_000;
const GOODWILL = { days: 1, reason: "outage" };
const words = (needed: number, left: number, what = "days of goodwill") =>
  `${what}: ${needed} needed, ${left} of your 10 left today. Ask an admin to do it`;

/** @param many customers `m0`, `m1` ... with one connection each. */
async function openLimited(makeDatabase: MakeDatabase, many = 0, more: Partial<Limits> = {}) {
  const opened = await openProvider(makeDatabase);
  const { store } = opened;
  const names = Array.from({ length: many }, (_, index) => `m${index}`);
  const { subscriptions } = SITA.connections.internet[0] as { readonly subscriptions: readonly object[] };
  const rows = names.map((username) =>
    plain(username, { connections: { internet: [{ username, status: "active", subscriptions }] } }),
  );
  await importRows(store, opened.now, ...rows);
  const limits = { ...NO_LIMITS, supportGoodwillDays: 10, supportBulk: 10, ...more };
  const person = async (name: string, role: StaffRole): Promise<Actor> => {
    const { id: staffId } = await staffOf(store).add(name, role, by(opened.now));
    return { name, authority: { staffId, role, sessionId: undefined } satisfies Authority };
  };
  const deskFor = (actor: Actor, on = store) => deskOf({ store: on, clock: () => opened.now }, actor, { limits });
  const grant = (actor: Actor, days: number, more: object = {}) =>
    run(deskFor(actor), grantGoodwill, { ...SITA_NET, ...GOODWILL, days, ...more });
  /** Previews goodwill in bulk, and starts it unless it is refused or left checked. */
  const bulk = async (actor: Actor, lines: readonly string[], until = "done", days = 1) => {
    const desk = deskFor(actor);
    const { id } = await run(desk, previewBulk, { ...GOODWILL, days, action: "goodwill", file: listOf(lines) });
    const previewed = await run(desk, showBulk, { id });
    if (previewed.state !== "checked" || until === "checked") return previewed;
    await run(desk, startBulk, { id });
    return run(desk, showBulk, { id });
  };
  return { opened, store, names, person, deskFor, grant, bulk };
}

/** Limits of what one account or API key can do in a day. */
export function testLimits(makeDatabase: MakeDatabase): void {
  test("the role support gives goodwill up to its limit of the day; an admin and the shell give more", async () => {
    const { opened, store, person, grant } = await openLimited(makeDatabase);
    const [maya, ravi, asha] = [
      await person("maya", "support"),
      await person("ravi", "support"),
      await person("asha", "admin"),
    ];
    const key: Actor = {
      name: "key desk",
      authority: await staffOf(store).addKey("desk", "support", by(opened.now)),
    };
    await grant(maya, 7);
    for (const preview of [true, false])
      expect(await refusal(grant(maya, 4, { preview }))).toMatchObject({ code: "forbidden", words: words(4, 3) });
    await grant(maya, 3, { preview: true });
    await grant(maya, 3, SITA_TV);
    expect(await refusal(grant(maya, 1))).toMatchObject({ words: words(1, 0) });
    for (const actor of [ravi, key]) {
      await grant(actor, 10);
      expect(await refusal(grant(actor, 1))).toMatchObject({ words: words(1, 0) });
    }
    await grant(asha, 11);
    await grant({ name: "root" }, 11);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-28 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a refused goodwill does not count, a reversed one does, and each day starts again, whatever the clock", async () => {
    const { opened, person, deskFor, grant } = await openLimited(makeDatabase);
    const maya = await person("maya", "support");
    expect(await refusal(grant(maya, 10, { plan: "Gold" }))).toMatchObject({ code: "conflict" });
    await grant(maya, 10);
    await run(deskFor(maya), reverseGoodwill, { ...SITA_NET, reason: "wrong customer" });
    expect(await refusal(grant(maya, 1))).toMatchObject({ words: words(1, 0) });
    opened.now += DAY_MS;
    await grant(maya, 10);
    opened.now -= DAY_MS;
    expect(await refusal(grant(maya, 1))).toMatchObject({ words: words(1, 0) });
  });

  test("a preview of the role support counts all lines, and only those that would change toward its limit", async () => {
    const { names, person, bulk } = await openLimited(makeDatabase, 12);
    const maya = await person("maya", "support");
    const strangers = Array.from({ length: 300 }, (_, index) => `nobody-${index}`);
    const all = { lines: 308, count: 8, problems: 300 };
    expect(await bulk(maya, [...strangers, ...names.slice(0, 8)], "checked")).toMatchObject({
      state: "checked",
      ...all,
    });
    const problem = words(12, 10, "connections in bulk changes");
    const more = { lines: 312, count: 12, problems: 300 };
    expect(await bulk(maya, [...names, ...strangers])).toMatchObject({ state: "refused", problem, ...more });
  });

  test("what is left of the day is shown before a preview", async () => {
    const { names, person, deskFor, grant, bulk } = await openLimited(makeDatabase, 2, { secondPersonBulk: 5 });
    const [maya, asha] = [await person("maya", "support"), await person("asha", "admin")];
    const left = (actor: Actor) => run(deskFor(actor), showLimits, {});
    expect(await left(maya)).toEqual({ connections: 10, goodwillDays: 10, alone: 5 });
    await grant(maya, 3);
    await bulk(maya, names);
    expect(await left(maya)).toEqual({ connections: 8, goodwillDays: 5, alone: 3 });
    expect(await left(asha)).toEqual({ connections: null, goodwillDays: null, alone: 5 });
    expect(await left({ name: "root" })).toEqual({ connections: null, goodwillDays: null, alone: 5 });
  });

  test("goodwill in bulk counts the days of all its connections", async () => {
    const { names, person, deskFor, grant, bulk } = await openLimited(makeDatabase, 2);
    const maya = await person("maya", "support");
    expect(await bulk(maya, names, "done", 6)).toMatchObject({ state: "refused", problem: words(12, 10) });
    const { id } = await bulk(maya, names, "checked", 5);
    await grant(maya, 1);
    expect(await refusal(run(deskFor(maya), startBulk, { id }))).toMatchObject({
      code: "forbidden",
      words: words(10, 9),
    });
    expect(await bulk(maya, names, "done", 4)).toMatchObject({ state: "done" });
    expect(await refusal(grant(maya, 2))).toMatchObject({ words: words(2, 1) });
  });
}

/** What happens at once. */
export function testLimitsAtOnce(makeDatabase: MakeDatabase): void {
  test("20 parallel corrections, through two stores, do not exceed the limit", async () => {
    const { opened, store, names, person, deskFor } = await openLimited(makeDatabase, 20);
    const maya = await person("maya", "support");
    const stores = [store, await opened.another()];
    const given = await Promise.allSettled(
      names.map((reqId, index) =>
        run(deskFor(maya, stores[index % 2]), grantGoodwill, { service: "internet", reqId, ...GOODWILL }),
      ),
    );
    expect(given.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect(await countRows(opened, "ledger_entry WHERE kind = 'goodwill'")).toBe(10);
    expect(await countRows(opened, "staff_day WHERE goodwill_days = 10")).toBe(1);
  });

  test("the role support corrects connections in bulk up to its limit of the day", async () => {
    const { opened, store, names, person, deskFor, grant, bulk } = await openLimited(makeDatabase, 12);
    const [maya, asha] = [await person("maya", "support"), await person("asha", "admin")];
    const left = (needed: number, count: number) => words(needed, count, "connections in bulk changes");
    expect(await bulk(maya, names.slice(0, 7))).toMatchObject({ state: "done" });
    expect(await bulk(maya, names.slice(7, 11))).toMatchObject({ state: "refused", problem: left(4, 3) });
    const stores = [store, await opened.another()];
    const ready = [];
    for (const name of names.slice(7)) ready.push(await bulk(maya, ["m0", name], "checked"));
    const started = await Promise.allSettled(
      ready.map(({ id }, index) => run(deskFor(maya, stores[index % 2]), startBulk, { id })),
    );
    expect(started.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of started)
      if (outcome.status === "rejected")
        expect(await refusal(Promise.reject(outcome.reason))).toMatchObject({ code: "forbidden", words: left(2, 1) });
    await grant(maya, 1);
    expect(await bulk(asha, names)).toMatchObject({ state: "done", count: 12 });
    expect(await countRows(opened, "ledger_entry WHERE kind = 'goodwill'")).toBe(22);
  });
}
