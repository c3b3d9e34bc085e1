import type { Attribution } from "../../src/domain/audit.ts";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import type { Catalogue } from "../../src/domain/catalogue.ts";
import type { Environment } from "../../src/domain/customer.ts";
import { readCatalogueFile } from "../../src/office/catalogue/operations.ts";
import { publishBouquets } from "../../src/office/catalogue/publish.ts";
import { type CustomersImport, importCustomers } from "../../src/office/imports/customers.ts";
import type { CustomersReport } from "../../src/office/imports/findings.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "./by.ts";

export async function publish(
  store: Store,
  environment: Environment,
  bouquets: readonly Bouquet[],
  author: Attribution,
  retired: readonly Bouquet[] = [],
): Promise<Catalogue> {
  const of = { store, clock: () => author.at, by: author, isPreview: false };
  return { revision: await publishBouquets(of, environment, { bouquets, retired }), bouquets };
}

/** Publishes rows of a catalogue file, all of which must be good. @returns how many were published. */
export async function publishRows(
  store: Store,
  rows: readonly object[],
  now: number,
  environment: Environment = "production",
): Promise<number> {
  const file = fileOfRows(rows);
  const { bouquets, retired, problems } = await readCatalogueFile(file, store.provider.currencyExponent);
  if (problems.length > 0) throw new Error(`the test's own data is wrong: ${JSON.stringify(problems)}`);
  await publish(store, environment, bouquets, by(now), retired);
  return bouquets.length;
}

/** An NDJSON file, as a face gives it. */
export function fileOfRows(rows: readonly object[], name = "rows.ndjson") {
  return { name, isCsv: false, open: () => ndjson(rows) };
}

export async function* ndjson(rows: readonly object[]): AsyncGenerator<Uint8Array> {
  for (const row of rows) yield Buffer.from(`${JSON.stringify(row)}\n`);
}

/** Imports rows of a customers file, all of which must be good. */
export async function importRows(
  { store, clock }: { readonly store: Store; readonly clock: () => number },
  rows: readonly object[],
  more: Partial<CustomersImport> = {},
): Promise<CustomersReport> {
  const of = { store, clock, by: by(clock()), isPreview: false };
  const file = { isCsv: false, open: () => ndjson(rows) };
  const request = { environment: "production", file, allowLargeChange: true, ...more } as const;
  return (await importCustomers(of, request, EXPECT_GOOD)).report;
}

const EXPECT_GOOD = { onProgress() {}, onHeldBack: unexpected, onWarning() {}, onRejected: unexpected };

function unexpected(what: unknown): never {
  throw new Error(`the test's own data is wrong: ${JSON.stringify(what)}`);
}
