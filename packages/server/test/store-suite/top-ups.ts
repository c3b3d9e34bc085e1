import { expect, test } from "vitest";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import type { ConnectionKey, Environment } from "../../src/domain/customer.ts";
import type { Refusal } from "../../src/domain/failure.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { formatTransactionId } from "../../src/domain/transaction.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { partnersOf } from "../support/partners.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { hashOf } from "./filled-provider.ts";
import {
  BOUQUETS,
  bouquet,
  endOf,
  expectRecorded,
  FAMILY,
  FIBER,
  GITA_NET,
  HARI_TV,
  type OpenedProvider,
  openProvider,
  RAM_NET,
  RAM_TV,
  SITA,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

/** The domain decides. These tests show that all data for its decisions is loaded. */
type Ask = (provider: OpenedProvider) => TopUpCommand;

const at = (connection: ConnectionKey, code: string): Ask => {
  return ({ command }) => command(connection, code);
};

const REFUSED: readonly (readonly [string, Refusal, Ask])[] = [
  ["a customer that is not there", "customer_not_found", at({ ...SITA_NET, cuid: "9" }, "NET-1M")],
  ["a customer of the other environment", "customer_not_found", at({ ...SITA_NET, environment: "trial" }, "NET-1M")],
  ["an inactive customer", "customer_inactive", at(GITA_NET, "NET-1M")],
  ["a connection that is not there", "connection_not_found", at({ ...SITA_NET, reqId: "nobody" }, "NET-1M")],
  ["a username of another service", "connection_not_found", at({ ...SITA_NET, service: "iptv" }, "ITV-1M")],
  ["a blocked connection", "connection_blocked", at(HARI_TV, "TV-1M")],
  ["an add-on without a running base", "bouquet_unavailable", at(RAM_TV, "KIDS-1M")],
  [
    "a revision that was never published",
    "bouquet_unavailable",
    ({ command, quote }) => command(SITA_NET, "NET-1M", quote(SITA_NET, { revision: 77 })),
  ],
];

export function testTopUps(makeDatabase: MakeDatabase): void {
  test("a top-up is recorded as it was asked for, at the time it was decided", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-3M", { udf1: "order-1", udf2: "खाता" });
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    const { checkout: _, txnDigits, tokenId: __, ...asked } = command;
    const txnId = formatTransactionId(opened.now, txnDigits);
    const decided = { txnId, at: opened.now, txnDate: "2026-11-20 09:00:00", status: "success", commission: 0n };
    expect(transaction).toEqual({ ...asked, ...decided });
    expect(await opened.store.findTransaction(command.checkoutId)).toEqual(transaction);
    expect(await (await opened.another()).findTransaction(command.checkoutId)).toEqual(transaction);
  });

  test("a partner has topped up a customer if one of the top-ups in the history is its own", async () => {
    const { another, partner, topUp, reverse, restate } = await openProvider(makeDatabase);
    const other = await another();
    const has = (cuid: string, partnerId = partner.id, environment: Environment = "production") =>
      other.hasToppedUp(partnerId, environment, cuid);
    expect(await has(SITA_NET.cuid)).toBe(false);
    const { txnId } = await topUp(SITA_NET, "NET-1M");
    await topUp(SITA_NET, "NET-3M");
    await reverse(txnId);
    await restate(SITA);
    expect(await has(SITA_NET.cuid)).toBe(true);
    expect(await has(SITA_NET.cuid, partner.id + 1)).toBe(false);
    expect(await has(SITA_NET.cuid, partner.id, "trial")).toBe(false);
    expect(await has(RAM_NET.cuid)).toBe(false);
    expect(await has("nobody")).toBe(false);
  });

  test("a transaction is dated by the provider's clock", async () => {
    const { topUp } = await openProvider(makeDatabase, { timeZone: "Asia/Kathmandu" });
    expect((await topUp(SITA_NET, "NET-3M")).txnDate).toBe("2026-11-20 14:45:00");
  });

  test("a checkoutId is compared exactly", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    const { checkoutId } = await topUp(SITA_NET, "NET-1M");
    for (const other of [checkoutId.toLowerCase(), checkoutId.slice(0, -1), `${checkoutId} `, "%", ""])
      expect(await store.findTransaction(other)).toBeUndefined();
  });

  test("a running subscription goes on from its end", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    await topUp(SITA_NET, "NET-3M");
    const found = await store.findConnection(SITA_NET);
    const shown = { code: "NET-3M", name: "Fiber 100 Mbps (QUARTERLY)", addOn: false };
    const dates = { start: "2026-11-10 09:00:00", end: "2027-03-10 09:00:00" };
    expect(found?.connection?.ledgers).toMatchObject([
      { plan: FIBER, seq: 2, subscription: { bouquet: shown, ...dates } },
    ]);
  });

  test("a lapsed subscription starts again, and a new one gets its first entry", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    await topUp(RAM_NET, "NET-1M");
    const ram = await store.findConnection(RAM_NET);
    const run = { start: "2026-11-20 09:00:00", end: "2026-12-20 09:00:00" };
    expect(ram?.connection?.ledgers).toMatchObject([{ seq: 2, subscription: { ...run, since: 2 } }]);
    await topUp(SITA_IPTV, "ITV-1M");
    const sita = await store.findConnection(SITA_IPTV);
    expect(sita?.connection?.ledgers).toMatchObject([{ plan: "IPTV", seq: 1, subscription: { ...run, since: 1 } }]);
  });

  test("a top-up touches its own connection and plan alone", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    const others = () => Promise.all([SITA_TV, SITA_IPTV, RAM_NET, RAM_TV].map((each) => store.findConnection(each)));
    const before = await others();
    await topUp(SITA_NET, "NET-1M");
    expect(await others()).toEqual(before);
    await topUp(SITA_TV, "KIDS-1M");
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2026-12-10 09:00:00");
    expect(await endOf(store, SITA_TV, "Kids [AddOn]")).toBe("2026-12-20 09:00:00");
  });

  test("the same request again is answered with the first one's transaction, also long after, and changes nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M", { udf1: "order-1" });
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    for (const wait of [60_000, 1000 * CHECKOUT_VALID_MS]) {
      opened.now += wait;
      const again = { ...command, txnDigits: "ANOTHER000000000", udf1: "order-2" };
      expect(await opened.store.settleTopUp(again)).toEqual({ kind: "replayed", transaction });
      expect(await (await opened.another()).settleTopUp(again)).toEqual({ kind: "replayed", transaction });
    }
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("a used checkout is refused for another request, or another partner", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    const settle = (other: Partial<TopUpCommand>) => opened.store.settleTopUp({ ...command, ...other });
    expect(await settle({ amount: 1n })).toEqual({ kind: "refused", refusal: "checkout_used" });
    expect(await settle({ cuid: "2000002" })).toEqual({ kind: "refused", refusal: "checkout_used" });
    expect(await settle({ partnerId: 77 })).toEqual({ kind: "refused", refusal: "checkout_unknown" });
    expect(await opened.store.findTransaction(command.checkoutId)).toEqual(transaction);
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("the quoted price holds though the catalogue has changed, and the new one does not", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = opened.command(SITA_NET, "NET-1M");
    const wrong = opened.command(SITA_NET, "NET-1M", { amount: 120_000n });
    const dearer = bouquet("internet", "NET-1M", "Fiber 200 Mbps (QUARTERLY)", "1200");
    const { revision } = await publish(store, "production", [dearer], by(opened.now));
    expect(await store.settleTopUp(wrong)).toEqual({ kind: "refused", refusal: "amount_mismatch" });
    expectRecorded(await store.settleTopUp(old));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    const net = { internet: "many", tv: "many", iptv: "many" } as const;
    const other = await opened.another({ basePlans: net });
    const quoted = opened.quote(SITA_NET, { revision });
    expectRecorded(await other.settleTopUp({ ...opened.command(SITA_NET, "NET-1M"), ...quoted, amount: 120_000n }));
    expect(await endOf(store, SITA_NET, "Fiber 200 Mbps")).toBe("2027-02-20 09:00:00");
  });

  test("a revision from before the store was opened is honoured", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-3M");
    await publish(opened.store, "production", BOUQUETS.slice(0, 1), by(opened.now));
    await opened.store.close();
    expectRecorded(await (await opened.another()).settleTopUp(command));
  });

  test("a refused top-up writes nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const entries = await countRows(opened, "ledger_entry");
    for (const [what, refusal, ask] of REFUSED) {
      const command = ask(opened);
      expect(await store.settleTopUp(command), what).toEqual({ kind: "refused", refusal });
      expect(await store.findTransaction(command.checkoutId), what).toBeUndefined();
    }
    expect(await countRows(opened, "top_up")).toBe(0);
    expect(await countRows(opened, "retired_checkout")).toBe(0);
    expect(await countRows(opened, "ledger_entry")).toBe(entries);
  });

  test("a top-up whose token or partner lost its rights after admission is refused, and can be made with another", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, partner, now } = opened;
    const partners = partnersOf(store);
    const plain = { environment: "production", createdAt: now, revokedAt: undefined, replacedBy: undefined } as const;
    for (const id of ["revoked", "ending", "good"]) {
      const token = { ...plain, id, partner, expiresAt: id === "ending" ? now + 60_000 : undefined };
      await partners.addToken(token, hashOf(id), by(now));
    }
    const other = await opened.another();
    const commandOf = (tokenId: string) => opened.command(SITA_NET, "NET-1M", { tokenId });
    const recorded = commandOf("revoked");
    const transaction = expectRecorded(await other.settleTopUp(recorded));
    const refused = [commandOf("revoked"), commandOf("ending"), commandOf("good")] as const;
    await partners.revokeToken("revoked", by(now));
    expect(await other.settleTopUp(refused[0])).toEqual({ kind: "refused", refusal: "revoked_token" });
    opened.now += 60_000;
    expect(await other.settleTopUp(refused[1])).toEqual({ kind: "refused", refusal: "expired_token" });
    await partners.setStatus("wallet", "suspended", by(now));
    expect(await other.settleTopUp(refused[2])).toEqual({ kind: "refused", refusal: "partner_suspended" });
    expect(await other.settleTopUp(recorded)).toEqual({ kind: "replayed", transaction });
    expect(await countRows(opened, "top_up")).toBe(1);
    expect(await countRows(opened, "retired_checkout")).toBe(0);
    await partners.setStatus("wallet", "active", by(now));
    expectRecorded(await other.settleTopUp({ ...refused[0], tokenId: "good" }));
  });

  test("a checkout that was refused can still be used", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const right = command(SITA_NET, "NET-1M");
    for (const wrong of [{ amount: 1n }, { bouquetCode: "NET-9M" }, { cuid: "2000002" }])
      expect((await store.settleTopUp({ ...right, ...wrong })).kind).toBe("refused");
    expectRecorded(await store.settleTopUp(right));
  });
}
