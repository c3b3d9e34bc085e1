import { Type } from "typebox";
import { TRANSACTION_STATUSES } from "../../domain/top-up.ts";
import {
  AmountSchema,
  EnvironmentSchema,
  InstantSchema,
  oneOf,
  orNull,
  ServiceSchema,
  WallTimeSchema,
} from "./common.ts";

const TransactionFields = {
  txnId: Type.String(),
  checkoutId: Type.String(),
  status: oneOf(TRANSACTION_STATUSES),
  environment: EnvironmentSchema,
  partner: Type.String(),
  cuid: Type.String(),
  service: ServiceSchema,
  reqId: Type.String(),
  bouquetId: Type.String(),
  bouquetName: orNull(Type.String()),
  amount: AmountSchema,
  at: InstantSchema,
  txnDate: WallTimeSchema,
  udf1: orNull(Type.String()),
  udf2: orNull(Type.String()),
};

export const TransactionSchema = Type.Object(TransactionFields, { title: "Transaction" });

export const TransactionTotalsSchema = Type.Object(
  { count: Type.Integer(), amount: AmountSchema, reversed: Type.Integer(), reversedAmount: AmountSchema },
  { title: "TransactionTotals" },
);
