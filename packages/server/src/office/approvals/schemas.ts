import { type Static, Type } from "typebox";
import { formatMoneyInFull } from "../../domain/money.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { Ports } from "../../store/ports.ts";
import type { ApprovalRow, BulkRunRow } from "../../store/tables.ts";
import { AmountSchema, BULK_ACTIONS, EnvironmentSchema, InstantSchema, oneOf, orNull } from "../common.ts";
import { stateOf } from "./sql.ts";

export const ApprovalSchema = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(["reversal", "bulk"]),
    environment: EnvironmentSchema,
    subject: Type.String({ description: "The txnId of the top-up, or the id of the bulk change." }),
    topUp: orNull(Type.Object({ cuid: Type.String(), amount: AmountSchema })),
    bulk: orNull(Type.Object({ action: oneOf(BULK_ACTIONS), days: orNull(Type.Integer()), count: Type.Integer() })),
    reason: Type.String(),
    requestedBy: Type.String(),
    requestedAt: InstantSchema,
    state: oneOf(
      ["waiting", "confirmed", "refused", "expired"],
      "`expired`: nobody decided within 7 days, so it cannot be confirmed any more.",
    ),
    decidedBy: orNull(Type.String()),
    decidedAt: orNull(InstantSchema),
    refusal: orNull(Type.String({ description: "Reason of a refusal." })),
  },
  { title: "Approval", description: "A change that needs a second person." },
);

export function approvalData(
  { store, clock }: Pick<Ports, "store" | "clock">,
  approval: ApprovalRow,
  { topUp, run }: { readonly topUp?: Transaction | undefined; readonly run?: BulkRunRow | undefined },
): Static<typeof ApprovalSchema> {
  const { currencyExponent } = store.provider;
  return {
    ...approval,
    topUp: topUp === undefined ? null : { cuid: topUp.cuid, amount: formatMoneyInFull(topUp.amount, currencyExponent) },
    bulk: run === undefined ? null : { action: run.action, days: run.days, count: run.count },
    requestedAt: isoTime(approval.requestedAt),
    decidedAt: isoTimeOrNull(approval.decidedAt ?? undefined),
    state: stateOf(approval, clock()),
  };
}
