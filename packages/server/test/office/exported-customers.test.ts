import { describe, expect, test } from "vitest";
import { Choices } from "../../campaign/random.ts";
import { CUSTOMERS_HEADER, csvText, customerLines } from "../../src/csv/writing.ts";
import type { CustomerFileRow } from "../../src/domain/customer.ts";
import { Refused } from "../../src/domain/refused.ts";
import { grantGoodwill, reverseGoodwill } from "../../src/office/corrections/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { exportedCustomers } from "../../src/office/imports/operations.ts";
import { listTransactions } from "../../src/office/transactions/operations.ts";
import { run } from "../support/desk.ts";
import { customer, DAY_MS, iso, MINUTE_MS, openWorld, type World } from "../support/world.ts";

const PRODUCTION = { environment: "production" } as const;

async function exported({ ports }: World): Promise<CustomerFileRow[]> {
  const rows: CustomerFileRow[] = [];
  for await (const some of exportedCustomers(ports, "production")) rows.push(...some);
  return rows;
}

const asOfNow = ({ now }: World) => ({ asOf: iso(now - MINUTE_MS) });

/** Gives goodwill to a customer's only plan; where several or none may be meant, nothing. */
function give(world: World, cuid: string, days: number) {
  const key = { ...PRODUCTION, cuid, service: "internet", reqId: `net-${cuid}` } as const;
  return run(world.desk, grantGoodwill, { ...key, days, reason: "outage" }).catch(ignoreRefused);
}

function ignoreRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error;
}

test("an export that is imported, each day again, adds no goodwill", async () => {
  const world = await openWorld();
  world.now = Date.parse("2026-06-01T10:00:00Z");
  await world.importCustomers([{ ...customer("1", { end: "2026-06-13 10:00:00" }), area: "Patan" }]);
  await give(world, "1", 2);
  for (let day = 0; day < 3; day += 1) {
    world.now += DAY_MS;
    const rows = await exported(world);
    expect(rows[0]?.area).toBe("Patan");
    expect(rows[0]?.connections.internet?.[0]?.subscriptions).toMatchObject([
      { enddate: "2026-06-15 10:00:00", goodwillDays: 2 },
    ]);
    const { result } = await world.importCustomers(rows);
    expect(result).toMatchObject({ kind: "done", report: { unchanged: 1, heldBack: 0 } });
  }
  expect(await world.ends("1")).toEqual({ "Fiber 100": "2026-06-15 10:00:00" });
});

test("an export leaves out what is younger than its moment, and an import of it adds that once", async () => {
  const world = await openWorld();
  await world.importCustomers([customer("1")]);
  world.now += DAY_MS;
  const { txnId } = await world.topUp("1");
  const [before] = Object.values(await world.ends("1"));
  world.now += 30_000;
  const [row] = await exported(world);
  expect(row?.asOf).toBe(iso(world.now - MINUTE_MS));
  expect(row?.connections.internet?.[0]?.subscriptions[0]?.enddate).not.toBe(before);
  expect((await world.importCustomers([row as object])).result).toMatchObject({ report: { unchanged: 1 } });
  expect(Object.values(await world.ends("1"))).toEqual([before]);
  await run(world.desk, reverseTransaction, { id: txnId, reason: "charged back" });
  const [reversed] = Object.values(await world.ends("1"));
  world.now += 40_000;
  const rows = await exported(world);
  expect((await world.importCustomers(rows)).result).toMatchObject({ report: { unchanged: 1 } });
  expect(Object.values(await world.ends("1"))).toEqual([reversed]);
});

describe("an export of any ledgers", () => {
  const CUIDS = Array.from({ length: 25 }, (_, index) => String(index + 1));

  /** A day of one customer: whatever may happen to a ledger. */
  async function live(world: World, choices: Choices, cuid: string): Promise<void> {
    const act = choices.of([
      "top_up",
      "top_up",
      "goodwill",
      "goodwill",
      "reversal",
      "goodwill reversal",
      "file",
      "file",
    ]);
    const net = { ...PRODUCTION, cuid, service: "internet", reqId: `net-${cuid}` } as const;
    if (act === "top_up") await world.topUp(cuid, choices.of(["NET-1M", "NET-3M", "MAX-1M"]));
    if (act === "goodwill") await give(world, cuid, 1 + choices.below(14));
    if (act === "goodwill reversal")
      await run(world.desk, reverseGoodwill, { ...net, reason: "mistake" }).catch(ignoreRefused);
    if (act === "reversal") {
      const { items } = await run(world.desk, listTransactions, { ...PRODUCTION, cuid, status: "success" });
      const reason = "charged back";
      if (items.length > 0)
        await run(world.desk, reverseTransaction, { id: choices.of(items).txnId, reason }).catch(ignoreRefused);
    }
    if (act === "file") await bill(world, choices, cuid);
  }

  /** Billing states something of its own, as of some days ago: a sale, a lapse, another plan, or nothing at all. */
  async function bill(world: World, choices: Choices, cuid: string): Promise<void> {
    const start = world.now - choices.below(60) * DAY_MS;
    const day = (at: number, time: string) => `${iso(at).slice(0, 10)} ${time}`;
    const subscription = {
      code: choices.of(["NET-1M", "NET-3M", "MAX-1M"]),
      startdate: day(start, choices.of(["00:00:00", "09:30:00"])),
      enddate: day(start + (1 + choices.below(120)) * DAY_MS, choices.of(["00:00:00", "09:30:00", "23:59:59"])),
    };
    const subscriptions = choices.below(6) === 0 ? [] : [subscription];
    const internet = [{ username: `net-${cuid}`, status: "active", subscriptions }];
    const iptv = [{ username: `tv-${cuid}`, status: "active" }];
    const connections = choices.below(4) === 0 ? { iptv } : { internet, iptv };
    await world.importCustomers([customer(cuid, { connections, mobile: "9800000001" })], {
      asOf: iso(world.now - choices.below(5) * DAY_MS - MINUTE_MS),
      goodwill: choices.of(["held", "lacking", undefined]),
      allowShorter: choices.below(2) === 0 ? [cuid] : [],
      allowLargeChange: true,
    });
    if (choices.below(4) > 0) return;
    // What is gone from the file for a while comes back, so that it can be topped up again.
    await world.importCustomers([customer(cuid)], { ...asOfNow(world), goodwill: "held" });
  }

  async function entriesOf({ store: { engine } }: World): Promise<number> {
    return (await engine.readLedgers(engine.db, "production", CUIDS)).flatMap(({ entries }) => entries).length;
  }

  test.each([1, 2, 3])("comes back without a change, as NDJSON and as CSV (seed %i)", async (seed) => {
    const world = await openWorld({ basePlans: { tv: "many", internet: "many", iptv: "many" } });
    const choices = new Choices(seed);
    const end = (cuid: string) => iso(world.now + Number(cuid) * 3 * DAY_MS).slice(0, 10);
    await world.importCustomers(CUIDS.map((cuid) => customer(cuid, { end: `${end(cuid)} 10:00:00` })));
    let [goodwillDays, rejected] = [0, 0];
    for (let round = 0; round < 10; round += 1) {
      for (const cuid of CUIDS) {
        world.now += choices.of([MINUTE_MS, 5_000, 1]);
        await live(world, choices, cuid).catch((error: unknown) => {
          // A connection that a file took away, or made inactive, takes no top-up.
          if (!String(error).includes("connection_not_found")) throw error;
          rejected += 1;
        });
      }
      world.now += choices.of([2 * MINUTE_MS, 20_000, 0]);
      const [rows, before] = [await exported(world), await entriesOf(world)];
      for (const row of rows)
        for (const { subscriptions } of row.connections.internet ?? [])
          for (const each of subscriptions) goodwillDays += each.goodwillDays;
      const csv = csvText([CUSTOMERS_HEADER, ...rows.flatMap(customerLines)]);
      const asCsv = { isCsv: true, open: () => bytes(csv) };
      const { result, changes } = await world.importCustomers(rows, round % 2 === 1 ? asCsv : {});
      const report = { unchanged: CUIDS.length, rejected: 0, heldBack: 0 };
      expect({ result, changes }).toMatchObject({ result: { kind: "done", report }, changes: [] });
      expect(await entriesOf(world)).toBe(before);
      world.now += (1 + choices.below(12)) * DAY_MS;
    }
    expect(goodwillDays).toBeGreaterThan(500);
    expect(rejected).toBeLessThan(25);
  });
});

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
