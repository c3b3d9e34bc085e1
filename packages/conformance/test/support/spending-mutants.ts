import type { FakeOptions } from "./fake-provider.ts";
import { type Mutant, on, onResult, QUERY, TOP_UP } from "./mutant.ts";

const BOTH = [TOP_UP, QUERY];

/** What breaks the interface in a top-up. */
export const SPENDING_MUTANTS: readonly Mutant[] = [
  {
    name: "a top-up with the code of a look-up",
    caught: ["topup-code"],
    change: on(TOP_UP, (json) => {
      json.code = "400aa010";
    }),
  },
  {
    name: "a top-up with success as a string",
    caught: ["topup-success"],
    change: on(TOP_UP, (json) => {
      json.success = "true";
    }),
  },
  {
    name: "a top-up without a body",
    caught: ["topup-body"],
    change: on(TOP_UP, (json) => {
      delete json.body;
    }),
  },
  {
    name: "a top-up answered by a page",
    caught: ["topup-json"],
    only: "v1.0.1",
    change: {
      rewrite: (answer, { operation }) => {
        if (operation === TOP_UP) answer.json = undefined;
      },
    },
  },
  {
    name: "udf1 of 30 characters refused",
    caught: ["topup-success"],
    change: { freeFieldMaxLength: 29 },
    only: "v1.0.1",
  },
  {
    name: "a query with the code of a look-up",
    caught: ["txn-status-code"],
    change: on(QUERY, (json) => {
      json.code = "400aa010";
    }),
  },
  {
    name: "a query that fails after a top-up",
    caught: ["txn-status-success"],
    change: on(QUERY, (json) => {
      json.success = false;
    }),
  },
  {
    name: "a query with success as a string",
    caught: ["txn-status-success"],
    change: on(QUERY, (json) => {
      json.success = "true";
    }),
  },
  {
    name: "a query without result",
    caught: ["result-object"],
    change: on(QUERY, ({ body }) => {
      delete body.result;
    }),
  },
  {
    name: "a result straight in the body",
    caught: ["result-object"],
    change: on(BOTH, (json) => {
      json.body = json.body.result;
    }),
  },
  {
    name: "an orderId of its own",
    caught: ["result-order-id"],
    change: onResult(BOTH, (result) => {
      result.orderId = "O-1";
    }),
  },
  {
    name: "a txnId that is a number",
    caught: ["result-txn-id"],
    change: onResult(BOTH, (result) => {
      result.txnId = 17;
    }),
  },
  {
    name: "the stb for reqId",
    caught: ["result-values"],
    change: onResult(BOTH, (result) => {
      result.stb = result.reqId;
      delete result.reqId;
    }),
  },
  {
    name: "a cuid that is a number in the result",
    caught: ["result-values"],
    change: onResult(BOTH, (result) => {
      result.cuid = Number(result.cuid);
    }),
  },
  {
    name: "amounts that are strings",
    caught: ["result-amt"],
    change: onResult(BOTH, (result) => {
      result.amt = String(result.amt);
    }),
  },
  {
    name: "an amount with a fee",
    caught: ["result-amt"],
    change: onResult(BOTH, (result) => {
      result.amt += 5;
    }),
  },
  {
    name: "a txnDate in ISO form",
    caught: ["result-txn-date"],
    change: onResult(BOTH, (result) => {
      result.txnDate = `${result.txnDate.replace(" ", "T")}Z`;
    }),
  },
  {
    name: "a txnDate in seconds since 1970",
    caught: ["result-txn-date"],
    change: onResult(BOTH, (result) => {
      result.txnDate = 1_795_132_800;
    }),
  },
  {
    name: "a status that is a number",
    caught: ["result-status"],
    change: onResult(BOTH, (result) => {
      result.status = 1;
    }),
  },
  {
    name: "another txnId in the query",
    caught: ["txn-status-same"],
    change: onResult(QUERY, (result) => {
      result.txnId = `${result.txnId}-2`;
    }),
  },
  {
    name: "another date in the query",
    caught: ["txn-status-same"],
    change: onResult(QUERY, (result) => {
      result.txnDate = "2026-11-21 00:00:00";
    }),
  },
  {
    name: "the first top-up in every query",
    caught: ["txn-status-unused", "result-order-id", "result-values", "result-amt", "txn-status-same"],
    change: { tellsFirstTopUp: true },
  },
  {
    name: "one txnId for all top-ups",
    caught: ["txn-id-unique"],
    only: "versions",
    change: onResult(BOTH, (result) => {
      result.txnId = "TXN-1";
    }),
  },
  {
    name: "a used token charged twice",
    caught: ["checkout-one-time", "checkout-extends-once"],
    change: { onReuse: "charge" },
    only: "v1.0.1",
  },
  {
    name: "a used token that extends twice behind one txnId",
    caught: ["checkout-extends-once"],
    change: { onReuse: "extend" },
    only: "v1.0.1",
  },
  {
    name: "a query answered by a page",
    caught: ["txn-status-unused", "txn-status-json"],
    change: {
      rewrite: (answer, { operation }) => {
        if (operation === QUERY) answer.json = undefined;
      },
    },
  },
  {
    name: "a query whose body is null",
    caught: ["txn-status-body"],
    change: on(QUERY, (json) => {
      json.body = null;
    }),
  },
  { name: "an expired checkoutId taken", caught: ["checkout-expires"], only: "v1.0.1", change: { neverExpires: true } },
  { name: "a used token whose top-up is forgotten", caught: ["checkout-one-time"], change: forgetReused },
];

function forgetReused(): FakeOptions {
  const used = new Map<unknown, number>();
  return {
    rewrite: (answer, { operation, fields: { checkoutId } }) => {
      if (operation === TOP_UP) used.set(checkoutId, (used.get(checkoutId) ?? 0) + 1);
      if (operation === QUERY && used.get(checkoutId) === 2) answer.json = { success: false, code: "E", body: {} };
    },
  };
}
