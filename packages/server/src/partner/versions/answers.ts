import { type TSchema, Type } from "typebox";
import { type Bouquet, SERVICES } from "../../domain/bouquet.ts";
import type { Packages } from "../customers.ts";
import type { Rendering } from "./version.ts";

/*
 * What answers hold, in both versions (interface, section 2). The contract is made of these schemas: a schema with a title becomes a component of that name.
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

export const TvConnection = Type.Object(
  { stb: reqIdOf.tv, status },
  { title: "TvConnection", description: "A set-top box." },
);

export const NamedConnection = Type.Object(
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

export const SubscriptionItem = Type.Object(
  {
    code: Type.String({ description: "The code of the bouquet bought last." }),
    name: Type.String({ description: "The name of the bouquet bought last." }),
    startdate: timestamp("When the subscription began."),
    enddate: timestamp("When it ends, unless it is topped up."),
  },
  { title: "Subscription", description: "A subscription on the connection." },
);

/** What a bouquet is called: its price has another name in each version. */
export const BOUQUET_LABEL = {
  code: Type.String({ description: "What a top-up sends as `bouquetId`." }),
  name: Type.String({
    description:
      "The name, with the period in upper-case parentheses, such as `(MONTHLY)` or `(HALF YEARLY)`. `[AddOn]` marks an add-on.",
  }),
};

/** @param bouquet the item of the bouquets list, in which versions differ. */
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

export const TransactionBody = Type.Object(
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

function timestamp(description: string) {
  return Type.String({
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$",
    description: `${description} \`YYYY-MM-DD HH:MM:SS\` in the provider's time zone.`,
  });
}

const EMPTY_END = "[]}}}";

/**
 * Writes listings as JSON.stringify does. Their bouquets come last and are the same for many listings, and the longest
 * part of each: their JSON is made once.
 */
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
