import type { Environment } from "../../domain/customer.ts";
import { writeJson } from "../../domain/json.ts";
import { AS_OF_PROBLEMS } from "../../domain/ledger-import.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { largeChangeText } from "../../office/imports/file.ts";
import { failureWords } from "../../office/imports/runs.ts";
import type { HeldBackRecord, ImportRun } from "../../store/staff.ts";
import type { Actor, Ports } from "../ports.ts";
import type { NumberedRow } from "./customer-rows.ts";
import type { CustomersImported, HeldBackSubscription } from "./import-customers.ts";

/** Does an import, and remembers it. @param work gets the reason of its audit entries, by which they are one import's. */
export async function recordRun<Imported extends CustomersImported>(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { name: author }: Actor,
  { kind, environment, file, asOf }: Pick<ImportRun, "kind" | "environment" | "file"> & { asOf?: string | undefined },
  work: (reason: string) => Promise<Imported>,
): Promise<Imported> {
  const id = await store.importRuns.begin({ kind, environment, author, file, asOf, startedAt: clock() });
  const end = (ended: Pick<ImportRun, "outcome" | "report" | "problem">) =>
    store.importRuns.end(id, { endedAt: clock(), ...ended });
  const imported = await work(`import ${id}: ${file}`).catch(async (error: unknown) => {
    // The caller gets the error in any case.
    await end({ outcome: "failed", report: undefined, problem: failureWords(error) }).catch(() => {});
    throw error;
  });
  await end(
    imported.kind === "done"
      ? { outcome: "done", report: { ...imported.report }, problem: undefined }
      : { outcome: "refused", report: undefined, problem: refusalWords(imported) },
  );
  return imported;
}

export type RefusedImport = Exclude<CustomersImported, { readonly kind: "done" }>;

/** Why a file was refused and changed nothing, in words. */
export function refusalWords(imported: RefusedImport): string {
  switch (imported.kind) {
    case "bad_lines":
      return imported.hasGood ? `${imported.rejected} lines are bad` : NO_GOOD_LINE;
    case "as_of_refused":
      return `asOf ${AS_OF_PROBLEMS[imported.problem]}`;
    case "large_change":
      return `the change is too large: ${largeChangeText(imported.changes)}`;
  }
}

export const NO_GOOD_LINE = "the file holds no good line";

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
    const { cuid, service, reqId, plan } = held;
    const { goodwill } = row.stated;
    const key = JSON.stringify([cuid, service, reqId, plan]);
    if (this.#records.size >= MOST_HELD_BACK && !this.#records.has(key)) return;
    const asOf = isoTime(row.asOf.instant);
    this.#records.set(key, {
      ...{ ...held, environment: this.#environment },
      sourceRow: writeJson({ ...source, asOf, ...(goodwill && { goodwill }) }),
    });
  }

  list(): readonly HeldBackRecord[] {
    return [...this.#records.values()];
  }
}
