import { Type } from "typebox";
import { SERVICES } from "../../domain/bouquet.ts";
import { SALE_METHODS } from "../../domain/sale.ts";
import { TRANSACTION_STATUSES, type Transaction } from "../../domain/transaction.ts";
import {
  AmountSchema,
  CodeSchema,
  DAYS,
  ENVIRONMENT,
  EnvironmentSchema,
  InstantSchema,
  oneOf,
  orNull,
  PAGE,
  pageOf,
  RunSchema,
  ServiceSchema,
  WallTimeSchema,
} from "../common.ts";
import { ApprovalSchema } from "../second-person.ts";
import { SPLIT } from "../taxes/lines.ts";
import { MOST_LOOKED_AT } from "./lists.ts";

const text = (description: string) =>
  Type.Optional(Type.String({ maxLength: 200, pattern: "^\\P{Cc}*$", description }));
const code = (description: string) => Type.Optional(Type.String({ ...CodeSchema, description }));

/** Fields that filter top-ups. */
export const FILTER = {
  ...ENVIRONMENT,
  ...DAYS,
  partner: text("Made by this partner."),
  service: Type.Optional(oneOf(SERVICES, "Of this service.")),
  cuid: code("Of this customer: the fastest search."),
  name: text("Customers whose names or areas have words that begin with all these words."),
  reqId: code("Of this set-top box number or username."),
  bouquet: code("Of the bouquet with this code."),
  status: Type.Optional(oneOf(TRANSACTION_STATUSES, "With this status.")),
  amount: Type.Optional(Type.String({ maxLength: 40, description: "Amount, such as 1130 or 1130.50." })),
  udf1: text("With this udf1, the partner's own reference."),
  udf2: text("With this udf2."),
  seller: text("Sold by this person at a counter."),
};
export const FilterSchema = Type.Object(FILTER);
export const TotalsInputSchema = Type.Object({ ...FILTER, cursor: PAGE.cursor });
/** Filters that must equal the value of the same name in the top-up. */
export const EQUAL = ["service", "reqId", "status", "udf1", "udf2"] as const satisfies (keyof typeof FILTER &
  keyof Transaction)[];

export const IdSchema = Type.String({
  maxLength: 64,
  pattern: "^\\P{Cc}+$",
  description: "The txnId or checkoutId of a top-up.",
});

export const TransactionSchema = Type.Object(
  {
    txnId: Type.String(),
    checkoutId: Type.String(),
    status: oneOf(TRANSACTION_STATUSES),
    partner: Type.String(),
    environment: EnvironmentSchema,
    cuid: Type.String(),
    service: ServiceSchema,
    reqId: Type.String(),
    bouquetId: Type.String(),
    bouquetName: orNull(Type.String()),
    amount: AmountSchema,
    commission: AmountSchema,
    txnDate: WallTimeSchema,
    at: InstantSchema,
    udf1: orNull(Type.String()),
    udf2: orNull(Type.String()),
    seller: orNull(Type.String({ description: "The person who sold it at a counter; null for a partner's program." })),
    method: orNull(oneOf(SALE_METHODS, "How the customer paid at the counter.")),
  },
  { title: "Transaction" },
);

/** A customer's name; null if the customer is unknown. */
export const CustomerNameSchema = orNull(Type.Object({ firstName: Type.String(), lastName: Type.String() }));

const ListedTransactionSchema = Type.Object(
  { ...TransactionSchema.properties, customer: CustomerNameSchema },
  { title: "ListedTransaction" },
);

export const TransactionListSchema = pageOf(ListedTransactionSchema, {
  reached: orNull(
    Type.String({
      description: `Time of the last of the ${MOST_LOOKED_AT} top-ups that a page looks at; null if it looked at fewer.`,
    }),
  ),
  prunedBefore: orNull(
    Type.String({ description: "The day before which history was deleted; null if the list is complete." }),
  ),
});

export const TransactionTotalsSchema = Type.Object(
  {
    count: Type.Integer(),
    amount: AmountSchema,
    reversed: Type.Integer(),
    reversedAmount: AmountSchema,
    cursor: orNull(Type.String({ description: "Send it to continue these sums; null if they are complete." })),
    reached: orNull(Type.String({ description: "They contain top-ups back to this time; null if they are complete." })),
  },
  { title: "TransactionTotals" },
);

const EFFECT = { before: orNull(RunSchema), after: orNull(RunSchema) };

export const TransactionDetailSchema = Type.Object(
  {
    ...TransactionSchema.properties,
    ...SPLIT,
    customer: orNull(Type.Object({ firstName: Type.String(), lastName: Type.String(), mobile: orNull(Type.String()) })),
    plan: orNull(Type.String()),
    ...EFFECT,
    reversal: orNull(
      Type.Object({
        at: InstantSchema,
        wall: WallTimeSchema,
        author: Type.String(),
        reason: Type.String(),
        ...EFFECT,
      }),
    ),
    approval: orNull(ApprovalSchema),
  },
  { title: "TransactionDetail" },
);

export const TransactionReversalSchema = Type.Object(
  { ...TransactionSchema.properties, plan: Type.String(), ...EFFECT, approval: orNull(ApprovalSchema) },
  {
    title: "TransactionReversal",
    description:
      "With the status `success`, nothing is reversed: a second person must confirm the request in `approval`.",
  },
);

export const ExportedTransactionSchema = Type.Object(
  {
    ...TransactionSchema.properties,
    ...SPLIT,
    reversedAt: orNull(InstantSchema),
    reversedBy: orNull(Type.String()),
    reversalReason: orNull(Type.String()),
    customerName: orNull(
      Type.String({ description: "Current name of the customer; null if the customer is unknown." }),
    ),
  },
  { title: "ExportedTransaction" },
);
