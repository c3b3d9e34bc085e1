import type { Kysely, OnConflictBuilder } from "kysely";
import type { AccessToken, Partner, TokenState } from "../domain/access-token.ts";
import { AddressList } from "../domain/address-list.ts";
import type { CheckoutSecret } from "../domain/checkout.ts";
import { DEFAULT_LIMITS, type PartnerLimits } from "../domain/partner-limits.ts";
import type { Engine } from "./engine.ts";
import type { TokenUses } from "./store.ts";
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
    .select(["p.id as partnerId", "p.name", "p.status", "p.createdAt as partnerCreatedAt", "p.allowedAddresses"])
    .select(["p.certifiedAt", "p.limits"]);
}

export type TokenRow = Omit<AccessTokenRow, "hash"> &
  Pick<PartnerRow, "name" | "status" | "allowedAddresses" | "certifiedAt" | "limits"> & {
    readonly partnerCreatedAt: number;
  };

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

export function toPartner({ allowedAddresses: allowed, certifiedAt, limits: set, ...partner }: PartnerRow): Partner {
  const { id, name, status, createdAt } = partner;
  const allowedAddresses = allowed === null ? undefined : new AddressList(JSON.parse(allowed) as string[]);
  const limits = { ...DEFAULT_LIMITS, ...(JSON.parse(set ?? "{}") as Partial<PartnerLimits>) };
  return { id, name, status, createdAt, allowedAddresses, certifiedAt: certifiedAt ?? undefined, limits };
}

/** Newest first. */
export function listSecrets(db: Db): Promise<CheckoutSecret[]> {
  return db.selectFrom("checkoutSecret").selectAll().orderBy("createdAt", "desc").orderBy("id", "desc").execute();
}
