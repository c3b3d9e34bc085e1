import { expect } from "vitest";
import type { FailureCode, TopUpOptions, TopUpOutcome } from "../../src/index.ts";
import { type Scripted, scene } from "./scripted.ts";
import { failure, PURCHASE, RESULT } from "./wire.ts";

export const TOP_UP = "subscription-package-topup";
export const QUERY = "txn-status";

export interface Told {
  readonly outcome: TopUpOutcome;
  readonly sent: readonly string[];
  readonly times: readonly number[];
}

/** Tops up by a script, with as little waiting as can be. */
export async function topUp(
  script: readonly Scripted[],
  options: TopUpOptions & { repeatsAreSafe?: boolean } = {},
): Promise<Told> {
  const { repeatsAreSafe, ...rest } = options;
  const { client, clock, sent, times, bodies } = scene(script, { repeatsAreSafe });
  const outcome = await clock.run(client.topUp(PURCHASE, rest));
  // Another purchase could be a second top-up.
  for (const [index, operation] of sent.entries()) {
    expect(bodies[index]).toEqual(operation === TOP_UP ? PURCHASE : { checkoutId: PURCHASE.checkoutId });
  }
  return { outcome, sent, times };
}

/** What a top-up comes to that the first answer, or the repeat's, brings; and one that was on record already. */
export const DONE = { outcome: "topped_up", result: RESULT, replayed: false };
export const FOUND = { ...DONE, replayed: true };
export const NOT_YET = failure("400ab107");
export const NEVER = failure("400ab108");

/** Refusals of topupd of which nothing is recorded. */
export const REFUSALS: readonly FailureCode[] = [
  "400ac001",
  "400ac002",
  "400ac003",
  "400ac004",
  "400ac005",
  "400ac007",
  "400ad001",
  "400ad002",
  "400ad003",
  "400ad005",
  "400aa101",
  "400aa103",
  "400aa104",
  "400aa105",
  "400ab101",
  "400ab102",
  "400ab104",
  "400ab105",
  "400ab106",
  "400ab109",
  "400ab110",
];
