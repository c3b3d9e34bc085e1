import { balanceOfSums } from "../../domain/account.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import { Refused } from "../../domain/refused.ts";
import { DAY_MS, dayBefore, firstOfMonth, lastOfMonth, wallMsBetween } from "../../domain/wall-time.ts";
import { type EntryPlace, readEntries } from "../../store/account-entries.ts";
import { sumAccount, sumBalance } from "../../store/account-sums.ts";
import { momentOf } from "../../store/ports.ts";
import { cursorOf, daysOf, textsOfCursor } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { prunedBefore } from "../transactions/sql.ts";
import { accountMeant, entryData } from "./presenter.ts";
import { EntriesInputSchema, EntriesSchema } from "./schemas.ts";

/* The entries of an account as a list, each with the balance after it. */

const MOST_DAYS = 31;

export const listAccountEntries = operation({
  tag: "Accounts",
  permission: "settle",
  http: "GET /partners/:name/account/entries",
  summary: "List the entries of an account, oldest first: of this month, or of up to 31 days",
  input: EntriesInputSchema,
  answer: EntriesSchema,
  async run(office, input) {
    office.giveWay();
    const { engine, provider } = office.store;
    const { zone, currencyExponent } = provider;
    const { key } = await accountMeant(engine.db, input);
    const today = momentOf(office).wall.slice(0, 10);
    const { from = firstOfMonth(input.to ?? today), to = lastOfMonth(from) } = input;
    const period = daysOf(office, { from, to });
    if (wallMsBetween(`${from} 00:00:00`, `${to} 00:00:00`) >= MOST_DAYS * DAY_MS)
      throw Refused.field("to", `may be ${MOST_DAYS - 1} days after from at most`);
    const pruned = await prunedBefore(office, period.from);
    const opening = await sumBalance(engine.db, key, { to: dayBefore(from) });
    const sums = await sumAccount(engine.db, key, { from, to });
    const place = readPlace(input.cursor);
    const { entries, rest } = await readEntries(engine.db, zone, key, { from: pruned ?? from, to }, place?.after);
    const start = pruned === null ? opening : await sumBalance(engine.db, key, { to: dayBefore(pruned) });
    let balance = place?.balance ?? start;
    const items = entries.map((entry) => {
      balance += entry.amount;
      return entryData(entry, balance, currencyExponent);
    });
    return {
      items,
      cursor: rest === undefined ? null : writePlace(rest, balance),
      from,
      to,
      opening: formatMoneyInFull(opening, currencyExponent),
      closing: formatMoneyInFull(opening + balanceOfSums(sums), currencyExponent),
      prunedBefore: pruned,
    };
  },
});

/** A cursor has the balance, so that no page adds up the earlier ones again. */
function writePlace({ at, rank, id }: EntryPlace, balance: Money): string {
  return cursorOf([String(balance), String(at), String(rank), id]);
}

function readPlace(cursor: string | undefined) {
  const texts = textsOfCursor(cursor, 4);
  if (texts === undefined) return undefined;
  const [balance = "", at = "", rank = "", id = ""] = texts;
  if (!/^-?[0-9]{1,20} [0-9]{1,15} [0-2]$/.test(texts.slice(0, 3).join(" ")))
    throw Refused.field("cursor", "must be the cursor of a page");
  return { balance: BigInt(balance), after: { at: Number(at), rank: Number(rank), id } };
}

export const operations: readonly Operation[] = [listAccountEntries];
