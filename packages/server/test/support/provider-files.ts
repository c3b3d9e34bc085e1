import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Partner } from "../../src/domain/access-token.ts";
import { importCatalogue } from "../../src/operations/import-catalogue.ts";
import { importCustomers } from "../../src/operations/import-customers.ts";
import { issueToken } from "../../src/operations/issue-token.ts";
import type { StaffPorts } from "../../src/operations/ports.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { by } from "./by.ts";
import type { CommandLine } from "./command-line.ts";
import { customersOf } from "./customers-of.ts";
import { ndjson } from "./service.ts";

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

const expectAllGood = {
  skipInvalid: false,
  onProgress: () => {},
  onRejected: (rejected: unknown) => {
    throw new Error(`the test's own data is wrong: ${JSON.stringify(rejected)}`);
  },
};

/** Works on the database of a command line's folder from this process, which is sooner done than by commands. */
export async function inDatabase<Result>(
  { folder }: CommandLine,
  work: (ports: StaffPorts) => Promise<Result>,
  timeZone?: string,
): Promise<Result> {
  const world = { clock: Date.now, random: randomBytes, author: "tester" };
  const path = join(folder, "topupd.db");
  const store = openSqliteStore({ path, timeZone, currencyExponent: undefined, ...world });
  try {
    return await work({ store, ...world });
  } finally {
    await store.close();
  }
}

/** Makes the database, with a partner. */
export async function addWallet(line: CommandLine, timeZone?: string): Promise<void> {
  await inDatabase(line, ({ store, clock }) => store.addPartner("wallet", by(clock())), timeZone);
}

export async function addCatalogue(line: CommandLine): Promise<void> {
  await inDatabase(line, (ports) => importCatalogue(ports, "production", ndjson(CATALOGUE), expectAllGood));
}

/** Makes the database, with a partner, a catalogue and a customer. @returns a production token. */
export async function fillDatabase(line: CommandLine): Promise<string> {
  await addCatalogue(line);
  return inDatabase(line, async (ports) => {
    await importCustomers(ports, "production", () => ndjson([SITA]), "unsaid", expectAllGood);
    const wallet = (await ports.store.addPartner("wallet", by(ports.clock()))) as Partner;
    return (await issueToken(ports, wallet, "production")).token;
  });
}

/** The ids of the customers that a code finds. */
export async function customersFound(line: CommandLine, code: string): Promise<string[]> {
  const found = await inDatabase(line, ({ store }) => customersOf(store, "production", code));
  return found.map(({ cuid }) => cuid);
}

/** The id of the only token. */
export async function onlyTokenId(line: CommandLine): Promise<string | undefined> {
  const [token] = await inDatabase(line, ({ store }) => store.listAccessTokens());
  return token?.id;
}

/** A file of a real provider, which lies beside the repository where somebody has it; nothing else needs it. */
export function realFile(name: string): { readonly path: string; readonly exists: boolean } {
  const path = fileURLToPath(new URL(`../../../../../shared/data/${name}`, import.meta.url));
  return { path, exists: existsSync(path) };
}
