import { type Static, Type } from "typebox";
import { SERVICES } from "../../domain/bouquet.ts";
import * as decided from "../../domain/correction.ts";
import { type ConnectionKey, ENVIRONMENTS, withHead } from "../../domain/customer.ts";
import { eventOf } from "../../domain/event.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { GONE } from "../../store/customer-files.ts";
import { findConnection, findConnectionWithHeads, ledgersOfConnection } from "../../store/customers.ts";
import {
  CodeSchema,
  EnvironmentSchema,
  oneOf,
  orNull,
  PlanSchema,
  PREVIEW,
  ReasonSchema,
  RunSchema,
  runOf,
  ServiceSchema,
} from "../common.ts";
import { countGoodwill } from "../limits.ts";
import { correctingBy, type Db, type Decision, decide, type Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import { noTransaction } from "../transactions/operations.ts";
import { presenterOf, transactionData } from "../transactions/presenter.ts";
import { amountOf, IdSchema, TransactionReversalSchema } from "../transactions/schemas.ts";
import { findReversals, findTransaction } from "../transactions/sql.ts";
import { blockEvents, connectionMeant, markReversed, noConnection, writeBlock } from "./sql.ts";
import { goodwillLines, notCorrected, planUnclear, REFUSALS, reversalLines } from "./words.ts";

/** Names a connection. If several fit, the correction is refused. */
export const CONNECTION = {
  cuid: Type.Optional(
    Type.String({ ...CodeSchema, description: "The customer id, needed if several customers have such a connection." }),
  ),
  environment: Type.Optional(oneOf(ENVIRONMENTS, "Only in this environment.")),
  service: oneOf(SERVICES, "The kind of connection."),
  reqId: Type.String({ ...CodeSchema, description: "The set-top box number or username." }),
};
export const CORRECTION = { ...CONNECTION, reason: ReasonSchema, ...PREVIEW };
export const GOODWILL = { ...CORRECTION, plan: Type.Optional(PlanSchema) };

/** Most days of goodwill at once: more is a mistake. */
export const MOST_GOODWILL_DAYS = 366;
export const DaysSchema = Type.Integer({
  minimum: 1,
  maximum: MOST_GOODWILL_DAYS,
  description: `Number of days, at most ${MOST_GOODWILL_DAYS}.`,
});

const CONNECTION_FIELDS = {
  environment: EnvironmentSchema,
  cuid: Type.String(),
  service: ServiceSchema,
  reqId: Type.String(),
};

export const GoodwillEffectSchema = Type.Object(
  {
    ...CONNECTION_FIELDS,
    plan: Type.String(),
    days: Type.Integer(),
    before: orNull(RunSchema),
    after: orNull(RunSchema),
  },
  { title: "GoodwillEffect" },
);

export const BlockEffectSchema = Type.Object(
  {
    ...CONNECTION_FIELDS,
    blocked: Type.Boolean(),
    changed: Type.Boolean({ description: "False if nothing had to change." }),
  },
  { title: "BlockEffect" },
);

/* Corrections for one customer. The domain decides; operations read, write and answer. */

const AS = { tag: "Corrections", permission: "correct", refuses: ["not_found", "conflict"] } as const;
const BY_NAME = { arguments: ["service", "reqId"] } as const;

export const reverseTransaction = operation({
  ...AS,
  tag: "Transactions",
  http: "POST /transactions/:id/reversal",
  summary: "Reverse a top-up permanently: partners see it as reversed",
  input: Type.Object({
    id: IdSchema,
    reason: ReasonSchema,
    ...PREVIEW,
    partner: Type.Optional(
      Type.String({ maxLength: 200, description: "Partner of the top-up; another partner's top-up is not reversed." }),
    ),
    amount: Type.Optional(
      Type.String({
        maxLength: 40,
        description: "Amount of the top-up, such as 1130.50; a top-up of another amount is not reversed.",
      }),
    ),
  }),
  answer: TransactionReversalSchema,
  cli: [
    {
      words: "transaction reverse",
      arguments: ["id"],
      show: reversalLines,
      examples: ['topupd transaction reverse 01M7W2Y7M0D61P39294S26KB1Y --reason "paid twice"'],
    },
  ],
  async run(office, { id, partner, amount }) {
    const meant = (await findTransaction(office.store.engine.db, id)) ?? noTransaction();
    const presenter = await presenterOf(office.store, meant.environment);
    const data = transactionData(meant, presenter);
    const which = `top-up of ${data.amount} of ${data.partner}`;
    const expected = amountOf(office, amount) ?? meant.amount;
    if ((partner ?? data.partner) !== data.partner || expected !== meant.amount)
      throw new Refused("conflict", `nothing was reversed: this is a ${which}`);
    return correct(office, meant, async (tx, ledgers) => {
      const found = decided.reverseTopUp(await findTransaction(tx, meant.txnId), ledgers, correctingBy(office));
      if (found.kind === "reversed") {
        const answer = { ...transactionData(found.transaction, presenter), ...effectOf(found.correction) };
        return [found.correction, answer, found.transaction];
      }
      if (found.kind === "not_found") return noTransaction();
      if (found.kind === "history_gone") throw new Refused("conflict", REFUSALS.history_gone);
      const { wall, author, reason } = (await findReversals(tx, [meant.txnId])).get(meant.txnId) ?? {};
      const how = wall === undefined ? "" : `, ${wall} by ${author}: ${reason}`;
      throw new Refused("conflict", `this ${which} was reversed already${how}`);
    });
  },
});

export const grantGoodwill = operation({
  ...AS,
  http: "POST /customers/:cuid/goodwill",
  summary: "Give a subscription goodwill days",
  input: Type.Object({ ...GOODWILL, days: DaysSchema }),
  answer: GoodwillEffectSchema,
  cli: [
    {
      ...BY_NAME,
      words: "subscription goodwill",
      show: goodwillLines("granted"),
      examples: ['topupd subscription goodwill internet maya.rai --days 3 --reason "outage"'],
    },
  ],
  async run(office, input) {
    const { days, plan } = input;
    const key = await connectionMeant(office, input);
    return correct(office, key, async (tx, ledgers) => {
      const connection = await findConnection(tx, key, ledgers);
      const found = decided.grantGoodwill(connection, ledgers, { ...key, days, plan }, correctingBy(office));
      if (found.kind !== "granted") throw notCorrected(found, input);
      await countGoodwill(office, tx, days);
      return [found.correction, { ...key, days, ...effectOf(found.correction) }];
    });
  },
});

export const reverseGoodwill = operation({
  ...AS,
  http: "POST /customers/:cuid/goodwill-reversal",
  summary: "Reverse the last goodwill",
  input: Type.Object({
    ...GOODWILL,
    seq: Type.Optional(
      Type.Integer({ minimum: 1, description: "Ledger entry to reverse; no other entry is reversed." }),
    ),
  }),
  answer: GoodwillEffectSchema,
  cli: [
    {
      ...BY_NAME,
      words: "subscription reverse-goodwill",
      show: goodwillLines("reversed"),
      examples: ['topupd subscription reverse-goodwill internet maya.rai --reason "typo"'],
    },
  ],
  async run(office, input) {
    const { plan, seq } = input;
    const key = await connectionMeant(office, input);
    return correct(office, key, async (_, ledgers) => {
      const found = decided.reverseGoodwill(ledgers, { ...key, plan, seq }, correctingBy(office));
      if (found.kind === "reversed")
        return [found.correction, { ...key, days: found.days, ...effectOf(found.correction) }];
      if ("plans" in found) throw planUnclear(found, plan);
      throw new Refused("conflict", REFUSALS.goodwill[found.kind]);
    });
  },
});

export const blockConnection = operation({
  ...AS,
  http: "POST /customers/:cuid/block",
  summary: "Block a connection until staff unblock it, or unblock it",
  input: Type.Object({
    ...CORRECTION,
    blocked: Type.Boolean({ description: "True blocks the connection; false unblocks it." }),
  }),
  answer: BlockEffectSchema,
  cli: (["block", "unblock"] as const).map((verb) => ({
    ...BY_NAME,
    words: `connection ${verb}`,
    given: { blocked: verb === "block" },
    summary:
      verb === "block"
        ? "keep a connection from being listed and topped up, until unblocked"
        : "let a connection that staff have blocked be topped up again",
    examples: [`topupd connection ${verb} internet maya.rai --reason "as the customer asks"`],
    show({ cuid, service, reqId, changed }: Static<typeof BlockEffectSchema>) {
      return { out: `${service} ${reqId} of customer ${cuid} ${changed ? "is now" : "was already"} ${verb}ed\n` };
    },
  })),
  async run(office, input) {
    const { blocked } = input;
    const key = await connectionMeant(office, input);
    return decide(office, [key], async (tx) => {
      const connection = await findConnectionWithHeads(tx, key);
      const found = decided.decideBlock(connection, key, blocked);
      if (connection === undefined) throw noConnection(input);
      if (found.kind !== "done") throw notCorrected(found, input);
      const { audited } = found;
      const answer = { ...key, blocked, changed: audited !== undefined };
      if (audited === undefined) return { answer };
      const by = correctingBy(office);
      const events = blockEvents(key, connection, blocked, by);
      return { answer, change: { write: () => writeBlock(tx, key, blocked, by), audit: [audited], events } };
    });
  },
});

type Decided<Answer> = readonly [correction: decided.Correction, answer: Answer, reversed?: Transaction];

/** Decides on the ledgers of a connection, and appends the entry that was decided. */
function correct<Answer>(
  office: Office,
  { environment, cuid, service, reqId }: ConnectionKey,
  work: (tx: Db, ledgers: readonly Ledger[]) => Promise<Decided<Answer>>,
): Promise<Answer> {
  const { engine } = office.store;
  const key = { environment, cuid, service, reqId };
  return decide(office, [key], async (tx): Promise<Decision<Answer>> => {
    const ledgers = ledgersOfConnection(await engine.readLedgers(tx, environment, [cuid]), key);
    const [{ plan, entry, audited }, answer, reversed] = await work(tx, ledgers);
    const by = correctingBy(office);
    const before = (await findConnection(tx, key, ledgers)) ?? { ...GONE, ledgers: ledgers.map(headOf) };
    const after = withHead(before, { plan, seq: entry.seq, subscription: entry.after });
    const kind = reversed === undefined ? "subscription.changed" : "topup.reversed";
    const write = async () => {
      if (reversed !== undefined) await markReversed(tx, reversed, by);
      await engine.appendEntry(tx, key, plan, entry);
    };
    const events = [eventOf(kind, by.at.instant, key, after, reversed)];
    return { answer, change: { write, audit: [audited], events } };
  });
}

function effectOf({ plan, before, entry }: decided.Correction) {
  return { plan, before: runOf(before), after: runOf(entry.after) };
}

export const operations: readonly Operation[] = [grantGoodwill, reverseGoodwill, blockConnection, reverseTransaction];
