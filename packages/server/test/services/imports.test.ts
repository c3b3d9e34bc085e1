import { describe, expect, test } from "vitest";
import { Background } from "../../src/faces/staff-api/background.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { grantGoodwill } from "../../src/office/corrections/operations.ts";
import { listHeldBack, settleHeldBack } from "../../src/services/staff/held-back.ts";
import { type UploadRequest, Uploads } from "../../src/services/staff/uploads.ts";
import { RightsEnded, StoreUnavailable } from "../../src/store/errors.ts";
import { ndjson } from "../support/catalogue.ts";
import { run } from "../support/desk.ts";
import { interposed } from "../support/interposed-store.ts";
import { ACTOR, customer, DAY_MS, iso, MINUTE_MS, openWorld, type World } from "./world.ts";

const PRODUCTION = "production" as const;
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
const heldBackOf = (world: World) =>
  listHeldBack(world.ports, { environment: PRODUCTION, after: undefined, limit: 100 });

describe("imports", () => {
  test("of files are remembered, with what they came to, and dry runs are not", async () => {
    const world = await openWorld();
    await world.importCustomers([customer("1", { status: "gone" }), customer("2")], {
      name: "bad.ndjson",
      asOf: asOfNow(world),
    });
    const broken = { name: "away.ndjson", open: () => cutOff() };
    await expect(world.importCustomers([], broken)).rejects.toThrow("unplugged");
    const runs = await world.store.importRuns.list();
    expect(
      runs.map(({ kind, file: name, outcome, report, problem }) => [kind, name, outcome, report, problem]),
    ).toEqual([
      ["customers", "away.ndjson", "failed", undefined, undefined],
      ["customers", "bad.ndjson", "refused", undefined, "1 lines are bad"],
    ]);
    expect(runs[1]).toMatchObject({ author: "tester", asOf: asOfNow(world), startedAt: world.now, endedAt: world.now });
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
    expect(await world.store.importRuns.list()).toMatchObject([
      { outcome: "refused", report: undefined, problem: "the file holds no good line" },
      { outcome: "refused", report: undefined, problem: expect.stringMatching(/^asOf must be a minute ago/) },
      { outcome: "refused", report: undefined, problem: "the change is too large: 20 of 20 mobile numbers lost" },
    ]);
  });

  test("leave what they held back, each customer's row with it, in the place of what the last one did", async () => {
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
    const [left, ...others] = await heldBackOf(world);
    expect(others).toEqual([]);
    expect(left).toMatchObject({ cuid: "3", line: 2, bouquetCode: "NET-1M", reqId: "net-3" });
    const row = { ...customer("3", { end: STATED }), asOf: asOfNow(world) };
    expect(JSON.parse(left?.sourceRow ?? "")).toEqual(row);
  });

  test("of files in which no line is good are refused, and what was held back before stays", async () => {
    const world = await toppedUp("1", "2");
    await world.importCustomers(tooShort("1"), { name: "night.ndjson", asOf: asOfNow(world) });
    const anothers = customer("3", { connections: { internet: [{ username: "net-2", status: "active" }] } });
    for (const rows of [[], [anothers]]) {
      const { result } = await world.importCustomers(rows, { name: "no.ndjson", asOf: asOfNow(world) });
      expect(result).toEqual({ kind: "bad_lines", rejected: rows.length, hasGood: false });
      const [run] = await world.store.importRuns.list();
      expect(run).toMatchObject({ outcome: "refused", problem: "the file holds no good line" });
    }
    expect(await heldBackOf(world)).toMatchObject([{ cuid: "1" }]);
  });

  test.each([
    [new StoreUnavailable("away"), "the database was not available"],
    [new RightsEnded(), "the log-in or the key has ended, or the role has changed"],
  ])("that fail say why: %s", async (error, problem) => {
    const world = await openWorld({ wrap: interposed(new Map([["importCustomers", () => Promise.reject(error)]])) });
    await expect(world.importCustomers([customer("1")], { name: "night.ndjson" })).rejects.toBe(error);
    expect(await world.store.importRuns.list()).toMatchObject([{ outcome: "failed", problem }]);
  });
});

describe("what was held back", () => {
  async function heldBack(...cuids: readonly string[]) {
    const world = await toppedUp(...cuids);
    await world.importCustomers(tooShort(...cuids), { name: "night.ndjson", asOf: asOfNow(world) });
    return { world, records: await heldBackOf(world) };
  }
  const decide = (world: World, id: number | undefined, decision: "take" | "leave") =>
    settleHeldBack(world.ports, ACTOR, { id: id ?? 0, decision });

  test("and is taken ends what was paid for, even weeks later, and is gone from the list", async () => {
    const { world, records } = await heldBack("1", "2");
    world.now += 40 * DAY_MS;
    expect(await decide(world, records[0]?.id, "take")).toEqual({ kind: "settled" });
    expect(await world.ends("1")).toEqual({ "Fiber 100": STATED });
    expect(await world.ends("2")).toEqual({ "Fiber 100": PAID });
    expect((await heldBackOf(world)).map(({ cuid }) => cuid)).toEqual(["2"]);
    expect(await decide(world, records[0]?.id, "take")).toEqual({ kind: "not_found" });
    const [entry] = await listEntries(world.store.engine.db, { cuid: "1" }, 1);
    expect(entry).toMatchObject({ action: "customers.import", author: "tester", at: world.now });
  });

  test("and is taken keeps what was topped up after the records", async () => {
    const { world, records } = await heldBack("1");
    await world.topUp("1");
    await decide(world, records[0]?.id, "take");
    expect(await world.ends("1")).toEqual({ "Fiber 100": "2027-01-10 10:00:00" });
  });

  test("and is left stays as it was paid for, and who left it stands in the audit trail", async () => {
    const { world, records } = await heldBack("1");
    expect(await decide(world, records[0]?.id, "leave")).toEqual({ kind: "settled" });
    expect(await world.ends("1")).toEqual({ "Fiber 100": PAID });
    expect(await heldBackOf(world)).toEqual([]);
    const [entry] = await listEntries(world.store.engine.db, { cuid: "1" }, 1);
    expect(entry).toMatchObject({ action: "held_back.leave", author: "tester", after: expect.stringContaining(PAID) });
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
    expect(await decide(world, record?.id, "take")).toEqual({ kind: "goodwill_unclear" });
    expect(await world.ends("1")).toEqual({ "Fiber 100": PAID, "Fiber 300": "2026-12-13 10:00:00" });
    const taken = { id: record?.id ?? 0, decision: "take", goodwill: "held" } as const;
    expect(await settleHeldBack(world.ports, ACTOR, taken)).toEqual({ kind: "settled" });
    expect(await world.ends("1")).toEqual({ "Fiber 100": STATED, "Fiber 300": later });
  });

  test("is not taken where records of a later moment were", async () => {
    const { world, records } = await heldBack("1");
    world.now += MINUTE_MS;
    // By whoever writes one customer at a time: no file takes the place of what was held back.
    await world.importCustomers([customer("1", { end: PAID })], { asOf: asOfNow(world) });
    expect(await decide(world, records[0]?.id, "take")).toEqual({ kind: "stale" });
    expect(await world.ends("1")).toEqual({ "Fiber 100": PAID });
  });
});

describe("a file that is uploaded", () => {
  /** Uploads to a process, and what was let go of. */
  async function uploading(world: World) {
    const [errors, letGo]: [unknown[], string[]] = [[], []];
    const background = new Background((error) => errors.push(error));
    const uploads = new Uploads(
      world.ports,
      (work) => background.begin(work),
      (error) => errors.push(error),
    );
    const start = async (file: string, rows: readonly object[], more: Partial<UploadRequest> = {}) => {
      const source = { file, open: () => ndjson(rows), letGo: async () => void letGo.push(file) };
      const upload = await uploads.start(ACTOR, { environment: PRODUCTION, run: false, ...source, ...more });
      return upload?.id ?? "";
    };
    const settled = async (id: string) => {
      await expect.poll(() => uploads.find(id)?.state).not.toMatch(/ing$/);
      return uploads.find(id);
    };
    return { uploads, background, errors, letGo, start, settled };
  }

  test("is checked first, with every value that it would change, and written once it is told to", async () => {
    const world = await openWorld();
    const { uploads, start, settled, letGo } = await uploading(world);
    const id = await start("new.ndjson", [customer("1"), customer("2")], { asOf: undefined });
    expect(await settled(id)).toMatchObject({ state: "checked", lines: 2, report: { added: 2 }, author: "tester" });
    expect(uploads.find(id)?.changes.map(({ cuid, kind }) => [cuid, kind])).toEqual([
      ["1", "added"],
      ["2", "added"],
    ]);
    expect(await world.store.search.findCustomer(PRODUCTION, "1")).toBeUndefined();
    expect(letGo).toEqual([]);
    uploads.run(id, { name: "boss" }, {});
    expect(await settled(id)).toMatchObject({ state: "done", author: "boss", report: { added: 2 } });
    expect(await world.store.search.findCustomer(PRODUCTION, "1")).toBeDefined();
    expect(letGo).toEqual(["new.ndjson"]);
    expect(uploads.run(id, ACTOR, {})).toBe("not_now");
    expect(await world.store.importRuns.list()).toMatchObject([
      { file: "new.ndjson", author: "boss", outcome: "done" },
    ]);
  });

  test("is written at once where that was asked for and nothing is against it, and never with a bad line", async () => {
    const world = await openWorld();
    const { start, settled, letGo } = await uploading(world);
    const good = await start("good.ndjson", [customer("1")], { run: true });
    const bad = await start("bad.ndjson", [customer("2"), { cuid: "3" }], { run: true });
    expect(await settled(good)).toMatchObject({ state: "done" });
    expect(await settled(bad)).toMatchObject({ state: "refused", problems: [{ line: 2 }] });
    expect(await world.store.search.findCustomer(PRODUCTION, "2")).toBeUndefined();
    await expect.poll(() => letGo).toEqual(["good.ndjson", "bad.ndjson"]);
  });

  test("that would change much is written only where that is said to be meant", async () => {
    const world = await openWorld();
    const cuids = Array.from({ length: 20 }, (_, index) => String(index + 1));
    await world.importCustomers(cuids.map((cuid) => customer(cuid)));
    const { uploads, start, settled } = await uploading(world);
    const id = await start(
      "closed.ndjson",
      cuids.map((cuid) => customer(cuid, { status: "inactive" })),
      { run: true },
    );
    const large = [{ what: "active_customers_deactivated", count: 20, of: 20 }];
    expect(await settled(id)).toMatchObject({ state: "checked", largeChanges: large });
    uploads.run(id, ACTOR, {});
    expect(await settled(id)).toMatchObject({ state: "checked", largeChanges: large });
    uploads.run(id, ACTOR, { allowLargeChange: true });
    expect(await settled(id)).toMatchObject({ state: "done", report: { changed: 20 } });
  });

  test("cannot be written where it does not say how far its records reach", async () => {
    const world = await toppedUp("1");
    const { start, settled, uploads } = await uploading(world);
    const id = await start("night.ndjson", tooShort("1"));
    expect(await settled(id)).toMatchObject({ state: "refused", problem: expect.stringMatching(/^asOf is needed/) });
    expect(uploads.run(id, ACTOR, {})).toBe("not_now");
    expect(uploads.run("other", ACTOR, {})).toBeUndefined();
  });

  test("ends where the process does, and nothing goes on after that", async () => {
    const world = await openWorld();
    const { start, background, settled, errors } = await uploading(world);
    const id = await start("long.ndjson", [customer("1"), customer("2")], { run: true });
    await background.end();
    expect(await settled(id)).toMatchObject({ state: "failed", problem: "topupd was stopped" });
    expect(errors).toEqual([]);
  });

  test("is kept for an hour, and ten at most are", async () => {
    const world = await openWorld();
    const { start, settled, uploads, letGo } = await uploading(world);
    const first = await start("0", [customer("1")]);
    await settled(first);
    world.now += 61 * MINUTE_MS;
    const second = await start("1", [customer("1")]);
    expect([uploads.find(first), letGo]).toEqual([undefined, ["0"]]);
    for (const file of ["2", "3", "4", "5", "6", "7", "8", "9", "10"])
      await settled(await start(file, [customer("1")]));
    await start("11", [customer("1")]);
    expect([uploads.find(second), letGo]).toEqual([undefined, ["0", "1"]]);
  });
});

async function* cutOff(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(customer("1"))}\n`);
  throw new Error("unplugged");
}
