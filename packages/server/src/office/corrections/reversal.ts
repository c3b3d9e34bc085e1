import { type Static, Type } from "typebox";
import * as decided from "../../domain/correction.ts";
import type { ReversalRefusal } from "../../domain/ledger.ts";
import { Refused } from "../../domain/refused.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Db } from "../../store/engine.ts";
import { PREVIEW, ReasonSchema, readAmount } from "../common.ts";
import { correctingBy } from "../decide.ts";
import { type Corrector, countToday } from "../limits.ts";
import { operation } from "../operation.ts";
import { approvalShower, confirmRequest, requestIfNeeded } from "../second-person.ts";
import { noTransaction } from "../transactions/operations.ts";
import { presenterOf, transactionData } from "../transactions/presenter.ts";
import { IdSchema, TransactionReversalSchema } from "../transactions/schemas.ts";
import { findReversals, findSales, findTransaction } from "../transactions/sql.ts";
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
  otherStatuses: [{ code: 202, isOf: ({ approval }) => approval !== null }],
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
    const data = transactionData(meant, await presenterOf(office, meant.environment), undefined);
    const expected = amount === undefined ? meant.amount : readAmount(office, "amount", amount);
    if ((partner ?? data.partner) !== data.partner || expected !== meant.amount)
      throw new Refused("conflict", `nothing was reversed: this is a ${nameOf(data)}`);
    return reverse(office, meant);
  },
});

/** Reverses a top-up, or requests it if it needs a second person. @throws Refused */
export async function reverse(
  office: Corrector,
  meant: Transaction,
): Promise<Static<typeof TransactionReversalSchema>> {
  const sale = (await findSales(office.store.engine.db, [meant.txnId])).get(meant.txnId);
  const data = transactionData(meant, await presenterOf(office, meant.environment), sale);
  return correct<Static<typeof TransactionReversalSchema>>(office, meant, async (tx, ledgers) => {
    const by = { ...correctingBy(office), requestedBy: office.confirms?.requestedBy };
    await confirmRequest(office, tx);
    const found = decided.reverseTopUp(await findTransaction(tx, meant.txnId), ledgers, by);
    if (found.kind !== "reversed") throw await notReversed(tx, found.kind, data);
    const { transaction, correction } = found;
    const answer = { ...data, ...effectOf(correction), approval: null };
    const requested = await requestIfNeeded(office, tx, {
      ...{ kind: "reversal", subject: meant.txnId, environment: meant.environment },
      audited: { subject: correction.audited.subject, after: { amount: data.amount } },
      needsAnother: (isWaiting) => isWaiting || countToday(office, tx, "reversed", meant.amount),
    });
    if (requested === undefined) {
      const change = await changeOf(office, tx, ledgers, correction, transaction);
      return { answer: { ...answer, status: transaction.status }, change };
    }
    const approval = office.isPreview ? null : (await approvalShower(office, tx))(requested.approval, { topUp: meant });
    return { answer: { ...answer, approval }, change: requested.change };
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
