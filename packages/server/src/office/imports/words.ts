import { Refused } from "../refused.ts";
import { count, printable } from "../text.ts";
import type { LargeChange, RejectedLine } from "./file.ts";

/** Such as `2 accepted, 1 rejected`. */
export function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, number]) => `${number} ${what}`)
    .join(", ");
}

export function rejectedWords({ line, problems }: RejectedLine): string {
  return problems.map(({ field, problem }) => `line ${line}: ${printable(`${field} ${problem}`)}\n`).join("");
}

interface Change {
  readonly field: string;
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
}

/** Each changed value, before and after. */
export function changeWords(title: string, changes: readonly Change[]): string {
  const values = changes.map(({ field, from, to }) => `  ${field}: ${from ?? "nothing"} -> ${to ?? "nothing"}`);
  return [title, ...values].map((each) => `${printable(each)}\n`).join("");
}

/** @param lines the first of them. */
export function badLines(rejected: number, hasGood: boolean, lines: readonly RejectedLine[] = []): Refused {
  const problems = lines.flatMap(({ line, problems: all }) =>
    all.map(({ field, problem }) => ({ field: `line ${line}: ${field}`, problem })),
  );
  if (!hasGood) return new Refused("invalid", "nothing was written: the file holds no good line", problems);
  const bad = `nothing was written: ${count(rejected, "line")} cannot be read`;
  return new Refused(
    "invalid",
    (name) => `${bad}. Correct the file, or leave bad lines out: ${name("skipInvalid")}`,
    problems,
  );
}

export function tooLarge(changes: readonly LargeChange[]): Refused {
  const all = changes.map(({ what, count: number, of }) => `${number} of ${of} ${what.replaceAll("_", " ")}`);
  const would = `nothing was written: it would be ${all.join(" and ")}`;
  return new Refused("invalid", (name) => `${would}. If that is meant, give ${name("allowLargeChange")}`);
}
