import { describe, expect, test } from "vitest";
import { by } from "../support/by.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { expectRecorded, openProvider, SITA, SITA_NET, statedCustomer } from "./provider.ts";

const NEW = { cuid: "3000001", first_name: "Gita", last_name: "Rai", status: "active", connections: {} };
const [FIBER] = SITA.connections.internet;
const RUN = { code: "NET-1M", startdate: "2026-11-15 09:00:00", enddate: "2026-12-15 09:00:00" };

export function testImportEffects(makeDatabase: MakeDatabase): void {
  const CHANGES = [
    ["a new customer", NEW, "added", []],
    ["one as stored", SITA, "unchanged", []],
    ["another name", { ...SITA, last_name: "Tamang" }, "changed", ["profile"]],
    ["a connection fewer", { ...SITA, connections: { ...SITA.connections, iptv: [] } }, "changed", ["connections"]],
    [
      "other dates",
      { ...SITA, connections: { ...SITA.connections, internet: [{ ...FIBER, subscriptions: [RUN] }] } },
      "changed",
      ["subscriptions"],
    ],
  ] as const;

  test.each(CHANGES)("an import tells what it does with %s", async (_, row, kind, parts) => {
    const { store, now } = await openProvider(makeDatabase);
    const stated = [statedCustomer(row)];
    const expected = [{ kind, parts }];
    expect(await store.previewCustomers("production", stated, now, "unsaid")).toEqual(expected);
    expect(await store.importCustomers("production", stated, by(now), "unsaid")).toEqual(expected);
    expect(await store.previewCustomers("production", stated, now, "unsaid")).toEqual([
      { kind: "unchanged", parts: [] },
    ]);
  });

  test("an import tells what it does not take, since a top-up holds", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    opened.now += 1_000;
    const shorter = { code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2026-11-21 09:00:00" };
    const connections = { ...SITA.connections, internet: [{ ...FIBER, subscriptions: [shorter] }] };
    const stated = [statedCustomer({ ...SITA, connections }), statedCustomer(SITA)];
    const passedOver = [{ service: "internet", code: "NET-1M" }];
    const expected = [
      { kind: "unchanged", parts: [], passedOver },
      { kind: "unchanged", parts: [] },
    ];
    expect(await store.previewCustomers("production", stated, opened.now, "unsaid")).toEqual(expected);
    expect(await store.importCustomers("production", stated, by(opened.now), "unsaid")).toEqual(expected);
    expect(await findWrong(store)).toEqual([]);
  });

  test("one who stands twice among others is told of twice, in the file's order", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const rows = [NEW, SITA, { ...NEW, last_name: "Lama" }, { ...NEW, last_name: "Lama" }].map(statedCustomer);
    const effects = await store.importCustomers("production", rows, by(now), "unsaid");
    expect(effects.map(({ kind }) => kind)).toEqual(["added", "unchanged", "changed", "unchanged"]);
  });

  describe("a preview", () => {
    test("writes nothing at all", async () => {
      const opened = await openProvider(makeDatabase);
      const tables = ["customer", "customer_code", "connection", "subscription", "subscription_grant", "audit_entry"];
      const before = await Promise.all(tables.map((table) => countRows(opened, table)));
      const rows = CHANGES.map(([, row]) => statedCustomer(row));
      const effects = await opened.store.previewCustomers("production", rows, opened.now, "unsaid");
      expect(effects.map(({ kind }) => kind)).toEqual(CHANGES.map(([, , kind]) => kind));
      expect(await Promise.all(tables.map((table) => countRows(opened, table)))).toEqual(before);
      expect(await findWrong(opened.store)).toEqual([]);
    });

    test("sees what was topped up, and holds no top-up up", async () => {
      const opened = await openProvider(makeDatabase);
      const { store, now } = opened;
      const rows = Array.from({ length: 600 }, () => statedCustomer(SITA));
      const [effects, outcome] = await Promise.all([
        store.previewCustomers("production", rows, now, "unsaid"),
        store.settleTopUp(opened.command(SITA_NET, "NET-3M")),
      ]);
      expectRecorded(outcome);
      expect(new Set(effects.map(({ kind }) => kind))).toEqual(new Set(["unchanged"]));
      const shorter = statedCustomer({ ...SITA, connections: { internet: [{ ...FIBER, subscriptions: [] }] } });
      const [effect] = await store.previewCustomers("production", [shorter], now, "unsaid");
      expect(effect).toEqual({ kind: "changed", parts: ["connections", "subscriptions"] });
    });
  });
}
