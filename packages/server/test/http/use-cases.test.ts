import { describe, expect, test } from "vitest";
import { listPackages, lookUpCustomer } from "../../src/partner/customers.ts";
import { queryTransaction, topUp } from "../../src/partner/top-ups.ts";
import { setAccount } from "../support/partners.ts";
import { customer, DAY_MS, MINUTE_MS, openWorld, type World } from "../support/world.ts";

const NET = { cuid: "1", service: "internet", reqId: "net-1" } as const;

async function withCustomer(end: string, options: Parameters<typeof openWorld>[0] = {}): Promise<World> {
  const world = await openWorld(options);
  await world.importCustomers([customer("1", { end })]);
  return world;
}

async function listed({ ports, caller }: World, lapsedDays = 0) {
  const answer = await listPackages(ports, caller, NET, lapsedDays);
  if (!answer.ok) throw new Error(answer.refusal);
  return answer.value;
}

describe("listing packages", () => {
  test.each([
    ["2026-11-20 09:00:01", 0, "active", 1],
    ["2026-11-20 09:00:00", 0, "inactive", 0],
    ["2026-11-20 09:00:00", 1, "inactive", 1],
    ["2026-11-19 09:00:00", 1, "inactive", 0],
  ])("with an end of %s, and %i days for lapsed ones: %s, and %i listed", async (end, lapsedDays, status, count) => {
    const { connection, subscriptions } = await listed(await withCustomer(end), lapsedDays);
    expect(connection).toEqual({ service: "internet", reqId: "net-1", status });
    expect(subscriptions).toHaveLength(count);
  });

  test("goes by the clock on the provider's wall", async () => {
    const world = await withCustomer("2026-11-20 14:45:00", { timeZone: "Asia/Kathmandu" });
    expect((await listed(world)).subscriptions).toHaveLength(0);
    world.now -= 1_000;
    expect((await listed(world)).subscriptions).toMatchObject([{ end: "2026-11-20 14:45:00" }]);
    const { caller, ports } = world;
    expect(await lookUpCustomer(ports, caller, { code: "net-1" })).toMatchObject({
      ...{ ok: true, value: { connections: [{ status: "active" }] } },
    });
  });

  test("offers, and sells, no second base plan while one runs, unless the provider has many", async () => {
    const codes = async (world: World) => (await listed(world)).bouquets.map(({ code }) => code);
    const one = await withCustomer("2026-12-10 10:00:00");
    expect(await codes(one)).toEqual(["NET-1M", "NET-3M"]);
    const { checkoutId } = await listed(one);
    const request = { ...NET, checkoutId, bouquetCode: "MAX-1M", amount: 190_000n };
    expect(await topUp(one.ports, one.caller, request)).toEqual({ ok: false, refusal: "bouquet_unavailable" });
    one.now = Date.parse("2026-12-10T10:00:00Z");
    expect(await codes(one)).toEqual(["NET-1M", "NET-3M", "MAX-1M"]);
    const many = await withCustomer("2026-12-10 10:00:00", {
      basePlans: { tv: "many", internet: "many", iptv: "many" },
    });
    expect(await codes(many)).toEqual(["NET-1M", "NET-3M", "MAX-1M"]);
  });
});

describe("asking for a transaction", () => {
  test("tells of one that is not topped up yet, one that is, and one that never will be", async () => {
    const world = await withCustomer("2026-12-10 10:00:00");
    const { ports, caller } = world;
    const query = (checkoutId: string) => queryTransaction(ports, caller, { checkoutId });
    const [used, unused] = [(await listed(world)).checkoutId, (await listed(world)).checkoutId];
    expect(await query(used)).toEqual({ ok: false, refusal: "not_topped_up" });
    const done = await topUp(ports, caller, { ...NET, checkoutId: used, bouquetCode: "NET-1M", amount: 113_000n });
    if (!done.ok) throw new Error(done.refusal);
    expect(await query(used)).toEqual({ ok: true, value: done.value.transaction });
    world.now += 6 * MINUTE_MS;
    expect(await query(unused)).toEqual({ ok: false, refusal: "not_topped_up" });
    world.now += 1;
    expect(await query(unused)).toEqual({ ok: false, refusal: "never_topped_up" });
    // What was promised holds though the clock was set back since.
    world.now -= DAY_MS;
    expect(await query(unused)).toEqual({ ok: false, refusal: "never_topped_up" });
    expect(await query("x")).toEqual({ ok: false, refusal: "checkout_unknown" });
  });

  test("knows the own refusal by balance or limit though the secret that sealed its checkout is gone", async () => {
    const world = await withCustomer("2026-12-10 10:00:00");
    const { ports, caller } = world;
    await setAccount(ports.store, caller, { creditLimit: 0n });
    const { checkoutId } = await listed(world);
    const request = { ...NET, checkoutId, bouquetCode: "NET-1M", amount: 113_000n };
    const refused = { ok: false, refusal: "insufficient_balance" };
    expect(await topUp(ports, caller, request)).toEqual({ ...refused, detail: { missing: 1130 } });
    world.store.checkoutSecrets = async () => [{ id: 0, key: new Uint8Array(32), createdAt: 0 }];
    expect(await topUp(ports, caller, { ...request, amount: 1n })).toEqual(refused);
    expect(await queryTransaction(ports, caller, { checkoutId })).toEqual({ ok: false, refusal: "never_topped_up" });
    const unknown = { ok: false, refusal: "checkout_unknown" };
    for (const other of [{ partnerId: caller.partnerId + 1 }, { environment: "trial" as const }]) {
      expect(await topUp(ports, { ...caller, ...other }, request)).toEqual(unknown);
      expect(await queryTransaction(ports, { ...caller, ...other }, { checkoutId })).toEqual(unknown);
    }
  });

  test("finds the own top-up though the secret that sealed its checkout is gone, and tells nobody else", async () => {
    const world = await withCustomer("2026-12-10 10:00:00");
    const { checkoutId } = await world.topUp("1");
    const { ports } = world;
    world.store.checkoutSecrets = async () => [{ id: 0, key: new Uint8Array(32), createdAt: 0 }];
    expect(await queryTransaction(ports, world.caller, { checkoutId })).toMatchObject({
      ok: true,
      value: { checkoutId },
    });
    const request = { ...NET, checkoutId, bouquetCode: "NET-1M", amount: 113_000n };
    expect(await topUp(ports, world.caller, request)).toMatchObject({ ok: true, value: { replayed: true } });
    const other = { ...world.caller, partnerId: world.caller.partnerId + 1 };
    const unknown = { ok: false, refusal: "checkout_unknown" };
    expect(await queryTransaction(ports, other, { checkoutId })).toEqual(unknown);
    expect(await topUp(ports, other, request)).toEqual(unknown);
  });
});
