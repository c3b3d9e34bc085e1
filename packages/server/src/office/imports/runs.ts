import type { Environment } from "../../domain/customer.ts";
import { writeJson } from "../../domain/json.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { RightsEnded, StoreUnavailable } from "../../store/errors.ts";
import type { Decider } from "../office.ts";
import { plainWords, Refused } from "../refused.ts";
import type { HeldBackSubscription } from "./customers.ts";
import type { NumberedRow } from "./rows.ts";
import { beginRun, endRun, type HeldBackRecord, type ImportRun, type RunEnd } from "./sql.ts";

/** Does an import, and records it unless it is a preview. Its audit entries have one reason, by which they are one import's. */
export async function recordRun<Of extends Decider, Answer>(
  of: Of,
  run: Omit<ImportRun, "author" | "asOf"> & { readonly asOf?: string | undefined },
  work: (of: Of) => Promise<{ readonly answer: Answer; readonly report: NonNullable<RunEnd["report"]> }>,
): Promise<Answer> {
  if (of.isPreview) return (await work(of)).answer;
  const { clock, by } = of;
  const { engine } = of.store;
  const { kind, environment, file, asOf } = run;
  const id = await beginRun(engine, { kind, environment, file, asOf, author: by.author }, clock());
  const reason = `import ${id}: ${file}`;
  const { answer, report } = await work({ ...of, by: { ...by, reason } }).catch(async (error: unknown) => {
    const outcome = error instanceof Refused && error.code === "invalid" ? "refused" : "failed";
    // The caller gets the error in any case.
    await endRun(engine, id, { outcome, problem: failureWords(error) }, clock()).catch(() => {});
    throw error;
  });
  await endRun(engine, id, { outcome: "done", report }, clock());
  return answer;
}

/** Why an import failed, in words; undefined if the error is a fault of topupd. */
export function failureWords(error: unknown): string | undefined {
  if (error instanceof Refused) return plainWords(error);
  if (error instanceof RightsEnded) return error.message;
  return error instanceof StoreUnavailable ? "the database was not available" : undefined;
}

/** A file that holds back more is wrong as a whole: whoever corrects it imports it again. */
const MOST_HELD_BACK = 10_000;

/** Collects what a file holds back: of each subscription, its last row. */
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
