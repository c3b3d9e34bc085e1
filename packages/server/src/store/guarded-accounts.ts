import { type AccountKey, type GuardedAccount, NO_SALES, type SaleSums } from "../domain/account.ts";
import type { RecordedTopUp } from "../domain/top-up.ts";
import { BatchSales } from "./sales.ts";
import type { RawRow } from "./tables.ts";

/** The columns of a guarded account. */
export const GUARD_COLUMNS = ["balance", "credit_limit"] as const;

export type GuardRow = Pick<RawRow<"account">, (typeof GUARD_COLUMNS)[number]>;

/** The guarded account of a row; undefined if it is not guarded. */
export function toGuarded({ balance, credit_limit: limit }: GuardRow): GuardedAccount | undefined {
  if (balance === null) return undefined;
  return { balance: BigInt(balance), creditLimit: limit === null ? undefined : BigInt(limit) };
}

/** A unique name of an account. */
export function accountName({ partnerId, environment }: AccountKey): string {
  return `${partnerId} ${environment}`;
}

interface BatchLoads {
  /** Reads an account as it was before the batch. */
  readonly account: (key: AccountKey) => GuardedAccount | undefined;
  /** Sums the sales of an account today, before the batch. */
  readonly soldToday: (key: AccountKey) => SoldToday;
}

export type SoldToday = Pick<SaleSums, "topUps" | "gross">;

/** Accounts and sales of a batch. Each row is written once, at the end of the batch. */
export class BatchAccounts {
  readonly sales = new BatchSales();
  readonly #load: BatchLoads;
  readonly #accounts = new Map<string, GuardedAccount | undefined>();
  /** Sales of the batch up to now. */
  readonly #sold = new Map<string, SoldToday>();
  readonly #soldBefore = new Map<string, SoldToday>();
  readonly #charged = new Map<string, Pick<RawRow<"account">, "partner_id" | "environment" | "balance">>();

  constructor(load: BatchLoads) {
    this.#load = load;
  }

  /** Undefined if the account is not guarded. */
  find(key: AccountKey): GuardedAccount | undefined {
    const name = accountName(key);
    if (!this.#accounts.has(name)) this.#accounts.set(name, this.#load.account(key));
    return this.#accounts.get(name);
  }

  soldToday(key: AccountKey): SoldToday {
    const name = accountName(key);
    const before = this.#soldBefore.get(name) ?? this.#load.soldToday(key);
    this.#soldBefore.set(name, before);
    const { topUps, gross } = this.#sold.get(name) ?? NO_SALES;
    return { topUps: before.topUps + topUps, gross: before.gross + gross };
  }

  record({ transaction, balance }: Pick<RecordedTopUp, "transaction" | "balance">): void {
    this.sales.add(transaction);
    const name = accountName(transaction);
    const { topUps, gross } = this.#sold.get(name) ?? NO_SALES;
    this.#sold.set(name, { topUps: topUps + 1, gross: gross + transaction.amount });
    if (balance === undefined) return;
    const { partnerId, environment } = transaction;
    this.#accounts.set(name, { balance, creditLimit: this.#accounts.get(name)?.creditLimit });
    this.#charged.set(name, { partner_id: partnerId, environment, balance: Number(balance) });
  }

  /** The rows of changed accounts. */
  get charged() {
    return [...this.#charged.values()];
  }
}
