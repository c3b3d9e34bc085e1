import { CHECKOUT_KEY_BYTES, SECRET_REST_MS, sealingSecret } from "../../domain/checkout-secret.ts";
import { type Instant, type Period, plus } from "../../domain/wall-time.ts";
import { readDay, type Zone } from "../../domain/zone.ts";
import type { Pruned, PrunedPortion } from "../../store/retention.ts";
import { type Actor, attributionOf, type Ports, type ReadingPorts } from "../ports.ts";

export interface CheckReport {
  /** Whether nothing was found wrong. */
  readonly ok: boolean;
  readonly checked: readonly { readonly what: string; readonly count: number }[];
  readonly wrong: readonly string[];
}

/** Whether what is stored can be trusted. */
export async function checkStore({ store }: ReadingPorts): Promise<CheckReport> {
  const checked: { what: string; count: number }[] = [];
  const wrong: string[] = [];
  for await (const event of store.check()) {
    if (event.kind === "checked") checked.push({ what: event.what, count: event.count });
    else wrong.push(event.what);
  }
  return { ok: wrong.length === 0, checked, wrong };
}

/** Without what is secret, newest first: a new one does not seal yet, a former one opens what it has sealed. */
export async function listSecrets({ store, clock }: Pick<Ports, "store" | "clock">) {
  const secrets = await store.checkoutSecrets();
  const sealing = secrets.indexOf(sealingSecret(secrets, clock()));
  const stateAt = (index: number) => (index === sealing ? "sealing" : index < sealing ? "new" : "former");
  return secrets.map(({ id, createdAt }, index) => ({ id, state: stateAt(index), createdAt }));
}

export type SecretRotated =
  | { readonly kind: "rotated"; readonly id: number; readonly sealsFrom: Instant }
  /** There is no room for one more: the oldest may still be in use, for a quarter of an hour at most. */
  | { readonly kind: "too_soon" };

/** Seals new checkouts with a new secret; those given out stay good for their five minutes. */
export async function rotateSecret(ports: Ports, actor: Actor): Promise<SecretRotated> {
  const key = ports.random(CHECKOUT_KEY_BYTES);
  const rotated = await ports.store.secrets.rotate(key, attributionOf(ports, actor));
  if (rotated === "too_soon") return { kind: "too_soon" };
  const { id, createdAt } = rotated.added;
  return { kind: "rotated", id, sealsFrom: createdAt + SECRET_REST_MS };
}

/** So much always stays: records that are imported may be 35 days old, and partners settle month by month. */
export const SHORTEST_RETENTION_DAYS = 62;

/** A hundred years. */
const LONGEST_AGE: Readonly<Record<string, number>> = { y: 100, m: 1_200, d: 36_600 };

/** @param text such as `7y`, `18m` or `400d`; undefined for any other. */
export function readAge(text: string): Period | undefined {
  const [, digits = "", unit = ""] = /^([1-9][0-9]{0,4})([ymd])$/.exec(text) ?? [];
  const count = Number(digits);
  if (digits === "" || count > (LONGEST_AGE[unit] ?? 0)) return undefined;
  return unit === "d" ? { months: 0, days: count } : { months: unit === "y" ? count * 12 : count, days: 0 };
}

export interface PruneRequest {
  /** How long history is kept. */
  readonly olderThan: Period;
  readonly dryRun: boolean;
  readonly reason: string | undefined;
}

export type PruneAnswer =
  /** What is from before that midnight is gone, or would go. */
  | { readonly kind: "pruned"; readonly before: Instant; readonly pruned: Pruned }
  /** Less than {@link SHORTEST_RETENTION_DAYS} would stay. */
  | { readonly kind: "too_young" };

/**
 * Lets history go, for good, as far as nothing that is left needs it (ledger's page, section 5). An interrupted run has let
 * go of a part: the next one goes on with the rest.
 */
export async function pruneHistory(
  ports: Ports,
  actor: Actor,
  { olderThan, dryRun, reason }: PruneRequest,
): Promise<PruneAnswer> {
  const { retention, provider } = ports.store;
  const now = ports.clock();
  const before = startOfRetention(olderThan, now, provider.zone);
  if (before === undefined) return { kind: "too_young" };
  if (!dryRun) await retention.moveHorizon(before, attributionOf(ports, actor, reason));
  const ledgers = await inPortions(retention.pruneLedgers.bind(retention), before, dryRun);
  const retired = await inPortions(retention.pruneRetired.bind(retention), before, dryRun);
  const pruned = sum(ledgers, retired);
  const hasGone = pruned.entries + pruned.topUps + pruned.retiredCheckouts > 0;
  if (hasGone && !dryRun) await retention.recordPruned(pruned, attributionOf(ports, actor, reason));
  return { kind: "pruned", before, pruned };
}

/** Where the day begins that is so long ago; undefined where that is too short a while. */
function startOfRetention({ months, days }: Period, now: Instant, zone: Zone): Instant | undefined {
  const today = zone.wallTime(now);
  const first = plus(today, { months: -months, days: -days }).slice(0, 10);
  const last = plus(today, { months: 0, days: -SHORTEST_RETENTION_DAYS }).slice(0, 10);
  return first > last ? undefined : readDay(first, zone)?.start;
}

async function inPortions<Cursor>(
  prune: (before: Instant, after: Cursor | undefined, dryRun: boolean) => Promise<PrunedPortion<Cursor>>,
  before: Instant,
  dryRun: boolean,
): Promise<Pruned> {
  let total: Pruned = { entries: 0, topUps: 0, retiredCheckouts: 0 };
  let after: Cursor | undefined;
  do {
    const { pruned, next } = await prune(before, after, dryRun);
    total = sum(total, pruned);
    after = next;
  } while (after !== undefined);
  return total;
}

function sum(a: Pruned, b: Pruned): Pruned {
  return {
    entries: a.entries + b.entries,
    topUps: a.topUps + b.topUps,
    retiredCheckouts: a.retiredCheckouts + b.retiredCheckouts,
  };
}
