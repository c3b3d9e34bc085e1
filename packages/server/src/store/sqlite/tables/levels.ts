/** What a row of customer_row is of: its `level`. */
export const LEVEL = {
  customer: 0,
  connection: 1,
  /** Of one plan of a connection, and the subscription that it folds to. */
  ledger: 2,
} as const;
