import { expect } from "vitest";
import type { StaffEntryKind } from "../../src/domain/account.ts";
import { Refused } from "../../src/domain/refused.ts";
import type { SettledTopUp, TopUpCommand } from "../../src/domain/top-up.ts";
import { setCommission } from "../../src/office/accounts/commission.ts";
import { changeAccount, enterIntoAccount } from "../../src/office/accounts/operations.ts";
import { limitPartner } from "../../src/office/partners/operations.ts";
import type { Store } from "../../src/store/store.ts";
import { run } from "../support/desk.ts";
import { type AccountBook, type Expected, type ModelEntry, textOf } from "./account-book.ts";
import { SALES, type Step } from "./account-steps.ts";
import { BOUQUETS } from "./provider.ts";

type Taken<Name> = Extract<Step, { readonly step: Name }>;

type StaffEntry = ModelEntry & { readonly kind: StaffEntryKind };

/** Takes a step on an account, and holds its outcome against the book. */
export async function takeStep(book: AccountBook, taken: Step): Promise<void> {
  book.opened.now += taken.step === "wait" ? taken.ms : 1;
  const { limit } = book;
  const added = await perform(book, taken);
  await book.add(added);
  const isSpent = added.some(({ kind }) => kind === "top_up" || kind === "withdrawal");
  if (isSpent && limit !== undefined && book.limit === limit) expect(book.balance + limit).toBeGreaterThanOrEqual(0n);
}

/** @returns the entries that must follow. */
async function perform(book: AccountBook, taken: Step): Promise<ModelEntry[]> {
  const { opened, name } = book;
  switch (taken.step) {
    case "enter":
      return enterOnce(book, taken);
    case "fit":
      return fit(book, taken);
    case "drain":
      return drain(book, taken);
    case "repeat":
      return repeat(book, taken);
    case "topUp":
      return topUp(
        book,
        taken.sales.map((sale) => book.command(sale)),
      );
    case "race":
      return race(book, taken);
    case "replay":
      return replay(book, taken);
    case "again":
      return again(book, taken);
    case "reverse":
      return reverse(book, taken);
    case "limit":
      return changeLimit(book, taken);
    case "dayLimit":
      book.dayTopUps = taken.dayTopUps;
      await run(opened.desk(), limitPartner, { name, dayTopUps: String(taken.dayTopUps ?? "none") });
      return [];
    case "commission":
      book.percent = taken.percent;
      await run(opened.desk(), setCommission, { name, percent: (taken.percent / 100).toFixed(2) });
      return [];
    case "wait":
      return [];
  }
}

/** @returns whether the entry is in the account now. */
async function enter(
  { opened, name }: AccountBook,
  { kind, amount, name: reference }: StaffEntry,
  on?: Store,
): Promise<boolean> {
  const text = textOf(kind === "withdrawal" ? -amount : amount);
  const entered = run(opened.desk(on), enterIntoAccount, { name, kind, reference, amount: text, reason: "asked for" });
  return entered.then(
    () => true,
    (error: unknown) => (error instanceof Refused ? false : Promise.reject(error)),
  );
}

/** An entry whose reference may have been used: for another amount, that is refused. */
function enterOnce(book: AccountBook, { kind, amount, isNegative, reference }: Taken<"enter">): Promise<ModelEntry[]> {
  const signed = kind === "withdrawal" || (kind === "adjustment" && isNegative) ? -amount : amount;
  return enterMaybe(book, { kind, amount: BigInt(signed), name: `R${reference}` });
}

async function enterMaybe(book: AccountBook, entry: StaffEntry): Promise<ModelEntry[]> {
  const isKnown = book.entries.some(({ name }) => name === entry.name);
  const isCovered =
    entry.kind !== "withdrawal" || book.limit === undefined || book.balance + book.limit >= -entry.amount;
  const isMade = await enter(book, entry);
  expect(isMade).toBe(!isKnown && isCovered);
  return isMade ? [entry] : [];
}

/** A withdrawal of all that is available, or of more. */
async function drain(book: AccountBook, { beyond }: Taken<"drain">): Promise<ModelEntry[]> {
  const amount = -(book.balance + (book.limit ?? 0n) + beyond);
  if (amount >= 0n) return [];
  return enterMaybe(book, { kind: "withdrawal", amount, name: `D${book.entries.length}` });
}

/** Enters the amount that makes the balance cover so many top-ups. */
async function fit(book: AccountBook, { sale, count, lacking }: Taken<"fit">): Promise<ModelEntry[]> {
  const [, code] = SALES[sale] as (typeof SALES)[number];
  const charge = book.chargeOf({ amount: BOUQUETS.find((each) => each.code === code)?.price ?? 0n });
  const amount = charge * BigInt(count) - lacking - book.balance - (book.limit ?? 0n);
  if (amount === 0n) return [];
  const kind = amount > 0n ? "deposit" : "adjustment";
  const name = `F${book.entries.length}`;
  expect(await enter(book, { kind, amount, name })).toBe(true);
  return [{ kind, amount, name }];
}

/** An entry that is sent again is not made again. */
async function repeat(book: AccountBook, { of, isTwice }: Taken<"repeat">): Promise<ModelEntry[]> {
  const known = book.entries.flatMap(({ kind, amount, name }) =>
    kind === "top_up" || kind === "reversal" ? [] : [{ kind, amount, name }],
  );
  const isNew = of % 2 === 0;
  const kind = "deposit";
  const entry = isNew ? ({ kind, amount: 1_000n, name: `N${book.entries.length}` } as const) : known[of % known.length];
  if (entry === undefined) return [];
  const on = isTwice ? book.stores : book.stores.slice(0, 1);
  expect(await Promise.all(on.map((store) => enter(book, entry, store)))).not.toContain(false);
  return isNew ? [entry] : [];
}

const MOST_MEANWHILE = 20;

/** Another process tops up meanwhile: before the change, and after it. */
async function changeLimit(book: AccountBook, { limit, sale }: Taken<"limit">): Promise<ModelEntry[]> {
  const { opened, stores, name } = book;
  const creditLimit = limit === undefined ? "none" : textOf(limit);
  let isChanged = false;
  const changing = run(opened.desk(), changeAccount, { name, creditLimit }).finally(() => {
    isChanged = true;
  });
  const settled: [TopUpCommand, SettledTopUp][] = [];
  while (!isChanged && settled.length < MOST_MEANWHILE) {
    const command = book.command(sale);
    settled.push([command, await stores[1].settleTopUp(command)]);
  }
  await changing;
  const before: ModelEntry[] = [];
  const limits = [book.limit, limit];
  for (const [command, outcome] of settled) {
    const either = limits.map((each) => {
      book.limit = each;
      return book.expect(command, before);
    });
    expectOneOf(outcome, either);
    if (outcome.kind === "recorded") before.push({ kind: "top_up", amount: -book.chargeOf(command), name: "" });
  }
  return book.note(settled);
}

function expectOneOf(outcome: SettledTopUp, either: readonly Expected[]): void {
  const kinds = either.map((expected) => ("kind" in expected ? expected.kind : expected.refusal));
  expect(kinds).toContain(outcome.kind === "refused" ? outcome.refusal : outcome.kind);
}

/** One batch: its top-ups are decided in their order. */
async function topUp(book: AccountBook, commands: readonly TopUpCommand[]): Promise<ModelEntry[]> {
  const settled = await Promise.all(commands.map((command) => book.opened.store.settleTopUp(command)));
  const before: ModelEntry[] = [];
  for (const [index, command] of commands.entries()) {
    const expected = book.expect(command, before);
    expect(settled[index]).toMatchObject(expected);
    if ("kind" in expected) before.push({ kind: "top_up", amount: -book.chargeOf(command), name: "" });
  }
  return book.note(commands.map((command, index) => [command, settled[index] as SettledTopUp]));
}

/**
 * Top-ups of one price for two customers by two processes, maybe with a withdrawal of all that is available: it is known
 * how many are made, but not which.
 */
async function race(book: AccountBook, { count, isWithdrawing, delay }: Taken<"race">): Promise<ModelEntry[]> {
  const commands = Array.from({ length: count }, (_, index) => book.command(index % 2));
  const amount = -(book.balance + (book.limit ?? 0n));
  const withdrawal = { kind: "withdrawal", amount, name: `W${book.entries.length}` } as const;
  const entering = isWithdrawing && amount < 0n ? enter(book, withdrawal, book.stores[1]) : false;
  for (let turn = 0; turn < delay; turn += 1) await book.opened.store.ping();
  const settled = await Promise.all(
    commands.map(async (command, index) => {
      return [command, await (book.stores[index % 2] as Store).settleTopUp(command)] as const;
    }),
  );
  const isWithdrawn = await entering;
  const [most, least] = [[], [withdrawal]].map((first: ModelEntry[]) => {
    const before = [...first];
    for (const command of commands)
      if ("kind" in book.expect(command, before))
        before.push({ kind: "top_up", amount: -book.chargeOf(command), name: "" });
    return before.length - first.length;
  });
  const added = book.note(settled);
  expect(added.length).toBeLessThanOrEqual(most as number);
  expect(added.length).toBeGreaterThanOrEqual((isWithdrawn ? least : most) as number);
  return isWithdrawn ? [...added, withdrawal] : added;
}

/** A recorded top-up is answered again whatever the balance is. */
async function replay({ opened, sold }: AccountBook, { of }: Taken<"replay">): Promise<ModelEntry[]> {
  const { command, transaction } = sold[of % sold.length] ?? {};
  if (command === undefined) return [];
  const settled = await opened.store.settleTopUp(command);
  expect(settled).toMatchObject({ kind: "replayed", transaction: { txnId: transaction?.txnId } });
  return [];
}

/** A refused top-up that is sent again gets the same refusal. */
async function again({ opened, refused }: AccountBook, { of }: Taken<"again">): Promise<ModelEntry[]> {
  const { command, refusal } = refused[of % refused.length] ?? {};
  if (command === undefined) return [];
  const settled = await opened.store.settleTopUp(command);
  expect(settled).toMatchObject({ kind: "refused", refusal, retired: { refused: { amount: command.amount } } });
  expect(settled).not.toHaveProperty("missing");
  return [];
}

/** Staff reverse a top-up, maybe twice at once, while another process tops up. */
async function reverse(book: AccountBook, { of, isTwice, sale }: Taken<"reverse">): Promise<ModelEntry[]> {
  const { opened, sold, stores } = book;
  const [first, second] = stores;
  const meant = sold[of % sold.length];
  if (meant === undefined) return [];
  const { txnId, amount, commission } = meant.transaction;
  const command = book.command(sale);
  const reversing = (isTwice ? stores : [first]).map((store) =>
    opened.reverse(txnId, "asked for", store).then(
      () => true,
      (error: unknown) => (error instanceof Refused ? false : Promise.reject(error)),
    ),
  );
  const outcome = await second.settleTopUp(command);
  const reversed = await Promise.all(reversing);
  expect(reversed.filter((done) => done)).toHaveLength(meant.isReversed ? 0 : 1);
  const added: ModelEntry[] = meant.isReversed ? [] : [{ kind: "reversal", amount: amount - commission, name: txnId }];
  meant.isReversed = true;
  // The top-up may come before the reversal, or after it.
  expectOneOf(outcome, [book.expect(command), book.expect(command, added)]);
  return [...added, ...book.note([[command, outcome]])];
}
