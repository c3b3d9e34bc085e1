import { type Static, Type } from "typebox";
import { cashExpected, SALE_METHODS, SALE_STATES, type SaleSum, type ShiftSums } from "../../domain/sale.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { ShiftRow } from "../../store/tables.ts";
import { AmountSchema, EnvironmentSchema, InstantSchema, oneOf, orNull } from "../common.ts";
import type { Presenter } from "../transactions/presenter.ts";
import { CustomerNameSchema, TransactionSchema } from "../transactions/schemas.ts";

const amount = (description: string) => ({ ...AmountSchema, description });

export const ShiftSchema = Type.Object(
  {
    id: Type.Integer(),
    partner: Type.String(),
    environment: EnvironmentSchema,
    seller: Type.String(),
    openedAt: InstantSchema,
    opening: amount("Cash at the beginning."),
    closedAt: orNull(InstantSchema),
    expected: amount("Opening and cash sales, without returned cash; of an open shift, up to now."),
    counted: orNull(amount("Cash that the seller counted; null while the shift is open.")),
    difference: orNull(amount("Counted cash without the expected cash; negative if cash is missing.")),
    note: orNull(Type.String()),
  },
  { title: "Shift" },
);

const SumSchema = Type.Object({ count: Type.Integer(), amount: AmountSchema });

export const ShiftSumsSchema = Type.Object(
  {
    ...ShiftSchema.properties,
    ...{ cash: SumSchema, card: SumSchema, wallet: SumSchema },
    returned: { ...SumSchema, description: "Cash returned in this shift for reversed sales." },
  },
  { title: "ShiftSums" },
);

export const SaleSchema = Type.Object(
  {
    ...TransactionSchema.properties,
    ...{ seller: Type.String(), method: oneOf(SALE_METHODS) },
    customer: CustomerNameSchema,
    state: oneOf(SALE_STATES),
    request: orNull(
      Type.Object(
        { reason: Type.String(), requestedBy: Type.String(), refusal: orNull(Type.String()) },
        { description: "The last request for a reversal." },
      ),
    ),
    cashReturned: orNull(
      Type.Boolean({ description: "Whether the cash was returned; null unless a cash sale is reversed." }),
    ),
  },
  { title: "Sale" },
);

/** @param sums of an open shift; they may be missing if the shift is closed. */
export function shiftData(
  shift: ShiftRow,
  { formatAmount, partnerNames }: Pick<Presenter, "formatAmount" | "partnerNames">,
  sums: ShiftSums | undefined,
): Static<typeof ShiftSchema> {
  const { id, environment, seller, openedAt, closedAt, note } = shift;
  const [opening, counted] = [BigInt(shift.opening), shift.counted === null ? undefined : BigInt(shift.counted)];
  const expected = sums === undefined || closedAt !== null ? BigInt(shift.expected ?? 0) : cashExpected(opening, sums);
  return {
    ...{ id, partner: partnerNames.get(shift.partnerId) ?? String(shift.partnerId), environment, seller },
    ...{ openedAt: isoTime(openedAt), opening: formatAmount(opening), closedAt: isoTimeOrNull(closedAt ?? undefined) },
    expected: formatAmount(expected),
    counted: counted === undefined ? null : formatAmount(counted),
    difference: counted === undefined ? null : formatAmount(counted - expected),
    note,
  };
}

export function shiftSumsData(
  shift: ShiftRow,
  presenter: Pick<Presenter, "formatAmount" | "partnerNames">,
  sums: ShiftSums,
): Static<typeof ShiftSumsSchema> {
  const sumOf = ({ count, amount }: SaleSum) => ({ count, amount: presenter.formatAmount(amount) });
  const { cash, card, wallet, returned } = sums;
  const shown = { cash: sumOf(cash), card: sumOf(card), wallet: sumOf(wallet), returned: sumOf(returned) };
  return { ...shiftData(shift, presenter, sums), ...shown };
}
