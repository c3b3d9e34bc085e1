import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import type { StaffRole } from "../../src/domain/authority.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { SaleMethod } from "../../src/domain/sale.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { confirmChange, listApprovals, refuseChange } from "../../src/office/approvals/operations.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import type { Limits } from "../../src/office/limits.ts";
import type { Actor } from "../../src/office/office.ts";
import { listShifts } from "../../src/office/shifts/operations.ts";
import { listSales, requestReversal, returnCash } from "../../src/office/shifts/sales.ts";
import { closeShift, listOwnShifts, openShift, showShift } from "../../src/office/shifts/seller.ts";
import { listTransactions, showTransaction, sumTransactions } from "../../src/office/transactions/operations.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { deskOf, NO_LIMITS, refusal, run } from "../support/desk.ts";
import { moveHorizon, pruneHistory } from "../support/history.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { addSeller } from "../support/sellers.ts";
import { staffOf } from "../support/staff.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { expectRecorded, openProvider, RAM_NET, RAM_TV, SITA_IPTV, SITA_NET, SITA_TV } from "./provider.ts";

/** A partner with two sellers, another partner with one, and people of the staff. */
export async function openCounter(makeDatabase: MakeDatabase, more: Partial<Limits> = {}) {
  const opened = await openProvider(makeDatabase);
  const { store, partner } = opened;
  const random = seededRandom(5);
  const other = (await partnersOf(store).add("other shop", by(opened.now))) as Partner;
  const mina = await addSeller(store, "mina", partner.id, opened.now);
  const bina = await addSeller(store, "bina", partner.id, opened.now);
  const foreign = await addSeller(store, "gita", other.id, opened.now);
  const people = staffOf(store);
  const person = async (name: string, role: StaffRole): Promise<Actor> => {
    const { id: staffId } = await people.add(name, role, by(opened.now));
    return { name, authority: { staffId, role, sessionId: undefined } };
  };
  const [maya, ravi] = [await person("maya", "support"), await person("ravi", "support")];
  const limits = { ...NO_LIMITS, ...more };
  const deskFor = (actor: Actor, on = store) =>
    deskOf({ store: on, clock: () => opened.now, random }, actor, { limits });
  const saleOf = (
    connection: ConnectionKey,
    code: string,
    method: SaleMethod = "cash",
    { name } = mina,
    udf1?: string,
  ) => opened.command(connection, code, { tokenId: `tok_${name}`, sale: { seller: name, method }, udf1 });
  const sell = async (...of: Parameters<typeof saleOf>) => {
    opened.now += 1_000;
    return expectRecorded(await store.settleTopUp(saleOf(...of)));
  };
  const reverse = (actor: Actor, id: string) =>
    run(deskFor(actor), reverseTransaction, { id, reason: "the customer asked" });
  const request = (actor: Actor, id: string, on = store) =>
    run(deskFor(actor, on), requestReversal, { txnId: id, reason: "wrong box" });
  const open = (actor = mina, opening?: string) =>
    run(deskFor(actor), openShift, opening === undefined ? {} : { opening });
  const show = async (actor = mina) => (await run(deskFor(actor), showShift, {})).shift;
  const close = (counted: string, actor = mina, on = store) => run(deskFor(actor, on), closeShift, { counted });
  const giveBack = (actor: Actor, id: string, on = store) => run(deskFor(actor, on), returnCash, { txnId: id });
  const sales = async (input: object = {}, actor = mina) => (await run(deskFor(actor), listSales, input)).items;
  const requests = async () => (await run(deskFor(maya), listApprovals, {})).items;
  const confirm = (actor: Actor, id: string) => run(deskFor(actor), confirmChange, { id });
  const refuse = (actor: Actor, id: string) => run(deskFor(actor), refuseChange, { id, reason: "it was used" });
  return {
    ...{ opened, store, people, mina, bina, foreign, maya, ravi, person, deskFor, saleOf, sell, reverse, request },
    ...{ open, show, close, giveBack, sales, requests, confirm, refuse },
  };
}

/** Sales at a counter, and the shifts in which their cash is counted. */
export function testShifts(makeDatabase: MakeDatabase): void {
  test("only a recorded top-up of a seller writes a sale: no replay, no refusal, no partner's program", async () => {
    const { opened, store, saleOf } = await openCounter(makeDatabase);
    const command = saleOf(SITA_NET, "NET-1M", "card");
    const { txnId } = expectRecorded(await store.settleTopUp(command));
    const again = { ...command, sale: { seller: "bina", method: "cash" } } as const;
    expect(await store.settleTopUp(again)).toMatchObject({ kind: "replayed" });
    expect(await store.settleTopUp({ ...saleOf(SITA_NET, "NET-1M"), amount: 1n })).toMatchObject({ kind: "refused" });
    await opened.topUp(SITA_NET, "NET-1M");
    expect(await opened.database.read("SELECT * FROM sale")).toMatchObject([
      { txn_id: txnId, environment: "production", seller: "mina", method: "card", shift_id: null },
    ]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a seller whose access has ended sells nothing", async () => {
    const { opened, store, saleOf } = await openCounter(makeDatabase);
    await store.engine.db.updateTable("accessToken").set({ revokedAt: 1 }).where("id", "=", "tok_mina").execute();
    expect(await store.settleTopUp(saleOf(SITA_NET, "NET-1M"))).toMatchObject({ refusal: "revoked_token" });
    expect(await countRows(opened, "sale")).toBe(0);
  });

  test("a shift expects its opening and cash sales, and says what is missing", async () => {
    const { opened, store, mina, bina, person, deskFor, sell, open, show, close } = await openCounter(makeDatabase);
    expect(await show()).toBeNull();
    const none = { code: "conflict", words: "you have no open shift: open one first" };
    expect(await refusal(close("0"))).toMatchObject(none);
    expect(await open(mina, "500")).toMatchObject({ seller: "mina", partner: "wallet", expected: "500.00" });
    expect(await refusal(open())).toMatchObject({
      ...{ code: "conflict", words: "your shift is open since 2026-11-20 09:00:00: close it first" },
    });
    await sell(SITA_NET, "NET-1M");
    await sell(SITA_TV, "TV-1M", "card");
    await sell(SITA_IPTV, "ITV-1M", "wallet");
    await sell(RAM_TV, "TV-1M", "cash", bina);
    await opened.topUp(RAM_NET, "NET-1M");
    expect(await show()).toMatchObject({
      ...{ expected: "1630.00", closedAt: null, counted: null, difference: null },
      ...{ cash: { count: 1, amount: "1130.00" }, card: { count: 1, amount: "450.00" } },
      ...{ wallet: { count: 1, amount: "300.00" }, returned: { count: 0, amount: "0.00" } },
    });
    const counted = { counted: "1600", note: "torn note" };
    expect(await run(deskFor(mina), closeShift, counted)).toMatchObject({
      ...{ expected: "1630.00", counted: "1600.00", difference: "-30.00", note: "torn note" },
    });
    expect(await show()).toBeNull();
    expect(await listEntries(store.engine.db, { subject: "wallet" }, 2)).toMatchObject([
      { action: "shift.close", author: "mina", after: '{"expected":"1630.00","counted":"1600.00","note":"torn note"}' },
      { action: "shift.open", author: "mina", after: '{"opening":"500.00"}' },
    ]);
    await open(bina);
    const finance = deskFor(await person("fatima", "finance"));
    const all = (await run(finance, listShifts, {})).items;
    expect(all).toMatchObject([
      { seller: "bina", expected: "450.00", closedAt: null },
      { seller: "mina", difference: "-30.00", note: "torn note" },
    ]);
    const days = { from: "2026-11-20", to: "2026-11-20" };
    expect((await run(finance, listShifts, { seller: "mina", partner: "wallet", ...days })).items).toEqual([all[1]]);
    expect((await run(finance, listShifts, { partner: "other shop" })).items).toEqual([]);
    expect((await run(deskFor(mina), listOwnShifts, {})).items).toEqual([all[1]]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("sales without a shift go into the next one of their seller", async () => {
    const { sell, mina, bina, open, close } = await openCounter(makeDatabase);
    await sell(SITA_NET, "NET-1M");
    expect(await open()).toMatchObject({ expected: "1130.00", cash: { count: 1 } });
    await open(bina);
    expect(await close("0", bina)).toMatchObject({ expected: "0.00" });
    expect(await close("1130", mina)).toMatchObject({ expected: "1130.00" });
    await sell(SITA_TV, "TV-1M");
    expect(await open()).toMatchObject({ expected: "450.00", cash: { count: 1 } });
  });

  test("a closed shift and its sales cannot be changed by SQL, and check finds what is forged", async () => {
    const { opened, store, mina, sell, open, close, reverse, giveBack, maya } = await openCounter(makeDatabase);
    const { db } = store.engine;
    await open();
    const { txnId } = await sell(SITA_NET, "NET-1M");
    await close("1130");
    await sell(SITA_TV, "TV-1M");
    await reverse(maya, txnId);
    await open();
    await giveBack(mina, txnId);
    const closed = /a closed shift is never changed/;
    await expect(db.updateTable("shift").set({ counted: 7 }).where("id", "=", 1).execute()).rejects.toThrow(closed);
    await expect(db.updateTable("sale").set({ shiftId: 1 }).where("shiftId", "is", null).execute()).rejects.toThrow(
      closed,
    );
    await expect(db.updateTable("sale").set({ shiftId: 2 }).where("shiftId", "=", 1).execute()).rejects.toThrow(closed);
    const elsewhere = db.updateTable("sale").set({ returnedShift: 1 });
    await expect(elsewhere.where("txnId", "=", txnId).execute()).rejects.toThrow(closed);
    await expect(db.updateTable("sale").set({ method: "card" }).execute()).rejects.toThrow("a sale is never changed");
    await expect(db.deleteFrom("sale").execute()).rejects.toThrow("a sale is never deleted");
    await expect(db.deleteFrom("shift").execute()).rejects.toThrow(/a shift is never deleted|constraint/i);
    expect(await findWrong(store)).toEqual([]);
    const wrong = ["shift 1 of mina: the expected cash is not that of its sales"];
    await opened.database.tamper("UPDATE shift SET expected = 7 WHERE id = 1");
    expect(await findWrong(store)).toEqual(wrong);
    await opened.database.tamper("UPDATE shift SET expected = 113000 WHERE id = 1");
    await opened.database.tamper("UPDATE sale SET shift_id = 1");
    expect(await findWrong(store)).toEqual(wrong);
    await opened.database.tamper("UPDATE sale SET partner_id = 2, shift_id = NULL, returned_shift = NULL");
    expect(await findWrong(store)).toHaveLength(3);
  });

  test("a sale by card has no cash to return", async () => {
    const { mina, maya, sell, reverse, open, giveBack, sales } = await openCounter(makeDatabase);
    const { txnId } = await sell(SITA_NET, "NET-1M", "card");
    await reverse(maya, txnId);
    await open();
    const words = "this sale was paid by card, not in cash";
    expect(await refusal(giveBack(mina, txnId))).toMatchObject({ code: "conflict", words });
    expect(await sales()).toMatchObject([{ state: "reversed", cashReturned: null }]);
  });

  test("a refused request shows why, and can be made again; a reversal on the page confirms it", async () => {
    const { mina, bina, maya, ravi, sell, request, requests, refuse, reverse, sales } = await openCounter(makeDatabase);
    const { txnId } = await sell(SITA_NET, "NET-1M");
    await request(mina, txnId);
    await refuse(maya, (await requests())[0]?.id ?? "");
    expect(await sales()).toMatchObject([{ state: "reversal_refused", request: { refusal: "it was used" } }]);
    expect(await request(bina, txnId)).toMatchObject({
      ...{ state: "reversal_requested", request: { requestedBy: "bina", refusal: null } },
    });
    expect(await reverse(ravi, txnId)).toMatchObject({ status: "reversed", seller: "mina", method: "cash" });
    expect(await requests()).toMatchObject([{ state: "confirmed", requestedBy: "bina", decidedBy: "ravi" }]);
  });

  test("a seller is not the first of two people: a large sale is reversed on its page", async () => {
    const scene = await openCounter(makeDatabase, { secondPersonReversal: 100_000n });
    const { store, people, opened, mina, maya, ravi, sell, request, requests, confirm, reverse } = scene;
    const { txnId } = await sell(SITA_NET, "NET-1M");
    await request(mina, txnId);
    const id = (await requests())[0]?.id ?? "";
    expect(await refusal(confirm(maya, id))).toMatchObject({
      code: "conflict",
      words: "this amount needs two people of the staff: reverse it on the page of the top-up",
    });
    expect((await requests())[0]).toMatchObject({ state: "waiting", requestedBy: "mina" });
    expect(await countRows(opened, "staff_day WHERE reversed > 0")).toBe(0);
    const { approval } = await reverse(maya, txnId);
    expect(approval).toMatchObject({ requestedBy: "maya", state: "waiting" });
    expect(await request(mina, txnId)).toMatchObject({ request: { requestedBy: "the provider", reason: "" } });
    expect(await refusal(confirm(maya, approval?.id ?? ""))).toMatchObject({ code: "forbidden" });
    await confirm(ravi, approval?.id ?? "");
    expect(await requests()).toMatchObject([{ state: "confirmed", requestedBy: "maya", decidedBy: "ravi" }]);
    const small = await sell(SITA_IPTV, "ITV-1M");
    await request(mina, small.txnId);
    await confirm(ravi, (await requests())[0]?.id ?? "");
    const left = await sell(SITA_TV, "TV-1M");
    await request(mina, left.txnId);
    await people.remove("mina", by(opened.now));
    expect(await reverse(ravi, left.txnId)).toMatchObject({ status: "reversed", approval: null });
    expect(await findWrong(store)).toEqual([]);
  });

  test("a seller of another partner finds nothing by id, and lists only its own", async () => {
    const { foreign, maya, sell, reverse, request, open, giveBack, sales, show } = await openCounter(makeDatabase);
    const { txnId } = await sell(SITA_NET, "NET-1M", "cash", undefined, "R-17");
    const unknown = { code: "not_found", words: "your shop has no sale with this txnId" };
    await open(foreign);
    for (const id of [txnId, "unknown"]) expect(await refusal(request(foreign, id))).toMatchObject(unknown);
    await reverse(maya, txnId);
    expect(await refusal(giveBack(foreign, txnId))).toMatchObject(unknown);
    for (const input of [{}, { find: "R-17" }, { find: txnId }, { find: txnId.slice(-8) }]) {
      expect(await sales(input, foreign)).toEqual([]);
      expect(await sales(input)).toHaveLength(1);
    }
    expect(await show(foreign)).toMatchObject({ seller: "gita", expected: "0.00" });
    expect(await refusal(request(maya, txnId))).toMatchObject({ code: "forbidden" });
  });

  test("sales are listed by day, newest first, and found by receipt number and the end of the txnId", async () => {
    const { opened, mina, bina, deskFor, sell, sales } = await openCounter(makeDatabase);
    const first = await sell(SITA_NET, "NET-1M", "cash", mina, "R-17");
    const second = await sell(SITA_TV, "TV-1M", "card", bina);
    await opened.topUp(RAM_NET, "NET-1M");
    expect(await sales()).toMatchObject([
      {
        txnId: second.txnId,
        seller: "bina",
        method: "card",
        udf1: null,
        amount: "450.00",
        state: "sold",
        request: null,
      },
      { txnId: first.txnId, seller: "mina", udf1: "R-17", customer: { firstName: "Sita" }, cashReturned: null },
    ]);
    const { cursor } = await run(deskFor(mina), listSales, { limit: 1 });
    expect(await sales({ limit: 1, cursor })).toMatchObject([{ txnId: first.txnId }]);
    opened.now += DAY_MS;
    expect(await sales()).toEqual([]);
    expect(await sales({ day: "2026-11-20" })).toHaveLength(2);
    for (const find of ["R-17", first.txnId, first.txnId.slice(-8).toLowerCase()])
      expect(await sales({ find }), find).toMatchObject([{ txnId: first.txnId }]);
    expect(await sales({ find: "R-18" })).toEqual([]);
  });

  test("staff see who sold a top-up, and filter by seller", async () => {
    const { opened, maya, mina, bina, deskFor, sell, reverse } = await openCounter(makeDatabase);
    const sold = await sell(SITA_NET, "NET-1M", "cash", mina, "R-17");
    const plain = await opened.topUp(SITA_NET, "NET-1M");
    await sell(SITA_TV, "TV-1M", "wallet", bina);
    await reverse(maya, sold.txnId);
    const list = async (input: object) => (await run(deskFor(maya), listTransactions, input)).items;
    expect((await list({})).map(({ seller, method }) => [seller, method])).toEqual([
      ["bina", "wallet"],
      [null, null],
      ["mina", "cash"],
    ]);
    for (const more of [{}, { cuid: "2000001" }, { udf1: "R-17" }, { status: "reversed" }, { partner: "wallet" }])
      expect(await list({ seller: "mina", ...more }), JSON.stringify(more)).toMatchObject([{ txnId: sold.txnId }]);
    expect(await list({ seller: "mina", service: "tv" })).toEqual([]);
    expect(await run(deskFor(maya), sumTransactions, { seller: "bina" })).toMatchObject({ count: 1, amount: "450.00" });
    const shown = (id: string) => run(deskFor(maya), showTransaction, { id });
    expect(await shown(sold.txnId)).toMatchObject({ seller: "mina", method: "cash" });
    expect(await shown(plain.txnId)).toMatchObject({ seller: null, method: null });
  });

  test("pruned sales leave their closed shift, which check no longer counts", async () => {
    const { opened, store, mina, sell, open, close, giveBack, maya, reverse } = await openCounter(makeDatabase);
    await open();
    const { txnId } = await sell(RAM_NET, "NET-1M");
    await sell(RAM_NET, "NET-1M");
    await reverse(maya, txnId);
    await giveBack(mina, txnId);
    await close("1130");
    for (let year = 0; year < 2; year += 1) {
      opened.now += 400 * DAY_MS;
      await opened.topUp(RAM_NET, "NET-1M");
    }
    const horizon = opened.now - 200 * DAY_MS;
    await moveHorizon(opened, horizon);
    await pruneHistory(opened, horizon);
    expect(await countRows(opened, "sale")).toBe(0);
    expect(await countRows(opened, "shift")).toBe(1);
    expect(await findWrong(store)).toEqual([]);
    // A shift whose sales are all there is checked as before.
    await open();
    await sell(RAM_NET, "NET-1M");
    await close("1130");
    await opened.database.tamper("UPDATE shift SET expected = 7 WHERE id = 2");
    expect(await findWrong(store)).toEqual(["shift 2 of mina: the expected cash is not that of its sales"]);
  });
}

/** What happens at once. */
export function testShiftsAtOnce(makeDatabase: MakeDatabase): void {
  test("no sale is lost between shifts that close while it is recorded", async () => {
    const { opened, store, mina, deskFor, saleOf, open, close } = await openCounter(makeDatabase);
    const another = await opened.another();
    const stores = [store, another];
    for (let round = 0; round < 4; round += 1) {
      await open();
      const connections = [SITA_NET, SITA_IPTV, RAM_NET];
      const selling = connections.flatMap((connection, index) => {
        const code = connection === SITA_IPTV ? "ITV-1M" : "NET-1M";
        return [0, 1, 2].map((more) => (stores[(index + more) % 2] ?? store).settleTopUp(saleOf(connection, code)));
      });
      const closing = close("0", mina, stores[round % 2]);
      for (const outcome of await Promise.all(selling)) expectRecorded(outcome);
      await closing;
      expect(await findWrong(store)).toEqual([]);
    }
    await open();
    await close("0");
    expect(await countRows(opened, "sale WHERE shift_id IS NULL")).toBe(0);
    expect(await findWrong(store)).toEqual([]);
    const { items } = await run(deskFor(mina), listOwnShifts, {});
    const expected = items.reduce((sum, shift) => sum + Number(shift.expected), 0);
    expect(expected).toBe(4 * 3 * (1130 + 300 + 1130));
  });

  test("a shift is opened and closed once, also twice at once", async () => {
    const { opened, mina, deskFor, close } = await openCounter(makeDatabase);
    const stores = [opened.store, await opened.another()];
    const bothOf = async (work: (on: Store) => Promise<unknown>) =>
      (await Promise.allSettled(stores.map(work))).map(({ status }) => status).sort();
    expect(await bothOf((on) => run(deskFor(mina, on), openShift, {}))).toEqual(["fulfilled", "rejected"]);
    expect(await bothOf((on) => close("0", mina, on))).toEqual(["fulfilled", "rejected"]);
    expect(await countRows(opened, "shift")).toBe(1);
  });

  test("staff confirm a seller's request, and the cash is returned once", async () => {
    const scene = await openCounter(makeDatabase);
    const { opened, store, mina, bina, maya, sell, request, requests, confirm, open, close, giveBack, sales } = scene;
    const { txnId: id } = await sell(SITA_NET, "NET-1M");
    const stores = [store, await opened.another()];
    const asked = await Promise.all(stores.map((on, index) => request(index === 0 ? mina : bina, id, on)));
    expect(asked[0]).toEqual(asked[1]);
    expect(asked[0]).toMatchObject({
      state: "reversal_requested",
      status: "success",
      request: { reason: "wrong box" },
    });
    const [approval, ...others] = await requests();
    expect(others).toEqual([]);
    expect(approval).toMatchObject({ kind: "reversal", subject: id, state: "waiting", reason: "wrong box" });
    await open();
    const early = "this sale is not reversed: ask for its reversal first";
    expect(await refusal(giveBack(mina, id))).toMatchObject({ code: "conflict", words: early });
    expect(await confirm(maya, approval?.id ?? "")).toMatchObject({ state: "confirmed", decidedBy: "maya" });
    expect(await sales()).toMatchObject([{ txnId: id, state: "reversed", status: "reversed", cashReturned: false }]);
    const subject = `${id} production 2000001 internet sita`;
    expect(await listEntries(store.engine.db, { subject }, 2)).toMatchObject([
      {
        action: "transaction.reverse",
        author: "maya",
        reason: "wrong box",
        after: expect.stringContaining("requestedBy"),
      },
      { action: "approval.request", after: '{"amount":"1130.00"}' },
    ]);
    const reversed = { code: "conflict", words: "this sale is reversed already" };
    expect(await refusal(request(mina, id))).toMatchObject(reversed);
    expect(await refusal(giveBack(bina, id))).toMatchObject({ words: "you have no open shift: open one first" });
    await open(bina);
    const returned = await Promise.allSettled(stores.map((on, index) => giveBack(index === 0 ? mina : bina, id, on)));
    expect(returned.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const seller of [mina, bina])
      expect(await refusal(giveBack(seller, id))).toMatchObject({
        ...{ code: "conflict", words: "the cash of this sale was returned already" },
      });
    expect(await listEntries(store.engine.db, { subject }, 1)).toMatchObject([
      { action: "sale.cash_returned", after: '{"amount":"1130.00"}' },
    ]);
    expect(await sales()).toMatchObject([{ cashReturned: true }]);
    const sums = [await close("0"), await close("0", bina)].map(({ cash, returned: back, expected }) => {
      return [cash.count, back.count, expected];
    });
    expect(sums).toEqual(
      sums[0]?.[1] === 1
        ? [
            [1, 1, "0.00"],
            [0, 0, "0.00"],
          ]
        : [
            [1, 0, "1130.00"],
            [0, 1, "-1130.00"],
          ],
    );
    expect(await findWrong(store)).toEqual([]);
  });
}
