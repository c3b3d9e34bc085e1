import { type AccountKey, addSums, NO_SALES } from "../domain/account.ts";
import { DAY_MS, dayBefore, type Instant, type Zone } from "../domain/wall-time.ts";
import { type DaySums, type Days, firstOpenDay, saleDays } from "./account-sums.ts";
import type { Db, Engine } from "./engine.ts";
import { readHorizon } from "./settings.ts";
import type { AccountDayRow } from "./tables.ts";

/** A day is closed only this long after its end, so that a clock that is set back adds nothing to it. */
const CLOSED_AFTER_MS = DAY_MS;

/** Stores the sums of closed days. Several processes may do this at once. */
export async function storeAccountDays(engine: Engine, zone: Zone, now: Instant): Promise<void> {
  await openDays(engine, zone, now);
  const from = await firstOpenDay(engine.db);
  const to = dayBefore(zone.wallTime(now - CLOSED_AFTER_MS).slice(0, 10));
  if (from !== undefined && from > to) return;
  // A commit may wait for a standby long after its top-up was decided.
  await engine.awaitCommits();
  const days = [...(await sumDays(engine.db, zone, { from, to })).values()];
  days.sort((a, b) => (a.day < b.day ? -1 : 1));
  for (let first = 0; first < days.length; ) {
    // A day is stored as a whole.
    const rest = days.slice(first);
    const next = rest.findIndex((row, index) => index >= ROWS_AT_ONCE && row.day !== rest[index - 1]?.day);
    const rows = next === -1 ? rest : rest.slice(0, next);
    await engine.transact((tx) =>
      tx
        .insertInto("accountDay")
        .values(rows.map(dayRow))
        .onConflict((on) => on.doNothing())
        .execute(),
    );
    first += rows.length;
  }
}

const ROWS_AT_ONCE = 200;

/** Deletes the sums of days that are not over, which are stored while a clock is ahead: they would lack later top-ups. */
async function openDays(engine: Engine, zone: Zone, now: Instant): Promise<void> {
  const today = zone.wallTime(now).slice(0, 10);
  if (((await firstOpenDay(engine.db)) ?? "") <= today) return;
  await engine.transact(async (tx) => {
    // An account that becomes guarded meanwhile must not miss these sums.
    await engine.lockRecording(tx);
    const horizon = await readHorizon(tx);
    const days = tx.deleteFrom("accountDay").where("day", ">=", today);
    // Deleted history cannot be summed again.
    await (horizon === undefined ? days : days.where("day", ">", zone.wallTime(horizon).slice(0, 10))).execute();
  });
}

/** The name of an account's day, for {@link sumDays}. */
export function dayName({ partnerId, environment, day }: AccountKey & { readonly day: string }): string {
  return `${day} ${partnerId} ${environment}`;
}

/** Sums of the recorded top-ups and reversals, one for each account and day. */
export async function sumDays(db: Db, zone: Zone, days: Days): Promise<Map<string, DaySums>> {
  const sums = new Map<string, DaySums>();
  for await (const day of saleDays(db, zone, days)) {
    const name = dayName(day);
    sums.set(name, { ...day, ...addSums(sums.get(name) ?? NO_SALES, day) });
  }
  return sums;
}

function dayRow({ gross, commission, reversed, returned, ...row }: DaySums): AccountDayRow {
  return {
    ...row,
    gross: Number(gross),
    commission: Number(commission),
    reversed: Number(reversed),
    returned: Number(returned),
  };
}
