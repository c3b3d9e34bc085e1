import { type Static, type TSchema, Type } from "typebox";
import { type Bouquet, SERVICES, type Service } from "../../domain/bouquet.ts";
import type { CustomerProfile } from "../../domain/customer.ts";
import { type CurrencyExponent, moneyToJson } from "../../domain/money.ts";
import type { Subscription } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { ConnectionInformation, CustomerInformation, Packages } from "../customers.ts";
import { TOP_UP } from "../requests.ts";
import type { Rendering, Version } from "./version.ts";

/*
 * The answers of the current version. The OpenAPI document is made of these schemas: a schema with a title becomes a
 * component of that name. Fields and their order follow docs/interface.md.
 */

/** A decimal number in major units, such as 1130 or 2847.15. */
export function amount(description: string) {
  return Type.Number({ description: `${description} In major units of the provider's currency.`, minimum: 0 });
}

const cuid = Type.String({ description: "The customer id." });
const reqIdOf = {
  tv: Type.String({ description: "The set-top box number, which is the reqId of the connection." }),
  named: Type.String({ description: "The username, which is the reqId of the connection." }),
};
const status = Type.String({
  enum: ["active", "inactive"],
  description: "An `inactive` connection has lapsed or is blocked; a lapsed one is active again once topped up.",
});

const TvConnection = Type.Object({ stb: reqIdOf.tv, status }, { title: "TvConnection", description: "A set-top box." });

const NamedConnection = Type.Object(
  { username: reqIdOf.named, status },
  { title: "NamedConnection", description: "An internet or IPTV connection." },
);

export const Customer = Type.Object(
  {
    cuid,
    first_name: Type.String({ description: "The customer's given name." }),
    last_name: Type.String({ description: "The customer's family name." }),
    status: Type.String({
      enum: ["active", "inactive"],
      description: "An `inactive` customer is found, and can buy nothing.",
    }),
  },
  { title: "Customer", description: "A customer of the provider." },
);

export const Connections = Type.Object(
  {
    tv: Type.Array(TvConnection, { description: "The customer's set-top boxes." }),
    internet: Type.Array(NamedConnection, { description: "The customer's internet connections." }),
    iptv: Type.Array(NamedConnection, { description: "The customer's IPTV connections." }),
  },
  { title: "Connections", description: "All connections of a customer, by service. A list may be empty." },
);

const SubscriptionItem = Type.Object(
  {
    code: Type.String({ description: "The code of the bouquet bought last." }),
    name: Type.String({ description: "The name of the bouquet bought last." }),
    startdate: timestamp("When the subscription began."),
    enddate: timestamp("When it ends, unless it is topped up."),
  },
  { title: "Subscription", description: "A subscription on the connection." },
);

/** A bouquet without its price, which has another name in each version. */
export const BOUQUET_LABEL = {
  code: Type.String({ description: "What a top-up sends as `bouquetId`." }),
  name: Type.String({
    description:
      "The name, with the period in upper-case parentheses, such as `(MONTHLY)` or `(HALF YEARLY)`. `[AddOn]` marks an add-on.",
  }),
};

/** @param bouquet an item of the bouquets list: versions differ in it. */
export function packagesBody<Item extends TSchema>(bouquet: Item) {
  const listing = <Connection extends TSchema>(title: string, connection: Connection) =>
    Type.Optional(
      Type.Object(
        {
          connection,
          subscriptions: Type.Array(SubscriptionItem, {
            description:
              "The subscriptions that have not ended; the provider may also list those that ended in the last days.",
          }),
          bouquets: Type.Array(bouquet, { description: "What can be bought for the connection." }),
        },
        { title, description: "What runs on a connection, and what can be bought for it." },
      ),
    );
  return Type.Object(
    {
      checkoutId: Type.String({
        description: "Good for one top-up of this connection within five minutes, at the prices listed with it.",
      }),
      customer: Customer,
      tv: listing("TvListing", TvConnection),
      internet: listing("NamedListing", NamedConnection),
      iptv: listing("NamedListing", NamedConnection),
    },
    { description: "Of `tv`, `internet` and `iptv`, the one that the request named as `service` is there." },
  );
}

const TransactionBody = Type.Object(
  {
    result: Type.Object(
      {
        orderId: Type.String({ description: "The checkoutId that was used." }),
        txnId: Type.String({ description: "The provider's number of the top-up." }),
        cuid,
        reqId: Type.String({ description: "The set-top box number or username that was topped up." }),
        bouquetId: Type.String({ description: "The code of the bouquet that was bought." }),
        amt: amount("The amount paid."),
        txnDate: timestamp("When the top-up was recorded."),
        status: Type.String({
          enum: ["success", "reversed"],
          description: "`reversed` if the provider has taken the top-up back since.",
        }),
        service: Type.String({ enum: [...SERVICES], description: "The service of the connection." }),
      },
      { title: "TransactionResult", description: "A top-up on record." },
    ),
  },
  { description: "What is on record." },
);

const CustomerBody = Type.Object(
  {
    customer: Type.Object(
      { ...Customer.properties, connections: Connections },
      { title: "CustomerWithConnections", description: "A customer with all connections." },
    ),
  },
  { description: "The customer who has the code." },
);

const BouquetItem = Type.Object(
  { ...BOUQUET_LABEL, price: amount("What a top-up of it costs, to be sent as `amt`.") },
  { title: "Bouquet", description: "A package that can be bought for the connection." },
);
const PackagesBody = packagesBody(BouquetItem);

export function timestamp(description: string) {
  return Type.String({
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$",
    description: `${description} \`YYYY-MM-DD HH:MM:SS\` in the provider's time zone.`,
  });
}

export const v1_0_1 = {
  name: "v1.0.1",
  successor: undefined,
  topUp: TOP_UP,
  customerInformation: { schema: CustomerBody, render: renderCustomer },
  packages: { schema: PackagesBody, render: renderPackages, write: listingWriter(renderPackages) },
  transaction: { schema: TransactionBody, render: renderTransaction },
} satisfies Version;

function renderCustomer({ customer, connections }: CustomerInformation): Static<typeof CustomerBody> {
  const { cuid, first_name, last_name, status } = renderProfile(customer);
  const of = (service: Service) => connections.filter((connection) => connection.service === service);
  const byService = {
    tv: of("tv").map(renderSetTopBox),
    internet: of("internet").map(renderUsername),
    iptv: of("iptv").map(renderUsername),
  };
  return { customer: { cuid, first_name, last_name, status, connections: byService } };
}

function renderPackages(packages: Packages, exponent: CurrencyExponent): Static<typeof PackagesBody> {
  const { checkoutId, connection } = packages;
  const customer = renderProfile(packages.customer);
  const subscriptions = packages.subscriptions.map(renderSubscription);
  const bouquets = packages.bouquets.map((bouquet) => renderBouquet(bouquet, exponent));
  switch (connection.service) {
    case "tv":
      return { checkoutId, customer, tv: { connection: renderSetTopBox(connection), subscriptions, bouquets } };
    case "internet":
      return { checkoutId, customer, internet: { connection: renderUsername(connection), subscriptions, bouquets } };
    case "iptv":
      return { checkoutId, customer, iptv: { connection: renderUsername(connection), subscriptions, bouquets } };
  }
}

function renderTransaction(transaction: Transaction, exponent: CurrencyExponent): Static<typeof TransactionBody> {
  return {
    result: {
      orderId: transaction.checkoutId,
      txnId: transaction.txnId,
      cuid: transaction.cuid,
      reqId: transaction.reqId,
      bouquetId: transaction.bouquetCode,
      amt: moneyToJson(transaction.amount, exponent),
      txnDate: transaction.txnDate,
      status: transaction.status,
      service: transaction.service,
    },
  };
}

function renderProfile({ cuid, firstName, lastName, status }: CustomerProfile): Static<typeof Customer> {
  return { cuid, first_name: firstName, last_name: lastName, status };
}

function renderSetTopBox({ reqId, status }: ConnectionInformation): Static<typeof TvConnection> {
  return { stb: reqId, status };
}

function renderUsername({ reqId, status }: ConnectionInformation): Static<typeof NamedConnection> {
  return { username: reqId, status };
}

function renderSubscription({ bouquet, start, end }: Subscription): Static<typeof SubscriptionItem> {
  return { code: bouquet.code, name: bouquet.name, startdate: start, enddate: end };
}

function renderBouquet({ code, name, price }: Bouquet, exponent: CurrencyExponent): Static<typeof BouquetItem> {
  return { code, name, price: moneyToJson(price, exponent) };
}

const EMPTY_END = "[]}}}";

/** Writes listings as JSON.stringify does, but makes the JSON of a list of bouquets once: many listings share it. */
export function listingWriter(render: Rendering<Packages>["render"]): NonNullable<Rendering<Packages>["write"]> {
  const written = new WeakMap<readonly Bouquet[], string>();
  return (code, { checkoutId, customer, connection, subscriptions, bouquets }, exponent) => {
    const write = (list: readonly Bouquet[]) => {
      const body = render({ checkoutId, customer, connection, subscriptions, bouquets: list }, exponent);
      return JSON.stringify({ success: true, code, body });
    };
    const beforeTheList = write([]).slice(0, -EMPTY_END.length);
    const list = written.get(bouquets) ?? write(bouquets).slice(beforeTheList.length);
    written.set(bouquets, list);
    return beforeTheList + list;
  };
}
