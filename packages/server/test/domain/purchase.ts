import type { TokenState } from "../../src/domain/access-token.ts";
import { NO_TERMS } from "../../src/domain/account.ts";
import { type CheckoutHolder, issueCheckout, openCheckout } from "../../src/domain/checkout.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import { decideTopUp, type SaleRules, type TopUpCommand, type TopUpSnapshot } from "../../src/domain/top-up.ts";
import { LAST_WALL_TIME } from "../../src/domain/wall-time.ts";
import { ADD_ON, connectionWith, MONTHLY, momentOf, QUARTERLY } from "./builders.ts";

export const ISSUED_AT = Date.parse("2026-11-20T09:00:00Z");
export const NOW = ISSUED_AT + 60_000;

const SECRET = { id: 1, key: new Uint8Array(32).fill(9), createdAt: 0 };
const HOLDER: CheckoutHolder = { partnerId: 7, environment: "production" };
export const FIBER: ConnectionKey = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" };

export function checkoutFor(connection: ConnectionKey): Pick<TopUpCommand, "checkoutId" | "checkout"> {
  const holder = { ...HOLDER, environment: connection.environment };
  const quote = { revision: 1, issuedAt: ISSUED_AT, nonce: new Uint8Array(16) };
  const checkoutId = issueCheckout(SECRET, holder, connection, quote);
  const checkout = openCheckout([SECRET], holder, checkoutId);
  if (checkout === undefined) throw new Error("the checkout does not open");
  return { checkoutId, checkout };
}

/** A purchase of the monthly bouquet with a matching checkout. */
export function commandWith(changes: Partial<TopUpCommand> = {}): TopUpCommand {
  return {
    ...HOLDER,
    ...FIBER,
    ...checkoutFor(FIBER),
    bouquetCode: MONTHLY.code,
    amount: MONTHLY.price,
    udf1: "order 1",
    udf2: undefined,
    txnDigits: "0000000000000042",
    tokenId: "tok_1",
    ...changes,
  };
}

export const GOOD_TOKEN: TokenState = {
  expiresAt: undefined,
  revokedAt: undefined,
  partner: { status: "active", terms: NO_TERMS },
};

/** The snapshot of a top-up that is allowed. */
export function snapshotWith(changes: Partial<TopUpSnapshot> = {}): TopUpSnapshot {
  return {
    recorded: undefined,
    token: () => GOOD_TOKEN,
    account: () => undefined,
    soldToday: () => ({ topUps: 0, gross: 0n }),
    customerStatus: "active",
    connection: connectionWith(),
    retired: undefined,
    prunedBefore: () => undefined,
    catalogue: () => ({ revision: 1, bouquets: [MONTHLY, QUARTERLY, ADD_ON] }),
    ...changes,
  };
}

/** @param now an instant. The provider's zone is UTC, and many base plans may run at once. */
export function decide(snapshot: TopUpSnapshot, command = commandWith(), now = NOW, changes: Partial<SaleRules> = {}) {
  const basePlans = { tv: "many", internet: "many", iptv: "many" } as const;
  return decideTopUp(snapshot, command, momentOf(now), { basePlans, latestEnd: LAST_WALL_TIME, ...changes });
}

export function refusal(reason: string) {
  return { kind: "refused", refusal: reason };
}
