import type { Kysely, OnConflictBuilder } from "kysely";
import type { AccessToken, Partner, TokenState } from "../domain/access-token.ts";
import { AddressList } from "../domain/address-list.ts";
import type { CheckoutSecret } from "../domain/checkout-secret.ts";
import type { Engine } from "./engine.ts";
import type { TokenUses } from "./store.ts";
import type { AccessTokenRow, PartnerRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** Writes when tokens were used; the later of what is on record and what is given stays. */
export async function recordTokenUses(engine: Engine, uses: TokenUses): Promise<void> {
  await engine.transact(async (tx) => {
    // In one order everywhere, so that processes that record at once do not wait for each other.
    const sorted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = sorted.map(([token_id, last_used_at]) => ({ token_id, last_used_at }));
    const later = (on: OnConflictBuilder<Tables, "access_token_use">) =>
      on
        .column("token_id")
        .doUpdateSet((eb) => ({ last_used_at: eb.ref("excluded.last_used_at") }))
        .whereRef("access_token_use.last_used_at", "<", "excluded.last_used_at");
    await tx.insertInto("access_token_use").values(rows).onConflict(later).execute();
  });
}

/** The token of which this is the hash. */
export async function findToken(db: Db, hash: Uint8Array): Promise<AccessToken | undefined> {
  const row = await tokensIn(db).where("t.hash", "=", hash).executeTakeFirst();
  return row && toAccessToken(row);
}

/** Selects tokens with their partners. */
export function tokensIn(db: Db) {
  return db
    .selectFrom("access_token as t")
    .innerJoin("partner as p", "p.id", "t.partner_id")
    .select(["t.id", "t.environment", "t.created_at", "t.expires_at", "t.revoked_at", "t.replaced_by"])
    .select(["p.id as partner_id", "p.name", "p.status", "p.created_at as partner_created_at", "p.allowed_addresses"]);
}

export type TokenRow = Omit<AccessTokenRow, "hash"> &
  Pick<PartnerRow, "name" | "status" | "allowed_addresses"> & { readonly partner_created_at: number };

export function toAccessToken(row: TokenRow): AccessToken {
  return {
    id: row.id,
    partner: toPartner({ ...row, id: row.partner_id, created_at: row.partner_created_at }),
    environment: row.environment,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    replacedBy: row.replaced_by ?? undefined,
  };
}

export type TokenStateRow = Pick<AccessTokenRow, "expires_at" | "revoked_at"> & Pick<PartnerRow, "status">;

export function toTokenState({ expires_at, revoked_at, status }: TokenStateRow): TokenState {
  return { expiresAt: expires_at ?? undefined, revokedAt: revoked_at ?? undefined, partner: { status } };
}

export function toPartner({
  id,
  name,
  status,
  created_at: createdAt,
  allowed_addresses: allowed,
}: PartnerRow): Partner {
  const allowedAddresses = allowed === null ? undefined : new AddressList(JSON.parse(allowed) as string[]);
  return { id, name, status, createdAt, allowedAddresses };
}

/** Newest first. */
export async function listSecrets(db: Db): Promise<CheckoutSecret[]> {
  const query = db.selectFrom("checkout_secret").selectAll().orderBy("created_at", "desc").orderBy("id", "desc");
  return (await query.execute()).map(({ id, key, created_at: createdAt }) => ({ id, key, createdAt }));
}
