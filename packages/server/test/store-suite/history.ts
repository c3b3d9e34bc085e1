import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { HistoricTopUp, StatedReversal } from "../../src/domain/history-row.ts";
import type { Transaction } from "../../src/domain/top-up.ts";
import { formatTransactionId } from "../../src/domain/transaction-id.ts";
import { pruneHistory } from "../../src/operations/prune-history.ts";
import { by } from "../support/by.ts";
import { copyRows, countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  expectRecorded,
  type OpenedProvider,
  openProvider,
  RAM_NET,
  reversalOf,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

const FIBER = "Fiber 100 Mbps";
const DAY = 86_400_000;

/** Top-ups as another topupd has recorded them, each a day later than the one before. */
export function recordedElsewhere(
  opened: OpenedProvider,
  count: number,
  keys: readonly ConnectionKey[] = [SITA_NET, SITA_TV],
) {
  const first = opened.now - 30 * DAY;
  const now = opened.now;
  const topUps = Array.from({ length: count }, (_, index): HistoricTopUp => {
    opened.now = first + index * DAY;
    const { udf2, ...command } = opened.command(keys[index % keys.length] as ConnectionKey, "NET-1M");
    const txnId = formatTransactionId(opened.now, new Uint8Array(10).fill(index));
    const { checkoutId, partnerId, environment, cuid, service, reqId, amount } = command;
    const key = { environment, cuid, service, reqId };
    // A bouquet and a price that no catalogue here has.
    const what = { bouquetCode: "OLD-1M", amount: amount + 7n, udf1: `'"\\ é ,{}${index}`, udf2 };
    const transaction = { checkoutId, txnId, partnerId, ...key, ...what, at: opened.now, status: "success" } as const;
    return { transaction: { ...transaction, imported: true }, reversal: undefined };
  });
  opened.now = now;
  return topUps;
}

export function takenBack(
  { transaction }: HistoricTopUp,
  at: number,
): HistoricTopUp & { readonly reversal: StatedReversal } {
  return {
    transaction: { ...transaction, status: "reversed" },
    reversal: { at, author: "anita", reason: 'paid "twice", \\o/' },
  };
}

const allOf = async ({ store }: OpenedProvider) =>
  store.search.listTransactions({ environment: "production" }, { before: undefined, limit: 100 });

export function testHistory(makeDatabase: MakeDatabase): void {
  test("what was recorded elsewhere is on record as it was, and moves no subscription", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const native = expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-3M")));
    const [before, grants] = [await endOf(store, SITA_NET, FIBER), await countRows(opened, "subscription_grant")];
    const [one, two, three] = recordedElsewhere(opened, 3) as [HistoricTopUp, HistoricTopUp, HistoricTopUp];
    const reversed = takenBack(three, opened.now - DAY);
    const topUps = [one, two, reversed];
    expect(await store.history.preview(topUps)).toEqual(topUps.map(() => ({ kind: "added" })));
    expect(await allOf(opened)).toEqual([native]);
    expect(await store.history.import("production", topUps, by(opened.now))).toEqual(
      topUps.map(() => ({ kind: "added" })),
    );
    expect(await endOf(store, SITA_NET, FIBER)).toBe(before);
    expect(await countRows(opened, "subscription_grant")).toBe(grants);
    for (const { transaction, reversal } of topUps) {
      expect(await store.findTransaction(transaction.checkoutId)).toEqual(transaction);
      expect(await store.search.findByTxnId(transaction.txnId)).toEqual(transaction);
      expect(await reversalOf(store, transaction.checkoutId)).toEqual(reversal);
    }
    const ofSita = await store.search.listTransactions(
      { environment: "production", cuid: SITA_NET.cuid },
      { before: undefined, limit: 100 },
    );
    expect(new Set(ofSita)).toEqual(new Set([native, one.transaction, two.transaction, reversed.transaction]));
    expect(await findWrong(store)).toEqual([]);
  });

  test("imported again it changes nothing, and a reversal since is taken over without moving an end", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const topUps = recordedElsewhere(opened, 4);
    await store.history.import("production", topUps, by(opened.now));
    const end = await endOf(store, SITA_NET, FIBER);
    const later = topUps.map((topUp, index) => (index === 2 ? takenBack(topUp, opened.now) : topUp));
    const kinds = async (some: readonly HistoricTopUp[]) =>
      (await store.history.import("production", some, by(opened.now))).map(({ kind }) => kind);
    expect(await kinds(topUps)).toEqual(["unchanged", "unchanged", "unchanged", "unchanged"]);
    expect(await kinds(later)).toEqual(["unchanged", "unchanged", "changed", "unchanged"]);
    expect(await kinds(later)).toEqual(["unchanged", "unchanged", "unchanged", "unchanged"]);
    // An older file is no news.
    expect(await kinds(topUps)).toEqual(["unchanged", "unchanged", "unchanged", "unchanged"]);
    const { checkoutId } = (later[2] as HistoricTopUp).transaction;
    expect(await store.findTransaction(checkoutId)).toMatchObject({ status: "reversed" });
    expect(await reversalOf(store, checkoutId)).toEqual(later[2]?.reversal);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(end);
    const entries = await store.auditTrail.list({ action: "transactions.import" }, 10);
    expect(entries.map(({ before, after }) => [before, JSON.parse(after as string)])).toEqual([
      [
        '{"status":"success"}',
        { added: { topUps: 0, amount: "0" }, status: "reversed", reversed: [topUps[2]?.transaction.txnId] },
      ],
      [
        undefined,
        {
          added: {
            topUps: 4,
            amount: String(4n * (topUps[0]?.transaction.amount ?? 0n)),
            first: topUps[0]?.transaction.txnId,
            last: topUps[3]?.transaction.txnId,
          },
        },
      ],
    ]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("what does not agree with what is on record is refused, and the rest of it goes on", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const [first, second, third, fourth] = recordedElsewhere(opened, 4) as [
      HistoricTopUp,
      HistoricTopUp,
      HistoricTopUp,
      HistoricTopUp,
    ];
    const native = expectRecorded(await store.settleTopUp(opened.command(RAM_NET, "NET-1M")));
    await store.concludeCheckout(third.transaction.checkoutId);
    await store.history.import("production", [first], by(opened.now));
    const with_ = (topUp: HistoricTopUp, changes: Partial<Transaction>) => ({
      ...topUp,
      transaction: { ...topUp.transaction, ...changes },
    });
    const effects = await store.history.import(
      "production",
      [
        with_(first, { amount: 1n, udf1: undefined }),
        with_(second, { txnId: first.transaction.txnId }),
        third,
        { transaction: native, reversal: undefined },
        takenBack({ transaction: native, reversal: undefined }, opened.now),
        takenBack({ transaction: native, reversal: undefined }, opened.now + 1),
        fourth,
        fourth,
        with_(fourth, { bouquetCode: "NEW-1M" }),
      ],
      by(opened.now),
    );
    expect(effects.map((each) => ("problems" in each ? each.problems.map(({ field }) => field) : each.kind))).toEqual([
      ["amount", "udf1"],
      ["txnId"],
      ["checkoutId"],
      "unchanged",
      ["reversedAt"],
      "own_reversal",
      "added",
      "unchanged",
      ["bouquetId"],
    ]);
    expect(await countRows(opened, "top_up")).toBe(3);
    expect(await countRows(opened, "reversal")).toBe(0);
    expect(await findWrong(store)).toEqual([]);
  });

  test("imports of the same file at a time record each top-up once", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const topUps = recordedElsewhere(opened, 20).map((topUp, index) =>
      index % 5 === 0 ? takenBack(topUp, opened.now) : topUp,
    );
    const done = await Promise.all(
      [opened.store, other, opened.store, other].map((store) =>
        store.history.import("production", topUps, by(opened.now)),
      ),
    );
    for (const index of topUps.keys()) {
      const kinds = done.map((effects) => String(effects[index]?.kind));
      expect(kinds.filter((kind) => kind === "added")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "unchanged")).toHaveLength(3);
    }
    expect(await countRows(opened, "top_up")).toBe(20);
    expect(await countRows(opened, "reversal")).toBe(4);
    expect(await findWrong(other)).toEqual([]);
  });

  test("a checkout that was used elsewhere answers its own request again, and tops nothing up", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const command = opened.command(SITA_NET, "NET-1M");
    const { checkout: _, ...rest } = command;
    const transaction: Transaction = { ...rest, at: opened.now, status: "success", imported: true };
    await store.history.import("production", [{ transaction, reversal: undefined }], by(opened.now));
    const end = await endOf(store, SITA_NET, FIBER);
    expect(await store.settleTopUp(command)).toEqual({ kind: "replayed", transaction });
    expect(await store.settleTopUp({ ...command, bouquetCode: "NET-3M" })).toEqual({
      kind: "refused",
      refusal: "checkout_used",
    });
    expect(await endOf(store, SITA_NET, FIBER)).toBe(end);
  });

  test("settlements and archives count them as any other", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const [first, second] = recordedElsewhere(opened, 2) as [HistoricTopUp, HistoricTopUp];
    await store.history.import("production", [first, takenBack(second, now - DAY)], by(now));
    const period = { environment: "production", partnerId: undefined } as const;
    const sums = (from: number, until: number) => store.search.sumTopUps({ ...period, from, until });
    expect(await sums(first.transaction.at, first.transaction.at + 1)).toMatchObject([
      { count: 1, amount: first.transaction.amount },
    ]);
    expect(await sums(now - DAY, now)).toEqual([]);
    expect(await store.search.sumReversals({ ...period, from: now - DAY, until: now })).toMatchObject([
      { count: 1, amount: second.transaction.amount },
    ]);
    const money = await store.exportArchive("go_on", async (chunks) => {
      for await (const chunk of chunks) if (chunk.kind === "totals") return chunk.totals.money;
      return [];
    });
    expect(new Map(money.map(({ status, topUps }) => [status, topUps]))).toEqual(
      new Map([
        ["reversed", 1],
        ["success", 1],
      ]),
    );
  });

  test("staff can take one of them back, once, and no end moves", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const [topUp] = recordedElsewhere(opened, 1) as [HistoricTopUp];
    await store.history.import("production", [topUp], by(opened.now));
    const end = await endOf(store, SITA_NET, FIBER);
    const because = { ...by(opened.now), reason: "paid twice" };
    const { checkoutId } = topUp.transaction;
    const reversed = { ...topUp.transaction, status: "reversed" };
    const outcome = await store.corrections.reverse(checkoutId, because);
    expect(outcome).toMatchObject({ kind: "reversed_on_record", transaction: reversed });
    expect(await store.corrections.reverse(checkoutId, because)).toMatchObject({ kind: "already_reversed" });
    expect(await store.findTransaction(checkoutId)).toEqual(reversed);
    expect(await reversalOf(store, checkoutId)).toEqual(because);
    expect(await store.auditTrail.list({ action: "transaction.reverse" }, 10)).toHaveLength(1);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(end);
    expect(await findWrong(store)).toEqual([]);
    // What was taken back here stays so, whatever an older file says.
    expect(await store.history.import("production", [topUp], by(opened.now))).toEqual([{ kind: "unchanged" }]);
  });

  test("one of a customer who is not known here is reversed once, by whoever comes first", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const topUps = recordedElsewhere(opened, 6, [{ ...SITA_NET, cuid: "gone" }]);
    await opened.store.history.import("production", topUps, by(opened.now));
    const because = { ...by(opened.now), reason: "paid twice" };
    const later = topUps.map((topUp) => takenBack(topUp, opened.now));
    const [effects, ...outcomes] = await Promise.all([
      other.history.import("production", later, by(opened.now)).then((all) => all.map(({ kind }) => kind as string)),
      ...topUps.flatMap(({ transaction }) =>
        [opened.store, other].map((store) => store.corrections.reverse(transaction.checkoutId, because)),
      ),
    ]);
    for (const [index, effect] of effects.entries()) {
      const kinds = [effect, ...outcomes.slice(2 * index, 2 * index + 2).map(({ kind }) => kind)];
      expect(kinds.filter((kind) => kind === "changed" || kind === "reversed_on_record")).toHaveLength(1);
    }
    expect(await countRows(opened, "reversal")).toBe(6);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("no partner is told that one of an unknown customer never was, while it is put on record", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const unknown = [{ ...SITA_NET, cuid: "gone" }];
    for (let round = 0; round < 30; round += 1) {
      opened.now += 1_000;
      const topUps = recordedElsewhere(opened, 5, unknown);
      const [effects, ...conclusions] = await Promise.all([
        other.history.import("production", topUps, by(opened.now)),
        ...topUps.map(async ({ transaction }, index) => {
          await setTimeout((round + index) % 7);
          return opened.store.concludeCheckout(transaction.checkoutId);
        }),
      ]);
      expect(effects.map(({ kind }) => kind)).toEqual(
        conclusions.map((known) => (known === undefined ? "refused" : "added")),
      );
    }
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("they are let go by their own age, and do not come back", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const topUps = recordedElsewhere(opened, 4);
    const lateReversal = takenBack(topUps[0] as HistoricTopUp, opened.now);
    const all = [lateReversal, takenBack(topUps[1] as HistoricTopUp, opened.now - 28 * DAY), ...topUps.slice(2)];
    await store.history.import("production", all, by(opened.now));
    const ports = { store, clock: () => opened.now, random: () => new Uint8Array(), author: "maya" };
    const before = (all[3] as HistoricTopUp).transaction.at;
    const command = { before, reason: "books of 2019", isClockRight: true };
    const wouldGo = await pruneHistory(ports, { ...command, dryRun: true });
    expect(await countRows(opened, "top_up")).toBe(4);
    const gone = await pruneHistory(ports, { ...command, dryRun: false });
    expect(gone).toEqual(wouldGo);
    expect(gone).toMatchObject({
      kind: "pruned",
      pruned: {
        topUps: [
          { status: "reversed", topUps: 1 },
          { status: "success", topUps: 1 },
        ],
      },
    });
    // The one that was taken back lately stays with its reversal, and the youngest.
    expect(new Set(await allOf(opened))).toEqual(new Set([lateReversal.transaction, all[3]?.transaction]));
    expect(await findWrong(store)).toEqual([]);
    expect((await store.history.import("production", all, by(opened.now))).map(({ kind }) => kind)).toEqual([
      "unchanged",
      "refused",
      "refused",
      "unchanged",
    ]);
  });

  test("a grant for one of them would be paid time twice, and is found", async () => {
    const opened = await openProvider(makeDatabase);
    const native = expectRecorded(await opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    const [topUp] = recordedElsewhere(opened, 1) as [HistoricTopUp];
    await opened.store.history.import("production", [topUp], by(opened.now));
    await copyRows(opened.database, "subscription_grant", `checkout_id = '${native.checkoutId}'`, {
      seq: "seq + 1",
      checkout_id: `'${topUp.transaction.checkoutId}'`,
    });
    expect(await findWrong(opened.store)).toContainEqual("1 top-ups of another topupd with a grant");
  });
}
