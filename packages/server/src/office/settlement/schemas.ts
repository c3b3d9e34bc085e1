import { Type } from "typebox";
import {
  RECONCILIATION_KEYS,
  THEIR_STATUSES,
  type TheirStatus,
  VERDICTS,
  type Verdict,
} from "../../domain/reconciliation.ts";
import { SETTLEMENT_DETAILS } from "../../domain/settlement.ts";
import { TRANSACTION_STATUSES } from "../../domain/transaction.ts";
import {
  AmountSchema,
  ENVIRONMENT,
  InstantSchema,
  oneOf,
  orNull,
  PERIOD,
  ServiceSchema,
  WallTimeSchema,
} from "../common.ts";
import { fileOf } from "../fields.ts";
import { PARTNER } from "../partners/meant.ts";
import { SPLIT } from "../taxes/lines.ts";
import { CustomerNameSchema, TransactionListSchema } from "../transactions/schemas.ts";

export const SettlementInputSchema = Type.Object({
  ...PERIOD,
  ...PARTNER,
  ...ENVIRONMENT,
  detail: Type.Optional(oneOf(SETTLEMENT_DETAILS, "How fine the lines are: of each bouquet unless given.")),
});

const AMOUNTS = {
  topUps: Type.Integer(),
  gross: AmountSchema,
  reversals: Type.Integer(),
  reversed: AmountSchema,
  commission: { ...AmountSchema, description: "Of the top-ups, less that of the reversals." },
  net: { ...AmountSchema, description: "Gross less reversed and commission." },
  ...SPLIT,
  base: { ...AmountSchema, description: "Gross less reversed without taxes, the sum over all top-ups." },
};

export const SettlementLineSchema = Type.Object({
  day: Type.String(),
  partner: Type.String(),
  service: orNull(ServiceSchema),
  bouquetId: orNull(Type.String({ description: "Null if the lines are less detailed." })),
  ...AMOUNTS,
});

const OPEN = { open: Type.Boolean({ description: "Whether top-ups may still be added to the last day." }) };

export const SettlementSchema = Type.Object(
  {
    number: orNull(
      Type.String({ description: "The number on paper, the same for the same days; null without a partner." }),
    ),
    from: Type.String(),
    to: Type.String(),
    ...OPEN,
    settledBy: orNull(
      oneOf(
        ["invoice", "account"],
        "`account`: the net was charged to the partner's account, and its statement says who owes. Null for several partners, and in the trial environment.",
      ),
    ),
    byPartner: Type.Array(Type.Object({ partner: Type.String(), ...AMOUNTS })),
    lines: Type.Array(SettlementLineSchema),
    total: Type.Object(AMOUNTS),
  },
  { title: "Settlement" },
);

/** Usual words of partners for the result of a top-up. */
export const USUAL_WORDS: Readonly<Record<TheirStatus, string>> = {
  success: "success,successful,paid,ok,completed",
  reversed: "reversed,refunded",
  failed: "failed,failure,declined,cancelled",
};

const column = (of: string, usual: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: `The column of the ${of}: ${usual} unless given.` }),
  );
const words = (what: string, status: TheirStatus) =>
  Type.Optional(
    Type.String({
      maxLength: 500,
      description: `Statuses of ${what}, with commas: ${USUAL_WORDS[status]} unless given.`,
    }),
  );

export const ReconciliationInputSchema = Type.Object({
  file: fileOf("A CSV file whose first line names the columns."),
  partner: Type.String({ maxLength: 64, description: "The partner that wrote the file." }),
  ...PERIOD,
  ...ENVIRONMENT,
  key: Type.Optional(oneOf(RECONCILIATION_KEYS, "What tells top-ups apart in the file: checkoutId unless given.")),
  keyColumn: column("key", "as the key"),
  amountColumn: column("amount", "amount"),
  statusColumn: column("status", "none"),
  delimiter: Type.Optional(
    Type.String({ maxLength: 3, description: "Between two cells, or the word tab: a comma unless given." }),
  ),
  successValues: words("paid top-ups", "success"),
  reversedValues: words("reversed top-ups", "reversed"),
  failedValues: words("top-ups that were not made", "failed"),
});

const VerdictSchema = oneOf(Object.keys(VERDICTS) as Verdict[]);
const TOTAL = {
  rows: Type.Integer(),
  theirs: AmountSchema,
  ours: AmountSchema,
  difference: AmountSchema,
};

export const DifferenceSchema = Type.Object({
  verdict: VerdictSchema,
  line: orNull(Type.Integer()),
  key: orNull(Type.String()),
  theirAmount: orNull(AmountSchema),
  theirStatus: orNull(oneOf(THEIR_STATUSES)),
  ourAmount: orNull(AmountSchema),
  ourStatus: orNull(oneOf(TRANSACTION_STATUSES)),
  txnId: orNull(Type.String()),
  checkoutId: orNull(Type.String()),
  cuid: orNull(Type.String()),
  customer: CustomerNameSchema,
  txnDate: orNull(WallTimeSchema),
  at: orNull(InstantSchema),
  problem: orNull(
    Type.String({ description: "Why the line cannot be read, or that leading zeros of its key are lost." }),
  ),
});

export const ReconciliationSchema = Type.Object(
  {
    from: Type.String(),
    to: Type.String(),
    ...OPEN,
    prunedBefore: TransactionListSchema.properties.prunedBefore,
    total: Type.Object(TOTAL),
    verdicts: Type.Array(
      Type.Object({
        verdict: VerdictSchema,
        ...TOTAL,
        advice: orNull(Type.String({ description: "The next step; null if none is needed." })),
      }),
    ),
    differing: Type.Integer({ description: "Number of all differences." }),
    differences: Type.Array(DifferenceSchema, { description: "The first 10,000 differences." }),
  },
  { title: "Reconciliation" },
);
