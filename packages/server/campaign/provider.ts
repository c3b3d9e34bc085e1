import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ground, runThere } from "./ground.ts";
import { expectTopupd } from "./processes.ts";

/** The connections that campaigns top up: few, so that they meet on the same ones. */
export const CUSTOMERS = 12;

const CATALOGUE = [
  { service: "internet", code: "NET-1M", name: "Fiber (MONTHLY)", price: 1130 },
  { service: "internet", code: "NET-3M", name: "Fiber (QUARTERLY)", price: 3220.5 },
];

const customer = (index: number) => ({
  cuid: `c${index}`,
  first_name: "First",
  last_name: "Last",
  mobile: `98${String(index).padStart(8, "0")}`,
  status: "active",
  connections: { internet: [{ username: `u${index}`, status: "active" }] },
});

/** Makes a provider's database, by the command line alone. @returns a production token. */
export async function makeProvider(ground: Ground): Promise<string> {
  const there = runThere(ground);
  const file = (name: string, rows: readonly object[]) => {
    const path = join(ground.cwd, name);
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return path;
  };
  const customers = Array.from({ length: CUSTOMERS }, (_, index) => customer(index));
  await expectTopupd(["partner", "add", "wallet"], there);
  await expectTopupd(["import", "catalogue", file("catalogue.ndjson", CATALOGUE)], there);
  await expectTopupd(["import", "customers", file("customers.ndjson", customers)], there);
  const issued = await expectTopupd(["token", "issue", "--partner", "wallet", "--environment", "production"], there);
  return issued.trim();
}
