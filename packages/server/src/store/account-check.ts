import type { SaleSums } from "../domain/account.ts";
import { dayAfter, dayBefore, type Zone } from "../domain/wall-time.ts";
import { dayName, sumDays } from "./account-days.ts";
import { type DaySums, firstOpenDay, sumBalance } from "./account-sums.ts";
import type { Db } from "./engine.ts";
import { accountName } from "./guarded-accounts.ts";
import { readHorizon } from "./settings.ts";
import type { CheckEvent } from "./store.ts";
import type { AccountDayRow } from "./tables.ts";

/** Checks stored balances and sums of days against entries, top-ups and reversals. */
export async function* checkAccounts(db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  yield* checkDays(db, zone);
  yield* checkBalances(db, zone);
}

async function* checkDays(db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  const [horizon, open] = [await readHorizon(db), await firstOpenDay(db)];
  // The sums of earlier days are all that is left of deleted history.
  const from = horizon === undefined ? "" : dayAfter(zone.wallTime(horizon).slice(0, 10));
  const days = await db.selectFrom("accountDay").selectAll().where("day", ">=", from).execute();
  const summed =
    open === undefined
      ? new Map<string, DaySums>()
      : await sumDays(db, zone, { from: from || undefined, to: dayBefore(open) });
  let wrong = 0;
  for (const row of days) {
    const sums = summed.get(dayName(row));
    summed.delete(dayName(row));
    if (sums !== undefined && isSame(row, sums)) continue;
    wrong += 1;
    yield { kind: "wrong", what: `account ${accountName(row)}: the sums of ${row.day} are not those of its top-ups` };
  }
  for (const { day, ...key } of summed.values()) {
    wrong += 1;
    yield { kind: "wrong", what: `account ${accountName(key)}: the sums of ${day} are missing` };
  }
  if (wrong === 0)
    yield { kind: "checked", what: "sums of days are those of top-ups and reversals", count: days.length };
}

async function* checkBalances(db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  const guarded = await db.selectFrom("account").selectAll().where("balance", "is not", null).execute();
  let wrong = 0;
  for (const account of guarded) {
    const balance = await sumBalance(db, zone, account);
    if (balance === BigInt(account.balance ?? 0)) continue;
    wrong += 1;
    yield { kind: "wrong", what: `account ${accountName(account)}: its balance is not the sum of its entries` };
  }
  if (wrong === 0) yield { kind: "checked", what: "balances are the sums of their entries", count: guarded.length };
}

function isSame(row: AccountDayRow, sums: SaleSums): boolean {
  return (["topUps", "gross", "commission", "reversals", "reversed", "returned"] as const).every(
    (name) => BigInt(row[name]) === BigInt(sums[name]),
  );
}
