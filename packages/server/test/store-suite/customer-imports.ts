import { expect, test } from "vitest";
import type { StatedCustomer } from "../../src/domain/customer-row.ts";
import { reverseGoodwill } from "../../src/office/corrections/operations.ts";
import { exportedCustomers } from "../../src/office/imports/operations.ts";
import { findCustomer } from "../../src/store/customers.ts";
import type { CustomerRowOfFile } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { run } from "../support/desk.ts";
import { countTurns } from "../support/turns.ts";
import { plain } from "./customers.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  expectRecorded,
  FAMILY,
  FIBER,
  fileRules,
  importRows,
  ledgersOf,
  moment,
  openProvider,
  SITA,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

const { internet, iptv } = SITA.connections;

const confirmed = (rows: readonly CustomerRowOfFile[]) => rows.map(({ stated, asOf }) => ({ cuid: stated.cuid, asOf }));

/** The domain decides. These tests show that its decisions are written and read back. */
export function testCustomerImports(makeDatabase: MakeDatabase): void {
  test("newly stated details replace the old ones", async () => {
    const { store, restate } = await openProvider(makeDatabase);
    await restate({ ...SITA, last_name: "Tamang", mobile: "9800000999", status: "inactive" });
    const customer = await findCustomer(store.engine.db, "production", "2000001");
    expect(customer).toMatchObject({ lastName: "Tamang", mobile: "9800000999", status: "inactive" });
    expect(await store.lookUpCustomers("production", "9800000101")).toEqual([]);
    expect(await store.lookUpCustomers("production", "9800000999")).toHaveLength(1);
    expect(await store.lookUpCustomers("production", "2000002")).toHaveLength(1);
  });

  test("an import does what its preview says, tells each change, and does nothing the second time", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const rows = [{ ...SITA, last_name: "Tamang" }, plain("3000001")];
    const stated = rows.map((row) => ({ stated: statedCustomer(row), asOf: moment(store, now) }));
    const before = await countRows(opened, "customer");
    const preview = await store.previewCustomers("production", stated, fileRules(store, now));
    expect(await countRows(opened, "customer")).toBe(before);
    expect(await store.importCustomers("production", stated, by(now), fileRules(store, now))).toEqual(preview);
    expect(preview).toMatchObject([
      { cuid: "2000001", kind: "changed", changes: [{ field: "last_name", from: "Rai", to: "Tamang" }] },
      { cuid: "3000001", kind: "added" },
    ]);
    const [entries, trail] = [await countRows(opened, "ledger_entry"), await countRows(opened, "audit_entry")];
    const again = await store.importCustomers("production", stated, by(now), fileRules(store, now));
    expect(again.map(({ kind }) => kind)).toEqual(["unchanged", "unchanged"]);
    expect(await countRows(opened, "ledger_entry")).toBe(entries);
    expect(await countRows(opened, "audit_entry")).toBe(trail);
  });

  test.each(["previewCustomers", "importCustomers", "confirmCustomers"] as const)(
    "%s lets others have their turn between the portions of a file",
    async (step) => {
      const { store, now } = await openProvider(makeDatabase);
      const rows = [{ stated: statedCustomer(SITA), asOf: moment(store, now) }];
      const take = {
        previewCustomers: () => store.previewCustomers("production", rows, fileRules(store, now)),
        importCustomers: () => store.importCustomers("production", rows, by(now), fileRules(store, now)),
        confirmCustomers: () => store.confirmCustomers("production", confirmed(rows)),
      }[step];
      await take();
      const turns = countTurns();
      for (let portion = 0; portion < 5; portion += 1) await take();
      expect(turns()).toBeGreaterThanOrEqual(5);
    },
  );

  test("a row that equals the stored data updates asOf if its own is later", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const asOf = (at: number) => [{ stated: statedCustomer(SITA), asOf: moment(store, at) }];
    await store.confirmCustomers("production", confirmed(asOf(now + 2_000)));
    await store.confirmCustomers("production", confirmed(asOf(now + 1_000)));
    const preview = async (at: number) => store.previewCustomers("production", asOf(at), fileRules(store, now));
    expect(await preview(now + 1_999)).toMatchObject([{ isStale: true }]);
    expect(await preview(now + 2_000)).toMatchObject([{ isStale: false, kind: "unchanged" }]);
  });

  test("top-ups after the records' asOf are added to them, and earlier ones are contained in them", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, topUp } = opened;
    opened.now += 10_000;
    const asOf = opened.now - 5_000;
    await topUp(SITA_NET, "NET-1M");
    await importRows(store, asOf, SITA);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    const subscriptions = [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2027-01-10 09:00:00" }];
    const booked = { ...SITA, connections: { internet: [{ username: "sita", status: "active", subscriptions }] } };
    await opened.restate(booked);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a row that would shorten a topped-up subscription is held back, and imported if that is allowed", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, restate } = opened;
    const { txnId } = await opened.topUp(SITA_NET, "NET-1M");
    const [effect] = await restate(SITA);
    const ends = { keptEnd: "2027-01-10 09:00:00", statedEnd: "2026-12-10 09:00:00" };
    expect(effect?.heldBack).toMatchObject([{ service: "internet", reqId: "sita", plan: FIBER, txnId, ...ends }]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    const rows = [{ stated: statedCustomer(SITA), asOf: moment(store, opened.now) }];
    const rules = fileRules(store, opened.now, { allowShorter: new Set(["2000001"]) });
    await store.importCustomers("production", rows, by(opened.now), rules);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test.each([
    ["2026-10-01 00:00:00", "2026-11-30 23:59:59", "2026-12-31 23:59:59", "2027-01-03 23:59:59"],
    ["2027-02-01 14:20:05", "2027-02-28 23:59:59", "2027-03-31 23:59:59", "2027-04-03 23:59:59"],
    ["2026-10-31 00:00:00", "2026-11-29 23:59:59", "2026-12-30 23:59:59", "2027-01-02 23:59:59"],
  ])(
    "a month from %s to %s is followed by one to %s, and its export changes nothing",
    async (start, end, next, later) => {
      const opened = await openProvider(makeDatabase);
      const { store } = opened;
      const connection = { ...SITA_NET, cuid: "M1", reqId: "uM1" } as const;
      const subscriptions = [{ code: "NET-1M", startdate: start, enddate: end }];
      const connections = { internet: [{ username: "uM1", status: "active", subscriptions }] };
      const expectEnd = async (expected: string) => {
        expect(await endOf(store, connection, FIBER)).toBe(expected);
        opened.now += 120_000;
        const entries = await countRows(opened, "ledger_entry");
        for await (const rows of exportedCustomers(opened.desk(), "production"))
          for (const row of rows)
            expect(await importRows(store, Date.parse(row.asOf), row)).toMatchObject([
              { kind: "unchanged", heldBack: [] },
            ]);
        expect(await countRows(opened, "ledger_entry")).toBe(entries);
      };
      await importRows(store, opened.now, plain("M1", { connections }));
      await expectEnd(end);
      const { txnId } = await opened.topUp(connection, "NET-1M");
      await expectEnd(next);
      await opened.grant(connection, 3);
      await expectEnd(later);
      await opened.reverse(txnId);
      await run(opened.desk(), reverseGoodwill, { ...connection, reason: "typo" });
      await expectEnd(end);
      expect(await findWrong(store)).toEqual([]);
    },
  );

  test("a row whose records never booked a reversed top-up is held back, and imported if that is allowed", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const subscriptions = [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2027-03-10 09:00:00" }];
    const sita = { ...SITA, connections: { ...SITA.connections, internet: [{ ...internet[0], subscriptions }] } };
    await opened.restate(sita);
    opened.now += 1_000;
    const { txnId } = await opened.topUp(SITA_NET, "NET-3M");
    const asOf = moment(store, opened.now);
    opened.now += 1_000;
    await opened.reverse(txnId);
    const rows = [{ stated: statedCustomer(sita), asOf }];
    const [rowEnd, statedEnd] = ["2027-03-10 09:00:00", "2026-12-10 09:00:00"];
    const rules = (allowed: string) => fileRules(store, opened.now, { allowShorter: new Set([allowed]) });
    const [effect] = await store.importCustomers("production", rows, by(opened.now), rules("9"));
    expect(effect?.heldBack).toMatchObject([{ reqId: "sita", keptEnd: rowEnd, statedEnd, rowEnd, txnId }]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(rowEnd);
    await store.importCustomers("production", rows, by(opened.now), rules("2000001"));
    expect(await endOf(store, SITA_NET, FIBER)).toBe(statedEnd);
  });

  test("goodwill in records is read as the row says, and the entry and the subscription keep that", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, restate } = opened;
    await opened.grant(SITA_NET, 2);
    const sitaTo = (enddate: string, goodwill?: string) => {
      const subscriptions = [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate }];
      const connections = { ...SITA.connections, internet: [{ ...internet[0], subscriptions }] };
      return { ...SITA, connections, ...(goodwill && { goodwill }) };
    };
    const head = async () => {
      const found = await store.findConnection(SITA_NET);
      return found?.connection?.ledgers.find(({ plan }) => plan === FIBER)?.subscription;
    };
    for (const end of ["2026-12-12 09:00:00", "2026-12-10 09:00:00"])
      expect(await restate(sitaTo(end))).toMatchObject([{ kind: "unchanged", heldBack: [] }]);
    const [unclear] = await restate(sitaTo("2027-01-12 09:00:00"));
    expect(unclear?.heldBack).toMatchObject([{ keptEnd: "2026-12-12 09:00:00", goodwill: { days: 2 } }]);
    await restate(sitaTo("2027-01-12 09:00:00", "held"));
    expect(await head()).toMatchObject({ end: "2027-01-12 09:00:00", goodwillDays: 2 });
    await restate(sitaTo("2027-02-10 09:00:00", "lacking"));
    expect(await head()).toMatchObject({ end: "2027-02-12 09:00:00", goodwillDays: 2 });
    const [ledger] = await ledgersOf(store, SITA_NET);
    const readings = ledger?.entries.map((entry) => (entry.kind === "import" ? entry.goodwill : entry.kind));
    expect(readings).toEqual(["lacking", "goodwill", "held", "lacking"]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a connection that is gone takes its code with it, and comes back as it is stated then", async () => {
    const { store, restate } = await openProvider(makeDatabase);
    await restate({ ...SITA, connections: { internet, iptv } });
    expect(await store.lookUpCustomers("production", SITA_TV.reqId)).toEqual([]);
    expect((await store.findConnection(SITA_TV))?.connection).toBeUndefined();
    expect(await ledgersOf(store, SITA_TV)).toHaveLength(1);
    await restate(SITA);
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2026-12-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a reset returns a customer to the stated data, and leaves the top-up on record", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const command = opened.command(SITA_NET, "NET-3M");
    const transaction = expectRecorded(await store.settleTopUp(command));
    opened.now += 1_000;
    const rows = [{ stated: statedCustomer(SITA), asOf: moment(store, opened.now) }];
    await store.importCustomers("production", rows, by(opened.now), fileRules(store, opened.now, { mode: "reset" }));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    expect(await store.settleTopUp(command)).toEqual({ kind: "replayed", transaction });
    expect(await findWrong(store)).toEqual([]);
  });

  test("a set-top box or username that is another customer's is refused by itself", async () => {
    const { store, restate } = await openProvider(makeDatabase);
    const thief = plain("3000001", { connections: { internet: [{ username: "sita", status: "active" }] } });
    const effects = await restate(thief, plain("3000002"));
    expect(effects).toMatchObject([
      { cuid: "3000001", kind: "refused", shared: { reqId: "sita", cuid: "2000001", otherReqId: "sita" } },
      { cuid: "3000002", kind: "added" },
    ]);
    expect(await findCustomer(store.engine.db, "production", "3000001")).toBeUndefined();
  });

  test("a username that differs from another customer's by case or accents alone is refused", async () => {
    const { store, restate } = await openProvider(makeDatabase);
    const named = (cuid: string, username: string) =>
      plain(cuid, { connections: { internet: [{ username, status: "active" }] } });
    const effects = await restate(named("3000001", "SÍTA"), named("3000002", "maya"), named("3000003", "Maya"));
    const stored = { reqId: "SÍTA", cuid: "2000001", otherReqId: "sita" };
    const inFile = { reqId: "Maya", cuid: "3000002", otherReqId: "maya" };
    expect(effects).toMatchObject([
      { cuid: "3000001", kind: "refused", shared: stored },
      { cuid: "3000002", kind: "added" },
      { cuid: "3000003", kind: "refused", shared: inFile },
    ]);
    expect(await findCustomer(store.engine.db, "production", "3000001")).toBeUndefined();
    // A customer can respell its own username, and a username can move to another customer.
    expect(await restate(named("3000002", "MAYA"))).toMatchObject([{ kind: "changed" }]);
    expect(await restate(plain("3000002"), named("3000003", "Maya"))).toMatchObject([
      { kind: "changed" },
      { kind: "added" },
    ]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a differently spelt username is refused while a paid subscription keeps the old one", async () => {
    const { store, restate, topUp } = await openProvider(makeDatabase);
    await topUp(SITA_NET, "NET-1M");
    const respelled = { ...SITA, connections: { internet: [{ username: "Sita", status: "active" }] } };
    const shared = { reqId: "Sita", cuid: "2000001", otherReqId: "sita" };
    expect(await restate(respelled)).toMatchObject([{ kind: "refused", shared }]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
  });

  test("no row is written if one of them cannot be written", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const bad = { ...statedCustomer(plain("3000002")), status: "asleep" } as unknown as StatedCustomer;
    const rows = [statedCustomer(plain("3000001")), bad].map((stated) => ({ stated, asOf: moment(store, now) }));
    await expect(store.importCustomers("production", rows, by(now), fileRules(store, now))).rejects.toThrow();
    expect(await findCustomer(store.engine.db, "production", "3000001")).toBeUndefined();
  });

  test("many customers, new ones and known ones among each other, are all as stated", async () => {
    const { store, restate } = await openProvider(makeDatabase);
    const stated = (index: number, more: object = {}) =>
      plain(`C${index}`, { connections: { internet: [{ ...internet[0], username: `u${index}` }] }, ...more });
    const every = (step: number) => Array.from({ length: 600 / step }, (_, index) => index * step);
    await restate(...every(2).map((index) => stated(index)));
    await restate(...every(1).map((index) => stated(index, index % 3 === 0 ? { mobile: "97" } : {})));
    for (const index of [0, 1, 2, 3, 299, 300, 599]) {
      const customer = await findCustomer(store.engine.db, "production", `C${index}`);
      expect(customer?.mobile).toBe(index % 3 === 0 ? "97" : undefined);
      expect(customer?.connections).toMatchObject([{ reqId: `u${index}`, ledgers: [{ plan: FIBER }] }]);
    }
    expect(await findWrong(store)).toEqual([]);
  });

  test("two stores that import and top up at once lose neither", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const asOf = opened.now - 1;
    await importRows(opened.store, asOf, { ...SITA, last_name: "0" });
    const settled = Array.from({ length: 10 }, async (_, index) => {
      const importing = importRows(other, asOf, { ...SITA, last_name: String(index + 1) });
      const command = opened.command(SITA_NET, "NET-1M");
      expectRecorded(await opened.store.settleTopUp(command));
      await importing;
    });
    await Promise.all(settled);
    expect(await endOf(other, SITA_NET, FIBER)).toBe("2027-10-10 09:00:00");
    expect(await findWrong(other)).toEqual([]);
  });
}
