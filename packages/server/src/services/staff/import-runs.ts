import type { Environment } from "../../domain/customer.ts";
import { writeJson } from "../../domain/json.ts";
import type { HeldBackRecord, ImportRun } from "../../store/staff.ts";
import type { Actor, Ports } from "../ports.ts";
import type { NumberedRow } from "./customer-rows.ts";
import type { CatalogueImported } from "./import-catalogue.ts";
import type { CustomersImported, HeldBackSubscription } from "./import-customers.ts";

/** Does an import, and remembers it. */
export async function recordRun<Imported extends CustomersImported | CatalogueImported>(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { name: author }: Actor,
  { kind, environment, file, asOf }: Pick<ImportRun, "kind" | "environment" | "file"> & { asOf?: string | undefined },
  work: () => Promise<Imported>,
): Promise<Imported> {
  const id = await store.importRuns.begin({ kind, environment, author, file, asOf, startedAt: clock() });
  const end = (outcome: ImportRun["outcome"], report: ImportRun["report"]) =>
    store.importRuns.end(id, { endedAt: clock(), outcome, report });
  const imported = await work().catch(async (error: unknown) => {
    // What failed is told in any case.
    await end("failed", undefined).catch(() => {});
    throw error;
  });
  await end(imported.kind === "done" ? "done" : "refused", reportOf(imported));
  return imported;
}

function reportOf(imported: CustomersImported | CatalogueImported): ImportRun["report"] {
  if (imported.kind === "as_of_refused") return undefined;
  return imported.kind === "bad_lines" ? { rejected: imported.rejected } : { ...imported.report };
}

/** A file that holds back more is wrong as a whole: whoever mends it imports it again. */
const MOST_HELD_BACK = 10_000;

/** What is held back of a file, each subscription as its last row says it. */
export class HeldBackRecords {
  readonly #environment: Environment;
  readonly #records = new Map<string, HeldBackRecord>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  add(held: HeldBackSubscription, { row, source }: NumberedRow): void {
    const { line, cuid, service, reqId, plan, kept, statedEnd, txnId } = held;
    const key = JSON.stringify([cuid, service, reqId, plan]);
    if (this.#records.size >= MOST_HELD_BACK && !this.#records.has(key)) return;
    const asOf = new Date(row.asOf.instant).toISOString();
    this.#records.set(key, {
      ...{ environment: this.#environment, cuid, service, reqId, plan, bouquetCode: kept.bouquet.code },
      ...{ keptEnd: kept.end, statedEnd, txnId, line, sourceRow: writeJson({ ...source, asOf }) },
    });
  }

  list(): readonly HeldBackRecord[] {
    return [...this.#records.values()];
  }
}
