import { sql } from "kysely";
import type { Partner } from "../../domain/access-token.ts";
import type { AccountKey, LimitName } from "../../domain/account.ts";
import type { RefusedForMoney } from "../../domain/checkout.ts";
import type { Environment } from "../../domain/customer.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import { type Day, dayAt, type Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";

/** Top-ups of an account that its balance or a limit refused: each checkoutId counts once, however often it was sent. */
export interface RefusedSum extends AccountKey {
  readonly reason: RefusedForMoney["reason"];
  /** The limit of `limit_reached`. */
  readonly limit: LimitName | undefined;
  readonly count: number;
  readonly amount: Money;
  readonly firstAt: Instant;
}

/** Sums up the top-ups that were refused for money on a day, by account, reason and limit, the most first. */
export async function refusedToday(db: Db, { start, end }: Pick<Day, "start" | "end">): Promise<RefusedSum[]> {
  const rows = await db
    .selectFrom("retiredCheckout")
    .select(["partnerId", "environment", "reason", "limitName", AMOUNT.as("amount")])
    .select((eb) => [eb.fn.countAll().as("count"), eb.fn.min("at").as("firstAt")])
    .where("reason", "is not", null)
    .where("at", ">=", start)
    .where("at", "<", end)
    .groupBy(["partnerId", "environment", "reason", "limitName"])
    .orderBy("count", "desc")
    .orderBy("firstAt")
    .$narrowType<{ partnerId: number; environment: AccountKey["environment"]; reason: RefusedSum["reason"] }>()
    .execute();
  return rows.map(({ limitName, ...row }) => {
    const [count, firstAt] = [Number(row.count), Number(row.firstAt)];
    return { ...row, limit: limitName ?? undefined, count, amount: BigInt(row.amount), firstAt };
  });
}

/** Digits, since a number may be too small to hold the sum exactly. */
const AMOUNT = sql<string>`cast(sum(amount) as text)`;

/** @returns gives what a partner's balance or a limit refused today. */
export async function readRefused({ store, clock }: Pick<Ports, "store" | "clock">, environment: Environment) {
  const { zone, currencyExponent } = store.provider;
  const sums = await refusedToday(store.engine.db, dayAt(clock(), zone));
  return ({ id }: Partner) =>
    sums
      .filter((sum) => sum.partnerId === id && sum.environment === environment)
      .map(({ reason, limit = null, count, amount }) => {
        return { reason, limit, count, amount: formatMoneyInFull(amount, currencyExponent) };
      });
}
