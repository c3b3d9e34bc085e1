import type { SaleSums } from "../domain/account.ts";
import { dayAfter, type Zone } from "../domain/wall-time.ts";
import { sumBalance } from "./account-sums.ts";
import type { Db } from "./engine.ts";
import { accountName } from "./guarded-accounts.ts";
import { plainSales, readSales, saleName } from "./sales.ts";
import { readHorizon } from "./settings.ts";
import type { CheckEvent } from "./store.ts";

/** Checks stored balances and sums of sales against entries, top-ups and reversals. */
export async function* checkAccounts(db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  yield* checkSales(db, zone);
  yield* checkBalances(db);
}

async function* checkSales(db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  const horizon = await readHorizon(db);
  // The sums of earlier days are all that is left of deleted history.
  const from = horizon === undefined ? undefined : dayAfter(zone.wallTime(horizon).slice(0, 10));
  const sales = await readSales(db, { from });
  const plain = await plainSales(db, from);
  let wrong = 0;
  for (const stored of sales) {
    const sums = plain.get(saleName(stored));
    plain.delete(saleName(stored));
    if (sums !== undefined && isSame(stored, sums)) continue;
    wrong += 1;
    yield {
      kind: "wrong",
      what: `account ${accountName(stored)}: the sums of ${stored.day} are not those of its top-ups`,
    };
  }
  for (const missing of plain.values()) {
    wrong += 1;
    yield { kind: "wrong", what: `account ${accountName(missing)}: the sums of ${missing.day} are missing` };
  }
  if (wrong === 0)
    yield { kind: "checked", what: "sums of days are those of top-ups and reversals", count: sales.length };
}

async function* checkBalances(db: Db): AsyncGenerator<CheckEvent> {
  const guarded = await db.selectFrom("account").selectAll().where("balance", "is not", null).execute();
  let wrong = 0;
  for (const account of guarded) {
    const balance = await sumBalance(db, account);
    if (balance === BigInt(account.balance ?? 0)) continue;
    wrong += 1;
    yield { kind: "wrong", what: `account ${accountName(account)}: its balance is not the sum of its entries` };
  }
  if (wrong === 0) yield { kind: "checked", what: "balances are the sums of their entries", count: guarded.length };
}

function isSame(a: SaleSums, b: SaleSums): boolean {
  return (["topUps", "gross", "commission", "reversals", "reversed", "returned"] as const).every(
    (name) => a[name] === b[name],
  );
}
