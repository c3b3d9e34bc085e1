import { type Static, Type } from "typebox";
import * as decided from "../../domain/correction.ts";
import type { ReversalRefusal } from "../../domain/ledger.ts";
import { Refused } from "../../domain/refused.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Db } from "../../store/engine.ts";
import type { ApprovalRow } from "../../store/tables.ts";
import { PREVIEW, ReasonSchema, readAmount } from "../common.ts";
import { correctingBy } from "../decide.ts";
import type { Corrector } from "../limits.ts";
import { operation } from "../operation.ts";
import { approvalData, confirmRequest, requestChange } from "../second-person.ts";
import { noTransaction } from "../transactions/operations.ts";
import { presenterOf, transactionData } from "../transactions/presenter.ts";
import { IdSchema, TransactionReversalSchema } from "../transactions/schemas.ts";
import { findReversals, findTransaction } from "../transactions/sql.ts";
import { changeOf, correct, effectOf } from "./correct.ts";
import { REFUSALS, reversalLines } from "./words.ts";

export const reverseTransaction = operation({
  tag: "Transactions",
  permission: "correct",
  refuses: ["not_found", "conflict"],
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
  otherStatus: { code: 202, isOf: ({ approval }) => approval !== null },
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
    const data = transactionData(meant, await presenterOf(office.store, meant.environment));
    const expected = amount === undefined ? meant.amount : readAmount(office, "amount", amount);
    if ((partner ?? data.partner) !== data.partner || expected !== meant.amount)
      throw new Refused("conflict", `nothing was reversed: this is a ${nameOf(data)}`);
    return reverse(office, meant);
  },
});

/**
 * Reverses a top-up, or requests it if its amount needs a second person.
 * @param request the request that this confirms.
 * @throws Refused
 */
export async function reverse(
  office: Corrector,
  meant: Transaction,
  request?: ApprovalRow,
): Promise<Static<typeof TransactionReversalSchema>> {
  const data = transactionData(meant, await presenterOf(office.store, meant.environment));
  return correct(office, meant, async (tx, ledgers) => {
    const by = { ...correctingBy(office), requestedBy: request?.requestedBy };
    if (request !== undefined) await confirmRequest(office, tx, request);
    const found = decided.reverseTopUp(await findTransaction(tx, meant.txnId), ledgers, by);
    if (found.kind !== "reversed") throw await notReversed(tx, found.kind, data);
    const { transaction, correction } = found;
    const answer = { ...data, ...effectOf(correction), approval: null };
    const isOne = meant.amount <= (office.limits?.secondPersonReversal ?? meant.amount);
    if (request !== undefined || isOne) {
      const change = await changeOf(office, tx, ledgers, correction, transaction);
      return { answer: { ...answer, status: transaction.status }, change };
    }
    const { txnId: subject, environment } = meant;
    const audited = { subject: correction.audited.subject, after: { amount: data.amount } };
    const { approval, change } = await requestChange(office, tx, { kind: "reversal", subject, environment }, audited);
    return {
      answer: office.isPreview ? answer : { ...answer, approval: approvalData(office, approval, { topUp: meant }) },
      change,
    };
  });
}

async function notReversed(tx: Db, kind: ReversalRefusal, data: Named & { readonly txnId: string }): Promise<Refused> {
  if (kind === "not_found") return noTransaction();
  if (kind === "history_gone") return new Refused("conflict", REFUSALS.history_gone);
  const { wall, author, reason } = (await findReversals(tx, [data.txnId])).get(data.txnId) ?? {};
  const how = wall === undefined ? "" : `, ${wall} by ${author}: ${reason}`;
  return new Refused("conflict", `this ${nameOf(data)} was reversed already${how}`);
}

interface Named {
  readonly amount: string;
  readonly partner: string;
}

function nameOf({ amount, partner }: Named): string {
  return `top-up of ${amount} of ${partner}`;
}
