import { describe, expect, test } from "vitest";
import { Background } from "../../src/faces/staff-api/ports.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { grantGoodwill } from "../../src/office/corrections/operations.ts";
import { exportHeldBack, listHeldBack, settleHeldBack } from "../../src/office/imports/held-back.ts";
import { runUpload, showUpload, uploadCustomers } from "../../src/office/imports/operations.ts";
import { listRuns, heldBackOf as recordsOf } from "../../src/office/imports/runs.ts";
import type { Desk } from "../../src/office/office.ts";
import { findCustomer } from "../../src/store/customers.ts";
import { RightsEnded, StoreUnavailable } from "../../src/store/errors.ts";
import { fileOfRows } from "../support/catalogue.ts";
import { refusal, run } from "../support/desk.ts";
import { interposed } from "../support/interposed-store.ts";
import { ACTOR, customer, DAY_MS, iso, MINUTE_MS, openWorld, type World } from "../support/world.ts";

const PRODUCTION = "production" as const;
const NO_GOOD_LINE = "nothing was written: the file holds no good line";
const PAID = "2027-01-10 10:00:00";
const STATED = "2026-12-10 10:00:00";

/** A world with customers whose month to 10 December was topped up to 10 January, and then a day later. */
async function toppedUp(...cuids: readonly string[]): Promise<World> {
  const world = await openWorld();
  await world.importCustomers(cuids.map((cuid) => customer(cuid, { end: STATED })));
  for (const cuid of cuids) await world.topUp(cuid);
  world.now += DAY_MS;
  return world;
}

const asOfNow = ({ now }: World) => iso(now - MINUTE_MS);
/** Rows that know nothing of what was topped up, but say that they do. */
const tooShort = (...cuids: readonly string[]) => cuids.map((cuid) => customer(cuid, { end: STATED }));
const heldBackOf = async ({ desk }: World) => (await run(desk, listHeldBack, { environment: PRODUCTION })).items;
const runsOf = ({ store }: World) => listRuns(store.engine.db);

describe("imports", () => {
  test("of files are remembered, with what they came to, and dry runs are not", async () => {
    const world = await openWorld();
    await world.importCustomers([customer("1", { status: "gone" }), customer("2")], {
      name: "bad.ndjson",
      asOf: asOfNow(world),
    });
    const broken = { name: "away.ndjson", open: () => cutOff() };
    await expect(world.importCustomers([], broken)).rejects.toThrow("unplugged");
    const runs = await runsOf(world);
    expect(
      runs.map(({ kind, file: name, outcome, report, problem }) => [kind, name, outcome, report, problem]),
    ).toEqual([
      ["customers", "away.ndjson", "failed", null, null],
      ["customers", "bad.ndjson", "refused", null, expect.stringMatching(/1 line cannot be read/)],
    ]);
    expect(runs[1]).toMatchObject({
      author: "tester",
      asOf: asOfNow(world),
      startedAt: iso(world.now),
      endedAt: iso(world.now),
    });
  });

  test("that are refused say why, and have no counts, since they changed nothing", async () => {
    const world = await openWorld();
    const cuids = Array.from({ length: 20 }, (_, index) => String(index + 1));
    await world.importCustomers(cuids.map((cuid) => customer(cuid, { mobile: `98410000${cuid}` })));
    await world.importCustomers(
      cuids.map((cuid) => customer(cuid)),
      { name: "no-mobiles.ndjson" },
    );
    await world.importCustomers([customer("1")], { name: "young.ndjson", asOf: iso(world.now) });
    await world.importCustomers([], { name: "empty.ndjson" });
    expect(await runsOf(world)).toMatchObject([
      { outcome: "refused", report: null, problem: NO_GOOD_LINE },
      { outcome: "refused", report: null, problem: expect.stringMatching(/^asOf must be a minute ago/) },
      { outcome: "refused", report: null, problem: expect.stringContaining("20 of 20 mobile numbers lost") },
    ]);
  });

  test("leave what they held back, each customer's row with it, until a file names the customer again", async () => {
    const world = await toppedUp("1", "2", "3");
    const name = "night.ndjson";
    await world.importCustomers(tooShort("1", "2"), { name, asOf: asOfNow(world) });
    expect((await heldBackOf(world)).map(({ cuid, keptEnd, statedEnd }) => [cuid, keptEnd, statedEnd])).toEqual([
      ["1", PAID, STATED],
      ["2", PAID, STATED],
    ]);
    world.now += MINUTE_MS;
    const mended = [customer("2", { end: PAID }), customer("3", { end: STATED })];
    await world.importCustomers(mended, { name, asOf: asOfNow(world) });
    const [waiting, left, ...others] = await heldBackOf(world);
    expect([waiting?.cuid, others]).toEqual(["1", []]);
    expect(await run(world.desk, listHeldBack, { environment: PRODUCTION })).toMatchObject({ count: 2 });
    expect(left).toMatchObject({ cuid: "3", line: 2, bouquetId: "NET-1M", reqId: "net-3" });
    const row = { ...customer("3", { end: STATED }), asOf: asOfNow(world) };
    const [recorded] = await recordsOf(world.store.engine.db, PRODUCTION, "3");
    expect(JSON.parse(recorded?.sourceRow ?? "")).toEqual(row);
  });

  test("of files in which no line is good are refused, and what was held back before stays", async () => {
    const world = await toppedUp("1", "2");
    await world.importCustomers(tooShort("1"), { name: "night.ndjson", asOf: asOfNow(world) });
    const anothers = customer("3", { connections: { internet: [{ username: "net-2", status: "active" }] } });
    for (const rows of [[], [anothers]]) {
      const { result } = await world.importCustomers(rows, { name: "no.ndjson", asOf: asOfNow(world) });
      expect(result).toEqual({ kind: "refused", words: NO_GOOD_LINE });
      const [run] = await runsOf(world);
      expect(run).toMatchObject({ outcome: "refused", problem: NO_GOOD_LINE });
    }
    expect(await heldBackOf(world)).toMatchObject([{ cuid: "1" }]);
  });

  test.each([
    [new StoreUnavailable("away"), "the database was not available"],
    [new RightsEnded(), "the log-in or the key has ended, or the role has changed"],
  ])("that fail say why: %s", async (error, problem) => {
    const world = await openWorld({ wrap: interposed(new Map([["importCustomers", () => Promise.reject(error)]])) });
    await expect(world.importCustomers([customer("1")], { name: "night.ndjson" })).rejects.toBe(error);
    expect(await runsOf(world)).toMatchObject([{ outcome: "failed", problem }]);
  });
});

describe("what was held back", () => {
  async function heldBack(...cuids: readonly string[]) {
    const world = await toppedUp(...cuids);
    await world.importCustomers(tooShort(...cuids), { name: "night.ndjson", asOf: asOfNow(world) });
    return { world, records: await heldBackOf(world) };
  }
  const reason = "billing agreed";
  const decide = ({ desk }: World, id: number | undefined, decision: "shorten" | "keep", more: object = {}) =>
    run(desk, settleHeldBack, { environment: PRODUCTION, ids: [id ?? 0], decision, reason, ...more });

  test("and is taken ends what was paid for, even weeks later, and is gone from the list", async () => {
    const { world, records } = await heldBack("1", "2");
    world.now += 40 * DAY_MS;
    await decide(world, records[0]?.id, "shorten");
    expect(await world.ends("1")).toEqual({ "Fiber 100": STATED });
    expect(await world.ends("2")).toEqual({ "Fiber 100": PAID });
    expect(records.map(({ endsRunning }) => endsRunning)).toEqual([false, false]);
    expect((await heldBackOf(world)).map(({ cuid, endsRunning }) => [cuid, endsRunning])).toEqual([["2", true]]);
    expect(await refusal(decide(world, records[0]?.id, "shorten"))).toMatchObject({ code: "conflict" });
    const [entry] = await listEntries(world.store.engine.db, { cuid: "1" }, 1);
    expect(entry).toMatchObject({ action: "customers.import", author: "tester", at: world.now });
    expect(entry?.reason).toBe(`held back ${records[0]?.id}: ${reason}`);
  });

  test("and is taken keeps what was topped up after the records", async () => {
    const { world, records } = await heldBack("1");
    await world.topUp("1");
    await decide(world, records[0]?.id, "shorten");
    expect(await world.ends("1")).toEqual({ "Fiber 100": "2027-01-10 10:00:00" });
  });

  test("and is left stays as it was paid for, and who left it stands in the audit trail", async () => {
    const { world, records } = await heldBack("1");
    await decide(world, records[0]?.id, "keep");
    expect(await world.ends("1")).toEqual({ "Fiber 100": PAID });
    expect(await heldBackOf(world)).toEqual([]);
    const [entry] = await listEntries(world.store.engine.db, { cuid: "1" }, 1);
    expect(entry).toMatchObject({
      action: "held_back.keep",
      author: "tester",
      reason,
      after: expect.stringContaining(PAID),
    });
  });

  test("and is taken changes nothing while it must be said whether the records hold goodwill", async () => {
    const world = await openWorld();
    const username = "net-1";
    const rows = (fiber: string, max: string) => {
      const start = { startdate: "2026-01-10 10:00:00" };
      const subscriptions = [
        { code: "NET-1M", ...start, enddate: fiber },
        { code: "MAX-1M", ...start, enddate: max },
      ];
      return [customer("1", { connections: { internet: [{ username, status: "active", subscriptions }] } })];
    };
    await world.importCustomers(rows(STATED, STATED));
    await world.topUp("1");
    const key = {
      environment: PRODUCTION,
      cuid: "1",
      service: "internet",
      reqId: username,
      plan: "Fiber 300",
    } as const;
    await run(world.desk, grantGoodwill, { ...key, days: 3, reason: "outage" });
    world.now += DAY_MS;
    const later = "2027-02-10 10:00:00";
    await world.importCustomers(rows(STATED, later), { name: "night.ndjson", asOf: asOfNow(world) });
    const [record] = await heldBackOf(world);
    expect(await decide(world, record?.id, "shorten", { preview: true })).toMatchObject({ goodwillUnclear: 1 });
    const refused = await decide(world, record?.id, "shorten");
    const problem = expect.stringContaining("say whether the file's records hold goodwill");
    expect(refused).toMatchObject({ customers: 0, subscriptions: 0, failures: [{ cuid: "1", problem }] });
    expect(await world.ends("1")).toEqual({ "Fiber 100": PAID, "Fiber 300": "2026-12-13 10:00:00" });
    await decide(world, record?.id, "shorten", { goodwill: "held" });
    expect(await world.ends("1")).toEqual({ "Fiber 100": STATED, "Fiber 300": later });
  });

  test("is not decided if a newer file comes meanwhile, which holds back other ends", async () => {
    const { world, records } = await heldBack("1", "2");
    const { engine } = world.desk.store;
    let isNew = false;
    const transact: typeof engine.transact = async (work) => {
      if (!isNew) {
        isNew = true;
        world.now += 1_000;
        const end = "2026-12-20 10:00:00";
        await world.importCustomers([customer("2", { end })], { name: "day.ndjson", asOf: asOfNow(world) });
      }
      return engine.transact(work);
    };
    const store = { ...world.desk.store, engine: { ...engine, transact } };
    const ids = records.map(({ id }) => id);
    const input = { environment: PRODUCTION, ids, decision: "keep", reason } as const;
    expect(await run({ ...world.desk, store }, settleHeldBack, input)).toMatchObject({
      ...{ customers: 1, failures: [{ cuid: "2", problem: "this is not held back any more" }] },
    });
    expect(await heldBackOf(world)).toMatchObject([{ cuid: "2", statedEnd: "2026-12-20 10:00:00" }]);
  });

  test("is not taken where records of a later moment were", async () => {
    const { world, records } = await heldBack("1");
    world.now += MINUTE_MS;
    // By whoever writes one customer at a time: no file takes the place of what was held back.
    await world.importCustomers([customer("1", { end: PAID })], { asOf: asOfNow(world) });
    const problem = expect.stringContaining("records of a later moment");
    expect(await decide(world, records[0]?.id, "shorten")).toMatchObject({ failures: [{ cuid: "1", problem }] });
    expect(await world.ends("1")).toEqual({ "Fiber 100": PAID });
  });
});

describe("a file that holds back very much", () => {
  /** 70 customers with a running subscription each; the first of them, which were topped up, are held back. */
  async function heldBack(count: number) {
    const cuids = Array.from({ length: count }, (_, index) => `1${index}`);
    const others = Array.from({ length: 70 - count }, (_, index) => customer(`2${index}`, { end: PAID }));
    const world = await toppedUp(...cuids);
    const rows = [...tooShort(...cuids), ...others];
    const { result } = await world.importCustomers(rows, { name: "night.ndjson", asOf: asOfNow(world) });
    const list = (more: object = {}) => run(world.desk, listHeldBack, { environment: PRODUCTION, ...more });
    const decide = (more: object) =>
      run(world.desk, settleHeldBack, {
        environment: PRODUCTION,
        decision: "keep",
        reason: "booked by hand",
        ...more,
      });
    return { world, result, list, decide };
  }

  test("says that its as of is probably wrong, if it is more than 5 %, and five at least", async () => {
    const { list, result } = await heldBack(4);
    expect(result).toMatchObject({ report: { heldBack: 4, running: 70 } });
    expect(await list()).toMatchObject({ count: 4, totals: [{ kind: "top_up", count: 4 }], advice: null });
    const much = await heldBack(5);
    expect((await much.list()).advice).toBe(
      "5 of the file's 70 running subscriptions are held back, over 5 %: its as of (--as-of) is probably wrong. Check it, and import the file again.",
    );
  });

  test("is decided on by its filter, more rows than a page has, if they are as many as were seen", async () => {
    const { world, list, decide } = await heldBack(60);
    const { items, cursor, count, first } = await list({ kind: "top_up" });
    expect([items.length, cursor, count]).toEqual([50, String(items.at(-1)?.id), 60]);
    expect(await list({ kind: "goodwill" })).toMatchObject({ items: [], count: 0 });
    const seen = { count: 60, first: first ?? 0 };
    const others = { ...seen, first: seen.first + 1 };
    for (const wrong of [{}, { ...seen, count: 50 }, { kind: "goodwill", ...seen }, others])
      expect(await refusal(decide(wrong))).toMatchObject({ code: "conflict" });
    const effect = { customers: 60, subscriptions: 60, endsRunning: 0, goodwillUnclear: 0, failures: [] };
    const all = { kind: "top_up", ...seen };
    expect(await decide({ ...all, preview: true })).toEqual(effect);
    expect((await list()).count).toBe(60);
    expect(await decide(all)).toEqual(effect);
    expect(await list()).toMatchObject({ items: [], count: 0, totals: [], advice: null });
    const entries = await listEntries(world.store.engine.db, { reason: "booked by hand" }, 100);
    expect(entries.map(({ action }) => action)).toEqual(Array.from({ length: 60 }, () => "held_back.keep"));
  });

  test("is exported, with what keeps each end", async () => {
    const { world } = await heldBack(5);
    const rows: object[] = [];
    const exported = await run(world.desk, exportHeldBack, { environment: PRODUCTION });
    for await (const some of exported) rows.push(...some);
    expect(rows).toHaveLength(5);
    expect(rows[0]).toMatchObject({
      ...{ line: 1, cuid: "10", kind: "top_up", keptEnd: PAID, statedEnd: STATED, endsRunning: false },
      ...{ partner: expect.any(String), amount: "1130.00", customerName: expect.any(String) },
    });
  });
});

describe("a file that is uploaded", () => {
  /** Uploads to a process, and which files were deleted. */
  function uploading(world: World) {
    const [errors, deleted]: [unknown[], string[]] = [[], []];
    const background = new Background((error) => errors.push(error));
    const goOn: Desk["goOn"] = async (work) => background.begin(work);
    const desk = { ...world.desk, goOn };
    const start = async (name: string, rows: readonly object[], more: object = {}) => {
      const file = { ...fileOfRows(rows, name), keep: () => async () => void deleted.push(name) };
      return (await run(desk, uploadCustomers, { file, environment: PRODUCTION, ...more })).id;
    };
    const find = (id: string) => run(desk, showUpload, { id });
    const settled = async (id: string) => {
      await expect.poll(async () => (await find(id)).state).not.toMatch(/ing$/);
      return find(id);
    };
    const write = (id: string, more: object = {}, actor = ACTOR) => run({ ...desk, actor }, runUpload, { id, ...more });
    return { background, errors, deleted, start, find, settled, write };
  }

  test("is checked first, with every value that it would change, and written once it is told to", async () => {
    const world = await openWorld();
    const { find, start, settled, deleted, write } = uploading(world);
    const id = await start("new.ndjson", [customer("1"), customer("2")]);
    expect(await settled(id)).toMatchObject({ state: "checked", lines: 2, report: { added: 2 }, author: "tester" });
    expect((await find(id)).changes.map(({ cuid, kind }) => [cuid, kind])).toEqual([
      ["1", "added"],
      ["2", "added"],
    ]);
    expect(await findCustomer(world.store.engine.db, PRODUCTION, "1")).toBeUndefined();
    expect(deleted).toEqual([]);
    await write(id, {}, { name: "boss" });
    expect(await settled(id)).toMatchObject({ state: "done", author: "boss", report: { added: 2 } });
    expect(await findCustomer(world.store.engine.db, PRODUCTION, "1")).toBeDefined();
    expect(deleted).toEqual(["new.ndjson"]);
    expect(await refusal(write(id))).toMatchObject({ code: "conflict" });
    expect(await runsOf(world)).toMatchObject([{ file: "new.ndjson", author: "boss", outcome: "done" }]);
  });

  test("is written at once where that was asked for and nothing is against it, and never with a bad line", async () => {
    const world = await openWorld();
    const { start, settled, deleted } = uploading(world);
    const good = await start("good.ndjson", [customer("1")], { run: true });
    const bad = await start("bad.ndjson", [customer("2"), { cuid: "3" }], { run: true });
    expect(await settled(good)).toMatchObject({ state: "done" });
    expect(await settled(bad)).toMatchObject({ state: "refused", problems: [{ line: 2 }] });
    expect(await findCustomer(world.store.engine.db, PRODUCTION, "2")).toBeUndefined();
    await expect.poll(() => deleted).toEqual(["good.ndjson", "bad.ndjson"]);
  });

  test("that would change much is written only where that is said to be meant", async () => {
    const world = await openWorld();
    const cuids = Array.from({ length: 20 }, (_, index) => String(index + 1));
    await world.importCustomers(cuids.map((cuid) => customer(cuid)));
    const { write, start, settled } = uploading(world);
    const id = await start(
      "closed.ndjson",
      cuids.map((cuid) => customer(cuid, { status: "inactive" })),
      { run: true },
    );
    const large = [{ what: "active_customers_deactivated", count: 20, of: 20 }];
    expect(await settled(id)).toMatchObject({ state: "checked", largeChanges: large });
    await write(id);
    const problem = expect.stringContaining("20 of 20 active customers deactivated");
    expect(await settled(id)).toMatchObject({ state: "checked", largeChanges: large, problem });
    await write(id, { allowLargeChange: true });
    expect(await settled(id)).toMatchObject({ state: "done", report: { changed: 20 } });
  });

  test("cannot be written where it does not say how far its records reach", async () => {
    const world = await toppedUp("1");
    const { start, settled, write } = uploading(world);
    const id = await start("night.ndjson", tooShort("1"));
    expect(await settled(id)).toMatchObject({ state: "refused", problem: expect.stringMatching(/^asOf is required/) });
    expect(await refusal(write(id))).toMatchObject({ code: "conflict" });
    expect(await refusal(write("other"))).toMatchObject({ code: "not_found" });
  });

  test("ends where the process does, and nothing goes on after that", async () => {
    const world = await openWorld();
    const { start, background, settled, errors } = uploading(world);
    const id = await start("long.ndjson", [customer("1"), customer("2")], { run: true });
    await background.end();
    expect(await settled(id)).toMatchObject({ state: "refused", problem: "topupd was stopped" });
    expect(errors).toEqual([]);
  });

  test("is kept for an hour, and ten at most are", async () => {
    const world = await openWorld();
    const { start, settled, find, deleted } = uploading(world);
    const first = await start("0", [customer("1")]);
    await settled(first);
    world.now += 61 * MINUTE_MS;
    const second = await start("1", [customer("1")]);
    expect((await refusal(find(first))).code).toBe("not_found");
    expect(deleted).toEqual(["0"]);
    for (const file of ["2", "3", "4", "5", "6", "7", "8", "9", "10"])
      await settled(await start(file, [customer("1")]));
    await start("11", [customer("1")]);
    expect((await refusal(find(second))).code).toBe("not_found");
    expect(deleted).toEqual(["0", "1"]);
  });
});

async function* cutOff(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(customer("1"))}\n`);
  throw new Error("unplugged");
}
