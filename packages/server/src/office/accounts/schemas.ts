import { Type } from "typebox";
import { ACCOUNT_ENTRY_KINDS, OWING, STAFF_ENTRY_KINDS } from "../../domain/account.ts";
import {
  AmountSchema,
  amountInput,
  EnvironmentSchema,
  InstantSchema,
  NameSchema,
  oneOf,
  orNull,
  PAGE,
  PERIOD,
  PREVIEW,
  pageOf,
  ReasonSchema,
  ServiceSchema,
  WallTimeSchema,
} from "../common.ts";
import { BalanceStateSchema, PartnerName } from "../partners/presenter.ts";
import { splitOrNull } from "../taxes/lines.ts";
import { TransactionListSchema } from "../transactions/schemas.ts";

/** Input that names an account. */
export const ACCOUNT = {
  name: PartnerName,
  environment: Type.Optional({
    ...EnvironmentSchema,
    description: "Environment of the account (default: production).",
  }),
};
const OF_ACCOUNT = { partner: Type.String(), environment: EnvironmentSchema };
const Currency = orNull(Type.String({ description: "Code of ISO 4217; null if it is not set." }));
const amount = (description: string) => ({ ...AmountSchema, description });

const OwingSchema = oneOf(OWING, "Who owes the balance.");

export const AccountSchema = Type.Object(
  {
    ...OF_ACCOUNT,
    balance: amount("Sum of all entries; negative if the partner owes."),
    creditLimit: orNull(amount("What the partner may owe; null: any amount.")),
    available: orNull(amount("Balance and credit limit; null without a credit limit.")),
    alertBelow: orNull(amount("A balance below it is an alert; null: none.")),
    balanceState: BalanceStateSchema,
    owing: OwingSchema,
    currency: Currency,
  },
  { title: "Account" },
);

const SECOND_PERSON = {
  secondPerson: Type.Boolean({
    description: "Whether a second person must confirm the entry or the credit limit first.",
  }),
};

export const ChangedAccountSchema = Type.Object(
  { ...AccountSchema.properties, ...SECOND_PERSON },
  { title: "ChangedAccount" },
);

export const EntryInputSchema = Type.Object({
  ...ACCOUNT,
  kind: oneOf(STAFF_ENTRY_KINDS),
  amount: amountInput("Amount, such as 5000.00; an adjustment can be negative."),
  reference: Type.String({
    ...NameSchema,
    description: "Your reference: it makes one entry, however often it is sent.",
  }),
  reason: Type.Optional(ReasonSchema),
  ...PREVIEW,
});

export const EntryEffectSchema = Type.Object(
  {
    ...OF_ACCOUNT,
    kind: oneOf(STAFF_ENTRY_KINDS),
    amount: amount("Effect on the balance."),
    reference: Type.String(),
    reason: orNull(Type.String()),
    author: Type.String(),
    at: orNull(Type.String({ description: "Instant of the entry; null in a preview, and until it is confirmed." })),
    before: amount("Balance before."),
    after: amount("Balance after; the same if the entry was made before."),
    ...SECOND_PERSON,
  },
  { title: "AccountEntryEffect" },
);

/** An entry in a list or file. */
export const EntrySchema = Type.Object(
  {
    txnDate: WallTimeSchema,
    at: InstantSchema,
    kind: oneOf(ACCOUNT_ENTRY_KINDS),
    gross: orNull(amount("Price of the top-up; null for other entries.")),
    commission: orNull(amount("Commission of the top-up.")),
    ...splitOrNull("Gross without taxes."),
    amount: amount("Effect on the balance."),
    balance: amount("Balance after the entry."),
    reference: orNull(Type.String({ description: "Null for top-ups and reversals." })),
    txnId: orNull(Type.String({ description: "The top-up, or the reversed one." })),
    checkoutId: orNull(Type.String()),
    author: orNull(Type.String()),
    reason: orNull(Type.String()),
  },
  { title: "AccountEntry" },
);

export const EntriesInputSchema = Type.Object({ ...ACCOUNT, ...PERIOD, ...PAGE });

export const EntriesSchema = pageOf(EntrySchema, {
  from: Type.String(),
  to: Type.String(),
  opening: amount("Balance before the first day."),
  closing: amount("Balance after the last day, or now."),
  prunedBefore: TransactionListSchema.properties.prunedBefore,
});

export const StatementInputSchema = Type.Object({
  ...ACCOUNT,
  month: Type.String({
    pattern: "^[12][0-9]{3}-(?:0[1-9]|1[0-2])$",
    "x-problem": "must be a month such as 2026-11",
    description: "A month of the provider's clock, such as 2026-11.",
  }),
});

/** The lines of a statement: sales of the month, then each entry by staff. */
const STATEMENT_LINES = ["top_up", "commission", "reversal", ...STAFF_ENTRY_KINDS] as const;

export const StatementSchema = Type.Object(
  {
    number: Type.String({ description: "The number of the settlement of the month." }),
    ...OF_ACCOUNT,
    from: Type.String(),
    to: Type.String(),
    open: Type.Boolean({ description: "Whether entries may still be added." }),
    opening: amount("Balance before the month."),
    lines: Type.Array(
      Type.Object({
        kind: oneOf(
          STATEMENT_LINES,
          "Prices of the top-ups, their commission, prices of the reversed ones; then entries.",
        ),
        count: orNull(Type.Integer({ description: "Number of top-ups or reversals." })),
        txnDate: orNull(WallTimeSchema),
        reference: orNull(Type.String()),
        reason: orNull(Type.String()),
        amount: amount("Effect on the balance."),
      }),
    ),
    closing: amount("Balance after the month, or now: opening and all lines."),
    owing: OwingSchema,
    owed: amount("The closing balance without its sign."),
    currency: Currency,
  },
  { title: "Statement" },
);

export const CommissionRuleSchema = Type.Object(
  {
    from: Type.String({ description: "First day of the rule." }),
    service: orNull(ServiceSchema),
    bouquetId: orNull(Type.String()),
    percent: orNull(Type.String({ description: "Of the price; null if the amount is fixed." })),
    fixed: orNull(amount("For each top-up; null if it is a percentage.")),
  },
  { title: "CommissionRule" },
);
