import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_BASE_PLANS } from "../packages/server/src/domain/catalogue.ts";
import type { CheckoutSecret } from "../packages/server/src/domain/checkout.ts";
import { openPostgresStore } from "../packages/server/src/store/postgres/open.ts";
import { openSqliteStore } from "../packages/server/src/store/sqlite/open.ts";
import { type RunOptions, runTopupd } from "./processes.ts";

/** Eight bouquets fit each connection, so that partners get lists as long as in production. */
const CATALOGUE = [
  ["NET-1M", "Fiber 100 Mbps (MONTHLY)", 1130],
  ["NET-3M", "Fiber 100 Mbps (QUARTERLY)", 3220],
  ["NET-6M", "Fiber 100 Mbps (HALF YEARLY)", 6100],
  ["NET-12M", "Fiber 100 Mbps (YEARLY)", 11520],
  ["PLUS-1M", "Fiber 300 Mbps (MONTHLY)", 1690.5],
  ["PLUS-3M", "Fiber 300 Mbps (QUARTERLY)", 4820],
  ["PLUS-12M", "Fiber 300 Mbps (YEARLY)", 17240],
  ["IP-1M", "Static IP [AddOn] (MONTHLY)", 500],
].map(([code, name, price]) => ({ service: "internet", code, name, price }));

export const PRICE = "1130";

/** A customer with a running internet subscription. Every second customer also has a set-top box. */
function customer(index: number): object {
  const id = String(index).padStart(7, "0");
  const subscriptions = [{ code: "NET-1M", startdate: "2026-11-01 09:00:00", enddate: "2027-11-01 09:00:00" }];
  const internet = [{ username: `user${id}`, status: "active", subscriptions }];
  const tv = index % 2 === 0 ? [{ stb: `0077${scattered(index, 5_915_587)}`, status: "active" }] : [];
  const name = { first_name: `First${id}`, last_name: "Sherpa" };
  return {
    cuid: `2${id}`,
    ...name,
    mobile: `98${scattered(index, 7_368_787)}0`,
    status: "active",
    connections: { internet, tv },
  };
}

/** Digits without an order, so that codes lie far apart in the database, as real ones do. */
function scattered(index: number, step: number): string {
  return String((index * step) % 10_000_000).padStart(7, "0");
}

export interface Connection {
  readonly cuid: string;
  readonly service: "internet";
  readonly reqId: string;
}

export function connectionOf(index: number): Connection {
  const id = String(index).padStart(7, "0");
  return { cuid: `2${id}`, service: "internet", reqId: `user${id}` };
}

/** Writes the catalogue and customers files into a folder. */
async function writeFiles(folder: string, customers: number): Promise<void> {
  writeFileSync(join(folder, "catalogue.ndjson"), CATALOGUE.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const file = createWriteStream(join(folder, "customers.ndjson"));
  for (let index = 0; index < customers; index += 1) {
    if (!file.write(`${JSON.stringify(customer(index))}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

/** The facts about a filled database that requests to it need. */
export interface Target {
  readonly customers: number;
  readonly partnerId: number;
  readonly revision: number;
  readonly secret: CheckoutSecret;
}

/** A database filled by the command line, and how to call the service on it. */
export interface Filled {
  readonly folder: string;
  readonly token: string;
  readonly target: Target;
  /** Speed of the import of the customers. */
  readonly importedPerSecond: number;
}

/** Makes a SQLite database in a new folder, or fills an empty PostgreSQL database. */
export async function fill(folder: string, customers: number, postgresUrl?: string): Promise<Filled> {
  mkdirSync(folder);
  const options = { cwd: folder, env: postgresUrl === undefined ? {} : { TOPUPD_DATABASE: postgresUrl } };
  await writeFiles(folder, customers);
  await runTopupd(["partner", "add", "bench"], options);
  const unlimited = ["--rate", "--burst", "--new-look-ups"].flatMap((flag) => [flag, "1000000"]);
  await runTopupd(["partner", "limits", "bench", ...unlimited], options);
  await runTopupd(["import", "catalogue", join(folder, "catalogue.ndjson")], options);
  const importedPerSecond = await importCustomers(customers, options);
  const issue = ["token", "issue", "--partner", "bench", "--environment", "production"];
  const token = (await runTopupd(issue, options)).trim();
  const target = await readTarget(postgresUrl ?? join(folder, "topupd.db"), customers);
  return { folder, token, target, importedPerSecond };
}

/** Imports the customers file of a folder. A second import changes nothing. @returns customers a second. */
export async function importCustomers(customers: number, options: RunOptions): Promise<number> {
  const begun = performance.now();
  await runTopupd(["import", "customers", join(options.cwd, "customers.ndjson")], options);
  return (customers * 1000) / (performance.now() - begun);
}

const SETTINGS = {
  timeZone: undefined,
  currencyExponent: undefined,
  basePlans: DEFAULT_BASE_PLANS,
  clock: Date.now,
  random: randomBytes,
};

/** Reads the target. It has one partner and one catalogue. @param place a SQLite file, or a PostgreSQL URL. */
async function readTarget(place: string, customers: number): Promise<Target> {
  const store = place.startsWith("postgres://")
    ? await openPostgresStore({ url: place, connections: 1, ...SETTINGS })
    : await openSqliteStore({ path: place, ...SETTINGS });
  try {
    const [secret] = await store.checkoutSecrets();
    if (secret === undefined) throw new Error("the database has no secret for checkouts");
    return { customers, partnerId: 1, revision: 1, secret };
  } finally {
    await store.close();
  }
}
