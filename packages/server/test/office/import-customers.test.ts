import { describe, expect, test } from "vitest";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { MOST_KEPT } from "../../src/office/imports/rows.ts";
import { listTransactions } from "../../src/office/transactions/operations.ts";
import { findCustomer } from "../../src/store/customers.ts";
import type { Store } from "../../src/store/store.ts";
import { ndjson } from "../support/catalogue.ts";
import { run } from "../support/desk.ts";
import { moveHorizon } from "../support/history.ts";
import { customer, DAY_MS, iso, MINUTE_MS, openWorld, type World } from "../support/world.ts";

const tooLarge = (what: string) => {
  const words = `nothing was written: it would be ${what}. If that is meant, give allowLargeChange`;
  return { kind: "refused", words };
};
const ONE_BAD_LINE = {
  kind: "refused",
  words: "nothing was written: 1 line cannot be read. Correct the file, or skip bad lines",
};
const MANY = Array.from({ length: 20 }, (_, index) => customer(String(index + 1), { end: "2026-12-10 10:00:00" }));

/** Of one customer whose month to 10 December is topped up to 10 January. */
async function toppedUp(): Promise<World> {
  const world = await openWorld();
  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })]);
  await world.topUp("1");
  expect(await world.ends("1")).toEqual({ "Fiber 100": "2027-01-10 10:00:00" });
  world.now += DAY_MS;
  return world;
}

const manyCustomers = (count: number) => Array.from({ length: count }, (_, index) => customer(String(index)));

/** A file that cannot be read a second time. */
function readOnce(rows: readonly object[]) {
  let isRead = false;
  const open = () => {
    if (isRead) throw new Error("the file was read twice");
    isRead = true;
    return ndjson(rows);
  };
  return { open };
}

/** Up to when the records hold everything, where they are as young as can be. */
const justNow = ({ now }: World) => ({ asOf: iso(now - MINUTE_MS) });

describe("a customers file", () => {
  test("in which a customer stands twice is refused, with both lines, and the first row is good", async () => {
    const world = await openWorld();
    const apart = Array.from({ length: 1500 }, (_, index) => customer(`x${index}`));
    const rows = [customer("1"), ...apart, customer("1", { last_name: "Thapa" })];
    const { result, rejected } = await world.importCustomers(rows);
    expect(result).toEqual(ONE_BAD_LINE);
    expect(rejected).toMatchObject([
      { line: 1502, problems: [{ field: "cuid", problem: expect.stringMatching(/^1 stands on line 1 already/) }] },
    ]);
    const skipped = await world.importCustomers(rows, { skipInvalid: true });
    expect(skipped.result).toMatchObject({ kind: "done", report: { added: 1501, rejected: 1 } });
    expect(await findCustomer(world.store.engine.db, "production", "1")).toMatchObject({ lastName: "Rai" });
  });

  test("with a bad line is not taken at all, unless bad lines are to be left out", async () => {
    const world = await openWorld();
    const rows = [customer("1"), customer("2", { status: "gone" }), customer("3")];
    const whole = await world.importCustomers(rows);
    expect(whole.result).toEqual(ONE_BAD_LINE);
    expect(whole.rejected).toEqual([
      { line: 2, problems: [{ field: "status", problem: 'must be one of "active", "inactive"' }] },
    ]);
    expect(await findCustomer(world.store.engine.db, "production", "1")).toBeUndefined();
    const { result, rejected } = await world.importCustomers(rows, { skipInvalid: true });
    expect(result).toMatchObject({ kind: "done", report: { accepted: 2, rejected: 1 } });
    expect(rejected).toEqual(whole.rejected);
    expect(await findCustomer(world.store.engine.db, "production", "3")).toBeDefined();
  });

  test("may name a bouquet that was sold once, and none that never was", async () => {
    const world = await openWorld();
    await world.importCatalogue([{ service: "tv", code: "TV-2", name: "Other TV (MONTHLY)", price: 450 }]);
    expect((await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })])).result.kind).toBe("done");
    const subscriptions = [{ code: "NET-9", startdate: "2026-11-10 10:00:00", enddate: "2026-12-10 10:00:00" }];
    const row = customer("2", { connections: { tv: [{ stb: "S", status: "active", subscriptions }] } });
    const { rejected } = await world.importCustomers([row]);
    expect(rejected[0]?.problems.map(({ field }) => field)).toEqual(["connections.tv[0].subscriptions[0].code"]);
  });

  test("of more customers than one transaction takes is written whole, part by part", async () => {
    const world = await openWorld();
    const rows = Array.from({ length: 2201 }, (_, index) => customer(String(index + 1)));
    const { result, progress } = await world.importCustomers(rows);
    expect(result).toMatchObject({ report: { added: 2201 } });
    const steps = [1000, 2000, 2201];
    expect(progress).toEqual([
      ...steps.map((lines) => ({ step: "checking", lines })),
      ...steps.map((lines) => ({ step: "writing", lines })),
    ]);
    expect((await world.importCustomers(rows)).result).toMatchObject({ report: { unchanged: 2201 } });
  });

  test("whose import was broken off is made whole by importing it again", async () => {
    let calls = 0;
    const wrap = (store: Store): Store => {
      const write = store.importCustomers.bind(store);
      store.importCustomers = async (...words) => {
        calls += 1;
        if (calls === 2) throw new Error("the power went");
        return write(...words);
      };
      return store;
    };
    const world = await openWorld({ wrap });
    const rows = Array.from({ length: 1200 }, (_, index) => customer(String(index + 1)));
    await expect(world.importCustomers(rows)).rejects.toThrow("the power went");
    expect((await world.importCustomers(rows)).result).toMatchObject({ report: { added: 200, unchanged: 1000 } });
  });

  test("of which few rows change anything is read once, and nothing is written before its last line is checked", async () => {
    const world = await openWorld();
    const stored = manyCustomers(MOST_KEPT + 1);
    await world.importCustomers(stored);
    const rows = [customer("0", { last_name: "Thapa" }), ...stored.slice(1)];
    const bad = await world.importCustomers([], readOnce([...rows, {}]));
    expect(bad.result).toEqual(ONE_BAD_LINE);
    expect(await findCustomer(world.store.engine.db, "production", "0")).toMatchObject({ lastName: "Rai" });
    const good = await world.importCustomers([], readOnce(rows));
    expect(good.result).toMatchObject({ kind: "done", report: { changed: 1, unchanged: MOST_KEPT } });
    expect(good.progress.at(-1)).toEqual({ step: "writing", lines: rows.length });
  });

  test("of which more rows change something is read again, and not written on if it has changed", async () => {
    const world = await openWorld();
    let readings = 0;
    const open = () => {
      readings += 1;
      return ndjson(readings === 1 ? manyCustomers(MOST_KEPT + 1) : [{}, customer("0")]);
    };
    const { result } = await world.importCustomers([], { open });
    expect(result).toMatchObject({ kind: "refused", words: expect.stringContaining("the file was changed") });
    expect(await findCustomer(world.store.engine.db, "production", "0")).toBeUndefined();
    const most = manyCustomers(MOST_KEPT);
    expect((await world.importCustomers([], readOnce(most))).result).toMatchObject({ report: { added: MOST_KEPT } });
  });
});

describe("the moment up to which records hold what was made here", () => {
  test("must be said once something was topped up or granted, by the file or by each of its rows", async () => {
    const world = await toppedUp();
    const row = customer("1", { end: "2026-12-10 10:00:00" });
    const refused = { kind: "refused", words: expect.stringMatching(/^asOf is required/) };
    expect((await world.importCustomers([row])).result).toEqual(refused);
    expect((await world.importCustomers([{ ...row, ...justNow(world) }, row])).result).toEqual(refused);
    expect((await world.importCustomers([{ ...row, ...justNow(world) }])).result.kind).toBe("done");
    expect((await world.importCustomers([row], justNow(world))).result.kind).toBe("done");
  });

  test.each([
    ["half a minute ago", 30_000, "must be a minute ago or longer"],
    ["a minute ago", MINUTE_MS, undefined],
    ["35 days ago", 35 * DAY_MS, undefined],
    ["a moment more", 35 * DAY_MS + 1, "is more than 35 days ago"],
  ])("may be %s: %j", async (_, ago, problem) => {
    const world = await openWorld();
    const asOf = iso(world.now - ago);
    const { result } = await world.importCustomers([customer("1")], { asOf });
    const words = expect.stringContaining(`asOf ${problem}`);
    expect(result).toMatchObject(problem === undefined ? { kind: "done" } : { kind: "refused", words });
    const { rejected } = await world.importCustomers([{ ...customer("1"), asOf }]);
    expect(rejected.map(({ problems }) => problems[0]?.field)).toEqual(problem === undefined ? [] : ["asOf"]);
  });

  test("may be older where that is meant, but not from before the horizon", async () => {
    const world = await openWorld();
    await moveHorizon(world, world.now - 100 * DAY_MS);
    const run = async (days: number) =>
      (await world.importCustomers([customer("1")], { asOf: iso(world.now - days * DAY_MS), oldRecords: true })).result;
    expect(await run(100)).toMatchObject({ kind: "done" });
    expect(await run(101)).toMatchObject({ kind: "refused", words: expect.stringContaining("history was deleted") });
  });
});

describe("a row that would end what was paid for", () => {
  const row = customer("1", { end: "2026-12-10 10:00:00" });

  test("is taken once the top-up is reversed", async () => {
    const world = await toppedUp();
    const [topUp] = (await run(world.desk, listTransactions, {})).items;
    await run(world.desk, reverseTransaction, { id: topUp?.txnId ?? "", reason: "charged back" });
    world.now += 2 * MINUTE_MS;
    expect((await world.importCustomers([row], justNow(world))).result).toMatchObject({ report: { heldBack: 0 } });
    expect(await world.ends("1")).toEqual({ "Fiber 100": "2026-12-10 10:00:00" });
  });

  test.each([
    [undefined, 1],
    [2, 1],
    [3, 0],
  ])("by two days is held back with a tolerance of %j days: %i", async (toleranceDays, heldBack) => {
    const world = await toppedUp();
    const request = { ...justNow(world), ...(toleranceDays === undefined ? {} : { toleranceDays }) };
    const { result } = await world.importCustomers([customer("1", { end: "2027-01-08 10:00:00" })], request);
    expect(result).toMatchObject({ report: { heldBack } });
    expect(await world.ends("1")).toEqual({ "Fiber 100": "2027-01-10 10:00:00" });
  });
});

describe("a file that would change much", () => {
  const ended = (count: number) => MANY.map((row, index) => (index < count ? customer(row.cuid) : row));
  const inactive = (count: number) => MANY.map((row, index) => (index < count ? { ...row, status: "inactive" } : row));

  test.each([
    ["running subscriptions ended", ended, "5 of 20 running subscriptions ended"],
    ["active customers made inactive", inactive, "5 of 20 active customers deactivated"],
  ])("is refused whole for 5 of 20 %s, and not for 4", async (_, rows, change) => {
    const world = await openWorld();
    await world.importCustomers(MANY);
    expect((await world.importCustomers(rows(4))).result).toMatchObject({ kind: "done" });
    await world.importCustomers(MANY);
    const refused = await world.importCustomers(rows(5));
    expect(refused.result).toEqual(tooLarge(change));
    expect(refused.changes).toEqual([]);
    expect((await world.importCustomers(MANY)).result).toMatchObject({ report: { unchanged: 20 } });
    const meant = await world.importCustomers(rows(5), { allowLargeChange: true });
    expect(meant.result).toMatchObject({ kind: "done", report: { changed: 5 } });
  });

  const complete = MANY.map((row) => ({ ...row, mobile: `98410000${row.cuid}`, first_name: "Maya" }));
  const lacking = (lost: object) => (count: number) =>
    complete.map((row, index) => (index < count ? { ...row, ...lost } : row));
  test.each([
    ["customers lose their mobile number", lacking({ mobile: undefined }), "mobile numbers lost"],
    ["customers lose their first name", lacking({ first_name: "" }), "names lost"],
    ["customers lose their last name", lacking({ last_name: "" }), "names lost"],
  ])("is refused whole where 5 of its 20 %s, and not for 4", async (_, rows, what) => {
    const world = await openWorld();
    await world.importCustomers(complete);
    const refused = await world.importCustomers(rows(5));
    expect(refused.result).toEqual(tooLarge(`5 of 20 ${what}`));
    expect((await world.importCustomers(complete)).result).toMatchObject({ report: { unchanged: 20 } });
    expect((await world.importCustomers(rows(4))).result).toMatchObject({ kind: "done" });
    expect((await world.importCustomers(rows(5))).result).toMatchObject({ kind: "done" });
    const meant = await world.importCustomers(rows(20), { allowLargeChange: true });
    expect(meant.result).toMatchObject({ kind: "done" });
  });

  test("is taken where that is not more than a tenth", async () => {
    const world = await openWorld();
    const rows = Array.from({ length: 50 }, (_, index) => customer(`x${index}`, { end: "2026-12-10 10:00:00" }));
    await world.importCustomers(rows);
    const fewer = (count: number) => rows.map((row, index) => (index < count ? customer(row.cuid) : row));
    expect((await world.importCustomers(fewer(6))).result).toEqual(tooLarge("6 of 50 running subscriptions ended"));
    expect((await world.importCustomers(fewer(5))).result).toMatchObject({ kind: "done" });
  });
});

describe("a preview", () => {
  test("counts the running subscriptions that end, as the import does", async () => {
    const world = await openWorld();
    await world.importCustomers([...MANY, customer("over", { end: "2026-11-10 10:00:00" })]);
    const rows = [
      customer("1", { end: "2026-11-19 10:00:00" }),
      customer("2", { end: "2026-11-21 10:00:00" }),
      ...[customer("3"), customer("over"), customer("new", { end: "2026-11-19 10:00:00" })],
    ];
    for (const preview of [true, false])
      expect((await world.importCustomers(rows, { preview })).result).toMatchObject({ report: { endsRunning: 2 } });
  });

  test("tells what a large change would be", async () => {
    const world = await openWorld();
    await world.importCustomers(MANY);
    const rows = MANY.map(({ cuid }) => customer(cuid));
    const refused = await world.importCustomers(rows, { preview: true });
    expect(refused.result).toEqual(tooLarge("20 of 20 running subscriptions ended"));
    expect(refused.changes).toHaveLength(20);
    const meant = await world.importCustomers(rows, { preview: true, allowLargeChange: true });
    expect(meant.result).toMatchObject({ kind: "done", report: { changed: 20 } });
    expect(await world.ends("1")).toEqual({ "Fiber 100": "2026-12-10 10:00:00" });
  });
});
