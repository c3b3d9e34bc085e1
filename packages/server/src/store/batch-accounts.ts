import type { AccountKey, GuardedAccount } from "../domain/account.ts";
import { accountName } from "./access.ts";

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
