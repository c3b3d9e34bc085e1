import type { Calendar } from "../domain/calendar.ts";
import type { ConnectionKey } from "../domain/customer.ts";
import { explainLedger, type Step } from "../domain/explanation.ts";
import type { Subscription } from "../domain/subscription.ts";
import type { Transaction } from "../domain/top-up.ts";
import type { RecordedLedger } from "../store/search.ts";
import { type ConnectionCandidate, type ConnectionRequest, connectionsMeant } from "./find-connection.ts";
import type { Ports } from "./ports.ts";

const MOST_LOOKED_AT = 1_000;

export type ExplanationAnswer =
  | { readonly kind: "explained"; readonly explanation: Explanation }
  /** There are several such connections: which of them is meant? */
  | { readonly kind: "ambiguous"; readonly candidates: readonly Explanation[] }
  | { readonly kind: "not_found" };

export interface Explanation extends ConnectionCandidate {
  readonly plans: readonly ExplainedPlan[];
  /** Whether top-ups of another topupd are on record, of which no plan's ledger knows. */
  readonly hasImported: boolean;
}

export interface ExplainedPlan {
  readonly plan: string;
  /** What the ledger amounts to; undefined where all was taken back. */
  readonly subscription: Subscription | undefined;
  readonly steps: readonly ExplainedStep[];
}

export interface ExplainedStep extends Step {
  /** The top-up that granted it; undefined for the other kinds. */
  readonly transaction: Transaction | undefined;
}

/** Why each subscription of a connection ends when it does: the fold of its grants, step by step. */
export async function explainSubscription(
  { store }: Pick<Ports, "store">,
  request: ConnectionRequest,
): Promise<ExplanationAnswer> {
  const candidates: Explanation[] = [];
  for await (const connection of connectionsMeant({ store }, request)) {
    const ledgers = await store.search.findLedgers(connection);
    const found = await store.findConnection(connection);
    if (ledgers.length === 0 && found?.connection === undefined) continue;
    const plans = ledgers.map((ledger) => explainPlan(ledger, store.provider.calendar));
    const hasImported = await hasImportedTopUps({ store }, connection);
    candidates.push({ connection, customer: found?.profile, plans, hasImported });
  }
  const [explanation, another] = candidates;
  if (explanation === undefined) return { kind: "not_found" };
  return another === undefined ? { kind: "explained", explanation } : { kind: "ambiguous", candidates };
}

/** Of more top-ups than a connection ever has, the newest are looked at. */
async function hasImportedTopUps(
  { store }: Pick<Ports, "store">,
  { environment, cuid, service, reqId }: ConnectionKey,
) {
  const filter = { environment, cuid, service, reqId };
  const found = await store.search.listTransactions(filter, { before: undefined, limit: MOST_LOOKED_AT });
  return found.some(({ imported }) => imported === true);
}

/** The steps by which one plan's ledger comes to its end. */
export function explainPlan({ plan, entries, isPruned }: RecordedLedger, calendar: Calendar): ExplainedPlan {
  const steps = explainLedger(
    plan,
    entries.map(({ grant }) => grant),
    calendar,
    isPruned,
  );
  return {
    plan,
    subscription: steps.at(-1)?.after,
    steps: steps.map((step, index) => ({ ...step, transaction: entries[index]?.transaction })),
  };
}
