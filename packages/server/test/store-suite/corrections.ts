import { expect, test } from "vitest";
import { ENVIRONMENTS } from "../../src/domain/customer.ts";
import { RECORDING_DEADLINE_MS } from "../../src/domain/top-up.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { listBulkLines } from "../../src/office/bulk/operations.ts";
import { previewBulk } from "../../src/office/bulk/preview.ts";
import { blockConnection, grantGoodwill, reverseGoodwill } from "../../src/office/corrections/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { findBlocks } from "../../src/office/customers/sql.ts";
import { findReversals } from "../../src/office/transactions/sql.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { by } from "../support/by.ts";
import { listOf, refusal, run } from "../support/desk.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  FAMILY,
  FIBER,
  fileRules,
  GITA_NET,
  HARI_TV,
  moment,
  openProvider,
  RAM,
  RAM_TV,
  SITA,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

/** The domain decides. These tests show that its decisions are written, in order with other changes. */
export function testCorrections(makeDatabase: MakeDatabase): void {
  test("a reversed top-up says so, and its subscription is counted without it", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const transaction = await opened.topUp(SITA_NET, "NET-1M");
    opened.now += 60_000;
    expect(await opened.reverse(transaction.checkoutId, "paid twice")).toMatchObject({
      ...{ txnId: transaction.txnId, status: "reversed", amount: "1130.00", partner: "wallet", plan: FIBER },
      ...{ before: { end: "2027-01-10 09:00:00" }, after: { end: "2026-12-10 09:00:00" } },
    });
    expect(await store.findTransaction(transaction.checkoutId)).toEqual({ ...transaction, status: "reversed" });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    const reversal = { at: opened.now, wall: "2026-11-20 09:01:00", author: "tester", reason: "paid twice" };
    expect(await findReversals(store.engine.db, [transaction.txnId])).toEqual(new Map([[transaction.txnId, reversal]]));
    const [entry] = await listEntries(store.engine.db, {}, 1);
    const subject = `${transaction.txnId} production 2000001 internet sita`;
    expect(entry).toMatchObject({ action: "transaction.reverse", subject, author: "tester", reason: "paid twice" });
    expect(await findWrong(store)).toEqual([]);
  });

  test("only the top-up that is meant is reversed", async () => {
    const opened = await openProvider(makeDatabase);
    const { txnId: id } = await opened.topUp(SITA_NET, "NET-1M");
    const reverse = (more: object) => run(opened.desk(), reverseTransaction, { id, reason: "paid twice", ...more });
    const another = { code: "conflict", words: "nothing was reversed: this is a top-up of 1130.00 of wallet" };
    expect(await refusal(reverse({ partner: "bank" }))).toMatchObject(another);
    expect(await refusal(reverse({ amount: "1130.01" }))).toMatchObject(another);
    expect(await refusal(reverse({ amount: "1,13" }))).toMatchObject({ code: "invalid" });
    expect(await reverse({ partner: "wallet", amount: "1130" })).toMatchObject({ status: "reversed" });
  });

  test("goodwill lengthens a run, and its reversal takes it back", async () => {
    const opened = await openProvider(makeDatabase);
    const { db } = opened.store.engine;
    const reverse = (more: object = {}) =>
      run(opened.desk(), reverseGoodwill, { ...SITA_NET, reason: "3 were meant", ...more });
    expect(await opened.grant(SITA_NET, 10)).toEqual({
      ...{ ...SITA_NET, plan: FIBER, days: 10 },
      before: expect.objectContaining({ end: "2026-12-10 09:00:00" }),
      after: expect.objectContaining({ end: "2026-12-20 09:00:00" }),
    });
    expect(await listEntries(db, {}, 1)).toMatchObject([{ action: "subscription.goodwill", reason: "asked for" }]);
    expect(await refusal(reverse({ seq: 1 }))).toMatchObject({ code: "conflict" });
    expect(await reverse()).toMatchObject({ days: 10, after: { end: "2026-12-10 09:00:00" } });
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    const none = "there is no goodwill that is not reversed yet: topupd why shows the entries";
    expect(await refusal(reverse())).toMatchObject({ code: "conflict", words: none });
    expect(await listEntries(db, {}, 1)).toMatchObject([{ action: "subscription.reverse_goodwill" }]);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("goodwill is refused if its subscription is unclear, or its end is beyond the calendar", async () => {
    const opened = await openProvider(makeDatabase);
    const grant = (input: object) =>
      run(opened.desk(), grantGoodwill, { days: 3, reason: "outage", ...input } as never);
    const { service, reqId } = SITA_NET;
    expect(await grant({ service, reqId })).toMatchObject({ cuid: "2000001", environment: "production" });
    expect(await refusal(grant({ service, reqId: "nobody" }))).toMatchObject({
      code: "not_found",
      words: "there is no internet connection nobody",
    });
    expect(await refusal(grant({ ...GITA_NET }))).toMatchObject({
      words: "there is no base subscription to give days to: it has none",
    });
    expect(await refusal(grant({ ...SITA_NET, plan: "Gold" }))).toMatchObject({
      words: "there is no subscription of the plan Gold to give days to: it has Fiber 100 Mbps",
    });
    const stated = [{ stated: statedCustomer(SITA), asOf: moment(opened.store, opened.now) }];
    await opened.store.importCustomers("trial", stated, by(opened.now), fileRules(opened.store, opened.now));
    const { words } = await refusal(grant({ service, reqId }));
    expect(words.split("\n")).toEqual([
      "there are several connections internet sita: say which",
      ...ENVIRONMENTS.map((each) => `  internet sita --environment ${each} --cuid 2000001, Sita Rai`),
    ]);
  });

  test("a block by staff refuses top-ups until staff lift it, even if the records differ", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const blockedAt = opened.now;
    const { wallTime } = store.provider.zone;
    expect(await opened.block(SITA_TV, true)).toEqual({ ...SITA_TV, blocked: true, changed: true });
    await opened.restate(SITA);
    const refused = { kind: "refused", refusal: "connection_blocked" };
    expect(await store.settleTopUp(opened.command(SITA_TV, "TV-1M"))).toEqual(refused);
    const [entry] = await listEntries(store.engine.db, { action: "connection.block" }, 2);
    expect(entry).toMatchObject({ subject: "production 2000001 tv 007700000000001", reason: "asked for" });
    const { service, reqId } = SITA_TV;
    const blocksOfSita = () => findBlocks(store.engine.db, "production", SITA.cuid);
    expect(await blocksOfSita()).toEqual([
      { service, reqId, at: blockedAt, wall: wallTime(blockedAt), author: "tester", reason: "asked for" },
    ]);
    await opened.block(SITA_TV, false);
    expect(await blocksOfSita()).toEqual([]);
    await opened.topUp(SITA_TV, "TV-1M");
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2027-01-10 09:00:00");
    expect(await opened.block(SITA_TV, false)).toMatchObject({ changed: false });
    expect(await refusal(opened.block(HARI_TV, false))).toMatchObject({ code: "conflict" });
    expect(await refusal(opened.block({ ...SITA_TV, reqId: "0" }, true))).toMatchObject({ code: "not_found" });
    expect(await listEntries(store.engine.db, { action: "connection.unblock" }, 5)).toHaveLength(1);
    await opened.block(SITA_TV, true);
    expect(await blocksOfSita()).toHaveLength(1);
  });

  test("a correction that took longer than the deadline is not made", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId: id } = await opened.topUp(SITA_NET, "NET-1M");
    const reason = "asked for";
    const slow = (byMs: number) => {
      let asked = 0;
      const clock = () => opened.now + (asked++ === 0 ? 0 : byMs);
      return { ...opened.desk(), clock };
    };
    const late = RECORDING_DEADLINE_MS + 1;
    await expect(run(slow(late), reverseTransaction, { id, reason })).rejects.toBeInstanceOf(StoreUnavailable);
    const goodwill = run(slow(late), grantGoodwill, { ...SITA_NET, days: 1, reason });
    await expect(goodwill).rejects.toBeInstanceOf(StoreUnavailable);
    const block = run(slow(late), blockConnection, { ...SITA_NET, blocked: true, reason });
    await expect(block).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect((await store.findTransaction(id))?.status).toBe("success");
    expect(await run(slow(RECORDING_DEADLINE_MS), reverseTransaction, { id, reason })).toMatchObject({
      status: "reversed",
    });
  });

  test("a preview says what each correction would do, and writes nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId: id } = await opened.topUp(SITA_NET, "NET-1M");
    await opened.grant(SITA_NET, 2);
    const before = await opened.database.read("SELECT count(*) AS entries, max(seq) AS last FROM audit_entry");
    const asked = { reason: "what if", preview: true };
    const desk = opened.desk();
    expect(await run(desk, reverseTransaction, { id, ...asked })).toMatchObject({
      ...{ before: { end: "2027-01-12 09:00:00" }, after: { end: "2026-12-12 09:00:00" } },
    });
    expect(await run(desk, grantGoodwill, { ...SITA_NET, days: 5, ...asked })).toMatchObject({
      after: { end: "2027-01-17 09:00:00" },
    });
    expect(await run(desk, reverseGoodwill, { ...SITA_NET, ...asked })).toMatchObject({ days: 2 });
    expect(await run(desk, blockConnection, { ...SITA_TV, blocked: true, ...asked })).toMatchObject({ changed: true });
    const unblock = run(desk, blockConnection, { ...HARI_TV, blocked: false, ...asked });
    expect(await refusal(unblock)).toMatchObject({ code: "conflict" });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-12 09:00:00");
    expect((await store.findTransaction(id))?.status).toBe("success");
    expect((await store.findConnection(SITA_TV))?.connection?.blocked).toBe(false);
    expect(await opened.database.read("SELECT count(*) AS entries, max(seq) AS last FROM audit_entry")).toEqual(before);
  });
}

/** What happens at once. */
export function testCorrectionsAtOnce(makeDatabase: MakeDatabase): void {
  test("a top-up is reversed once, and one that is not there never", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    const stores = [opened.store, other, opened.store];
    const outcomes = await Promise.allSettled(stores.map((store) => opened.reverse(checkoutId, "twice", store)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await refusal(opened.reverse(checkoutId))).toMatchObject({
      code: "conflict",
      words: "this top-up of 1130.00 of wallet was reversed already, 2026-11-20 09:00:00 by tester: twice",
    });
    const { checkoutId: unused } = opened.command(SITA_NET, "NET-1M");
    expect(await refusal(opened.reverse(unused))).toMatchObject({ code: "not_found" });
    expect(await countRows(opened, "reversal")).toBe(1);
    expect(await findWrong(other)).toEqual([]);
  });

  test("a correction starts no second base plan, unless the service may have many", async () => {
    const opened = await openProvider(makeDatabase, { basePlans: { tv: "one", internet: "one", iptv: "one" } });
    const [lapsed = {}] = RAM.connections.tv[0]?.subscriptions ?? [];
    const dates = { startdate: "2026-11-10 09:00:00", enddate: "2026-12-10 09:00:00" };
    const subscriptions = [lapsed, { code: "SPORT-1M", ...dates }];
    await opened.restate({ ...RAM, connections: { tv: [{ stb: RAM_TV.reqId, status: "active", subscriptions }] } });
    const family = { ...RAM_TV, plan: FAMILY };
    expect(await refusal(opened.grant(family, 3))).toMatchObject({
      ...{ code: "conflict" },
      words: "a second base plan would start beside Sports TV: the provider allows one base plan of tv",
    });
    expect(await opened.grant({ ...RAM_TV, plan: "Sports TV" }, 3)).toMatchObject({ before: { end: dates.enddate } });
    expect(await opened.grant(RAM_TV, 3)).toMatchObject({ plan: "Sports TV" });
    const outage = {
      action: "goodwill",
      days: 3,
      runningAt: "2026-10-20",
      reason: "outage",
      file: listOf([RAM_TV.reqId]),
    };
    const { id } = await run(opened.desk(), previewBulk, outage as never);
    const { items } = await run(opened.desk(), listBulkLines, { id, problems: true });
    expect(items).toMatchObject([{ problem: expect.stringContaining("a second base plan would start beside") }]);
    const many = await opened.another({ basePlans: { tv: "many", internet: "one", iptv: "one" } });
    expect(await opened.grant(family, 3, many)).toMatchObject({ plan: FAMILY, after: { end: "2026-11-23 09:00:01" } });
  });

  test("corrections and top-ups of one subscription at once, through two stores, lose nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const first = await Promise.all(Array.from({ length: 5 }, () => opened.topUp(SITA_NET, "NET-1M")));
    await Promise.all([
      ...first.map(({ checkoutId }) => opened.reverse(checkoutId, "paid twice", other)),
      ...first.map(() => opened.topUp(SITA_NET, "NET-1M")),
      ...first.map(() => opened.grant({ ...SITA_NET, plan: FIBER }, 1, other)),
    ]);
    expect(await endOf(other, SITA_NET, FIBER)).toBe("2027-05-15 09:00:00");
    expect(await findWrong(other)).toEqual([]);
  });
}
