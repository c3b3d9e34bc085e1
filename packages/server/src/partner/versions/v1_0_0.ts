import { type Static, Type } from "typebox";
import type { CurrencyExponent } from "../../domain/money.ts";
import type { CustomerInformation, Packages } from "../customers.ts";
import { TOP_UP_1_0_0 } from "../requests.ts";
import { amount, BOUQUET_LABEL, Connections, Customer, listingWriter, packagesBody, v1_0_1 } from "./v1_0_1.ts";
import type { Version } from "./version.ts";

/* v1.0.0 differs from v1.0.1 in three points: `connection` beside `customer`, `amt` for `price`, no udf1 and udf2. */

const CustomerBody = Type.Object(
  { customer: Customer, connection: Connections },
  { description: "The customer who has the code, and all connections." },
);

const BouquetItem = Type.Object(
  { ...BOUQUET_LABEL, amt: amount("What a top-up of it costs, to be sent as `amt`.") },
  { title: "Bouquet", description: "A package that can be bought for the connection." },
);
const PackagesBody = packagesBody(BouquetItem);

export const v1_0_0: Version = {
  ...v1_0_1,
  name: "v1.0.0",
  successor: v1_0_1.name,
  topUp: TOP_UP_1_0_0,
  customerInformation: { schema: CustomerBody, render: renderCustomer },
  packages: { schema: PackagesBody, render: renderPackages, write: listingWriter(renderPackages) },
};

function renderCustomer(answer: CustomerInformation): Static<typeof CustomerBody> {
  const { connections, ...customer } = v1_0_1.customerInformation.render(answer).customer;
  return { customer, connection: connections };
}

function renderPackages(answer: Packages, exponent: CurrencyExponent): Static<typeof PackagesBody> {
  const { checkoutId, customer, tv, internet, iptv } = v1_0_1.packages.render(answer, exponent);
  return {
    checkoutId,
    customer,
    ...(tv && { tv: renderListing(tv) }),
    ...(internet && { internet: renderListing(internet) }),
    ...(iptv && { iptv: renderListing(iptv) }),
  };
}

type CurrentBouquet = { readonly code: string; readonly name: string; readonly price: number };

/** Renames the price of each bouquet, for any kind of connection. */
function renderListing<Listing extends { bouquets: CurrentBouquet[] }>(listing: Listing) {
  return { ...listing, bouquets: listing.bouquets.map(({ code, name, price }) => ({ code, name, amt: price })) };
}
