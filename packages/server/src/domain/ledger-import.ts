import { appendImport, type Entry, grantsOfRun, headOf, type Ledger } from "./ledger.ts";
import { isRunning, isSameSubscription, type StatedSubscription, type Subscription } from "./subscription.ts";
import { DAY_MS, type Moment, type WallTime, wallMsBetween } from "./wall-time.ts";

/** Records that are younger cannot know which top-ups they hold: a top-up is recorded at most 30 seconds after its decision. */
export const SETTLED_AFTER_MS = 60_000;

/** Records that are older are a mistake, unless somebody says that they are meant. */
export const OLDEST_RECORDS_MS = 35 * DAY_MS;

/** How the provider's records are taken. Source: the ledger's page, section 3. */
export interface ImportRules {
  /** Up to when the records hold every top-up and reversal made here. */
  readonly asOf: Moment;
  readonly now: Moment;
  /** A run that they end by less than so many days earlier keeps its end: 1, for records without seconds, or more. */
  readonly toleranceDays: number;
  /** Whether they may end a run that was paid for. */
  readonly allowsShorter: boolean;
}

export type ImportDecision =
  | { readonly kind: "unchanged" }
  | { readonly kind: "changed"; readonly entry: Entry }
  /** The records would end what was topped up or granted here: it stays as it is until they are right. */
  | {
      readonly kind: "held_back";
      readonly kept: Subscription;
      /** Where the records would end it; undefined where they have no such subscription. */
      readonly statedEnd: WallTime | undefined;
      /** Of the newest top-up of the run; undefined where goodwill alone holds it. */
      readonly txnId: string | undefined;
    };

const UNCHANGED: ImportDecision = { kind: "unchanged" };

/** Lays what the records state of one plan over its ledger. Where nothing changes, there is no entry. */
export function decideImport(
  ledger: Ledger,
  stated: StatedSubscription | undefined,
  { asOf, now, toleranceDays, allowsShorter }: ImportRules,
): ImportDecision {
  const before = headOf(ledger).subscription;
  const entry = appendImport(ledger, { kind: "import", asOf, stated, since: runAt(ledger, asOf) }, now);
  const { after } = entry;
  if (isSameSubscription(before, after)) return UNCHANGED;
  const lostMs = before === undefined ? 0 : wallMsBetween(after?.end ?? now.wall, before.end);
  if (allowsShorter || lostMs <= 0 || !isRunning(before, now.wall)) return { kind: "changed", entry };
  const grants = grantsOfRun(ledger, before.since);
  if (grants.length === 0) return { kind: "changed", entry };
  if (after !== undefined && lostMs < toleranceDays * DAY_MS) return UNCHANGED;
  const txnId = grants.findLast((grant) => grant.kind === "top_up")?.txnId;
  return { kind: "held_back", kept: before, statedEnd: stated && after?.end, txnId };
}

/** The trial environment's reset: the subscription is as stated, whatever was granted, and begins a new run. */
export function resetLedger(ledger: Ledger, stated: StatedSubscription | undefined, now: Moment): ImportDecision {
  const { subscription, seq } = headOf(ledger);
  if (subscription === undefined && stated === undefined) return UNCHANGED;
  const reset = { kind: "import", asOf: now, stated, since: seq + 1 } as const;
  return { kind: "changed", entry: appendImport(ledger, reset, now) };
}

/** The number of the entry with which the run began that was on at a moment; of the next entry where none was. */
function runAt({ entries }: Ledger, { instant, wall }: Moment): number {
  const last = entries.findLast(({ at }) => at.instant <= instant);
  return isRunning(last?.after, wall) ? last.after.since : (last?.seq ?? 0) + 1;
}
