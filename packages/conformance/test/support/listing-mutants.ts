import type { FakeOptions } from "./fake-provider.ts";
import { LISTING, type Mutant, on, onPackages, QUERY } from "./mutant.ts";

/** What breaks the interface in a listing, or in a query before anything is bought. */
export const LISTING_MUTANTS: readonly Mutant[] = [
  {
    name: "a listing with the code of a top-up",
    caught: ["listing-code"],
    change: on(LISTING, (json) => {
      json.code = "400ab001";
    }),
  },
  {
    name: "a listing with success as a number",
    caught: ["listing-success"],
    change: on(LISTING, (json) => {
      json.success = 1;
    }),
  },
  {
    name: "a listing with HTTP 200 and a page",
    caught: ["listing-json"],
    change: {
      rewrite: (answer, { operation }) => {
        if (operation === LISTING) answer.json = "<html>";
      },
    },
  },
  {
    name: "a checkoutId that is a number",
    caught: ["listing-checkout-id"],
    change: on(LISTING, ({ body }) => {
      body.checkoutId = Number(body.checkoutId.slice(2, 7));
    }),
  },
  { name: "one checkoutId for all listings", caught: ["checkout-unique"], change: { reusesCheckoutIds: true } },
  {
    name: "a listing's cuid that is a number",
    caught: ["listing-customer"],
    change: on(LISTING, ({ body }) => {
      body.customer.cuid = Number(body.customer.cuid);
    }),
  },
  {
    name: "a listing of another customer",
    caught: ["listing-customer"],
    change: on(LISTING, ({ body }) => {
      body.customer.cuid = "4400018";
    }),
  },
  {
    name: "a listing under the wrong key",
    caught: ["listing-key"],
    change: on(LISTING, ({ body }, { fields }) => {
      if (fields["service"] === "tv") {
        body.internet = body.tv;
        delete body.tv;
      }
    }),
  },
  {
    name: "stb for username in a listing",
    caught: ["listing-connection"],
    change: onPackages((packages, { fields }) => {
      if (fields["service"] === "internet") packages.connection = { stb: "maya.net", status: "active" };
    }),
  },
  {
    name: "a listing of another connection",
    caught: ["listing-connection"],
    change: onPackages(({ connection }) => {
      if (connection.stb !== undefined) connection.stb = "000700000000012";
    }),
  },
  {
    name: "no subscriptions",
    caught: ["listing-subscriptions"],
    change: onPackages((packages) => {
      delete packages.subscriptions;
    }),
  },
  {
    name: "a subscription's code that is a number",
    caught: ["subscription-fields"],
    change: onPackages(({ subscriptions }) => {
      subscriptions[0].code = 7;
    }),
  },
  {
    name: "timestamps in ISO form",
    caught: ["subscription-dates"],
    change: onPackages(({ subscriptions }) => {
      subscriptions[0].enddate = `${subscriptions[0].enddate.replace(" ", "T")}Z`;
    }),
  },
  {
    name: "a date that does not exist",
    caught: ["subscription-dates"],
    change: onPackages(({ subscriptions }) => {
      subscriptions[0].startdate = "2026-02-30 00:00:00";
    }),
  },
  {
    name: "end_date for enddate",
    caught: ["subscription-dates"],
    change: onPackages(({ subscriptions }) => {
      subscriptions[0].end_date = subscriptions[0].enddate;
      delete subscriptions[0].enddate;
    }),
  },
  {
    name: "bouquets by their codes",
    caught: ["listing-bouquets"],
    change: onPackages((packages) => {
      packages.bouquets = { "NET-1M": packages.bouquets[0] };
    }),
  },
  {
    name: "a bouquet without a name",
    caught: ["bouquet-fields"],
    change: onPackages(({ bouquets }) => {
      delete bouquets[0].name;
    }),
  },
  {
    name: "amt for price in v1.0.1",
    caught: ["bouquet-price"],
    only: "v1.0.1",
    change: onPackages(({ bouquets }, { version }) => {
      if (version === "v1.0.1") renameAll(bouquets, "price", "amt");
    }),
  },
  {
    name: "price for amt in v1.0.0",
    caught: ["bouquet-price"],
    only: "v1.0.0",
    change: onPackages(({ bouquets }, { version }) => {
      if (version === "v1.0.0") renameAll(bouquets, "amt", "price");
    }),
  },
  {
    name: "prices that are strings",
    caught: ["bouquet-price"],
    change: onPackages(({ bouquets }) => {
      for (const bouquet of bouquets)
        for (const name of ["price", "amt"]) if (bouquet[name] !== undefined) bouquet[name] = bouquet[name].toFixed(2);
    }),
  },
  {
    name: "a bouquet's name without a period",
    caught: ["bouquet-period"],
    change: onPackages(({ bouquets }) => {
      bouquets[0].name = "Fiber 60";
    }),
  },
  {
    name: "a period in lower case",
    caught: ["bouquet-period"],
    change: onPackages(({ bouquets }) => {
      bouquets[0].name = "Fiber 60 (Monthly)";
    }),
  },
  {
    name: "a page for a failed query",
    caught: ["txn-status-unused"],
    change: {
      rewrite: (answer, { operation }) => {
        if (operation === QUERY && answer.json.success === false) answer.json = undefined;
      },
    },
  },
  {
    name: "a period in lower case of another script",
    caught: ["bouquet-period"],
    change: onPackages(({ bouquets }) => {
      bouquets[0].name = "Сеть (ежемесячно)";
    }),
  },
  ...["success", "SUCCESS", "pending", "failed", 1, undefined].flatMap((status) => [
    {
      name: `a top-up of an unused checkoutId, without a txnId, of status ${status}`,
      caught: ["txn-status-unused"],
      change: tellOfUnused((orderId) => ({ orderId, status })),
    },
    {
      name: `a top-up of an unused checkoutId by its txnId, of status ${status}`,
      caught: ["txn-status-unused"],
      change: tellOfUnused(() => ({ orderId: "O-1", txnId: "T-1", status })),
    },
  ]),
  {
    name: "a listing whose body is a string",
    caught: ["listing-body"],
    change: on(LISTING, (json) => {
      json.body = "{}";
    }),
  },
];

function tellOfUnused(resultOf: (checkoutId: unknown) => object): FakeOptions {
  return {
    rewrite: (answer, { operation, fields: { checkoutId } }) => {
      if (operation !== QUERY || answer.json.success === true) return;
      answer.json = { success: true, code: "400ab001", body: { result: resultOf(checkoutId) } };
    },
  };
}

function renameAll(entries: Record<string, unknown>[], from: string, to: string): void {
  for (const entry of entries) {
    entry[to] = entry[from];
    delete entry[from];
  }
}
