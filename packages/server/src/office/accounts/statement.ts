import type { Static } from "typebox";
import { balanceOfSums, owingOf } from "../../domain/account.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import { keptOf, settlementNumber } from "../../domain/settlement.ts";
import { RECORDING_DEADLINE_MS } from "../../domain/top-up.ts";
import { dayBefore, firstOfMonth, lastOfMonth } from "../../domain/wall-time.ts";
import { type EntryPlace, readByStaff, readEntries } from "../../store/account-entries.ts";
import { sumAccount, sumBalance } from "../../store/account-sums.ts";
import { daysOf } from "../common.ts";
import { csvOf, type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { readTaxes } from "../taxes/sql.ts";
import { prunedBefore } from "../transactions/sql.ts";
import { accountMeant, entryData, statementLines } from "./presenter.ts";
import { EntrySchema, StatementInputSchema, StatementSchema } from "./schemas.ts";

/* The statement of an account for a month. */

const AS = { tag: "Accounts", permission: "settle" } as const;
type Input = Static<typeof StatementInputSchema>;
type Line = Static<typeof StatementSchema>["lines"][number];

export const showStatement = operation({
  ...AS,
  http: "GET /partners/:name/statement",
  isReport: true,
  summary: "Show the statement of a partner's account for a month",
  input: StatementInputSchema,
  answer: StatementSchema,
  cli: [
    {
      words: "partner statement",
      arguments: ["name"],
      show: statementLines,
      examples: ['topupd partner statement "Blue Wallet" --month 2026-11'],
    },
  ],
  async run(office, input) {
    office.giveWay();
    const { engine, provider } = office.store;
    const { partner, key, days, end } = await monthMeant(office, input);
    // One view: an entry that is made meanwhile is in the sums and in the lines, or in neither.
    const { opening, sums, entries } = await engine.view(async (db) => ({
      opening: await sumBalance(db, key, { to: dayBefore(days.from) }),
      sums: await sumAccount(db, key, days),
      entries: await readByStaff(db, key, days),
    }));
    const closing = opening + balanceOfSums(sums);
    const inFull = (amount: Money) => formatMoneyInFull(amount, provider.currencyExponent);
    const line = (kind: Line["kind"], amount: Money, more: Partial<Line> = {}): Line => {
      return { kind, count: null, txnDate: null, reference: null, reason: null, ...more, amount: inFull(amount) };
    };
    return {
      number: settlementNumber({ ...days, ...key }),
      partner: partner.name,
      environment: key.environment,
      from: days.from,
      to: days.to,
      open: office.clock() < end + RECORDING_DEADLINE_MS,
      opening: inFull(opening),
      lines: [
        line("top_up", -sums.gross, { count: sums.topUps }),
        line("commission", keptOf(sums)),
        line("reversal", sums.reversed, { count: sums.reversals }),
        ...entries.map(({ kind, wall: txnDate, reference, reason, amount }) =>
          line(kind, amount, { txnDate, reference, reason: reason || null }),
        ),
      ],
      closing: inFull(closing),
      owing: owingOf(key, closing),
      owed: inFull(closing < 0n ? -closing : closing),
      currency: office.currency ?? null,
    };
  },
});

export const exportStatement = operation({
  ...AS,
  http: "GET /partners/:name/statement.csv",
  isReport: true,
  summary: "Export the entries of a month, each with the balance after it",
  input: StatementInputSchema,
  answer: rowsOf(EntrySchema, csvOf(EntrySchema)),
  cli: [
    {
      words: "export statement",
      arguments: ["name"],
      examples: ['topupd export statement "Blue Wallet" --month 2026-11 \\\n    --output november.csv'],
    },
  ],
  async run(office, input) {
    office.giveWay();
    return exported(office, await monthMeant(office, input));
  },
});

type Month = Awaited<ReturnType<typeof monthMeant>>;

const ENTRIES_AT_ONCE = 5_000;

/** Days of which history was deleted are left out. */
async function* exported(office: Office, { key, days, start }: Month): Rows<Static<typeof EntrySchema>> {
  const { engine, provider } = office.store;
  const from = (await prunedBefore(office, start)) ?? days.from;
  let balance = await sumBalance(engine.db, key, { to: dayBefore(from) });
  const taxes = await readTaxes(engine.db);
  let after: EntryPlace | undefined;
  do {
    const page = await readEntries(
      engine.db,
      provider.zone,
      key,
      { ...days, from },
      { ...(after && { after }), most: ENTRIES_AT_ONCE },
    );
    yield page.entries.map((entry) => {
      balance += entry.amount;
      return entryData(entry, balance, { exponent: provider.currencyExponent, taxes });
    });
    after = page.rest;
  } while (after !== undefined);
  return undefined;
}

/** @throws Refused */
async function monthMeant(office: Office, input: Input) {
  const { engine } = office.store;
  const { partner, key } = await accountMeant(engine.db, input);
  // A top-up that was decided in this month may still wait for its commit.
  await engine.awaitCommits();
  const from = firstOfMonth(input.month);
  const days = { from, to: lastOfMonth(from) };
  const { from: start, until: end } = daysOf(office, days);
  return { partner, key, days, start, end };
}

export const operations: readonly Operation[] = [showStatement, exportStatement];
