import { plainWords, Refused } from "../domain/refused.ts";
import { RightsEnded, StoreUnavailable } from "../store/errors.ts";

/*
 * Work that is checked first and done on request: an uploaded customers file, a bulk change. It is checking, and then checked
 * or refused; once started it is running, and then done or failed. Only failed work can be started again.
 */

export const WORK_STATES = ["checking", "checked", "running", "done", "refused", "failed"] as const;

/** How long work is kept that is not started. */
export const KEPT_MS = 60 * 60_000;

/** Records how work ended that could not be done. @throws the error if it is a fault of topupd. */
export async function endFailed(
  state: string,
  error: unknown,
  record: (end: { readonly state: "refused" | "failed"; readonly problem: string }) => unknown,
): Promise<void> {
  const words = failureWords(error);
  const problem = words ?? "topupd failed: its log says more";
  await record({ state: state === "checking" ? "refused" : "failed", problem });
  if (words === undefined) throw error;
}

/** Words why work failed; undefined if the error is a fault of topupd. */
export function failureWords(error: unknown): string | undefined {
  if (error instanceof Refused) return plainWords(error);
  if (error instanceof RightsEnded) return error.message;
  return error instanceof StoreUnavailable ? "the database was not available" : undefined;
}
