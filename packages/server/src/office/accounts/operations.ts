import { Type } from "typebox";
import { availableOf, hasDayLimits, type StaffEntry, type StaffEntryKind } from "../../domain/account.ts";
import { ACCOUNT_ENTRY } from "../../domain/alert.ts";
import { partnerTermsSet } from "../../domain/audit.ts";
import { formatMoneyInFull, MONEY_DIGITS, MONEY_LIMIT, type Money } from "../../domain/money.ts";
import { Refused } from "../../domain/refused.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { findEntry } from "../../store/account-entries.ts";
import { addToBalance, findAccount, putAccount, readBalance } from "../../store/accounts.ts";
import type { Db } from "../../store/engine.ts";
import { momentOf } from "../../store/ports.ts";
import { amountOrNone, formatOrNull, readAmount, readAmountOrNone } from "../common.ts";
import { decide } from "../decide.ts";
import { countToday } from "../limits.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { confirmRequest, endRequest, requestIfNeeded } from "../second-person.ts";
import { ACCOUNT_COLUMNS, accountData, accountMeant, entryLines } from "./presenter.ts";
import { ACCOUNT, AccountSchema, ChangedAccountSchema, EntryEffectSchema, EntryInputSchema } from "./schemas.ts";
import { insertEntry } from "./sql.ts";

/* Accounts of partners: settings, and entries by staff. */

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
    const account = await findAccount(db, key);
    const balance = await readBalance(db, key);
    return accountData(office, partner, key, { ...account, balance });
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
  answer: ChangedAccountSchema,
  otherStatuses: [{ code: 202, isOf: ({ secondPerson }) => secondPerson }],
  refuses: ["conflict"],
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
    return decide(office, "reference", async (tx) => {
      const { partner, key } = await accountMeant(tx, meant);
      await confirmRequest(office, tx);
      const before = await findAccount(tx, key);
      const wished = readAmountOrNone(office, "creditLimit", creditLimit, before.creditLimit);
      const { environment } = key;
      const wishedInFull = formatOrNull(wished, provider.currencyExponent);
      const requested = await requestIfNeeded(office, tx, {
        ...{ kind: "credit_limit", subject: `${key.partnerId} ${environment}`, environment },
        account: { partner: partner.name, entry: null, amount: wishedInFull, reference: null },
        audited: { subject: partner.name, after: { environment, creditLimit: wishedInFull } },
        needsAnother: (isWaiting) => raiseNeedsAnother(office, tx, before.creditLimit, wished, isWaiting),
      });
      const after = {
        creditLimit: requested === undefined ? wished : before.creditLimit,
        alertBelow: readAmountOrNone(office, "alertBelow", alertBelow, before.alertBelow, true),
        hasDayLimits: hasDayLimits(partner.terms.limits),
      };
      const write = async () => {
        await engine.lockRecording(tx);
        await putAccount(tx, key, after);
      };
      const balance = await readBalance(tx, key);
      const answerOf = (settings: Parameters<typeof accountData>[3]) => accountData(office, partner, key, settings);
      const [former, answer] = [answerOf({ ...before, balance }), answerOf({ ...after, balance })];
      const settingsOf = ({ environment, creditLimit, alertBelow }: typeof answer) => {
        return { environment, creditLimit, alertBelow };
      };
      const isAsBefore = after.creditLimit === before.creditLimit && after.alertBelow === before.alertBelow;
      const made = { ...settingsOf(answer), requestedBy: office.confirms?.requestedBy };
      const audit = [partnerTermsSet("partner.account", partner, settingsOf(former), made)];
      const own = isAsBefore && office.confirms === undefined ? [] : [{ write, audit }];
      const changes = [...own, ...(requested?.change === undefined ? [] : [requested.change])];
      const writeAll = async () => {
        for (const change of changes) await change.write(tx);
      };
      return {
        answer: { ...answer, secondPerson: requested !== undefined },
        change: changes.length === 0 ? undefined : { write: writeAll, audit: changes.flatMap((each) => each.audit) },
      };
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
  otherStatuses: [
    { code: 202, isOf: ({ secondPerson }) => secondPerson },
    { code: 200, isOf: ({ at, before, after }) => at === null || before === after },
  ],
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
    return decide(office, "reference", async (tx) => {
      const { partner, key } = await accountMeant(tx, input);
      await confirmRequest(office, tx);
      const first = await findEntry(tx, key, reference);
      // Locks the balance against top-ups.
      if (first === undefined && !office.isPreview) await addToBalance(tx, key, 0n);
      const account = await findAccount(tx, key);
      const before = await readBalance(tx, key);
      const inFull = (money: Money) => formatMoneyInFull(money, provider.currencyExponent);
      const { instant: at, wall } = momentOf(office);
      const { author, reason = "" } = office.by;
      const entry: StaffEntry = first ?? { ...key, kind, amount, reference, reason, author, at, wall };
      const answerOf = (after: Money, isMade: boolean) => ({
        partner: partner.name,
        environment: key.environment,
        kind,
        amount: inFull(amount),
        reference,
        reason: entry.reason || null,
        author: entry.author,
        at: isMade ? isoTime(entry.at) : null,
        before: inFull(before),
        after: inFull(after),
        secondPerson: false,
      });
      if (first !== undefined) {
        refuseOtherEntry(first, kind, amount, inFull);
        return { answer: answerOf(before, true) };
      }
      if (kind === "withdrawal") refuseOverdraft(availableOf(before, account.creditLimit), amount, inFull);
      const subject = `${key.partnerId} ${key.environment} ${reference}`;
      const write = async () => {
        await addToBalance(tx, key, amount);
        await insertEntry(tx, entry);
        await endRequest(
          tx,
          { kind: "account_entry", subject },
          { state: "confirmed", decidedBy: author, decidedAt: at },
        );
      };
      const after = before + amount;
      refuseLongBalance(after);
      const [former, now] = [{ balance: inFull(before) }, { balance: inFull(after) }];
      const entered = { environment: key.environment, amount: inFull(amount), reference };
      const requested = await requestIfNeeded(office, tx, {
        ...{ kind: "account_entry", subject, environment: key.environment },
        account: {
          partner: partner.name,
          entry: kind,
          amount: inFull(kind === "withdrawal" ? -amount : amount),
          reference,
        },
        audited: { subject: partner.name, after: { kind, ...entered } },
        needsAnother: (isWaiting) => isWaiting || countToday(office, tx, "entered", amount < 0n ? -amount : amount),
      });
      if (requested !== undefined)
        return { answer: { ...answerOf(after, false), secondPerson: true }, change: requested.change };
      const made = { ...entered, ...now, requestedBy: office.confirms?.requestedBy };
      const audit = [partnerTermsSet(`partner.${kind}`, partner, former, made)];
      const news = [{ about: { kind: "entry", ...key, reference }, kind: ACCOUNT_ENTRY, at }] as const;
      return { answer: answerOf(after, !office.isPreview), change: { write, audit, news } };
    });
  },
});

/** Whether a raised credit limit needs a second person. It counts as entered money; a removed limit always needs one. */
async function raiseNeedsAnother(
  office: Office,
  tx: Db,
  before: Money | undefined,
  wished: Money | undefined,
  isWaiting: boolean,
): Promise<boolean> {
  if (office.limits?.secondPersonMoney === undefined || before === undefined) return false;
  if (wished === undefined) return true;
  return wished > before && (isWaiting || (await countToday(office, tx, "entered", wished - before)));
}

/** @param first the entry that has the reference. */
function refuseOtherEntry(first: StaffEntry, kind: StaffEntryKind, amount: Money, inFull: (of: Money) => string): void {
  if (first.kind === kind && first.amount === amount) return;
  const words = `a ${first.kind} of ${inFull(first.amount)} at ${first.wall}`;
  throw new Refused("conflict", `the reference ${first.reference} was used for ${words}: choose another one`);
}

/** @param available undefined without a credit limit. @param amount negative, as it changes the balance. */
function refuseOverdraft(available: Money | undefined, amount: Money, inFull: (of: Money) => string): void {
  if (available === undefined || available + amount >= 0n) return;
  throw new Refused("conflict", `only ${inFull(available)} is available: withdraw less, or raise the credit limit`);
}

function refuseLongBalance(balance: Money): void {
  if (-MONEY_LIMIT < balance && balance < MONEY_LIMIT) return;
  throw new Refused("conflict", `the balance would have more than ${MONEY_DIGITS} digits`);
}

/** The effect on the balance. @throws Refused */
function effectOf(office: Office, kind: StaffEntryKind, text: string): Money {
  const amount = readAmount(office, "amount", text, kind === "adjustment");
  if (amount === 0n) throw Refused.field("amount", "must not be 0");
  return kind === "withdrawal" ? -amount : amount;
}

export const operations: readonly Operation[] = [showAccount, changeAccount, enterIntoAccount];
