import { refusalOfToken, type TokenState } from "./access-token.ts";
import {
  charge,
  type GuardedAccount,
  limitReached,
  NO_TERMS,
  type PartnerTerms,
  type RefusedCharge,
  type SaleSums,
} from "./account.ts";
import type { Bouquet } from "./bouquet.ts";
import { type BasePlans, type Catalogue, findPurchasable } from "./catalogue.ts";
import {
  type Checkout,
  isCheckoutExpired,
  isCheckoutFor,
  type RefusedCheckout,
  type RetiredCheckout,
} from "./checkout.ts";
import { commissionOf } from "./commission.ts";
import { type Connection, openToSales, type WireStatus } from "./customer.ts";
import type { Refusal } from "./failure.ts";
import { appendGrant, type LedgerHead, type TopUpEntry } from "./ledger.ts";
import type { Money } from "./money.ts";
import { faultOf } from "./practice.ts";
import type { Sale } from "./sale.ts";
import { type RequestedTopUp, type Transaction, transactionOf } from "./transaction.ts";
import type { Instant, Moment, WallTime } from "./wall-time.ts";

/**
 * Greatest age of a decision that may still be recorded. It is shorter than the grace of txn-status, so that
 * `never_topped_up` is a promise (docs/decisions.md, "txn-status").
 */
export const RECORDING_DEADLINE_MS = 30_000;

export function isTooLateToRecord(decidedAt: Instant, now: Instant): boolean {
  return now - decidedAt > RECORDING_DEADLINE_MS;
}

/** A partner's request; its checkoutId is authentic. */
export interface TopUpCommand extends RequestedTopUp {
  readonly checkout: Checkout;
  /** The random digits of the txnId. The other digits are the time of the decision. */
  readonly txnDigits: string;
  /** Id of the accepted access token; undefined in histories that topupd makes itself. */
  readonly tokenId: string | undefined;
  /** Undefined unless a seller made it. */
  readonly sale?: Sale | undefined;
}

/** All facts of the decision, read inside the transaction that records it. */
export interface TopUpSnapshot {
  readonly recorded: Transaction | undefined;
  readonly token: (tokenId: string) => TokenState | undefined;
  /** The account of the partner; undefined if it is not guarded. */
  readonly account: () => GuardedAccount | undefined;
  /** Top-ups of the partner today; called only if the partner has a limit a day. */
  readonly soldToday: () => Pick<SaleSums, "topUps" | "gross">;
  readonly customerStatus: WireStatus | undefined;
  readonly connection: Connection | undefined;
  /** Undefined unless the checkout is stored as retired. */
  readonly retired: RetiredCheckout | undefined;
  /** Time before which history was deleted; undefined if nothing was. Called only for expired checkouts. */
  readonly prunedBefore: () => Instant | undefined;
  /** The catalogue revision of the checkout; called only if needed. */
  readonly catalogue: () => Catalogue | undefined;
}

export type TopUpOutcome =
  | {
      readonly kind: "recorded";
      readonly transaction: Transaction;
      readonly plan: string;
      readonly entry: TopUpEntry;
      /** The balance after the top-up; undefined if the account is not guarded. */
      readonly balance: Money | undefined;
    }
  | { readonly kind: "replayed"; readonly transaction: Transaction }
  | RefusedTopUp;

export type RecordedTopUp = Extract<TopUpOutcome, { kind: "recorded" }>;

export interface RefusedTopUp {
  readonly kind: "refused";
  readonly refusal: Refusal;
  /** The checkout is retired: it was before, or must be stored so with this refusal. */
  readonly retired?: RetiredCheckout;
  /** The amount that the balance lacked, in the first refusal with `insufficient_balance`. */
  readonly missing?: Money | undefined;
}

/** How many months ahead a connection can be paid. */
export const DEFAULT_MONTHS_AHEAD = 36;
export const MOST_MONTHS_AHEAD = 12_000;

/** The provider's rules for every top-up. */
export interface SaleRules {
  readonly basePlans: BasePlans;
  /** The latest end that a top-up in production may reach. Partners share the customers of the trial environment. */
  readonly latestEnd: WallTime;
}

/** The outcome once it is durable. */
export type SettledTopUp =
  | { readonly kind: "recorded"; readonly transaction: Transaction }
  | Exclude<TopUpOutcome, { kind: "recorded" }>;

/**
 * Decides a top-up. The order of the checks is in docs/decisions.md, "Top-ups": recorded before, refused by balance or limit
 * before, token and partner, deleted history, expired checkout, business rules, limits, balance.
 */
export function decideTopUp(
  snapshot: TopUpSnapshot,
  command: TopUpCommand,
  now: Moment,
  rules: SaleRules,
): TopUpOutcome {
  const { recorded, retired } = snapshot;
  if (recorded !== undefined) return decideAgain(recorded, command);
  if (retired?.refused !== undefined) return refuseAgain(retired);
  const { tokenId } = command;
  const token = tokenId === undefined ? undefined : snapshot.token(tokenId);
  const lost = tokenId === undefined ? undefined : refusalOfToken(token, now.instant);
  if (lost !== undefined) return refuse(lost);
  if (retired !== undefined || isCheckoutExpired(command.checkout, now.instant))
    return refuseExpired(snapshot, command, now.instant);
  if (!isCheckoutFor(command.checkoutId, command)) return refuse("checkout_mismatch");
  return decideSale(snapshot, command, now, rules, token?.partner.terms ?? NO_TERMS);
}

function refuseExpired(
  { retired, prunedBefore }: TopUpSnapshot,
  { checkout }: TopUpCommand,
  now: Instant,
): RefusedTopUp {
  // The history of that time was deleted, so it is unknown whether the checkout was used.
  if (checkout.issuedAt < (prunedBefore() ?? 0)) return refuse("checkout_unknown");
  return { ...refuse("checkout_expired"), retired: retired ?? { retiredAt: now, refused: undefined } };
}

/** Checks the business rules, the limits and the balance. */
function decideSale(
  snapshot: TopUpSnapshot,
  command: TopUpCommand,
  now: Moment,
  { basePlans, latestEnd }: SaleRules,
  { limits, commission }: PartnerTerms,
): TopUpOutcome {
  const { customerStatus } = snapshot;
  const open = openToSales(customerStatus && { status: customerStatus }, snapshot.connection);
  if (!open.ok) return refuse(open.refusal);
  const { connection } = open.value;
  const quoted = snapshot.catalogue();
  const bouquet = quoted && findPurchasable(quoted, connection, command.bouquetCode, now.wall, basePlans);
  if (bouquet === undefined) return refuse("bouquet_unavailable");
  if (bouquet.price !== command.amount) return refuse("amount_mismatch");

  const today = now.wall.slice(0, "YYYY-MM-DD".length);
  const transaction = transactionOf(command, now, commissionOf(commission, command, today));
  const entry = entryOfTopUp(connection, bouquet, transaction.txnId, now);
  const isTooFar = command.environment === "production" && entry.after.end > latestEnd;
  const charged = isTooFar
    ? limitReached("paid_ahead")
    : (chargeInPractice(command) ?? charge(snapshot.account(), limits, transaction, snapshot.soldToday));
  if (!charged.ok) return refuseForMoney(charged, command, now.instant);
  return { kind: "recorded", transaction, plan: bouquet.plan, entry, balance: charged.balance };
}

/** The entry that a top-up adds to the ledger of its plan. */
export function entryOfTopUp(
  { ledgers }: Pick<Connection, "ledgers">,
  { plan, period, code, name, addOn }: Bouquet,
  txnId: string,
  now: Moment,
): TopUpEntry {
  const none: LedgerHead = { plan, seq: 0, subscription: undefined };
  const head = ledgers.find((ledger) => ledger.plan === plan) ?? none;
  return appendGrant(head, { kind: "top_up", txnId, bouquet: { code, name, addOn }, period }, now);
}

/** Answers a repeated request: the same request gets the recorded result, any other is refused. */
export function decideAgain(
  recorded: Transaction,
  command: RequestedTopUp,
): Extract<TopUpOutcome, { kind: "replayed" | "refused" }> {
  if (recorded.partnerId !== command.partnerId) return refuse("checkout_unknown");
  const same =
    recorded.environment === command.environment &&
    recorded.cuid === command.cuid &&
    recorded.service === command.service &&
    recorded.reqId === command.reqId &&
    recorded.bouquetCode === command.bouquetCode &&
    recorded.amount === command.amount;
  return same ? { kind: "replayed", transaction: recorded } : refuse("checkout_used");
}

/** Answers every later request after a refusal by balance or limit: nothing with its checkout can succeed any more. */
export function refuseAgain(retired: RefusedCheckout): RefusedTopUp {
  return { ...refuse(retired.refused.reason), retired };
}

function refuse(refusal: Refusal) {
  return { kind: "refused", refusal } as const;
}

/** The refusal of the connections where partners practise it; undefined for all others. */
function chargeInPractice(command: TopUpCommand): RefusedCharge | undefined {
  const refusal = faultOf(command)?.refusal;
  if (refusal === "insufficient_balance") return { ok: false, refusal, missing: command.amount };
  return refusal === "limit_reached" ? { ok: false, refusal, limit: "day_amount" } : undefined;
}

function refuseForMoney(
  { refusal: reason, limit, missing }: RefusedCharge,
  { partnerId, environment, amount }: TopUpCommand,
  retiredAt: Instant,
): RefusedTopUp {
  const refused = { partnerId, environment, amount, reason, limit };
  return { ...refuse(reason), retired: { retiredAt, refused }, missing };
}
