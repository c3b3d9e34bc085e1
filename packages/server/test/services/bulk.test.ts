import { expect, test } from "vitest";
import { BulkRuns } from "../../src/services/staff/bulk.ts";
import { BULK_PORTION, type BulkRequest, planBulk } from "../../src/services/staff/bulk-plan.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { ACTOR, customer, DAY_MS, MINUTE_MS, openWorld, type WorldOptions } from "./world.ts";

const END = "2026-12-10 10:00:00";
const GOODWILL = { action: "goodwill", days: 3, plan: undefined } as const;

/** Customers 1 to 4 have a month to 10 December, 5 nothing, and 6 two connections of one name. */
async function scene(options: WorldOptions = {}) {
  const world = await openWorld(options);
  const alike = {
    tv: [{ stb: "six", status: "active", segment: "north" }],
    iptv: [{ username: "six", status: "active" }],
  };
  const lapsed = { internet: [{ username: "net-5", status: "active", segment: "north" }] };
  await world.importCustomers([
    ...["1", "2", "3", "4"].map((cuid) => customer(cuid, { end: END })),
    customer("5", { connections: lapsed }),
    customer("6", { connections: alike }),
  ]);
  const working: Promise<void>[] = [];
  const ending = new AbortController();
  const logs: string[] = [];
  const ports = {
    ...world.ports,
    sleep: async () => {},
    log: (_: string, __: object, text: string) => logs.push(text),
  };
  const runs = new BulkRuns(ports, (work) => working.push(work(ending.signal)));
  const request = (more: Partial<BulkRequest>): BulkRequest => ({
    ...{ environment: "production", order: GOODWILL, reason: "outage", lines: [], segment: undefined },
    ...{ skipRepeated: false, ...more },
  });
  const plan = async (more: Partial<BulkRequest>) => {
    const planned = await planBulk(world.ports, ACTOR, request(more));
    if (planned === "too_many") throw new Error(planned);
    return { ...planned, cuids: planned.effects.map(({ connection }) => connection.cuid) };
  };
  const start = async (more: Partial<BulkRequest>) => {
    const started = await runs.start(ACTOR, request(more));
    if (started.kind !== "started") throw new Error(started.kind);
    return { id: started.run.id, done: () => Promise.all(working).then(() => runs.find(started.run.id)) };
  };
  return { world, runs, request, plan, start, ending, logs };
}

test("lines name a connection, or a customer's, each once; what is not clear is told, and nothing is guessed", async () => {
  const { plan } = await scene();
  const lines = ["net-2", "  net-2 ", "3 internet net-3", "4,internet,net-4", "4\tinternet\tnet-4", "", "six", "net-9"];
  const planned = await plan({ lines: [...lines, "9 internet net-2", "2 dsl net-2", "two words", "net-5"] });
  expect(planned.cuids).toEqual(["3", "4", "2"]);
  expect(planned.problems).toEqual([
    { line: "2 dsl net-2", problem: "must be a reqId, or a cuid, a service and a reqId" },
    { line: "two words", problem: "must be a reqId, or a cuid, a service and a reqId" },
    { line: "six", problem: "several connections may be meant: 6 iptv six; 6 tv six" },
    { line: "net-9", problem: "there is no such connection" },
    { line: "9 internet net-2", problem: "there is no such connection" },
    { line: "5 internet net-5", problem: "there is no base subscription to give days to: it has none" },
  ]);
  expect(planned.effects[0]).toMatchObject({
    outcome: {
      correction: { plan: "Fiber 100", before: { end: END }, entry: { after: { end: "2026-12-13 10:00:00" } } },
    },
  });
});

test("a segment is all of its connections", async () => {
  const { plan } = await scene();
  expect((await plan({ order: { action: "block" }, segment: "north", lines: ["net-5"] })).cuids).toEqual(["5", "6"]);
  expect((await plan({ order: { action: "unblock" }, segment: "north" })).problems).toEqual([
    { line: "5 internet net-5", problem: "is not blocked" },
    { line: "6 tv six", problem: "is not blocked" },
  ]);
});

test("a bulk correction is announced in one entry of the audit trail, and then made, some at a time", async () => {
  const { world, start } = await scene();
  const many = Array.from({ length: BULK_PORTION + 1 }, (_, index) => `m${index}`);
  await world.importCustomers(many.map((cuid) => customer(cuid, { end: END })));
  const before = (await world.store.auditTrail.list({}, 1))[0]?.seq ?? 0;
  const { done } = await start({ lines: [...many.map((cuid) => `net-${cuid}`), "net-9"] });
  expect(await done()).toMatchObject({
    ...{ state: "done", action: "goodwill", author: "tester", done: many.length, count: many.length },
    failed: [{ line: "net-9", problem: "there is no such connection" }],
  });
  expect(await world.ends("m200")).toEqual({ "Fiber 100": "2026-12-13 10:00:00" });
  const entries = await world.store.auditTrail.readOn(before, 10);
  expect(entries.map(({ action, reason }) => [action, reason])).toEqual([["bulk.goodwill", "outage"]]);
  expect(Object.keys(JSON.parse(entries[0]?.after ?? ""))).toHaveLength(many.length);
});

test("what was given goodwill in the last day is told, and left out where that is asked for", async () => {
  const { world, plan, start } = await scene();
  await (await start({ lines: ["net-2", "net-3"] })).done();
  world.now += DAY_MS - MINUTE_MS;
  const lines = ["net-2", "net-4"];
  expect((await plan({ lines })).effects.map(({ repeated }) => repeated)).toEqual([true, false]);
  const { cuids, problems } = await plan({ lines, skipRepeated: true });
  expect([cuids, problems]).toEqual([
    ["4"],
    [{ line: "2 internet net-2", problem: "was given goodwill in the last day" }],
  ]);
  world.now += MINUTE_MS;
  expect((await plan({ lines })).effects.map(({ repeated }) => repeated)).toEqual([false, false]);
});

test("one bulk correction is made at a time, and none where there is nothing to do or too much", async () => {
  const { runs, request, start, ending } = await scene();
  const { done } = await start({ lines: ["net-2"] });
  expect(await runs.start(ACTOR, request({ lines: ["net-3"] }))).toEqual({ kind: "busy" });
  await done();
  expect(await runs.start(ACTOR, request({ lines: ["net-9"] }))).toMatchObject({ kind: "nothing_to_do" });
  const lines = Array.from({ length: 20_001 }, (_, index) => `${index} tv x`);
  expect(await runs.start(ACTOR, request({ lines }))).toEqual({ kind: "too_many" });
  ending.abort();
  const cut = await (await start({ lines: ["net-3"] })).done();
  expect(cut).toMatchObject({ state: "failed", done: 0, problem: "the service was stopped" });
});

test("a bulk correction that the store does not take is over, and says how far it came", async () => {
  let portions = 0;
  const wrap = (store: Store): Store => {
    const { corrections } = store;
    const apply: typeof corrections.bulk.apply = (...of) => {
      portions += 1;
      return portions < 2 ? corrections.bulk.apply(...of) : Promise.reject(new StoreUnavailable("away"));
    };
    const failing = { ...corrections, bulk: { ...corrections.bulk, apply } };
    return new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name === "corrections") return failing;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  const { world, start, runs, request, logs } = await scene({ wrap });
  const many = Array.from({ length: BULK_PORTION + 1 }, (_, index) => `m${index}`);
  await world.importCustomers(many.map((cuid) => customer(cuid, { end: END })));
  const lines = many.map((cuid) => `net-${cuid}`);
  expect(await (await start({ lines })).done()).toMatchObject({ state: "failed", done: BULK_PORTION, problem: "away" });
  expect(logs).toEqual(["a bulk correction was cut off"]);
  portions = 0;
  expect(await runs.start(ACTOR, request({ lines, skipRepeated: true }))).toMatchObject({ run: { count: 1 } });
});
