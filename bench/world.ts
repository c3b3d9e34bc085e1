import { once } from "node:events";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "./bodies.ts";
import { runTopupd } from "./processes.ts";
import { readTarget } from "./targets.ts";

/** Eight bouquets fit each connection: the list that a partner gets is as long as real ones are. */
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

/** One customer of many: an internet username with a running subscription, and every other one a set-top box. */
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

/** Mobile numbers and set-top boxes come in no order, as real ones: their codes lie far apart in the database. */
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

/** Writes a provider's two files into a folder. */
async function writeFiles(folder: string, customers: number): Promise<void> {
  writeFileSync(join(folder, "catalogue.ndjson"), CATALOGUE.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const file = createWriteStream(join(folder, "customers.ndjson"));
  for (let index = 0; index < customers; index += 1) {
    if (!file.write(`${JSON.stringify(customer(index))}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

/** A database filled by the command line, and how to call the service on it. */
export interface Filled {
  readonly folder: string;
  readonly token: string;
  readonly target: Target;
  /** How fast the customers came. */
  readonly importedPerSecond: number;
  /** The same file again, of which nothing is new. */
  readonly importedAgainPerSecond: number;
}

/** Makes a database in a folder of its own, or fills an empty one of PostgreSQL's. */
export async function fill(folder: string, customers: number, postgresUrl?: string): Promise<Filled> {
  mkdirSync(folder);
  const options = { cwd: folder, env: postgresUrl === undefined ? {} : { TOPUPD_DATABASE: postgresUrl } };
  await writeFiles(folder, customers);
  await runTopupd(["partner", "add", "bench"], options);
  await runTopupd(["import", "catalogue", join(folder, "catalogue.ndjson")], options);
  const importOnce = async () => {
    const begun = performance.now();
    await runTopupd(["import", "customers", join(folder, "customers.ndjson")], options);
    return (customers * 1000) / (performance.now() - begun);
  };
  const [importedPerSecond, importedAgainPerSecond] = [await importOnce(), await importOnce()];
  const issue = ["token", "issue", "--partner", "bench", "--environment", "production"];
  const token = (await runTopupd(issue, options)).trim();
  const target = await readTarget(postgresUrl ?? join(folder, "topupd.db"), customers);
  return { folder, token, target, importedPerSecond, importedAgainPerSecond };
}
