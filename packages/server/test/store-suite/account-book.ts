import { expect } from "vitest";
import type { AccountEntry, AccountKey } from "../../src/domain/account.ts";
import type { Refusal } from "../../src/domain/failure.ts";
import { formatMoneyInFull, type Money } from "../../src/domain/money.ts";
import type { SettledTopUp, TopUpCommand } from "../../src/domain/top-up.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { listAccountEntries } from "../../src/office/accounts/entries.ts";
import { MOST_ON_A_PAGE } from "../../src/office/common.ts";
import { type EntryPlace, readEntries } from "../../src/store/account-entries.ts";
import { sumBalance } from "../../src/store/account-sums.ts";
import { findAccount, readBalance } from "../../src/store/accounts.ts";
import type { OwnDays } from "../../src/store/own-pages.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { SALES } from "./account-steps.ts";
import { START } from "./database.ts";
import { hashOf } from "./filled-provider.ts";
import { type OpenedProvider, SITA_TV } from "./provider.ts";

/** An entry in the model. `name`: the reference, or the txnId. */
export interface ModelEntry {
  readonly kind: AccountEntry["kind"];
  readonly amount: Money;
  readonly name: string;
}

interface Sold {
  readonly command: TopUpCommand;
  readonly transaction: Transaction;
  isReversed: boolean;
}

/** The expected outcome of a top-up. */
export type Expected =
  | { readonly kind: "recorded" }
  | { readonly refusal: "limit_reached" }
  | { readonly refusal: "insufficient_balance"; readonly missing: Money };

/** A model of a partner's account: a list of entries that only grows. Two processes work on the account. */
export class AccountBook {
  readonly opened: OpenedProvider;
  readonly stores: readonly [Store, Store];
  readonly name: string;
  readonly entries: ModelEntry[] = [];
  readonly sold: Sold[] = [];
  readonly refused: { readonly command: TopUpCommand; readonly refusal: Refusal }[] = [];
  limit: Money | undefined;
  dayTopUps: number | undefined;
  /** Commission in hundredths of a percent. */
  percent = 0;
  readonly #key: AccountKey;
  readonly #tokenId: string;
  readonly #began: number;
  /** The entries of a day as they were listed last. */
  #listed: { readonly day: string; readonly entries: readonly ModelEntry[] } = { day: "", entries: [] };

  /** A new partner, so that books can share a database. */
  static async open(opened: OpenedProvider, stores: readonly [Store, Store], number: number): Promise<AccountBook> {
    opened.now = START + number * 100 * DAY_MS;
    // Another partner's entries of the same day.
    await opened.reverse((await opened.topUp(SITA_TV, "TV-1M")).txnId);
    const partners = partnersOf(opened.store);
    const partner = await partners.add(`partner ${number}`, by(opened.now));
    const [id, ends] = [`tok_${number}`, { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined }];
    const token = { id, partner, environment: "production", createdAt: 0, ...ends } as const;
    await partners.addToken(token, hashOf(id), by(opened.now));
    return new AccountBook(opened, stores, partner, id);
  }

  private constructor(
    opened: OpenedProvider,
    stores: readonly [Store, Store],
    partner: { readonly id: number; readonly name: string },
    tokenId: string,
  ) {
    this.opened = opened;
    this.stores = stores;
    this.name = partner.name;
    this.#key = { partnerId: partner.id, environment: "production" };
    this.#tokenId = tokenId;
    this.#began = opened.now;
  }

  get balance(): Money {
    return this.entries.reduce((sum, { amount }) => sum + amount, 0n);
  }

  command(sale: number): TopUpCommand {
    const [connection, code] = SALES[sale] as (typeof SALES)[number];
    const { partnerId } = this.#key;
    const quoted = this.opened.quote(connection, { partnerId });
    return this.opened.command(connection, code, { ...quoted, partnerId, tokenId: this.#tokenId });
  }

  chargeOf({ amount }: Pick<TopUpCommand, "amount">): Money {
    return amount - (amount * BigInt(this.percent) + 5_000n) / 10_000n;
  }

  /** @param before entries that precede the top-up and are not in the book yet. */
  expect(command: TopUpCommand, before: readonly ModelEntry[] = []): Expected {
    const today = this.sold.filter(({ transaction }) => transaction.txnDate.startsWith(this.#today)).length;
    const soldBefore = before.filter(({ kind }) => kind === "top_up").length;
    if (this.dayTopUps !== undefined && today + soldBefore >= this.dayTopUps) return { refusal: "limit_reached" };
    const balance = before.reduce((sum, { amount }) => sum + amount, this.balance);
    const missing = this.limit === undefined ? 0n : this.chargeOf(command) - balance - this.limit;
    return missing > 0n ? { refusal: "insufficient_balance", missing } : { kind: "recorded" };
  }

  /** Notes outcomes. @returns the entries that must follow. */
  note(outcomes: readonly (readonly [TopUpCommand, SettledTopUp])[]): ModelEntry[] {
    const added: ModelEntry[] = [];
    for (const [command, outcome] of outcomes)
      if (outcome.kind === "recorded") {
        const { transaction } = outcome;
        const charge = this.chargeOf(command);
        expect(transaction.commission).toBe(command.amount - charge);
        this.sold.push({ command, transaction, isReversed: false });
        added.push({ kind: "top_up", amount: -charge, name: transaction.txnId });
      } else if (outcome.kind === "refused") this.refused.push({ command, refusal: outcome.refusal });
    return added;
  }

  /** Adds the entries of a step, and holds both processes against the book. */
  async add(added: ModelEntry[]): Promise<void> {
    added.sort((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1));
    this.entries.push(...added);
    const day = this.#today;
    const before = this.#listed.day === day ? this.#listed.entries : [];
    this.#listed = { day, entries: await this.#list(day, day) };
    expect(this.#listed.entries).toEqual([...before, ...added]);
    const { balance } = this;
    const [first, second] = this.stores;
    expect(await readBalance(second.engine.db, this.#key)).toBe(balance);
    expect(await sumBalance(first.engine.db, this.#key)).toBe(balance);
    const { guarded } = await findAccount(first.engine.db, this.#key);
    const isGuarded = this.limit !== undefined || this.dayTopUps !== undefined;
    expect(guarded?.balance).toBe(isGuarded ? balance : undefined);
  }

  async #list(from: string, to: string): Promise<ModelEntry[]> {
    return (await pageThrough(this.opened.store, this.#key, { from, to })).map((entry) => {
      const name = "of" in entry ? entry.of.txnId : entry.reference;
      return { kind: entry.kind, amount: entry.amount, name };
    });
  }

  get #today(): string {
    return this.#dayOf(this.opened.now);
  }

  #dayOf(time: number): string {
    return this.opened.store.provider.zone.wallTime(time).slice(0, 10);
  }

  /** Holds all entries against the book, and each top-up against its record. */
  async expectWhole(): Promise<void> {
    const { store, database } = this.opened;
    expect(await this.#list(this.#dayOf(this.#began), this.#today)).toEqual(this.entries);
    const names = this.entries.map(({ kind, name }) => `${kind} ${name}`);
    expect(new Set(names).size).toBe(names.length);
    const days = { name: this.name, from: this.#today, to: this.#today, limit: MOST_ON_A_PAGE };
    const { items, closing } = await run(this.opened.desk(), listAccountEntries, days);
    let { balance } = this;
    expect(closing).toBe(textOf(balance));
    for (const [index, item] of items.entries()) {
      expect(item.balance).toBe(textOf(balance));
      balance -= this.entries.at(-1 - index)?.amount ?? 0n;
    }
    for (const { command, transaction, isReversed } of this.sold) {
      const status = isReversed ? "reversed" : "success";
      expect(await store.findTransaction(command.checkoutId)).toEqual({ ...transaction, status });
    }
    for (const { command } of this.refused) expect(await store.findTransaction(command.checkoutId)).toBeUndefined();
    const rows = await database.read(`SELECT txn_id FROM top_up WHERE partner_id = ${this.#key.partnerId}`);
    expect(rows).toHaveLength(this.sold.length);
  }
}

/** Entries of the same time are in this order. */
function rankOf({ kind }: ModelEntry): number {
  return kind === "reversal" ? 2 : kind === "top_up" ? 1 : 0;
}

export function textOf(amount: Money): string {
  return formatMoneyInFull(amount, 2);
}

/** All entries of some days after a place, oldest first unless `order` is "desc", read in short pages. */
export async function pageThrough(
  { engine, provider }: Store,
  key: AccountKey,
  days: OwnDays,
  after?: EntryPlace,
  order: "asc" | "desc" = "asc",
) {
  const found: AccountEntry[] = [];
  for (let place = after; ; ) {
    const { entries, rest } = await readEntries(engine.db, provider.zone, key, days, {
      ...(place && { after: place }),
      order,
      most: 3,
    });
    found.push(...entries);
    if (rest === undefined) return found;
    place = rest;
  }
}
