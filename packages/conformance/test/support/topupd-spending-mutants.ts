import { CODE } from "./fake-data.ts";
import type { FakeOptions } from "./fake-provider.ts";
import { fail, type Mutant, onPackages, onResult, QUERY, TOP_UP, takes, wrongStatus } from "./mutant.ts";

/** What breaks topupd's decisions in a top-up. */
export const TOPUPD_SPENDING_MUTANTS: readonly Mutant[] = [
  wrongStatus("amount-mismatch", "amount_mismatch"),
  wrongStatus("bouquet-unavailable", "bouquet_unavailable"),
  wrongStatus("checkout-used", "checkout_used", ({ fields: { amt } }) => amt === "1"),
  wrongStatus("checkout-used-each", "checkout_used", ({ fields: { service } }) => service !== "internet"),
  ...(["reqId", "cuid", "service", "bouquetId"] as const).map((comparesNot) => ({
    name: `a repeat with another ${comparesNot} replayed`,
    caught: ["checkout-used-each"],
    change: { comparesNot },
  })),
  ...(["rounded", "with exponent"] as const).map((readsAmount) => ({
    name: `an amount ${readsAmount} taken`,
    caught: ["amt-exact"],
    change: { readsAmount },
  })),
  { name: "a top-up without a token", caught: ["missing-token-topup"], change: takes("missing_token", TOP_UP) },
  { name: "a top-up with any token", caught: ["unknown-token-topup"], change: takes("unknown_token", TOP_UP) },
  {
    name: "a top-up in text/plain",
    caught: ["media-type-topup"],
    change: takes("unsupported_media_type", TOP_UP),
  },
  { name: "a top-up that extends twice", caught: ["topup-extends-by-period"], change: { extendsTwice: true } },
  {
    name: "a top-up that extends by a day only",
    caught: ["topup-extends-by-period", "topup-listed"],
    change: onPackages(({ subscriptions }) => {
      for (const each of subscriptions)
        if (each.startdate === "2026-11-20 00:00:00") each.enddate = "2026-11-21 00:00:00";
    }),
  },
  { name: "a first top-up that is marked as a replay", caught: ["first-not-replayed"], change: markAll },
  { name: "any amount taken", caught: ["amount-mismatch", "refusals-use-nothing"], change: { takesAnyAmount: true } },
  wrongStatus("checkout-mismatch", "checkout_mismatch", ({ fields: { cuid } }) => cuid === CODE),
  wrongStatus("checkout-mismatch", "checkout_mismatch", ({ fields: { cuid } }) => cuid !== CODE),
  ...(["reqId", "cuid"] as const).map((takesAnyOther) => ({
    name: `a checkoutId good for any ${takesAnyOther}`,
    caught: ["checkout-mismatch", "refusals-use-nothing"],
    change: { takesAnyOther },
  })),
  { name: "a refusal that uses the checkoutId up", caught: ["refusals-use-nothing"], change: forgetAfterRefusal },
  {
    name: "a top-up with HTTP 201",
    caught: ["topup-http-200"],
    change: {
      rewrite: (answer, { operation }) => {
        if (operation === TOP_UP && answer.json.success === true && answer.headers["idempotent-replayed"] === undefined)
          answer.status = 201;
      },
    },
  },
  {
    name: "a short txnId",
    caught: ["txn-id-form"],
    change: onResult([TOP_UP, QUERY], (result) => {
      result.txnId = result.txnId.slice(-6);
    }),
  },
  {
    name: "a listing that shows no top-up",
    caught: ["topup-listed"],
    change: onPackages((packages) => {
      packages.subscriptions = packages.subscriptions.slice(0, 1);
    }),
  },
  {
    name: "a replay without its mark",
    caught: ["replay", "replay-amt-number", "replay-elsewhere", "udf-length"],
    change: {
      rewrite: ({ headers }) => {
        delete headers["idempotent-replayed"];
      },
    },
  },
  { name: "a replay refused", caught: ["replay"], change: refuseFirstReplay },
  {
    name: "amt refused as a number",
    caught: ["replay-amt-number"],
    change: {
      rewrite: (answer, { operation, fields }) => {
        if (operation === TOP_UP && typeof fields["amt"] === "number")
          fail(answer, "invalid_field", "400ad002", 400, "fix_request");
      },
    },
  },
  {
    name: "a repeat with other values replayed",
    caught: ["checkout-used", "checkout-used-each", "amt-exact"],
    change: { replaysAnything: true },
  },
  { name: "udf1 of any length", caught: ["udf-length"], only: "v1.0.1", change: { freeFieldMaxLength: 1000 } },
  { name: "a checkoutId good in its own version", caught: ["checkout-elsewhere"], change: { bindsToVersion: true } },
  {
    name: "a query that only its own version answers",
    caught: ["txn-status-elsewhere"],
    change: () => refuseElsewhere(QUERY),
  },
  {
    name: "a replay that only its own version answers",
    caught: ["replay-elsewhere"],
    change: () => refuseElsewhere(TOP_UP),
  },
  {
    name: "repeats that extend",
    caught: ["checkout-extends-once"],
    change: { onReuse: "extend" },
  },
  { name: "a repeat in another form that extends", caught: ["repeats-record-nothing"], change: extendOtherForm },
];

function markAll(): FakeOptions {
  return {
    rewrite: ({ headers, json }, { operation }) => {
      if (operation === TOP_UP && json.success === true) headers["idempotent-replayed"] = "true";
    },
  };
}

export function extendOtherForm(): FakeOptions {
  const extended = new Set<unknown>();
  return {
    rewrite: ({ json }, { operation, text, fields: { service, reqId } }) => {
      if (operation === TOP_UP && /"amt":\d/.test(text)) extended.add(reqId);
      const [first] = json.body[service as string]?.subscriptions ?? [];
      if (extended.has(reqId) && first !== undefined) first.enddate = "2031-01-01 00:00:00";
    },
  };
}

function forgetAfterRefusal(): FakeOptions {
  const refused = new Set<unknown>();
  return {
    rewrite: (answer, { operation, fields }) => {
      const { checkoutId } = fields;
      if (answer.json.success === true) return;
      if (operation === TOP_UP) refused.add(checkoutId);
      else if (refused.has(checkoutId)) fail(answer, "checkout_unknown", "400ab101", 404, "fix_request");
    },
  };
}

function refuseFirstReplay(): FakeOptions {
  const refused = new Set<unknown>();
  return {
    rewrite: (answer, { fields: { checkoutId } }) => {
      if (answer.headers["idempotent-replayed"] === undefined || refused.has(checkoutId)) return;
      refused.add(checkoutId);
      fail(answer, "checkout_used", "400ab103", 409, "query_status");
    },
  };
}

/** Knows a top-up in the version that made it, and not in the other. */
function refuseElsewhere(refusing: string): FakeOptions {
  const madeIn = new Map<unknown, string>();
  return {
    rewrite: (answer, { operation, version, fields: { checkoutId } }) => {
      if (answer.json.success !== true) return;
      if (operation === TOP_UP && !madeIn.has(checkoutId)) madeIn.set(checkoutId, version);
      const isElsewhere = operation === refusing && madeIn.get(checkoutId) !== version;
      if (isElsewhere) fail(answer, "checkout_unknown", "400ab101", 404, "fix_request");
    },
  };
}
