import type { Instant } from "../domain/calendar.ts";
import { type ClockDoubt, doubtClock } from "../domain/clock-doubt.ts";
import type {
  ImportedCursor,
  PruneCursor,
  Pruned,
  PrunedPortion,
  PrunedTopUps,
  PruneRequest,
} from "../store/retention.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";

export interface PruneCommand extends PruneRequest {
  readonly reason: string | undefined;
  /** Somebody has looked at it: it is not held against what is on record. */
  readonly isClockRight: boolean;
}

/** What went, or would go; or why nothing may. */
export type PruneOutcome =
  | { readonly kind: "pruned"; readonly pruned: Pruned }
  | { readonly kind: "clock_in_doubt"; readonly doubt: ClockDoubt };

/**
 * Lets history go that is from before an instant, as far as nothing that is left needs it (decisions, "Letting
 * history go"). An interrupted run has let go of a part: the next one goes on with the rest.
 * The day before which it goes was counted back from the clock, and never moves back: a clock that what is on record
 * speaks against is not taken at its word.
 */
export async function pruneHistory(
  ports: StaffPorts,
  { reason, isClockRight, ...request }: PruneCommand,
): Promise<PruneOutcome> {
  const { retention } = ports.store;
  const judge = (newest: Instant | undefined) => (isClockRight ? undefined : doubtClock(ports.clock(), newest));
  const doubt = request.dryRun
    ? judge(await retention.newestRecord())
    : await retention.moveHorizon(request.before, attributionOf(ports, reason), judge);
  if (doubt !== undefined) return { kind: "clock_in_doubt", doubt };
  const total = new PrunedTotal();
  await inPortions<PruneCursor>((after) => retention.pruneLedgers(request, after), total);
  await inPortions<ImportedCursor>((after) => retention.pruneImported(request, after), total);
  await inPortions<string>((after) => retention.pruneRetired(request, after), total);
  const pruned = total.sum();
  const hasGone = !request.dryRun && pruned.grants + pruned.retiredCheckouts + pruned.topUps.length > 0;
  if (hasGone) await retention.recordPruned(pruned, attributionOf(ports, reason));
  return { kind: "pruned", pruned };
}

/** From when on top-ups are all on record; undefined where a list that begins at `from` lacks none. */
export async function findPrunedBefore(
  { store }: Pick<StaffPorts, "store">,
  from: Instant | undefined,
): Promise<Instant | undefined> {
  const horizon = await store.retention.prunedBefore();
  return horizon !== undefined && (from === undefined || from < horizon) ? horizon : undefined;
}

async function inPortions<Cursor>(
  prune: (after: Cursor | undefined) => Promise<PrunedPortion<Cursor>>,
  total: PrunedTotal,
): Promise<void> {
  let after: Cursor | undefined;
  do {
    const { pruned, next } = await prune(after);
    total.add(pruned);
    after = next;
  } while (after !== undefined);
}

/** As many sums as there are partners and years, however many top-ups go. */
class PrunedTotal {
  #grants = 0;
  #retiredCheckouts = 0;
  readonly #topUps = new Map<string, PrunedTopUps>();

  add({ grants, retiredCheckouts, topUps }: Pruned): void {
    this.#grants += grants;
    this.#retiredCheckouts += retiredCheckouts;
    for (const each of topUps) {
      const { year, environment, partnerId, status } = each;
      const name = JSON.stringify([year, environment, String(partnerId).padStart(10, "0"), status]);
      const former = this.#topUps.get(name);
      this.#topUps.set(name, {
        ...each,
        topUps: each.topUps + (former?.topUps ?? 0),
        amount: each.amount + (former?.amount ?? 0n),
      });
    }
  }

  /** By year, environment and partner. */
  sum(): Pruned {
    const topUps = [...this.#topUps].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
    return { grants: this.#grants, retiredCheckouts: this.#retiredCheckouts, topUps };
  }
}
