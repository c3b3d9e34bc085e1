import { customerDigest } from "../../../domain/checkout.ts";
import type { ConnectionKey } from "../../../domain/customer.ts";
import type { Grant, Subscription } from "../../../domain/subscription.ts";
import { grantColumns, subscriptionColumns } from "../../common/rows.ts";
import type { Prepared, Query } from "../session/session.ts";
import { type Column, columnsOf, deleteRows, insertRows, replacing, unnest } from "./columns.ts";

/** What is written to one ledger: a grant to append, and what the plan amounts to after it. */
export interface LedgerWrite {
  readonly key: ConnectionKey;
  readonly plan: string;
  /** Undefined where the subscription alone is to be put. */
  readonly grant: Grant | undefined;
  readonly subscription: Subscription | undefined;
}

export const CONNECTION_KEY: readonly Column[] = [
  ["customer_digest", "bigint"],
  ["environment", "text"],
  ["cuid", "text"],
  ["service", "text"],
  ["req_id", "text"],
];
export const PLAN_KEY: readonly Column[] = [...CONNECTION_KEY, ["plan", "text"]];

const SUBSCRIPTION: readonly Column[] = [
  ...PLAN_KEY,
  ["code", "text"],
  ["name", "text"],
  ["add_on", "boolean"],
  ["start_at", "bigint"],
  ["end_at", "bigint"],
  ["months", "integer"],
  ["days", "integer"],
  ["seconds", "bigint"],
  ["topped_up_months", "integer"],
  ["topped_up_days", "integer"],
  ["goodwill_days", "integer"],
  ["granted_end_at", "bigint"],
];
const PUT_SUBSCRIPTIONS = insertRows("subscription", SUBSCRIPTION, replacing(PLAN_KEY, SUBSCRIPTION));
const DELETE_SUBSCRIPTIONS = deleteRows("subscription", PLAN_KEY);

/** `later` counts the grants of one plan that are appended together. */
const GRANT: readonly Column[] = [
  ...PLAN_KEY,
  ["later", "integer"],
  ["kind", "text"],
  ["at", "bigint"],
  ["code", "text"],
  ["name", "text"],
  ["add_on", "boolean"],
  ["start_at", "bigint"],
  ["months", "integer"],
  ["days", "integer"],
  ["seconds", "bigint"],
  ["on_top_months", "integer"],
  ["on_top_days", "integer"],
  ["checkout_id", "text"],
  ["granted_end_at", "bigint"],
  ["goodwill_days", "integer"],
];
const GRANT_VALUES = GRANT.map(([name]) => name).filter((name) => name !== "later");
const APPEND_GRANTS: Prepared = {
  name: "grants_append",
  text: `INSERT INTO subscription_grant (${GRANT_VALUES.join(", ")}, seq)
    SELECT ${GRANT_VALUES.map((name) => `k.${name}`).join(", ")}, k.later + coalesce(
      (SELECT max(g.seq) FROM subscription_grant AS g
       WHERE ${PLAN_KEY.map(([name]) => `g.${name} = k.${name}`).join(" AND ")}), 0)
    FROM ${unnest(GRANT)} AS k(${GRANT.map(([name]) => name).join(", ")})`,
};

/**
 * Appends grants, and puts what their plans amount to after them. To be sent while the customers are locked.
 * @param entries those of one plan in the order in which they were made.
 */
export function appendEntries(entries: readonly LedgerWrite[]): Query[] {
  const latest = new Map<
    string,
    { readonly ids: readonly unknown[]; readonly subscription: Subscription | undefined }
  >();
  const counts = new Map<string, number>();
  const grants = entries.flatMap(({ key, plan, grant, subscription }) => {
    const ids = [...connectionKey(key), plan];
    const name = JSON.stringify(ids);
    latest.set(name, { ids, subscription });
    if (grant === undefined) return [];
    const later = (counts.get(name) ?? 0) + 1;
    counts.set(name, later);
    return [[...ids, later, ...grantColumns(grant)]];
  });
  const put = [...latest.values()].flatMap(({ ids, subscription }) =>
    subscription === undefined ? [] : [[...ids, ...subscriptionColumns(subscription)]],
  );
  const gone = [...latest.values()].flatMap(({ ids, subscription }) => (subscription === undefined ? [ids] : []));
  return [
    ...(grants.length > 0 ? [[APPEND_GRANTS, columnsOf(GRANT.length, grants)] as const] : []),
    ...(put.length > 0 ? [PUT_SUBSCRIPTIONS(put)] : []),
    ...(gone.length > 0 ? [DELETE_SUBSCRIPTIONS(gone)] : []),
  ];
}

/** The values of {@link CONNECTION_KEY}. */
export function connectionKey(key: ConnectionKey): (string | number)[] {
  return [customerDigest(key), key.environment, key.cuid, key.service, key.reqId];
}
