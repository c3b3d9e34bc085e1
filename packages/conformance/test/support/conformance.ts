import { type ConformanceOptions, type Report, runConformance } from "../../src/index.ts";
import { CODE, TOKEN } from "./fake-data.ts";
import { type FakeOptions, type FakeProvider, startFakeProvider } from "./fake-provider.ts";

export type Settings = Omit<Partial<ConformanceOptions>, "base">;

/** No slow machine decides a test. */
const TIMEOUT_MS = 60_000;

/** Runs the kit against a fake of its own. */
export async function check(
  fake: FakeOptions,
  settings: Settings = {},
): Promise<{ report: Report; provider: FakeProvider }> {
  const provider = await startFakeProvider(fake);
  const report = await runConformance({
    base: provider.base,
    token: TOKEN,
    code: CODE,
    timeoutMs: TIMEOUT_MS,
    wait: async (ms) => provider.pass(ms),
    ...settings,
  });
  return { report, provider };
}

/** The ids of the checks that failed, each once. */
export function failedIn({ results }: Report): string[] {
  return [...new Set(results.filter(({ outcome }) => outcome === "fails").map(({ id }) => id))];
}

/** The ids of the checks that were noted, each once. */
export function notedIn({ results }: Report): string[] {
  return [...new Set(results.filter(({ outcome }) => outcome === "noted").map(({ id }) => id))];
}

/** The ids of the checks that were skipped in each group they are in. */
export function skippedIn({ results }: Report): string[] {
  return [...new Set(results.filter(({ outcome }) => outcome === "skipped").map(({ group, id }) => `${group} ${id}`))];
}
