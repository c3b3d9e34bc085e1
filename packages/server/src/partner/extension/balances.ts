import type { AccountKey } from "../../domain/account.ts";
import type { Money } from "../../domain/money.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { sumBalance } from "../../store/account-sums.ts";
import type { Ports } from "../ports.ts";

const REMEMBERED_MS = 2_000;
const MOST_REMEMBERED = 1_000;

/** @param to the last day; undefined: now. */
export type SumBalance = (key: AccountKey, to?: string) => Promise<Money>;

/** Sums balances, once for all requests of two seconds: a sum of years takes long, and a partner can ask often. */
export function rememberBalances({ store, clock }: Pick<Ports, "store" | "clock">): SumBalance {
  const known = new Map<string, { readonly at: Instant; readonly sum: Promise<Money> }>();
  return ({ partnerId, environment }, to) => {
    const name = `${partnerId} ${environment} ${to}`;
    const at = clock();
    const last = known.get(name);
    if (last !== undefined && Math.abs(at - last.at) < REMEMBERED_MS) return last.sum;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const sum = sumBalance(store.engine.db, { partnerId, environment }, { to });
    known.set(name, { at, sum });
    sum.catch(() => known.delete(name));
    return sum;
  };
}
