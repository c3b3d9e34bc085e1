import { isDeepStrictEqual } from "node:util";
import { appendGrant, appendImport, type Entry, headOf, isGrant, type Ledger, recount } from "./ledger.ts";
import { endOf, type Subscription } from "./subscription.ts";

/**
 * The first error in a ledger; undefined if each entry follows from the entries before it. The first entry of a pruned
 * ledger is accepted as it is, since its history was deleted (docs/ledger.md#retention).
 */
export function findFault({ plan, entries }: Ledger): string | undefined {
  for (const [index, entry] of entries.entries()) {
    const before = { plan, entries: entries.slice(0, index) };
    const problem = entry.seq > 1 && index === 0 ? endProblem(entry.after) : problemOf(before, entry);
    if (problem !== undefined) return `entry ${entry.seq} ${problem}`;
  }
  return undefined;
}

function problemOf(before: Ledger, entry: Entry): string | undefined {
  if (entry.seq !== headOf(before).seq + 1) return `stands after entry ${headOf(before).seq}`;
  if (entry.kind === "reversal") {
    const isOfGrant = before.entries.some((each) => each.seq === entry.of && isGrant(each));
    const isSecond = before.entries.some((each) => each.kind === "reversal" && each.of === entry.of);
    if (!isOfGrant || isSecond) return "reverses what cannot be reversed";
  }
  if (!isDeepStrictEqual(entry.after, stateAfter(before, entry))) return "does not follow from those before it";
  return endProblem(entry.after);
}

function stateAfter(before: Ledger, entry: Entry): Subscription | undefined {
  if (isGrant(entry)) return appendGrant(headOf(before), entry, entry.at).after;
  if (entry.kind === "import") return appendImport(before, entry, entry.at).after;
  return recount(before.plan, [...before.entries, entry]).at(-1);
}

function endProblem(after: Subscription | undefined): string | undefined {
  const isCounted = after === undefined || after.end === endOf(after.anchor, after, after.isInclusive);
  return isCounted ? undefined : "has an end that is not its anchor, months and days";
}
