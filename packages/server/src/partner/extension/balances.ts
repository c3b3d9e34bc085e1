import type { AccountKey } from "../../domain/account.ts";
import type { Money } from "../../domain/money.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { sumBalance } from "../../store/account-sums.ts";
import type { ReadingPorts } from "../../store/ports.ts";

/** How long a sum is kept: at least this long, and this many times as long as it took. */
const LEAST_KEPT_MS = 2_000;
const KEPT_TIMES = 10;
const MOST_KEPT = 1_000;

/** @param to the last day; undefined: now. */
export type SumBalance = (key: AccountKey, to?: string) => Promise<Money>;

/** Sums balances up, once for all requests of some seconds: a sum can read the top-ups of two days of all partners. */
export function rememberBalances({ store }: ReadingPorts, clock: () => Instant): SumBalance {
  /** `until`: undefined while the sum is not ready. */
  const kept = new Map<string, { readonly sum: Promise<Money>; readonly from: Instant; until: Instant | undefined }>();
  return ({ partnerId, environment }, to) => {
    const name = `${partnerId} ${environment} ${to}`;
    const now = clock();
    const known = kept.get(name);
    if (known !== undefined && (known.until === undefined || (now >= known.from && now < known.until)))
      return known.sum;
    const { engine, provider } = store;
    const sum = sumBalance(engine.db, provider.zone, { partnerId, environment }, { to });
    const entry = { sum, from: now, until: undefined as Instant | undefined };
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(name, entry);
    sum.then(
      () => {
        const ready = clock();
        entry.until = ready + Math.max(LEAST_KEPT_MS, KEPT_TIMES * (ready - now));
      },
      () => kept.delete(name),
    );
    return sum;
  };
}
