import { once } from "node:events";
import { createWriteStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunOptions, runTopupd } from "./processes.ts";
import type { Figure } from "./results.ts";

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
  const tv = index % 2 === 0 ? [{ stb: `0077${id}`, status: "active" }] : [];
  const name = { first_name: `First${id}`, last_name: "Sherpa" };
  return { cuid: `2${id}`, ...name, mobile: `98${id}0`, status: "active", connections: { internet, tv } };
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
export async function writeFiles(folder: string, customers: number): Promise<void> {
  writeFileSync(join(folder, "catalogue.ndjson"), CATALOGUE.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const file = createWriteStream(join(folder, "customers.ndjson"));
  for (let index = 0; index < customers; index += 1) {
    if (!file.write(`${JSON.stringify(customer(index))}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

/** Fills a database by the command line. @returns a production token, and how long the customers took, in ms. */
export async function fill(folder: string, options: RunOptions): Promise<{ token: string; importMs: number }> {
  await runTopupd(["partner", "add", "bench"], options);
  await runTopupd(["import", "catalogue", join(folder, "catalogue.ndjson")], options);
  const begun = performance.now();
  await runTopupd(["import", "customers", join(folder, "customers.ndjson")], options);
  const importMs = performance.now() - begun;
  const issue = ["token", "issue", "--partner", "bench", "--environment", "production"];
  return { token: (await runTopupd(issue, options)).trim(), importMs };
}

/** How fast {@link fill} was. @param atLeast customers a second, or undefined where nothing is asked. */
export function importFigure(store: string, customers: number, importMs: number, atLeast: number | undefined): Figure {
  return {
    measured: `import of customers, ${store}`,
    value: (customers * 1000) / importMs,
    unit: "a second",
    decimals: 0,
    target: atLeast === undefined ? undefined : { atLeast },
    detail: `${customers.toLocaleString("en")} customers by the command line, its own start included`,
  };
}
