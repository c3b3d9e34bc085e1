import { onTestFinished } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { type BasePlans, DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import type { Environment } from "../../src/domain/customer.ts";
import { plainWords, Refused } from "../../src/domain/refused.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import { type CustomersImport, importCustomers } from "../../src/office/imports/customers.ts";
import type { ImportProgress, RejectedLine } from "../../src/office/imports/file.ts";
import type {
  ChangedCustomer,
  CustomersReport,
  HeldBackSubscription,
  ImportWarning,
} from "../../src/office/imports/findings.ts";
import { type Actor, type Desk, officeOf } from "../../src/office/office.ts";
import { listPackages } from "../../src/partner/customers.ts";
import type { Caller, Ports } from "../../src/partner/ports.ts";
import { topUp } from "../../src/partner/top-ups.ts";
import type { Store } from "../../src/store/store.ts";
import { openStore } from "../store-suite/database.ts";
import { ndjson, publishRows } from "./catalogue.ts";
import { deskOf } from "./desk.ts";
import { partnersOf } from "./partners.ts";
import { seededRandom } from "./random.ts";
import { makeSqliteDatabase } from "./sqlite-database.ts";

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

export const ACTOR: Actor = { name: "tester" };

export const CATALOGUE = [
  { service: "internet", code: "NET-1M", name: "Fiber 100 (MONTHLY)", price: 1130 },
  { service: "internet", code: "NET-3M", name: "Fiber 100 (QUARTERLY)", price: "3220.50" },
  { service: "internet", code: "MAX-1M", name: "Fiber 300 (MONTHLY)", price: 1900 },
  { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 },
];

/** A customer with one internet connection, whose name is `net-` and the cuid. */
export function customer(cuid: string, { end, ...more }: { readonly end?: string } & Record<string, unknown> = {}) {
  const subscriptions = end === undefined ? [] : [{ code: "NET-1M", startdate: "2026-01-10 10:00:00", enddate: end }];
  return {
    ...{ cuid, first_name: "Sita", last_name: "Rai", status: "active" },
    connections: { internet: [{ username: `net-${cuid}`, status: "active", subscriptions }] },
    ...more,
  };
}

/** What an import came to, and what was told of it. */
export interface ToldImport {
  readonly result:
    | { readonly kind: "done"; readonly report: CustomersReport }
    | { readonly kind: "refused"; readonly words: string };
  readonly rejected: RejectedLine[];
  readonly changes: ChangedCustomer[];
  readonly heldBack: HeldBackSubscription[];
  readonly warnings: ImportWarning[];
  readonly progress: ImportProgress[];
}

type ImportRequest = Partial<CustomersImport & CustomersImport["file"]> & { readonly preview?: boolean };

/** A provider with a catalogue and one partner, on a database of its own, whose clock the test turns. */
export interface World {
  readonly store: Store;
  readonly ports: Ports;
  readonly desk: Desk;
  readonly partner: Partner;
  readonly caller: Caller;
  now: number;
  importCatalogue(rows: readonly object[], environment?: Environment): Promise<void>;
  importCustomers(rows: readonly object[], request?: ImportRequest): Promise<ToldImport>;
  topUp(cuid: string, bouquetCode?: string, udf1?: string): Promise<Transaction>;
  /** Where the subscriptions of a customer's internet connection end, by their plans. */
  ends(cuid: string): Promise<Record<string, string | undefined>>;
}

export interface WorldOptions {
  readonly timeZone?: string;
  readonly defaultCountry?: string;
  readonly basePlans?: BasePlans;
  /** Stands before the store, to make it fail. */
  readonly wrap?: (store: Store) => Store;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { timeZone = "UTC", basePlans = DEFAULT_BASE_PLANS, defaultCountry, wrap = (store) => store } = options;
  const provider = { timeZone, basePlans, defaultCountry };
  const opened = await openStore(makeSqliteDatabase, { ...provider, onFinished: onTestFinished });
  const store = wrap(opened.store);
  const ports = { store, clock: () => opened.now, random: seededRandom(7) };
  const partner = await partnersOf(store).add("wallet", { author: ACTOR.name, authority: undefined, at: opened.now });
  const of = { partnerId: partner.id, partnerName: partner.name, tokenId: undefined };
  const caller = { ...of, environment: "production" } as const;
  const world: World = {
    ...{ store, ports, partner, caller, desk: deskOf(ports, ACTOR) },
    get now() {
      return opened.now;
    },
    set now(now) {
      opened.now = now;
    },
    async importCatalogue(rows, environment) {
      await publishRows(store, rows, opened.now, environment);
    },
    async importCustomers(rows, request = {}) {
      const told = { rejected: [], changes: [], heldBack: [], warnings: [], progress: [] } as Omit<
        ToldImport,
        "result"
      >;
      const { preview = false, isCsv = false, open = () => ndjson(rows), name, ...more } = request;
      const file = { isCsv, open, ...(name !== undefined && { name }) };
      const asked = { environment: "production", file, ...more } as const;
      const work = importCustomers(officeOf(world.desk, { preview }), asked, {
        onRejected: (line) => told.rejected.push(line),
        onChange: (change) => told.changes.push(change),
        onHeldBack: (heldBack) => told.heldBack.push(heldBack),
        onWarning: (warning) => told.warnings.push(warning),
        onProgress: (seen) => told.progress.push(seen),
      });
      const result = await work.then(
        ({ report }) => ({ kind: "done", report }) as const,
        (error: unknown) => {
          if (!(error instanceof Refused)) throw error;
          return { kind: "refused", words: plainWords(error) } as const;
        },
      );
      return { result, ...told };
    },
    async topUp(cuid, bouquetCode = "NET-1M", udf1) {
      const connection = { cuid, service: "internet", reqId: `net-${cuid}` } as const;
      const listed = await listPackages(ports, caller, connection, 0);
      const bouquet = listed.ok ? listed.value.bouquets.find(({ code }) => code === bouquetCode) : undefined;
      if (!listed.ok || bouquet === undefined) return fail(listed);
      const request = { ...connection, checkoutId: listed.value.checkoutId, bouquetCode, amount: bouquet.price, udf1 };
      const answer = await topUp(ports, caller, request);
      return answer.ok ? answer.value.transaction : fail(answer);
    },
    async ends(cuid) {
      const key = { environment: "production", cuid, service: "internet", reqId: `net-${cuid}` } as const;
      const ledgers = (await store.findConnection(key))?.connection?.ledgers ?? [];
      return Object.fromEntries(ledgers.map(({ plan, subscription }) => [plan, subscription?.end]));
    },
  };
  await world.importCatalogue(CATALOGUE);
  return world;
}

/** @param at milliseconds since 1970. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}

function fail(what: unknown): never {
  throw new Error(`the test's own data is wrong: ${JSON.stringify(what)}`);
}
