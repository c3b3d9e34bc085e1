import type { Kysely } from "kysely";
import type { SaleSums } from "../domain/account.ts";
import type { Zone } from "../domain/wall-time.ts";
import { dayName, sumDays } from "./account-days.ts";
import { sumBalance } from "./account-sums.ts";
import { accountName } from "./guarded-accounts.ts";
import { readHorizon } from "./settings.ts";
import type { CheckEvent } from "./store.ts";
import type { AccountDayRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** Checks stored balances and sums of days against entries, top-ups and reversals. */
export async function* checkAccounts(db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  const horizon = await readHorizon(db);
  // The sums of a day are all that is left of deleted history.
  const from = horizon === undefined ? undefined : zone.wallTime(horizon).slice(0, 10);
  const days = await db.selectFrom("accountDay").selectAll().execute();
  const last = days.reduce((latest, { day }) => (day > latest ? day : latest), "");
  const summed = await sumDays(db, zone, { from, to: last === "" ? undefined : last });
  let wrong = 0;
  for (const row of days) {
    if (from !== undefined && row.day <= from) continue;
    const sums = summed.get(dayName(row));
    if (sums !== undefined && isSame(row, sums)) continue;
    wrong += 1;
    yield { kind: "wrong", what: `account ${accountName(row)}: the sums of ${row.day} are not those of its top-ups` };
  }
  const stored = new Set(days.map(dayName));
  for (const [name, { day, ...row }] of summed)
    if (day <= last && !stored.has(name) && (from === undefined || day > from)) {
      wrong += 1;
      yield { kind: "wrong", what: `account ${accountName(row)}: the sums of ${day} are missing` };
    }
  if (wrong === 0)
    yield { kind: "checked", what: "sums of days are those of top-ups and reversals", count: days.length };
  yield* checkBalances(db, zone);
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
