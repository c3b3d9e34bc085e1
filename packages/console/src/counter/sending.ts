import { ApiProblem } from "../api/problem.ts";
import type { Receipt, SaleOutcome } from "./counter-api.d.ts";

export interface Steps {
  /** Sends the sale, always with the same checkoutId. */
  readonly send: () => Promise<Receipt>;
  /** Asks what became of the sale. */
  readonly look: () => Promise<SaleOutcome>;
  readonly wait: (ms: number) => Promise<void>;
  /** Called when an answer is lost. */
  readonly onLost: () => void;
}

/** Pauses before questions; the last one repeats. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

/**
 * Sells once. After a lost answer it asks what became of the sale until it has an answer, and sends the same sale again
 * only if nothing is sold yet. @throws ApiProblem if the sale or the question is refused
 */
export async function sellOnce({ send, look, wait, onLost }: Steps): Promise<SaleOutcome> {
  const pauses = [...PAUSES_MS];
  const pause = () => wait((pauses.length > 1 ? pauses.shift() : pauses[0]) ?? 0);
  for (;;) {
    const receipt = await unlessLost(send);
    if (receipt !== undefined) return { state: "sold", receipt };
    onLost();
    let outcome: SaleOutcome | undefined;
    while (outcome === undefined) {
      await pause();
      outcome = await unlessLost(look);
    }
    if (outcome.state !== "open") return outcome;
  }
}

/** @returns undefined if there was no answer, or none that says what was done. */
async function unlessLost<Given>(ask: () => Promise<Given>): Promise<Given | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiProblem && error.mayBeDone) return undefined;
    throw error;
  }
}
