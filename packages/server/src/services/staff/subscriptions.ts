import type { GoodwillOutcome, GoodwillReversalOutcome } from "../../domain/correction.ts";
import {
  type Connection,
  type ConnectionKey,
  type ConnectionName,
  findConnection as findByName,
} from "../../domain/customer.ts";
import type { Entry, Ledger } from "../../domain/ledger.ts";
import type { Subscription } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/top-up.ts";
import type { StaffBlock } from "../../store/search.ts";
import { type Actor, correctingOf, type Ports, type ReadingPorts } from "../ports.ts";
import {
  type ConnectionCandidate,
  type ConnectionRequest,
  type ConnectionUnclear,
  type CorrectionRequest,
  connectionsMeant,
  correctionsFor,
  findConnection,
} from "./connections.ts";

export interface GoodwillReversalRequest extends CorrectionRequest {
  /** Undefined where the connection has but one that may be meant. */
  readonly plan: string | undefined;
  /** The number of the entry that is meant; undefined for the last. */
  readonly seq?: number | undefined;
}

export interface GoodwillRequest extends Omit<GoodwillReversalRequest, "seq"> {
  /** 1 to {@link MOST_GOODWILL_DAYS}. */
  readonly days: number;
}

/** More is a mistake. */
export const MOST_GOODWILL_DAYS = 366;

/** What was made of a subscription; undefined where there was, or is, none. */
export interface Effect {
  readonly before: Subscription | undefined;
  readonly after: Subscription | undefined;
}

export interface SubscriptionChange extends ConnectionCandidate, Effect {
  readonly plan: string;
  readonly days: number;
}

export type GoodwillAnswer =
  | ({ readonly kind: "granted" } & SubscriptionChange)
  | Exclude<GoodwillOutcome, { kind: "granted" | "not_found" }>
  | ConnectionUnclear;

/** Gives a subscription days for nothing. Where it fails with StoreUnavailable, they may have been given all the same. */
export async function grantGoodwill(ports: Ports, actor: Actor, request: GoodwillRequest): Promise<GoodwillAnswer> {
  const { days, plan, reason } = request;
  const answer = await findConnection(ports, request);
  if (answer.kind !== "found") return answer;
  const by = correctingOf(ports, actor, reason);
  const outcome = await correctionsFor(ports, request).grantGoodwill({ ...answer.connection, days, plan }, by);
  if (outcome.kind === "not_found") return { kind: "no_connection" };
  if (outcome.kind !== "granted") return outcome;
  return { kind: "granted", ...changeOf(answer, outcome, days) };
}

export type GoodwillReversalAnswer =
  | ({ readonly kind: "reversed" } & SubscriptionChange)
  /** `not_found`: there is no goodwill that is not reversed. */
  | Exclude<GoodwillReversalOutcome, { kind: "reversed" }>
  | ConnectionUnclear;

/** Reverses the goodwill that was given last, of those that are not reversed. */
export async function reverseGoodwill(
  ports: Ports,
  actor: Actor,
  request: GoodwillReversalRequest,
): Promise<GoodwillReversalAnswer> {
  const { plan, seq, reason } = request;
  const answer = await findConnection(ports, request);
  if (answer.kind !== "found") return answer;
  const by = correctingOf(ports, actor, reason);
  const outcome = await correctionsFor(ports, request).reverseGoodwill({ ...answer.connection, plan, seq }, by);
  if (outcome.kind !== "reversed") return outcome;
  return { kind: "reversed", ...changeOf(answer, outcome, outcome.days) };
}

type Done = Extract<GoodwillOutcome, { kind: "granted" }> | Extract<GoodwillReversalOutcome, { kind: "reversed" }>;

function changeOf(
  { connection, customer }: ConnectionCandidate,
  { correction: { plan, before, entry } }: Done,
  days: number,
): SubscriptionChange {
  return { connection, customer, plan, days, before, after: entry.after };
}

/** Why each subscription of a connection ends when it does. */
export interface Explanation extends ConnectionCandidate {
  /** As the provider's records have it; undefined if the connection is gone. */
  readonly status: Connection["status"] | undefined;
  /** Undefined if staff have not blocked the connection. */
  readonly block: StaffBlock | undefined;
  readonly plans: readonly ExplainedPlan[];
}

export interface ExplainedPlan {
  readonly plan: string;
  /** What the ledger comes to; undefined where nothing is left. */
  readonly subscription: Subscription | undefined;
  readonly entries: readonly ExplainedEntry[];
}

export interface ExplainedEntry {
  readonly entry: Entry;
  /** Undefined where there was none, and at the opening of a pruned ledger, of which nobody knows any more. */
  readonly before: Subscription | undefined;
  /** Whether it is the first that is left of a ledger whose beginning was let go. */
  readonly isOpening: boolean;
  /** The number of the entry that takes it back, if one does. */
  readonly reversedBy: number | undefined;
  /** Of a top-up; undefined where its record is missing, which a check reports. */
  readonly transaction: Transaction | undefined;
}

export type ExplanationAnswer = { readonly kind: "explained"; readonly explanation: Explanation } | ConnectionUnclear;

/** Reads the ledgers of a connection aloud, also of one that is not there any more. */
export async function explainSubscriptions(
  { store }: ReadingPorts,
  request: ConnectionRequest,
): Promise<ExplanationAnswer> {
  const candidates: Explanation[] = [];
  for await (const connection of connectionsMeant({ store }, request)) {
    const ledgers = await store.search.findLedgers(connection);
    const found = await store.findConnection(connection);
    if (ledgers.length === 0 && found?.connection === undefined) continue;
    const plans: ExplainedPlan[] = [];
    for (const ledger of ledgers) plans.push(await explainLedger({ store }, ledger));
    const block = findByName(await store.search.findBlocks(connection.environment, connection.cuid), connection);
    candidates.push({ connection, customer: found?.profile, status: found?.connection?.status, block, plans });
  }
  const [explanation, another] = candidates;
  if (explanation === undefined) return { kind: "no_connection" };
  return another === undefined ? { kind: "explained", explanation } : { kind: "several_connections", candidates };
}

/** Reads all ledgers of a customer aloud, by connection and plan, also of connections that are gone. */
export async function explainCustomer(
  { store }: ReadingPorts,
  { environment, cuid, service, reqId }: Pick<ConnectionKey, "environment" | "cuid"> & Partial<ConnectionName>,
): Promise<(ExplainedPlan & ConnectionName)[]> {
  const explained: (ExplainedPlan & ConnectionName)[] = [];
  for (const ledger of await store.search.findLedgersOf(environment, [cuid]))
    if ((service ?? ledger.service) === ledger.service && (reqId ?? ledger.reqId) === ledger.reqId)
      explained.push({
        ...{ service: ledger.service, reqId: ledger.reqId },
        ...(await explainLedger({ store }, ledger)),
      });
  return explained;
}

/** Top-ups that are asked for at a time. */
const TXN_IDS_AT_ONCE = 500;

async function explainLedger({ store }: ReadingPorts, ledger: Ledger): Promise<ExplainedPlan> {
  const txnIds = ledger.entries.flatMap((entry) => (entry.kind === "top_up" ? [entry.txnId] : []));
  const transactions = new Map<string, Transaction>();
  for (let first = 0; first < txnIds.length; first += TXN_IDS_AT_ONCE) {
    const some = await store.search.findByTxnIds(txnIds.slice(first, first + TXN_IDS_AT_ONCE));
    for (const [txnId, transaction] of some) transactions.set(txnId, transaction);
  }
  return readAloud(ledger, transactions);
}

/** The entries of a ledger with what each of them found and left. */
export function readAloud(
  { plan, entries }: Ledger,
  transactions: ReadonlyMap<string, Transaction> = new Map(),
): ExplainedPlan {
  const reversals = new Map(entries.flatMap((entry) => (entry.kind === "reversal" ? [[entry.of, entry.seq]] : [])));
  return {
    plan,
    subscription: entries.at(-1)?.after,
    entries: entries.map((entry, index) => ({
      entry,
      before: entries[index - 1]?.after,
      isOpening: index === 0 && entry.seq > 1,
      reversedBy: reversals.get(entry.seq),
      transaction: entry.kind === "top_up" ? transactions.get(entry.txnId) : undefined,
    })),
  };
}
