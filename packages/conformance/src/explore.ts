import type { Caller } from "./caller.ts";
import { bodyOf, isSuccess } from "./exchange.ts";
import {
  type CodeKind,
  type Connection,
  type Listing,
  type LookUp,
  SERVICES,
  type Service,
  type VersionFacts,
} from "./facts.ts";
import type { ConformanceOptions } from "./options.ts";
import { probe } from "./probes.ts";
import { readCheckoutId, readConnections } from "./read.ts";
import { asObject, asText, member } from "./shape.ts";

/** Sends all requests that spend nothing: look-ups, listings, a query and, for topupd, wrong requests. */
export async function explore(caller: Caller, options: ConformanceOptions): Promise<VersionFacts> {
  const { version, exchanges } = caller;
  const progress = (step: string) => options.onProgress?.(`${version}: ${step}`);
  progress("looking the customer up");
  const lookUp = await caller.call("get-customer-information", { code: options.code });
  const body = bodyOf(lookUp);
  const customer = asObject(member(body, "customer"));
  const cuid = asText(member(customer, "cuid"));
  const connections = SERVICES.flatMap((service) => readConnections(body, service, version));
  const nothing = {
    otherLookUps: [],
    withoutToken: undefined,
    listingWithoutToken: undefined,
    listings: [],
    unusedStatus: undefined,
    unusedCheckoutId: undefined,
  };
  const given = { version, lookUp, customer, cuid, connections, exchanges };
  const found = { ...given, spending: undefined, practice: undefined, earlierCheckoutIds: [] };
  // A silent service would time out every further request.
  if (!lookUp.answered) return { ...found, ...nothing, probes: new Map() };

  const withoutToken = await caller.call("get-customer-information", { code: options.code }, { authorization: null });
  const otherLookUps = cuid === undefined ? [] : await lookUpOtherwise(caller, options, cuid, connections);
  progress("listing packages");
  const isActive = member(customer, "status") === "active";
  const listings = cuid === undefined ? [] : await list(caller, options, cuid, connections, isActive);
  const listed = listings.find(({ exchange }) => isSuccess(exchange))?.connection;
  const asked = listed === undefined ? undefined : { cuid, service: listed.service, reqId: listed.reqId };
  const listingWithoutToken =
    asked === undefined ? undefined : await caller.call("get-subscription-package", asked, { authorization: null });
  const checkoutId = listings.map(({ exchange }) => readCheckoutId(exchange)).find((id) => id !== undefined);
  const unusedStatus = checkoutId === undefined ? undefined : await caller.call("txn-status", { checkoutId });
  if (options.profile === "topupd") progress("sending what must be refused");
  const probes =
    options.profile === "topupd"
      ? await probe(caller, { code: options.code, cuid, isActive, checkoutId, asked })
      : new Map();
  return {
    ...found,
    otherLookUps,
    withoutToken,
    listingWithoutToken,
    listings,
    unusedStatus,
    unusedCheckoutId: checkoutId,
    probes,
  };
}

/** Looks up by one known code of each kind. */
async function lookUpOtherwise(
  caller: Caller,
  { profile }: ConformanceOptions,
  cuid: string,
  connections: readonly Connection[],
): Promise<LookUp[]> {
  const first = (service: Service) => connections.find((connection) => connection.service === service)?.reqId;
  // v1.0.0 may not know set-top boxes: digital TV came with v1.0.1.
  const kinds: readonly (readonly [CodeKind, string | undefined, boolean])[] = [
    ["cuid", cuid, true],
    ["stb", first("tv"), caller.version !== "v1.0.0"],
    ["username", first("internet"), true],
    ["iptv username", profile === "topupd" ? first("iptv") : undefined, false],
  ];
  const lookUps: LookUp[] = [];
  for (const [kind, code, isCertain] of kinds) {
    if (code === undefined) continue;
    lookUps.push({ kind, isCertain, exchange: await caller.call("get-customer-information", { code }) });
  }
  return lookUps;
}

/** Lists one connection of each service, and the first again for a second checkoutId. */
async function list(
  caller: Caller,
  { profile, purchase }: ConformanceOptions,
  cuid: string,
  connections: readonly Connection[],
  isCustomerActive: boolean,
): Promise<Listing[]> {
  const picked = SERVICES.flatMap((service) => {
    const all = connections.filter((connection) => connection.service === service);
    const chosen = all.find(({ reqId }) => reqId === purchase?.reqId);
    const connection = chosen ?? all.find(({ isActive }) => isActive) ?? all[0];
    const isWanted = service !== "iptv" || profile === "topupd" || purchase?.service === "iptv";
    return connection !== undefined && isWanted ? [connection] : [];
  });
  const listings: Listing[] = [];
  const add = async (connection: Connection) => {
    const { service, reqId, isActive } = connection;
    const isKnown = service === "internet" || (service === "tv" && caller.version !== "v1.0.0");
    const exchange = await caller.call("get-subscription-package", { cuid, service, reqId });
    listings.push({ connection, isCertain: isCustomerActive && isActive && isKnown, exchange });
  };
  for (const connection of picked) await add(connection);
  const again = listings.find(({ exchange }) => isSuccess(exchange));
  if (again !== undefined) await add(again.connection);
  return listings;
}
