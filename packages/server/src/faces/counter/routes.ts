import { type Static, Type } from "typebox";
import { listAccountEntries } from "../../office/accounts/entries.ts";
import { showAccount } from "../../office/accounts/operations.ts";
import { AccountSchema, EntriesInputSchema, EntriesSchema, EntrySchema } from "../../office/accounts/schemas.ts";
import { CodeSchema } from "../../office/common.ts";
import { officeOf } from "../../office/office.ts";
import type { Operation } from "../../office/operation.ts";
import { sellerOf } from "../../office/staff/sellers.ts";
import { routeOf } from "../staff-api/operation-route.ts";
import { type AdminPorts, type Identity, serviceDesk } from "../staff-api/ports.ts";
import { type Route, route } from "../staff-api/route.ts";
import { sessionRoutes } from "../staff-api/routes/session.ts";
import { FoundSchema, NameOfConnection, OfferSchema, OutcomeSchema, ReceiptSchema, SaleSchema } from "./schemas.ts";
import { type PartnerParts, Selling } from "./selling.ts";

const AS = { tag: "Counter", permission: "sell" } as const;
const IdSchema = Type.String({ maxLength: 64 });

/** An entry of the account as a seller sees it. */
const { author: _author, reason: _reason, ...OWN_FIELDS } = EntrySchema.properties;
const OwnEntrySchema = Type.Object(OWN_FIELDS, { title: "OwnEntry" });
const { name: _name, environment: _environment, ...OF_DAYS } = EntriesInputSchema.properties;

/** All routes of the counter. Nothing else of the staff API is served there. */
export function counterRoutes(parts: PartnerParts, operations: readonly Operation[]): Route[] {
  let selling: Selling | undefined;
  const at = (ports: AdminPorts) => (selling ??= new Selling(ports, parts));
  return [
    ...sessionRoutes,
    route({
      ...AS,
      method: "GET",
      path: "/customers",
      summary: "Find a customer by mobile number, customer id, set-top box number or username",
      query: Type.Object({ code: CodeSchema }),
      answer: FoundSchema,
      problems: ["not_found", "conflict", "too_many_look_ups"],
      handle: (ports, { identity, query }) => at(ports).find(identity, query.code),
    }),
    route({
      ...AS,
      method: "POST",
      path: "/offers",
      changesNothing: true,
      summary: "List the bouquets for a connection, with their prices and ends, and get a checkoutId for one sale",
      body: Type.Object(NameOfConnection),
      answer: OfferSchema,
      problems: ["not_found", "conflict", "too_many_look_ups"],
      handle: (ports, { identity, body }) => at(ports).offer(identity, body),
    }),
    route({
      ...AS,
      method: "GET",
      path: "/offers/:checkoutId",
      summary: "Show what became of a sale whose answer was lost",
      params: Type.Object({ checkoutId: IdSchema }),
      answer: OutcomeSchema,
      problems: ["not_found"],
      handle: (ports, { identity, params }) => at(ports).outcome(identity, params.checkoutId),
    }),
    route({
      ...AS,
      method: "POST",
      path: "/sales",
      status: 201,
      changesNothing: true,
      summary: "Sell. The same request with the same checkoutId sells once, and gets the same receipt",
      body: SaleSchema,
      answer: ReceiptSchema,
      problems: ["not_found", "conflict"],
      handle: (ports, { identity, body }) => at(ports).sell(identity, body),
    }),
    route({
      ...AS,
      method: "GET",
      path: "/sales/:txnId/receipt",
      summary: "Show the receipt of a sale of your shop",
      params: Type.Object({ txnId: IdSchema }),
      answer: ReceiptSchema,
      problems: ["not_found"],
      handle: (ports, { identity, params }) => at(ports).receipt(identity, params.txnId),
    }),
    route({
      ...AS,
      method: "GET",
      path: "/account",
      summary: "Show the account of your shop",
      answer: AccountSchema,
      async handle(ports, { identity }) {
        const { office, account } = await ownAccount(ports, identity);
        return showAccount.run(office, account);
      },
    }),
    route({
      ...AS,
      method: "GET",
      path: "/account/entries",
      summary: "List the entries of the account of your shop, newest first: of this month, or of up to 31 days",
      query: Type.Object(OF_DAYS),
      answer: Type.Object({ ...EntriesSchema.properties, items: Type.Array(OwnEntrySchema) }),
      async handle(ports, { identity, query }) {
        const { office, account } = await ownAccount(ports, identity);
        const { items, ...page } = await listAccountEntries.run(office, { ...query, ...account });
        return { ...page, items: items.map(({ author: _, reason: __, ...item }) => item satisfies OwnEntry) };
      },
    }),
    ...operations.map(routeOf),
  ];
}

type OwnEntry = Static<typeof OwnEntrySchema>;

/** The seller's partner and environment, in which the office's operations of the account are asked. */
async function ownAccount(ports: AdminPorts, identity: Identity) {
  const office = officeOf(serviceDesk(ports, identity));
  const { partner, environment } = (await sellerOf(office)).token;
  return { office, account: { name: partner.name, environment } };
}
