import type { FakeOptions } from "./fake-provider.ts";
import { LISTING, type Mutant, QUERY, TOP_UP } from "./mutant.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer is changed into all kinds of things
type Change = (json: any) => void;

/** What breaks the interface only once a top-up was made, or once it was sent again. */
export const LATER_MUTANTS: readonly Mutant[] = [
  {
    name: "another code in listings after a top-up",
    caught: ["listing-code"],
    change: () =>
      afterTopUp((json) => {
        json.code = "400ab001";
      }),
  },
  {
    name: "no customer in listings after a top-up",
    caught: ["listing-customer"],
    change: () =>
      afterTopUp(({ body }) => {
        delete body.customer;
      }),
  },
  {
    name: "prices as strings after a top-up",
    caught: ["bouquet-price"],
    change: () =>
      afterTopUp(({ body }) => {
        for (const bouquet of body.internet.bouquets)
          for (const name of ["price", "amt"]) if (name in bouquet) bouquet[name] = String(bouquet[name]);
      }),
  },
  {
    name: "timestamps in ISO form after a top-up",
    caught: ["subscription-dates"],
    change: () =>
      afterTopUp(({ body }) => {
        for (const each of body.internet.subscriptions) each.enddate = `${each.enddate.replace(" ", "T")}Z`;
      }),
  },
  { name: "a page for each listing after a top-up", caught: ["listing-json"], change: pageAfterTopUp },
  { name: "a used checkoutId given once more", caught: ["checkout-unique"], change: giveUsedAgain },
  {
    name: "the checkoutIds of the other version",
    caught: ["checkout-unique"],
    only: "v1.0.0",
    change: giveThoseOfOtherVersion,
  },
  {
    name: "a repeat with the code of a look-up",
    caught: ["topup-code"],
    change: () =>
      onRepeat((json) => {
        json.code = "400aa010";
      }),
  },
  {
    name: "a repeat with an orderId of its own",
    caught: ["result-order-id"],
    change: () =>
      onRepeat(({ body }) => {
        body.result.orderId = "O-2";
      }),
  },
  {
    name: "a repeat without a txnId",
    caught: ["result-txn-id"],
    change: () =>
      onRepeat(({ body }) => {
        delete body.result.txnId;
      }),
  },
  {
    name: "a repeat without a result",
    caught: ["result-object"],
    change: () =>
      onRepeat(({ body }) => {
        delete body.result;
      }),
  },
  {
    name: "a repeat with another amount",
    caught: ["result-amt"],
    change: () =>
      onRepeat(({ body }) => {
        body.result.amt = 1;
      }),
  },
  {
    name: "a used token that extends twice, listed by codes of plans",
    caught: ["checkout-extends-once"],
    only: "v1.0.1",
    change: {
      onReuse: "extend",
      rewrite: ({ json }, { operation }) => {
        if (operation !== LISTING) return;
        for (const each of json.body.internet?.subscriptions ?? []) each.code = "PLAN-1";
      },
    },
  },
  ...["amt", "bouquetId", "cuid", "orderId", "txnDate"].map((name) => ({
    name: `another ${name} in the query after a repeat`,
    caught: ["checkout-one-time"],
    change: () => onSecondQuery(name),
  })),
  {
    name: "udf1 and udf2 both required",
    caught: ["topup-success"],
    only: "v1.0.1",
    change: { needsBothReferences: true },
  },
];

/** Changes the successes of listings, of a version in which a top-up was made. */
function afterTopUp(change: Change): FakeOptions {
  const made = new Set<string>();
  return {
    rewrite: ({ json }, { operation, version }) => {
      if (operation === TOP_UP && json.success === true) made.add(version);
      if (operation === LISTING && made.has(version) && json.success === true) change(json);
    },
  };
}

function pageAfterTopUp(): FakeOptions {
  const made = new Set<string>();
  return {
    rewrite: (answer, { operation, version }) => {
      if (operation === TOP_UP && answer.json.success === true) made.add(version);
      if (operation === LISTING && made.has(version)) Object.assign(answer, { status: 500, json: undefined });
    },
  };
}

function giveUsedAgain(): FakeOptions {
  const used = new Map<string, unknown>();
  return {
    rewrite: ({ json }, { operation, version, fields }) => {
      if (operation === TOP_UP) used.set(version, fields["checkoutId"]);
      if (operation === LISTING && used.has(version)) json.body.checkoutId = used.get(version);
    },
  };
}

/** In the listings before the first top-up. */
function giveThoseOfOtherVersion(): FakeOptions {
  const given: unknown[] = [];
  let isToppedUp = false;
  return {
    rewrite: ({ json }, { operation, version }) => {
      isToppedUp ||= operation === TOP_UP;
      if (operation !== LISTING || isToppedUp || json.success !== true) return;
      if (version === "v1.0.1") given.push(json.body.checkoutId);
      else json.body.checkoutId = given.shift() ?? json.body.checkoutId;
    },
  };
}

/** Answers a repeat as the first time, and changes that. */
function onRepeat(change: Change): FakeOptions {
  const first = new Map<unknown, unknown>();
  return {
    rewrite: (answer, { operation, fields: { checkoutId } }) => {
      if (operation !== TOP_UP) return;
      if (!first.has(checkoutId)) {
        first.set(checkoutId, structuredClone(answer.json));
        return;
      }
      answer.json = structuredClone(first.get(checkoutId));
      change(answer.json);
    },
  };
}

function onSecondQuery(name: string): FakeOptions {
  const asked = new Set<unknown>();
  return {
    rewrite: ({ json }, { operation, fields: { checkoutId } }) => {
      if (operation !== QUERY || json.success !== true) return;
      if (asked.has(checkoutId)) json.body.result[name] = "2031-01-01 00:00:00";
      asked.add(checkoutId);
    },
  };
}
