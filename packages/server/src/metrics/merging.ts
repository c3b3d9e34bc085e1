import type { Family } from "./exposition.ts";

type Sample = Family["samples"][number];

/** Gauges of which the service shows the largest of its processes; of the others, their sum. */
const LARGEST = new Set([
  ...["topupd_recording_fails_since_seconds", "topupd_event_loop_delay_seconds", "topupd_build_info"],
  "process_start_time_seconds",
]);
/** Of which it shows the smallest: it is up where all of it is. */
const SMALLEST = new Set(["topupd_store_up"]);

/** What the processes of a service tell, as that of one. */
export function mergeFamilies(processes: readonly (readonly Family[])[]): Family[] {
  const merged = new Map<string, Family>();
  for (const family of processes.flat()) {
    const known = merged.get(family.name);
    merged.set(family.name, known === undefined ? family : { ...known, samples: mergeSamples(known, family) });
  }
  return [...merged.values()];
}

/** What stays true of a process that has ended: what it has counted. */
export function countersOf(families: readonly Family[]): Family[] {
  return families.filter(({ type }) => type !== "gauge");
}

function mergeSamples({ name, samples }: Family, others: Family): Sample[] {
  const merged = new Map(samples.map((sample) => [keyOf(sample), sample]));
  for (const sample of others.samples) {
    const known = merged.get(keyOf(sample));
    merged.set(keyOf(sample), known === undefined ? sample : { ...known, value: mergeValues(name, known, sample) });
  }
  return [...merged.values()];
}

function keyOf({ suffix = "", labels }: Sample): string {
  return JSON.stringify([suffix, Object.entries(labels)]);
}

function mergeValues(name: string, { value: a }: Sample, { value: b }: Sample): Sample["value"] {
  if (typeof a === "string" || typeof b === "string") return addDecimals(String(a), String(b));
  if (LARGEST.has(name)) return Math.max(a, b);
  return SMALLEST.has(name) ? Math.min(a, b) : a + b;
}

/** Adds money exactly. @param a with as many decimals as `b`. */
function addDecimals(a: string, b: string): string {
  const [, decimals = ""] = a.split(".");
  const sum = String(BigInt(a.replace(".", "")) + BigInt(b.replace(".", ""))).padStart(decimals.length + 1, "0");
  return decimals === "" ? sum : `${sum.slice(0, -decimals.length)}.${sum.slice(-decimals.length)}`;
}
