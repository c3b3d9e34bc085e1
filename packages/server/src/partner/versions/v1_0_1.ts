import { type Static, Type } from "typebox";
import type { Bouquet, Service } from "../../domain/bouquet.ts";
import type { CustomerProfile } from "../../domain/customer.ts";
import { type CurrencyExponent, moneyToJson } from "../../domain/money.ts";
import type { Subscription } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/top-up.ts";
import type { ConnectionInformation, CustomerInformation, Packages } from "../customers.ts";
import { TOP_UP } from "../requests.ts";
import {
  amount,
  BOUQUET_LABEL,
  Connections,
  Customer,
  listingWriter,
  type NamedConnection,
  packagesBody,
  type SubscriptionItem,
  TransactionBody,
  type TvConnection,
} from "./answers.ts";
import type { Version } from "./version.ts";

/*
 * The current version. Fields and their order are those of the interface, section 2; what it leaves
 * open for IPTV is settled by the decisions page, "Customers and connections".
 */

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
