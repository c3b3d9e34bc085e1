import { type Static, Type } from "typebox";
import { formatMoneyInFull } from "../../domain/money.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { ApprovalRow } from "../../store/staff-tables.ts";
import { AmountSchema, EnvironmentSchema, InstantSchema, oneOf, orNull } from "../common.ts";
import type { Office } from "../office.ts";
import { stateOf } from "./sql.ts";

export const ApprovalSchema = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(["reversal"]),
    environment: EnvironmentSchema,
    subject: Type.String({ description: "The txnId of the top-up." }),
    cuid: orNull(Type.String({ description: "Its customer; null if the top-up was deleted, like its amount." })),
    amount: orNull(AmountSchema),
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

/** @param topUp undefined if it was deleted. */
export function approvalData(
  { store, clock }: Pick<Office, "store" | "clock">,
  approval: ApprovalRow,
  topUp: Transaction | undefined,
): Static<typeof ApprovalSchema> {
  return {
    ...approval,
    cuid: topUp?.cuid ?? null,
    amount: topUp === undefined ? null : formatMoneyInFull(topUp.amount, store.provider.currencyExponent),
    requestedAt: isoTime(approval.requestedAt),
    decidedAt: isoTimeOrNull(approval.decidedAt ?? undefined),
    state: stateOf(approval, clock()),
  };
}
