import type { AccountKey, GuardedAccount } from "../domain/account.ts";
import type { RawRow } from "./tables.ts";

/** The columns of a guarded account. */
export const GUARD_COLUMNS = [
  "balance",
  "credit_limit",
  "day",
  "day_top_ups",
  "day_amount",
] as const satisfies readonly (keyof RawRow<"account">)[];

export type GuardRow = Pick<RawRow<"account">, (typeof GUARD_COLUMNS)[number]>;

/** The guarded account of a row; undefined if it is not guarded. */
export function toGuarded(row: GuardRow): GuardedAccount | undefined {
  if (row.balance === null) return undefined;
  const { balance, credit_limit: limit, day, day_top_ups: dayTopUps, day_amount: dayAmount } = row;
  return {
    balance: BigInt(balance),
    creditLimit: limit === null ? undefined : BigInt(limit),
    day,
    dayTopUps,
    dayAmount: BigInt(dayAmount),
  };
}

/** The changing columns of a guarded account. */
export function guardRow({ balance, day, dayTopUps, dayAmount }: GuardedAccount) {
  return { balance: Number(balance), day, day_top_ups: dayTopUps, day_amount: Number(dayAmount) };
}

/** A unique name of an account. */
export function accountName({ partnerId, environment }: AccountKey): string {
  return `${partnerId} ${environment}`;
}

/** The guarded accounts of a batch. Each is written once, at the end of the batch. */
export class BatchAccounts {
  readonly #load: (key: AccountKey) => GuardedAccount | undefined;
  readonly #accounts = new Map<string, GuardedAccount | undefined>();
  readonly #charged = new Map<string, { readonly key: AccountKey; readonly account: GuardedAccount }>();

  /** @param load reads an account as it was before the batch. */
  constructor(load: (key: AccountKey) => GuardedAccount | undefined) {
    this.#load = load;
  }

  /** Undefined if the account is not guarded. */
  find(key: AccountKey): GuardedAccount | undefined {
    const name = accountName(key);
    if (!this.#accounts.has(name)) this.#accounts.set(name, this.#load(key));
    return this.#accounts.get(name);
  }

  charge({ partnerId, environment }: AccountKey, account: GuardedAccount): void {
    const key = { partnerId, environment };
    this.#accounts.set(accountName(key), account);
    this.#charged.set(accountName(key), { key, account });
  }

  /** The changed accounts. */
  get charged() {
    return [...this.#charged.values()];
  }
}
