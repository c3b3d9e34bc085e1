import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CommandLine } from "./command-line.ts";

/* Rows as they stand in a provider's own files. */

export const CATALOGUE = [
  { service: "internet", code: "NET-1M", name: "Fiber 100 Mbps (MONTHLY)", price: 1130 },
  { service: "internet", code: "NET-3M", name: "Fiber 100 Mbps (QUARTERLY)", price: "3220.50" },
  { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 },
];

export const SITA = {
  cuid: "2000001",
  first_name: "Sita",
  last_name: "Rai",
  mobile: "9800000101",
  status: "active",
  connections: {
    internet: [
      {
        username: "sita",
        status: "active",
        subscriptions: [{ code: "NET-1M", startdate: "2026-01-31 10:00:00", enddate: "2026-02-28 10:00:00" }],
      },
    ],
  },
};

export const SITA_NET = { cuid: "2000001", service: "internet", reqId: "sita" };

/** Adds a partner, a catalogue and a customer. @returns a production token. */
export async function fillDatabase(line: CommandLine): Promise<string> {
  await line.mustRun("partner", "add", "wallet");
  await line.mustRun("import", "catalogue", line.ndjson("catalogue.ndjson", ...CATALOGUE));
  await line.mustRun("import", "customers", line.ndjson("customers.ndjson", SITA));
  const token = await line.mustRun("token", "issue", "--partner", "wallet", "--environment", "production");
  return token.trim();
}

/** A file of a real provider, which lies beside the repository where somebody has it; nothing else needs it. */
export function realFile(name: string): { readonly path: string; readonly exists: boolean } {
  const path = fileURLToPath(new URL(`../../../../../shared/data/${name}`, import.meta.url));
  return { path, exists: existsSync(path) };
}
