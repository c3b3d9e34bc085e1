import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import { Refused } from "../../domain/refused.ts";
import { DAY_MS, dayBefore, wallMsBetween } from "../../domain/wall-time.ts";
import { type EntryPlace, readEntries } from "../../store/account-entries.ts";
import { sumBalance } from "../../store/account-sums.ts";
import { cursorOf, daysOf, limitOf, periodOf, textsOfCursor } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { readTaxes } from "../taxes/sql.ts";
import { prunedBefore } from "../transactions/sql.ts";
import { accountMeant, entryData } from "./presenter.ts";
import { EntriesInputSchema, EntriesSchema } from "./schemas.ts";

/* The entries of an account as a list, each with the balance after it. */

const MOST_DAYS = 31;

export const listAccountEntries = operation({
  tag: "Accounts",
  permission: "settle",
  http: "GET /partners/:name/account/entries",
  isReport: true,
  summary: "List the entries of an account, newest first: of this month, or of up to 31 days",
  input: EntriesInputSchema,
  answer: EntriesSchema,
  async run(office, input) {
    office.giveWay();
    const { engine, provider } = office.store;
    const { zone, currencyExponent } = provider;
    const { key } = await accountMeant(engine.db, input);
    const { from, to } = periodOf(office, input);
    if (wallMsBetween(`${from} 00:00:00`, `${to} 00:00:00`) >= MOST_DAYS * DAY_MS)
      throw Refused.field("to", `may be ${MOST_DAYS - 1} days after from at most`);
    const pruned = await prunedBefore(office, daysOf(office, { from, to }).from);
    const place = readPlace(input.cursor);
    // One view: an entry that is made meanwhile is in the closing balance and in the list, or in neither.
    const { opening, closing, taxes, entries, rest } = await engine.view(async (db) => ({
      opening: await sumBalance(db, key, { to: dayBefore(from) }),
      closing: await sumBalance(db, key, { to }),
      taxes: await readTaxes(db),
      ...(await readEntries(
        db,
        zone,
        key,
        { from: pruned ?? from, to },
        {
          ...(place && { after: place.after }),
          order: "desc",
          most: limitOf(input),
        },
      )),
    }));
    let balance = place?.balance ?? closing;
    const items = entries.map((entry) => {
      const item = entryData(entry, balance, { exponent: currencyExponent, taxes });
      balance -= entry.amount;
      return item;
    });
    return {
      items,
      cursor: rest === undefined ? null : writePlace(rest, balance),
      from,
      to,
      opening: formatMoneyInFull(opening, currencyExponent),
      closing: formatMoneyInFull(closing, currencyExponent),
      prunedBefore: pruned,
    };
  },
});

/** A cursor has the balance before the page, so that no page adds up the later ones again. */
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
