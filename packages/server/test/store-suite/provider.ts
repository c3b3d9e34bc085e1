import type { Partner } from "../../src/domain/access-token.ts";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { readCatalogueRow } from "../../src/domain/catalogue.ts";
import {
  type Checkout,
  type CheckoutHolder,
  type CheckoutSecret,
  issueCheckout,
  openCheckout,
} from "../../src/domain/checkout.ts";
import type { ConnectionKey, Environment } from "../../src/domain/customer.ts";
import type { CustomerEffect } from "../../src/domain/customer-audit.ts";
import { readCustomerRow, type StatedCustomer } from "../../src/domain/customer-row.ts";
import type { Reading } from "../../src/domain/fields.ts";
import { type JsonObject, readJson } from "../../src/domain/json.ts";
import type { SettledTopUp, TopUpCommand } from "../../src/domain/top-up.ts";
import { randomDigits, TRANSACTION_ID_RANDOM_BYTES, type Transaction } from "../../src/domain/transaction.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { blockConnection, grantGoodwill } from "../../src/office/corrections/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { ledgersOfConnection } from "../../src/store/customers.ts";
import type { FileRules, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { deskOf, run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, type OpenOptions, openStore } from "./database.ts";

/*
 * A small provider: what it sells, whom it serves, and the top-ups that are asked of it.
 */

export const BOUQUETS: readonly Bouquet[] = [
  bouquet("tv", "TV-1M", "Family TV (MONTHLY)", "450"),
  bouquet("tv", "TV-3M", "Family TV (QUARTERLY)", "1290"),
  bouquet("tv", "KIDS-1M", "Kids [AddOn] (MONTHLY)", "100"),
  bouquet("tv", "SPORT-1M", "Sports TV (MONTHLY)", "700", { segments: ["hd"] }),
  bouquet("internet", "NET-1M", "Fiber 100 Mbps (MONTHLY)", "1130"),
  bouquet("internet", "NET-3M", "Fiber 100 Mbps (QUARTERLY)", "3220"),
  bouquet("iptv", "ITV-1M", "IPTV (MONTHLY)", "300"),
];

export const FIBER = "Fiber 100 Mbps";
export const FAMILY = "Family TV";

const RUNNING = { startdate: "2026-11-10 09:00:00", enddate: "2026-12-10 09:00:00" };
const LAPSED = { startdate: "2026-10-01 09:00:00", enddate: "2026-11-01 09:00:00" };

/** Sita has one of everything, Ram has lapsed, Gita is inactive, and Hari's set-top box is blocked. */
export const SITA = {
  cuid: "2000001",
  first_name: "Sita",
  last_name: "Rai",
  mobile: "9800000101",
  status: "active",
  connections: {
    tv: [{ stb: "007700000000001", status: "active", segment: "sd", subscriptions: [{ code: "TV-1M", ...RUNNING }] }],
    internet: [{ username: "sita", status: "active", subscriptions: [{ code: "NET-1M", ...RUNNING }] }],
    iptv: [{ username: "sita-iptv", status: "inactive" }],
  },
};
export const RAM = {
  cuid: "2000002",
  first_name: "Ram",
  last_name: "Sherpa",
  mobile: "9800000102",
  status: "active",
  connections: {
    tv: [{ stb: "007700000000002", status: "inactive", subscriptions: [{ code: "TV-1M", ...LAPSED }] }],
    internet: [{ username: "ram", status: "inactive", subscriptions: [{ code: "NET-1M", ...LAPSED }] }],
  },
};
const GITA = {
  cuid: "2000003",
  first_name: "Gita",
  last_name: "Gurung",
  status: "inactive",
  connections: { internet: [{ username: "gita", status: "active" }] },
};
const HARI = {
  cuid: "2000004",
  first_name: "Hari",
  last_name: "Thapa",
  status: "active",
  connections: { tv: [{ stb: "007700000000004", status: "blocked" }] },
};

export const SITA_TV = key("2000001", "tv", "007700000000001");
export const SITA_NET = key("2000001", "internet", "sita");
export const SITA_IPTV = key("2000001", "iptv", "sita-iptv");
export const RAM_TV = key("2000002", "tv", "007700000000002");
export const RAM_NET = key("2000002", "internet", "ram");
export const GITA_NET = key("2000003", "internet", "gita");
export const HARI_TV = key("2000004", "tv", "007700000000004");

export type OpenedProvider = Awaited<ReturnType<typeof openProvider>>;

/** Opens a store with this provider's catalogue and customers, and a partner that sends top-ups. */
export async function openProvider(makeDatabase: MakeDatabase, options: Partial<OpenOptions> = {}) {
  const opened = await openStore(makeDatabase, options);
  const { store } = opened;
  const random = seededRandom(7);
  const partner = (await partnersOf(store).add("wallet", by(opened.now))) as Partner;
  const { revision } = await publish(store, "production", BOUQUETS, by(opened.now));
  await importRows(store, opened.now, SITA, RAM, GITA, HARI);
  const secrets = await store.checkoutSecrets();
  let count = 0;

  /** A checkout as get-subscription-package issues it now. */
  const quote = (
    connection: ConnectionKey,
    terms: { readonly revision?: number; readonly partnerId?: number } = {},
  ) => {
    const holder: CheckoutHolder = { partnerId: terms.partnerId ?? partner.id, environment: connection.environment };
    const sealed = { revision: terms.revision ?? revision, issuedAt: opened.now, nonce: random(16) };
    const checkoutId = issueCheckout(secrets[0] as CheckoutSecret, holder, connection, sealed);
    return { checkoutId, checkout: openCheckout(secrets, holder, checkoutId) as Checkout };
  };
  /** A top-up of a bouquet at its price, with a checkout of its own. */
  const command = (
    connection: ConnectionKey,
    bouquetCode: string,
    overrides: Partial<TopUpCommand> = {},
  ): TopUpCommand => {
    count += 1;
    return {
      ...connection,
      ...quote(connection),
      partnerId: partner.id,
      bouquetCode,
      amount: BOUQUETS.find(({ code }) => code === bouquetCode)?.price ?? 1n,
      udf1: undefined,
      udf2: undefined,
      txnDigits: randomDigits(Buffer.from(String(count).padStart(TRANSACTION_ID_RANDOM_BYTES, "0"))),
      tokenId: undefined,
      ...overrides,
    };
  };
  /** Settles such a top-up, which must succeed. */
  const topUp = async (connection: ConnectionKey, code: string) =>
    expectRecorded(await store.settleTopUp(command(connection, code)));
  /** Imports rows a second later; they contain everything that happened so far. */
  const restate = (...rows: readonly object[]) => {
    opened.now += 1_000;
    return importRows(store, opened.now, ...rows);
  };
  /** The office that operations run on. @param on another store on the same database */
  const desk = (on = store) => deskOf({ store: on, clock: () => opened.now, random }, { name: "tester" });
  const reason = "asked for";
  return Object.assign(opened, {
    partner,
    revision,
    quote,
    command,
    topUp,
    restate,
    desk,
    reverse: (id: string, why = reason, on = store) => run(desk(on), reverseTransaction, { id, reason: why }),
    grant: (connection: ConnectionKey & { readonly plan?: string }, days: number, on = store) =>
      run(desk(on), grantGoodwill, { ...connection, days, reason }),
    block: (connection: ConnectionKey, blocked: boolean) =>
      run(desk(), blockConnection, { ...connection, blocked, reason }),
  });
}

export function bouquet(
  service: string,
  code: string,
  name: string,
  price: string,
  more: { readonly segments?: readonly string[]; readonly plan?: string } = {},
): Bouquet {
  return expectGood(readCatalogueRow(asRow({ service, code, name, price, ...more }), 2));
}

/** Reads a row as an import does, against the provider's own bouquets. */
export function statedCustomer(row: object): StatedCustomer {
  const findBouquet = (service: string, code: string) =>
    BOUQUETS.find((candidate) => candidate.service === service && candidate.code === code);
  return expectGood(readCustomerRow(asRow(row), { findBouquet }));
}

/** Imports rows that contain everything up to `now`. */
export function importRows(store: Store, now: number, ...rows: readonly object[]): Promise<readonly CustomerEffect[]> {
  const asOf = moment(store, now);
  const stated = rows.map((row) => ({ stated: statedCustomer(row), asOf }));
  return store.importCustomers("production", stated, by(now), fileRules(store, now));
}

export function fileRules(store: Store, now: number, more: Partial<FileRules> = {}): FileRules {
  return { now: moment(store, now), mode: "import", toleranceDays: 1, allowShorter: new Set(), ...more };
}

export function moment({ provider }: Pick<Store, "provider">, at: number) {
  return createZone(provider.zone.name).moment(at);
}

/** The transaction of a top-up that must have been recorded just now. */
export function expectRecorded(outcome: SettledTopUp | undefined): Transaction {
  if (outcome?.kind === "recorded") return outcome.transaction;
  throw new Error(`it was ${outcome?.kind === "refused" ? outcome.refusal : outcome?.kind}, not recorded`);
}

/** When the subscription to a plan ends. */
export async function endOf(store: Store, connection: ConnectionKey, plan: string): Promise<string | undefined> {
  const found = await store.findConnection(connection);
  return found?.connection?.ledgers.find((ledger) => ledger.plan === plan)?.subscription?.end;
}

/** All ledgers with every entry, by their plans. */
export async function ledgersOf({ engine }: Store, of: ConnectionKey) {
  return ledgersOfConnection(await engine.readLedgers(engine.db, of.environment, [of.cuid]), of);
}

function key(cuid: string, service: ConnectionKey["service"], reqId: string): ConnectionKey {
  const environment: Environment = "production";
  return { environment, cuid, service, reqId };
}

function asRow(row: object): JsonObject {
  return readJson(JSON.stringify(row)) as JsonObject;
}

function expectGood<Value>(reading: Reading<Value>): Value {
  if (reading.ok) return reading.value;
  throw new Error(`the test's own data is wrong: ${JSON.stringify(reading.problems)}`);
}
