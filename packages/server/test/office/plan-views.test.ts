import { expect, test } from "vitest";
import { blockConnection } from "../../src/office/corrections/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { exportConnections, listConnections } from "../../src/office/customers/connections.ts";
import { showLedgers } from "../../src/office/customers/ledgers.ts";
import { showCustomer } from "../../src/office/customers/operations.ts";
import { run } from "../support/desk.ts";
import { seededRandom } from "../support/random.ts";
import { customer, DAY_MS, openWorld } from "../support/world.ts";

const CUSTOMERS = 1_000;

test("list, file, page and explanation agree on state, end and days left of random ledgers", async () => {
  const world = await openWorld({ timeZone: "Asia/Kathmandu" });
  const random = seededRandom(11);
  const below = (most: number) => Buffer.from(random(4)).readUInt32BE(0) % most;
  const cuids = Array.from({ length: CUSTOMERS }, (_, index) => String(index + 1).padStart(4, "0"));
  const endOf = () => `2026-${String(10 + below(3))}-${String(1 + below(28)).padStart(2, "0")} 10:00:00`;
  await world.importCustomers(cuids.map((cuid) => customer(cuid, below(4) === 0 ? {} : { end: endOf() })));
  for (const cuid of cuids) {
    if (below(3) === 0) {
      const { txnId: id } = await world.topUp(cuid, below(2) === 0 ? "NET-1M" : "NET-3M");
      world.now += below(60_000);
      if (below(2) === 0) await run(world.desk, reverseTransaction, { id, reason: "paid twice" });
    }
    if (below(10) === 0)
      await run(world.desk, blockConnection, {
        cuid,
        service: "internet",
        reqId: `net-${cuid}`,
        blocked: true,
        reason: "asked",
      });
  }
  world.now += below(40) * DAY_MS;
  const listed = new Map<string, { state: string; end: string | null; daysLeft: number | null }>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: {
      items: readonly { cuid: string; state: string; end: string | null; daysLeft: number | null }[];
      cursor: string | null;
    } = await run(world.desk, listConnections, cursor === undefined ? {} : { cursor });
    for (const { cuid, state, end, daysLeft } of page.items) listed.set(cuid, { state, end, daysLeft });
    cursor = page.cursor;
  }
  const exported = new Map<string, object>();
  for await (const rows of await run(world.desk, exportConnections, {}))
    for (const { cuid, state, end, daysLeft } of rows) exported.set(cuid, { state, end, daysLeft });
  expect(exported).toEqual(listed);
  const states = new Set<string>();
  for (const cuid of cuids) {
    const [connection] = (await run(world.desk, showCustomer, { cuid })).connections;
    const { plans } = await run(world.desk, showLedgers, { cuid });
    expect(plans.map(({ state }) => state)).toEqual(connection?.plans.map(({ state }) => state));
    const [plan] = connection?.plans ?? [];
    const wall = world.store.provider.zone.wallTime(world.now);
    // A block does not hide that nothing runs.
    if (plan?.state === "blocked") expect(plan.run !== null && plan.run.end > wall).toBe(true);
    if (plan?.state === "running") expect(connection?.status).toBe("active");
    if (plan?.state === "ended" && connection?.status === "blocked") states.add("ended, blocked");
    if (plan?.state === "reversed" && connection?.status === "blocked") states.add("reversed, blocked");
    states.add(plan?.state ?? "none");
    const inList = listed.get(cuid);
    if (plans[0]?.run === null || plan === undefined) {
      expect(inList).toEqual({ state: "no_subscription", end: null, daysLeft: null });
      // What was reversed has ended by now.
      expect(plan?.run?.daysLeft ?? -1).toBeLessThanOrEqual(0);
    } else {
      expect(inList).toEqual({ state: plan.state, end: plan.run?.end, daysLeft: plan.run?.daysLeft });
      expect(plans[0]?.run?.end).toBe(plan.run?.end);
    }
    if (plan?.run) expect(plan.run.start < plan.run.end).toBe(true);
  }
  const both = ["ended, blocked", "reversed, blocked"];
  expect([...states].sort()).toEqual(["blocked", "ended", "none", "reversed", "running", ...both].sort());
});
