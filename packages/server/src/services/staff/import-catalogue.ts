import { bouquetKey } from "../../domain/bouquet.ts";
import {
  type BouquetEffect,
  CatalogueRows,
  compareCatalogues,
  isRetired,
  readCatalogueRow,
} from "../../domain/catalogue-file.ts";
import type { Environment } from "../../domain/customer.ts";
import { type Actor, attributionOf, type Ports } from "../ports.ts";
import {
  type ImportHooks,
  isLargeChange,
  type LargeChange,
  readNdjson,
  readRow,
  type SourceFile,
  type SourceRow,
} from "./import-file.ts";
import { recordRun } from "./import-runs.ts";

export interface CatalogueImport extends SourceFile {
  readonly environment: Environment;
  /** Takes the good lines although others are bad. */
  readonly skipInvalid?: boolean;
  /** Finds out what would change, and writes nothing. */
  readonly dryRun?: boolean;
  /** A fifth of the codes and more may go. */
  readonly allowLargeChange?: boolean;
}

interface CatalogueHooks extends ImportHooks {
  /** Hears of each bouquet that is, or would be, added, changed or removed. */
  readonly onChange?: (bouquet: BouquetEffect) => void;
}

export interface CatalogueReport {
  readonly accepted: number;
  readonly rejected: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Whether those that stay come in another order, in which partners see them. */
  readonly reorders: boolean;
}

export type CatalogueImported =
  /** `revision`: undefined in a dry run. */
  | { readonly kind: "done"; readonly report: CatalogueReport; readonly revision: number | undefined }
  /** Nothing was written. `hasGood`: other lines are good, and `skipInvalid` would take them. */
  | { readonly kind: "bad_lines"; readonly rejected: number; readonly hasGood: boolean }
  | { readonly kind: "large_change"; readonly report: CatalogueReport; readonly change: LargeChange };

/** The part of the codes that a catalogue may drop without anybody saying so. */
const MOST_DROPPED = 0.2;

/** Publishes a file as the next catalogue revision: all of it, or nothing. A file with a name is remembered. */
export function importCatalogue(
  ports: Ports,
  actor: Actor,
  request: CatalogueImport,
  hooks: CatalogueHooks,
): Promise<CatalogueImported> {
  if (request.dryRun === true || request.name === undefined) return publishFile(ports, actor, request, hooks);
  const run = { kind: "catalogue", environment: request.environment, file: request.name, asOf: undefined } as const;
  return recordRun(ports, actor, run, (reason) => publishFile(ports, actor, request, hooks, reason));
}

async function publishFile(
  ports: Ports,
  actor: Actor,
  { environment, open, readRows = readNdjson, skipInvalid, dryRun, allowLargeChange }: CatalogueImport,
  { onRejected, onChange }: CatalogueHooks,
  reason?: string,
): Promise<CatalogueImported> {
  const { store } = ports;
  const { currencyExponent } = store.provider;
  const rows = new CatalogueRows();
  let rejected = 0;
  for await (const some of readRows(open())) {
    for (const row of some) {
      const reading = addRow(rows, row, currencyExponent);
      if (reading.ok) continue;
      rejected += 1;
      onRejected({ line: row.line, problems: reading.problems });
    }
  }
  const { bouquets, retired } = rows;
  // A catalogue without bouquets would stop all sales: that is a mistake in the file, never a wish.
  const hasGood = bouquets.length > 0;
  if (!hasGood || (rejected > 0 && skipInvalid !== true)) return { kind: "bad_lines", rejected, hasGood };
  const before = (await store.currentCatalogue(environment))?.bouquets ?? [];
  const effect = compareCatalogues(before, bouquets, currencyExponent);
  for (const bouquet of effect.bouquets) onChange?.(bouquet);
  const count = (kind: BouquetEffect["kind"]) => effect.bouquets.filter((bouquet) => bouquet.kind === kind).length;
  const report = {
    ...{ accepted: bouquets.length + retired.length, rejected, unchanged: effect.unchanged, reorders: effect.reorders },
    ...{ added: count("added"), changed: count("changed"), removed: count("removed") },
  };
  const named = new Set([...bouquets, ...retired].map(bouquetKey));
  const dropped = before.filter((bouquet) => !named.has(bouquetKey(bouquet))).length;
  const change = { what: "codes_dropped", count: dropped, of: before.length } as const;
  if (allowLargeChange !== true && isLargeChange(change, MOST_DROPPED)) return { kind: "large_change", report, change };
  if (dryRun === true) return { kind: "done", report, revision: undefined };
  const { revision } = await store.catalogues.publish(
    environment,
    bouquets,
    attributionOf(ports, actor, reason),
    retired,
  );
  return { kind: "done", report, revision };
}

function addRow(rows: CatalogueRows, row: SourceRow, currencyExponent: Ports["store"]["provider"]["currencyExponent"]) {
  let retired = false;
  const reading = readRow(row, (object) => {
    retired = isRetired(object);
    return readCatalogueRow(object, currencyExponent);
  });
  return reading.ok ? rows.add(reading.value, retired) : reading;
}
