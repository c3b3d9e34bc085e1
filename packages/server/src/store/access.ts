import type { Kysely, OnConflictBuilder } from "kysely";
import type { AccessToken, Partner, TokenState } from "../domain/access-token.ts";
import { AddressList } from "../domain/address-list.ts";
import type { CheckoutSecret } from "../domain/checkout.ts";
import { portionsOf } from "../domain/portions.ts";
import type { Engine } from "./engine.ts";
import type { RefusedCall, TokenUses } from "./store.ts";
import type { AccessTokenRow, PartnerRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** Writes when tokens were used. The later time stays. */
export async function recordTokenUses(engine: Engine, uses: TokenUses): Promise<void> {
  await engine.transact(async (tx) => {
    // All processes use the same order, so that they cannot deadlock.
    const sorted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = sorted.map(([tokenId, lastUsedAt]) => ({ tokenId, lastUsedAt }));
    const later = (on: OnConflictBuilder<Tables, "accessTokenUse">) =>
      on
        .column("tokenId")
        .doUpdateSet((eb) => ({ lastUsedAt: eb.ref("excluded.lastUsedAt") }))
        .whereRef("accessTokenUse.lastUsedAt", "<", "excluded.lastUsedAt");
    await tx.insertInto("accessTokenUse").values(rows).onConflict(later).execute();
  });
}

export async function findToken(db: Db, hash: Uint8Array): Promise<AccessToken | undefined> {
  const row = await tokensIn(db).where("t.hash", "=", hash).executeTakeFirst();
  return row && toAccessToken(row);
}

/** Selects tokens with their partners. */
export function tokensIn(db: Db) {
  return db
    .selectFrom("accessToken as t")
    .innerJoin("partner as p", "p.id", "t.partnerId")
    .select(["t.id", "t.environment", "t.createdAt", "t.expiresAt", "t.revokedAt", "t.replacedBy"])
    .select(["p.id as partnerId", "p.name", "p.status", "p.createdAt as partnerCreatedAt", "p.allowedAddresses"]);
}

export type TokenRow = Omit<AccessTokenRow, "hash"> &
  Pick<PartnerRow, "name" | "status" | "allowedAddresses"> & { readonly partnerCreatedAt: number };

export function toAccessToken(row: TokenRow): AccessToken {
  const { id, environment, createdAt, expiresAt, revokedAt, replacedBy } = row;
  return {
    id,
    partner: toPartner({ ...row, id: row.partnerId, createdAt: row.partnerCreatedAt }),
    environment,
    createdAt,
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    replacedBy: replacedBy ?? undefined,
  };
}

export type TokenStateRow = Pick<AccessTokenRow, "expiresAt" | "revokedAt"> & Pick<PartnerRow, "status">;

export function toTokenState({ expiresAt, revokedAt, status }: TokenStateRow): TokenState {
  return { expiresAt: expiresAt ?? undefined, revokedAt: revokedAt ?? undefined, partner: { status } };
}

export function toPartner({ id, name, status, createdAt, allowedAddresses: allowed }: PartnerRow): Partner {
  const allowedAddresses = allowed === null ? undefined : new AddressList(JSON.parse(allowed) as string[]);
  return { id, name, status, createdAt, allowedAddresses };
}

/** Newest first. */
export function listSecrets(db: Db): Promise<CheckoutSecret[]> {
  return db.selectFrom("checkoutSecret").selectAll().orderBy("createdAt", "desc").orderBy("id", "desc").execute();
}

/** Limits of kept refused calls: their age and their number. */
export const REFUSED_CALLS_KEPT_MS = 30 * 86_400_000;
export const MOST_REFUSED_CALLS = 1_000_000;

/** Refused calls that one transaction writes: it delays top-ups by a few milliseconds at most. */
const ROWS_AT_ONCE = 500;
/** Refused calls that are deleted together: more than are written together. */
const DELETED_AT_ONCE = 2_000;

/** Records refused calls, and deletes some that are too old or too many. */
export async function recordRefusedCalls(engine: Engine, calls: readonly RefusedCall[]): Promise<void> {
  for (const some of portionsOf(calls, ROWS_AT_ONCE)) await recordSome(engine, some);
}

async function recordSome(engine: Engine, calls: readonly RefusedCall[]): Promise<void> {
  await engine.transact(async (tx) => {
    await engine.lockRefusedCalls(tx);
    const newest = await tx.selectFrom("refusedCall").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
    const first = (newest?.id ?? 0) + 1;
    const rows = calls.map((call, index) => ({ ...call, id: first + index, code: call.code ?? null }));
    await tx.insertInto("refusedCall").values(rows).execute();
    const last = rows.at(-1);
    if (last !== undefined) await deleteOldest(tx, last.at - REFUSED_CALLS_KEPT_MS, last.id - MOST_REFUSED_CALLS);
  });
}

/** Deletes some of the oldest, if they are from before `from` or numbered up to `beyond`. */
async function deleteOldest(tx: Db, from: number, beyond: number): Promise<void> {
  const oldest = await tx
    .selectFrom("refusedCall")
    .select(["id", "at"])
    .orderBy("id")
    .limit(1)
    .executeTakeFirstOrThrow();
  if (oldest.at >= from && oldest.id > beyond) return;
  await tx
    .deleteFrom("refusedCall")
    .where("id", "<", oldest.id + DELETED_AT_ONCE)
    .where((eb) => eb.or([eb("at", "<", from), eb("id", "<=", beyond)]))
    .execute();
}
