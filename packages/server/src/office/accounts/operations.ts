import { Type } from "typebox";
import { availableOf, hasDayLimits, type StaffEntry, type StaffEntryKind } from "../../domain/account.ts";
import { partnerTermsSet } from "../../domain/audit.ts";
import { formatMoneyInFull, MONEY_DIGITS, MONEY_LIMIT, type Money } from "../../domain/money.ts";
import { DAY_MS, dayAfter, dayBefore, isoTime, wallMsBetween } from "../../domain/wall-time.ts";
import { storeAccountDays } from "../../store/account-days.ts";
import type { EntriesPlace } from "../../store/account-entries.ts";
import {
  addToBalance,
  balanceOfSums,
  findAccount,
  putAccount,
  readBalance,
  sumAccount,
  sumBalance,
} from "../../store/accounts.ts";
import { readOwnEntries } from "../../store/own-pages.ts";
import { momentOf } from "../../store/ports.ts";
import { amountOrNone, cursorOf, daysOf, readAmount, readAmountOrNone, textsOfCursor } from "../common.ts";
import { decide, type Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import { prunedBefore } from "../transactions/sql.ts";
import { ACCOUNT_COLUMNS, accountData, accountMeant, entryData, entryLines } from "./presenter.ts";
import {
  ACCOUNT,
  AccountSchema,
  EntriesInputSchema,
  EntriesSchema,
  EntryEffectSchema,
  EntryInputSchema,
} from "./schemas.ts";
import { findEntry, insertEntry, lockBalance } from "./sql.ts";

/* Accounts of partners. */

const READ = { tag: "Accounts", permission: "read" } as const;
const BY_NAME = ["name"] as const;

export const showAccount = operation({
  ...READ,
  http: "GET /partners/:name/account",
  summary: "Show the balance and credit limit of a partner",
  input: Type.Object(ACCOUNT),
  answer: AccountSchema,
  cli: [
    {
      words: "partner balance",
      arguments: BY_NAME,
      show: ACCOUNT_COLUMNS,
      examples: ['topupd partner balance "Blue Wallet" --json'],
    },
  ],
  async run(office, input) {
    const { store } = office;
    const { db } = store.engine;
    const { partner, key } = await accountMeant(db, input);
    const balance = await readBalance(db, store.provider.zone, key);
    return accountData(office, partner, key, { ...(await findAccount(db, key)), balance });
  },
});

export const changeAccount = operation({
  tag: READ.tag,
  permission: "administer",
  http: "PATCH /partners/:name/account",
  summary: "Set the credit limit and the alert of a partner's account",
  input: Type.Object({
    ...ACCOUNT,
    creditLimit: amountOrNone("What the partner may owe"),
    alertBelow: amountOrNone("Alert if the balance is below"),
  }),
  answer: AccountSchema,
  cli: [
    {
      words: "partner account",
      summary: "set the credit limit and the alert of a partner's account, or show the account",
      arguments: BY_NAME,
      show: ACCOUNT_COLUMNS,
      examples: [
        'topupd partner account "Blue Wallet"',
        'topupd partner account "Blue Wallet" --credit-limit 0 --alert-below 5000',
      ],
    },
  ],
  async run(office, { creditLimit, alertBelow, ...meant }) {
    const { engine, provider } = office.store;
    if (creditLimit !== undefined) await storeAccountDays(engine, provider.zone, office.clock());
    const known = await knownBalance(office, meant);
    return decide(office, "reference", async (tx) => {
      const { partner, key } = await accountMeant(tx, meant);
      const account = await findAccount(tx, key);
      const before = { ...account, balance: account.guarded?.balance ?? known };
      const after = {
        ...before,
        creditLimit: readAmountOrNone(office, "creditLimit", creditLimit, before.creditLimit),
        alertBelow: readAmountOrNone(office, "alertBelow", alertBelow, before.alertBelow, true),
      };
      const write = async () => {
        await engine.lockRecording(tx);
        const settings = { ...after, hasDayLimits: hasDayLimits(partner.terms.limits) };
        await putAccount(tx, provider.zone, key, settings, office.clock());
      };
      const answer = accountData(office, partner, key, after);
      const isAsBefore = after.creditLimit === before.creditLimit && after.alertBelow === before.alertBelow;
      const settingsOf = ({ environment, creditLimit, alertBelow }: typeof answer) => {
        return { environment, creditLimit, alertBelow };
      };
      const former = settingsOf(accountData(office, partner, key, before));
      const audit = [partnerTermsSet("partner.account", partner, former, settingsOf(answer))];
      return { answer, change: isAsBefore ? undefined : { write, audit } };
    });
  },
});

const COMMANDS = [
  ["deposit", "deposit", "record money that a partner paid in", "5000 --reference bank-4711"],
  ["withdraw", "withdrawal", "record money that a partner was paid back", '250.50 --reference V-17 --reason "leaves"'],
  ["adjust", "adjustment", "correct the balance of a partner", '-20 --reference C-3 --reason "fee of the bank"'],
] as const;

export const enterIntoAccount = operation({
  tag: READ.tag,
  permission: "settle",
  http: "POST /partners/:name/account/entries",
  status: 201,
  otherStatus: { code: 200, isOf: ({ at, before, after }) => at === null || before === after },
  refuses: ["conflict"],
  summary: "Enter a deposit, withdrawal or adjustment; the same reference again returns the first entry",
  input: EntryInputSchema,
  answer: EntryEffectSchema,
  cli: COMMANDS.map(([verb, kind, summary, example]) => ({
    words: `partner ${verb}`,
    summary,
    arguments: ["name", "amount"] as const,
    given: { kind },
    show: entryLines,
    examples: [`topupd partner ${verb} Bank ${example}`] as const,
  })),
  async run(office, input) {
    const { kind, reference } = input;
    const { provider } = office.store;
    const amount = effectOf(office, kind, input.amount);
    const known = await knownBalance(office, input);
    return decide(office, "reference", async (tx) => {
      const { partner, key } = await accountMeant(tx, input);
      const first = await findEntry(tx, key, reference);
      if (first === undefined && !office.isPreview) await lockBalance(tx, key);
      const account = await findAccount(tx, key);
      const before = account.guarded?.balance ?? known;
      const inFull = (money: Money) => formatMoneyInFull(money, provider.currencyExponent);
      const { instant: at, wall } = momentOf(office);
      const { author, reason = "" } = office.by;
      const entry: StaffEntry = first ?? { ...key, kind, amount, reference, reason, author, at, wall };
      const answerOf = (after: Money, isMade: boolean) => ({
        ...{ partner: partner.name, environment: key.environment, kind, amount: inFull(amount), reference },
        ...{ reason: entry.reason || null, author: entry.author, at: isMade ? isoTime(entry.at) : null },
        ...{ before: inFull(before), after: inFull(after) },
      });
      if (first !== undefined) {
        if (first.kind === kind && first.amount === amount) return { answer: answerOf(before, true) };
        const words = `a ${first.kind} of ${inFull(first.amount)} at ${first.wall}`;
        throw new Refused("conflict", `the reference ${reference} was used for ${words}: choose another one`);
      }
      const available = availableOf(before, account.creditLimit);
      if (kind === "withdrawal" && available !== undefined && available + amount < 0n)
        throw new Refused(
          "conflict",
          `only ${inFull(available)} is available: withdraw less, or raise the credit limit`,
        );
      const write = async () => {
        await addToBalance(tx, key, amount);
        await insertEntry(tx, entry);
      };
      const after = before + amount;
      if (after <= -MONEY_LIMIT || after >= MONEY_LIMIT)
        throw new Refused("conflict", `the balance would have more than ${MONEY_DIGITS} digits`);
      const [former, now] = [{ balance: inFull(before) }, { balance: inFull(after) }];
      const made = { environment: key.environment, amount: inFull(amount), reference, ...now };
      const audit = [partnerTermsSet(`partner.${kind}`, partner, former, made)];
      return { answer: answerOf(after, !office.isPreview), change: { write, audit } };
    });
  },
});

/** The balance before a change, which need not hold locks while it is summed up. */
async function knownBalance({ store }: Office, meant: Parameters<typeof accountMeant>[1]): Promise<Money> {
  const { key } = await accountMeant(store.engine.db, meant);
  return readBalance(store.engine.db, store.provider.zone, key);
}

/** The effect on the balance. @throws Refused */
function effectOf(office: Office, kind: StaffEntryKind, text: string): Money {
  const amount = readAmount(office, "amount", text, kind === "adjustment");
  if (amount === 0n) throw Refused.field("amount", "must not be 0");
  return kind === "withdrawal" ? -amount : amount;
}

const MOST_DAYS = 31;

export const listAccountEntries = operation({
  tag: READ.tag,
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
    const { from = firstOfMonth(input.to ?? today), to = lastFrom(from) } = input;
    const period = daysOf(office, { from, to });
    if (wallMsBetween(`${from} 00:00:00`, `${to} 00:00:00`) >= MOST_DAYS * DAY_MS)
      throw Refused.field("to", `may be ${MOST_DAYS - 1} days after from at most`);
    const pruned = await prunedBefore(office, period.from);
    const opening = await sumBalance(engine.db, zone, key, { to: dayBefore(from) });
    const sums = await sumAccount(engine.db, zone, key, { from, to });
    const place = readPlace(input.cursor);
    const days = { from: pruned ?? from, to };
    const { entries, rest } = await readOwnEntries(engine.db, zone, key, days, place?.after, Number.POSITIVE_INFINITY);
    const start = pruned === null ? opening : await sumBalance(engine.db, zone, key, { to: dayBefore(pruned) });
    let balance = place?.balance ?? start;
    const items = entries.map((entry) => {
      balance += entry.amount;
      return entryData(entry, balance, currencyExponent);
    });
    return {
      ...{ items, cursor: rest === undefined ? null : writePlace(rest, balance), from, to },
      opening: formatMoneyInFull(opening, currencyExponent),
      closing: formatMoneyInFull(opening + balanceOfSums(sums), currencyExponent),
      prunedBefore: pruned,
    };
  },
});

export function firstOfMonth(day: string): string {
  return `${day.slice(0, 7)}-01`;
}

/** The last day of the month. */
export function lastFrom(day: string): string {
  let last = `${day.slice(0, 7)}-28`;
  while (dayAfter(last).startsWith(day.slice(0, 7))) last = dayAfter(last);
  return last;
}

/** A cursor has the balance, so that no page adds up the earlier ones again. */
function writePlace({ day, least, last }: EntriesPlace, balance: Money): string {
  const { at = 0, rank = 0, id = "" } = last ?? {};
  return cursorOf([String(balance), day, least, String(at), String(rank), id]);
}

function readPlace(cursor: string | undefined) {
  const texts = textsOfCursor(cursor, 6);
  if (texts === undefined) return undefined;
  const [balance = "", day = "", least = "", at = "", rank = "", id = ""] = texts;
  if (!/^-?[0-9]{1,20} [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9A-Z]{0,26} [0-9]{1,15} [0-2]$/.test(texts.slice(0, 5).join(" ")))
    throw Refused.field("cursor", "must be the cursor of a page");
  return { balance: BigInt(balance), after: { day, least, last: { at: Number(at), rank: Number(rank), id } } };
}

export const operations: readonly Operation[] = [showAccount, changeAccount, enterIntoAccount, listAccountEntries];
