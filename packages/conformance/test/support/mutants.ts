import type { FakeOptions, Request } from "./fake-provider.ts";
import type { Answer } from "./fake-rules.ts";

/** A service with one thing wrong, and the checks that must say so: these and no others. */
export interface Mutant {
  readonly name: string;
  readonly caught: readonly string[];
  readonly change: FakeOptions;
  /** The versions in which it is caught; both unless said. */
  readonly only?: "v1.0.1" | "v1.0.0";
  /** It can be caught by topping up only. */
  readonly isSpending?: boolean;
}

const LOOK_UP = "get-customer-information";
const LISTING = "get-subscription-package";
const TOP_UP = "subscription-package-topup";
const QUERY = "txn-status";

// biome-ignore lint/suspicious/noExplicitAny: an answer is changed into all kinds of things
type Change = (json: any, request: Request) => void;

/** Changes the successes of some operations. */
function on(operations: string | readonly string[], change: Change): FakeOptions {
  const all = [operations].flat();
  return {
    rewrite: ({ json }: Answer, request: Request) => {
      if (all.includes(request.operation) && json.success === true) change(json, request);
    },
  };
}

/** Changes the customer and the connections of a look-up, wherever they stand. */
function onConnections(change: Change): FakeOptions {
  return on(LOOK_UP, ({ body }, request) => change(body.connection ?? body.customer.connections, request));
}

/** Changes what stands under the service's key in a listing. */
function onPackages(change: Change): FakeOptions {
  return on(LISTING, ({ body }, request) => change(body[request.fields["service"] as string], request));
}

function onResult(operations: string | readonly string[], change: Change): FakeOptions {
  return on(operations, ({ body }, request) => change(body.result, request));
}

const BOTH = [TOP_UP, QUERY];

/** What breaks the interface while nothing is spent. */
const READING_MUTANTS: readonly Mutant[] = [
  {
    name: "a look-up with the code of a top-up",
    caught: ["lookup-code"],
    change: on(LOOK_UP, (json) => {
      json.code = "400ab001";
    }),
  },
  {
    name: "a look-up with success as a string",
    caught: ["lookup-success"],
    change: on(LOOK_UP, (json) => {
      json.success = "true";
    }),
  },
  {
    name: "a look-up without success",
    caught: ["lookup-success"],
    change: on(LOOK_UP, (json) => {
      delete json.success;
    }),
  },
  {
    name: "a look-up whose body is an array",
    caught: ["lookup-body"],
    change: on(LOOK_UP, (json) => {
      json.body = [json.body];
    }),
  },
  {
    name: "a look-up that is an array",
    caught: ["lookup-json"],
    change: {
      rewrite: (answer, { operation }) => {
        if (operation === LOOK_UP) answer.json = [answer.json];
      },
    },
  },
  {
    name: "a look-up that fails",
    caught: ["lookup-success"],
    change: on(LOOK_UP, (json) => {
      json.success = false;
    }),
  },
  {
    name: "a body without customer",
    caught: ["customer-object"],
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.0") delete body.customer;
    }),
    only: "v1.0.0",
  },
  {
    name: "a cuid that is a number",
    caught: ["customer-cuid"],
    change: on(LOOK_UP, ({ body }) => {
      body.customer.cuid = Number(body.customer.cuid);
    }),
  },
  {
    name: "a last_name that is null",
    caught: ["customer-names"],
    change: on(LOOK_UP, ({ body }) => {
      body.customer.last_name = null;
    }),
  },
  {
    name: "firstName for first_name",
    caught: ["customer-names"],
    change: on(LOOK_UP, ({ body: { customer } }) => {
      customer.firstName = customer.first_name;
      delete customer.first_name;
    }),
  },
  {
    name: "a customer status that is a boolean",
    caught: ["customer-status"],
    change: on(LOOK_UP, ({ body }) => {
      body.customer.status = true;
    }),
  },
  {
    name: "connections beside the customer in v1.0.1",
    caught: ["connections-place"],
    only: "v1.0.1",
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.1") {
        body.connections = body.customer.connections;
        delete body.customer.connections;
      }
    }),
  },
  {
    name: "connections inside the customer in v1.0.0",
    caught: ["connections-place"],
    only: "v1.0.0",
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.0") {
        body.customer.connections = body.connection;
        delete body.connection;
      }
    }),
  },
  {
    name: "connections for connection in v1.0.0",
    caught: ["connections-place"],
    only: "v1.0.0",
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.0") {
        body.connections = body.connection;
        delete body.connection;
      }
    }),
  },
  {
    name: "no key iptv",
    caught: ["connections-arrays"],
    change: onConnections((connections) => {
      delete connections.iptv;
    }),
  },
  {
    name: "an iptv that is null",
    caught: ["connections-arrays"],
    change: onConnections((connections) => {
      connections.iptv = null;
    }),
  },
  {
    name: "stb for username",
    caught: ["internet-items"],
    change: onConnections(({ internet }) => {
      internet[0] = { stb: internet[0].username, status: "active" };
    }),
  },
  {
    name: "an stb that is a number",
    caught: ["tv-items"],
    change: onConnections(({ tv }) => {
      tv[1].stb = 12;
    }),
  },
  {
    name: "no status of a set-top box",
    caught: ["tv-items"],
    change: onConnections(({ tv }) => {
      delete tv[1].status;
    }),
  },
  {
    name: "no look-up by set-top box",
    caught: ["lookup-by-stb"],
    change: {
      rewrite: (answer, { operation, fields }) => {
        if (operation === LOOK_UP && fields["code"] === "000700000000011")
          answer.json = { success: false, code: "E", body: {} };
      },
    },
    only: "v1.0.1",
  },
  {
    name: "no look-up by username",
    caught: ["lookup-by-username"],
    change: {
      rewrite: (answer, { operation, fields }) => {
        if (operation === LOOK_UP && fields["code"] === "maya.net")
          answer.json = { success: false, code: "E", body: {} };
      },
    },
  },
  {
    name: "a stranger for a username",
    caught: ["lookup-by-username"],
    change: on(LOOK_UP, ({ body }, { fields }) => {
      if (fields["code"] === "maya.net") body.customer.cuid = "4400018";
    }),
  },
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
];

/** What breaks the interface in a top-up. */
const SPENDING_MUTANTS: readonly Mutant[] = [
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
    name: "a used token charged twice",
    caught: ["checkout-one-time", "checkout-extends-once"],
    change: { onReuse: "charge" },
  },
  {
    name: "a used token that extends twice behind one txnId",
    caught: ["checkout-extends-once"],
    change: { onReuse: "extend" },
  },
];

export const MUTANTS: readonly Mutant[] = [
  ...READING_MUTANTS,
  ...SPENDING_MUTANTS.map((mutant) => ({ ...mutant, isSpending: true })),
];

function renameAll(entries: Record<string, unknown>[], from: string, to: string): void {
  for (const entry of entries) {
    entry[to] = entry[from];
    delete entry[from];
  }
}
