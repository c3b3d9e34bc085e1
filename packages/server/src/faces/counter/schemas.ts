import { Type } from "typebox";
import { SALE_METHODS } from "../../domain/sale.ts";
import { TRANSACTION_STATUSES } from "../../domain/transaction.ts";
import {
  AmountSchema,
  CodeSchema,
  EnvironmentSchema,
  InstantSchema,
  oneOf,
  orNull,
  ServiceSchema,
  WallTimeSchema,
} from "../../office/common.ts";
import { ChainSchema } from "../../office/steps/chains.ts";
import { SPLIT } from "../../office/taxes/lines.ts";

/* Requests and answers of the counter. */

const text = (description: string) => Type.String({ description });

const PlanSchema = Type.Object(
  {
    name: text("Name of the bouquet that was bought last."),
    bouquetId: Type.String(),
    end: WallTimeSchema,
    isRunning: Type.Boolean({ description: "Whether it has not ended." }),
    from: orNull({ ...WallTimeSchema, description: "Its start, if it has not begun." }),
  },
  { title: "SoldPlan", description: "A subscription of the connection." },
);

export const ConnectionSchema = Type.Object(
  {
    service: ServiceSchema,
    reqId: Type.String(),
    plans: Type.Array(PlanSchema),
    problem: orNull(text("Why nothing can be sold for it.")),
  },
  { title: "SoldConnection" },
);

const BuyerSchema = Type.Object({ cuid: Type.String(), name: Type.String() }, { title: "Buyer" });

export const FoundSchema = Type.Object(
  { customer: BuyerSchema, connections: Type.Array(ConnectionSchema) },
  { title: "FoundCustomer" },
);

export const NameOfConnection = {
  cuid: CodeSchema,
  service: ServiceSchema,
  reqId: CodeSchema,
};

export const OfferSchema = Type.Object(
  {
    checkoutId: text("Good for one sale until `validUntil`."),
    validUntil: InstantSchema,
    customer: BuyerSchema,
    connection: ConnectionSchema,
    bouquets: Type.Array(
      Type.Object({
        bouquetId: Type.String(),
        name: Type.String(),
        price: AmountSchema,
        addOn: Type.Boolean(),
        end: { ...WallTimeSchema, description: "End of the subscription after the sale." },
      }),
      { description: "The bouquet that was bought last comes first." },
    ),
  },
  { title: "Offer" },
);

export const SaleSchema = Type.Object({
  checkoutId: Type.String({ minLength: 1, maxLength: 64 }),
  ...NameOfConnection,
  bouquetId: CodeSchema,
  price: Type.String({ maxLength: 40, description: "The price that the offer showed." }),
  method: oneOf(SALE_METHODS, "How the customer paid."),
  receiptNumber: Type.Optional(
    Type.String({
      pattern: "^(?=.*\\S)[^\\p{C}\\p{Zl}\\p{Zp}]{1,30}$",
      description: "Number of your receipt book. It becomes `udf1`.",
    }),
  ),
  again: Type.Optional(
    Type.Boolean({ description: "Sells a plan that your shop sold for the connection within a day." }),
  ),
});

const LineSchema = orNull(Type.String());

export const ReceiptSchema = Type.Object(
  {
    txnId: Type.String(),
    checkoutId: Type.String(),
    environment: EnvironmentSchema,
    status: oneOf(TRANSACTION_STATUSES),
    time: WallTimeSchema,
    number: text("The typed receipt number; the txnId without one."),
    seller: orNull(Type.String()),
    method: orNull(oneOf(SALE_METHODS)),
    provider: Type.Object({ name: LineSchema, address: LineSchema, number: LineSchema, tax: LineSchema }),
    partner: Type.Object({
      name: Type.String(),
      legalName: LineSchema,
      address: LineSchema,
      taxNumber: LineSchema,
      contact: LineSchema,
    }),
    customer: BuyerSchema,
    service: ServiceSchema,
    reqId: Type.String(),
    bouquet: Type.String(),
    currency: orNull(Type.String()),
    price: AmountSchema,
    ...SPLIT,
    why: orNull(text("Why the subscription ends when it does.")),
    chain: orNull(ChainSchema),
  },
  { title: "Receipt" },
);

export const OutcomeSchema = Type.Object(
  {
    state: oneOf(
      ["sold", "open", "never"],
      "`open`: nothing is sold yet, and the sale can be sent. `never`: nothing was sold, and nothing will be.",
    ),
    receipt: orNull(ReceiptSchema),
  },
  { title: "SaleOutcome" },
);
