import type { Kysely, OnConflictBuilder } from "kysely";
import type { AccessToken, Partner, TokenState } from "../../domain/access-token.ts";
import { rotateAccessToken } from "../../domain/access-token.ts";
import { AddressList, sameRanges } from "../../domain/address-list.ts";
import type { Attribution } from "../../domain/audit.ts";
import * as audited from "../../domain/audit.ts";
import { type CheckoutSecret, rotation } from "../../domain/checkout-secret.ts";
import type { CheckoutSecrets, Partners } from "../changes.ts";
import type { Engine } from "../engine.ts";
import type { AccessTokenRow, PartnerRow, Tables } from "../tables.ts";
import { appendAudit } from "./audit.ts";

type Db = Kysely<Tables>;

export function partnersOf(engine: Engine): Partners {
  const { db } = engine;

  /** Changes a partner that is there, unless it is so already. */
  const changePartner = (
    name: string,
    by: Attribution,
    change: (partner: Partner) => readonly [to: Partner, audit: audited.AuditedChange] | undefined,
  ) =>
    engine.change(async (tx) => {
      const partner = await findPartner(tx, name);
      const changed = partner && change(partner);
      if (changed === undefined) return partner;
      const [to, audit] = changed;
      const { id, ...values } = partnerRow(to);
      await tx.updateTable("partner").set(values).where("id", "=", id).execute();
      await appendAudit(engine, tx, audit, by);
      return to;
    });

  return {
    add: (name, by) =>
      engine.change(async (tx) => {
        if ((await findPartner(tx, name)) !== undefined) return "name_taken";
        const { last } = await tx
          .selectFrom("partner")
          .select((eb) => eb.fn.max("id").as("last"))
          .executeTakeFirstOrThrow();
        const id = (last ?? 0) + 1;
        const partner: Partner = { id, name, status: "active", createdAt: by.at, allowedAddresses: undefined };
        await tx.insertInto("partner").values(partnerRow(partner)).execute();
        await appendAudit(engine, tx, audited.partnerAdded(partner), by);
        return partner;
      }),

    setStatus: (name, status, by) =>
      changePartner(name, by, (partner) =>
        partner.status === status ? undefined : [{ ...partner, status }, audited.partnerStatusSet(partner, status)],
      ),

    setAllowedAddresses: (name, allowedAddresses, by) =>
      changePartner(name, by, (partner) =>
        sameRanges(partner.allowedAddresses, allowedAddresses)
          ? undefined
          : [{ ...partner, allowedAddresses }, audited.partnerAllowed(partner, allowedAddresses)],
      ),

    find: (name) => findPartner(db, name),

    async list() {
      return (await db.selectFrom("partner").selectAll().orderBy("id").execute()).map(toPartner);
    },

    addToken: (token, hash, by) => engine.change((tx) => addToken(engine, tx, token, hash, by)),

    async listTokens() {
      return (await tokens(db).orderBy("t.created_at").orderBy("t.id").execute()).map(toAccessToken);
    },

    revokeToken: (id, by) =>
      engine.change(async (tx) => {
        const token = await findTokenById(tx, id);
        if (token === undefined || token.revokedAt !== undefined) return token;
        await tx.updateTable("access_token").set({ revoked_at: by.at }).where("id", "=", id).execute();
        await appendAudit(engine, tx, audited.tokenRevoked(token, by.at), by);
        return { ...token, revokedAt: by.at };
      }),

    rotateToken: (id, to, hash, by) =>
      engine.change(async (tx) => {
        const token = await findTokenById(tx, id);
        const rotated = token && rotateAccessToken(token, to, by.at);
        if (token === undefined || rotated?.kind !== "rotated") return rotated;
        const { former, successor } = rotated;
        const values = { expires_at: former.expiresAt ?? null, replaced_by: successor.id };
        await tx.updateTable("access_token").set(values).where("id", "=", id).execute();
        await appendAudit(engine, tx, audited.tokenRotated(token, former), by);
        await addToken(engine, tx, successor, hash, by);
        return rotated;
      }),

    recordUses: (uses) =>
      engine.transact(async (tx) => {
        // In one order everywhere, so that processes that record at once do not wait for each other.
        const sorted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
        const rows = sorted.map(([token_id, last_used_at]) => ({ token_id, last_used_at }));
        const later = (on: OnConflictBuilder<Tables, "access_token_use">) =>
          on
            .column("token_id")
            .doUpdateSet((eb) => ({ last_used_at: eb.ref("excluded.last_used_at") }))
            .whereRef("access_token_use.last_used_at", "<", "excluded.last_used_at");
        await tx.insertInto("access_token_use").values(rows).onConflict(later).execute();
      }),

    async lastUses() {
      const rows = await db.selectFrom("access_token_use").selectAll().execute();
      return new Map(rows.map(({ token_id, last_used_at }) => [token_id, last_used_at]));
    },
  };
}

/** The token of which this is the hash. */
export async function findToken(db: Db, hash: Uint8Array): Promise<AccessToken | undefined> {
  const row = await tokens(db).where("t.hash", "=", hash).executeTakeFirst();
  return row && toAccessToken(row);
}

async function findTokenById(tx: Db, id: string): Promise<AccessToken | undefined> {
  const row = await tokens(tx).where("t.id", "=", id).executeTakeFirst();
  return row && toAccessToken(row);
}

async function findPartner(tx: Db, name: string): Promise<Partner | undefined> {
  const row = await tx.selectFrom("partner").selectAll().where("name", "=", name).executeTakeFirst();
  return row && toPartner(row);
}

async function addToken(engine: Engine, tx: Db, token: AccessToken, hash: Uint8Array, by: Attribution): Promise<void> {
  const { id, partner, environment, createdAt, expiresAt, revokedAt, replacedBy } = token;
  const row: AccessTokenRow = {
    ...{ hash, id, partner_id: partner.id, environment, created_at: createdAt },
    ...{ expires_at: expiresAt ?? null, revoked_at: revokedAt ?? null, replaced_by: replacedBy ?? null },
  };
  await tx.insertInto("access_token").values(row).execute();
  await appendAudit(engine, tx, audited.tokenIssued(token), by);
}

function tokens(db: Db) {
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

function toPartner({ id, name, status, created_at: createdAt, allowed_addresses: allowed }: PartnerRow): Partner {
  const allowedAddresses = allowed === null ? undefined : new AddressList(JSON.parse(allowed) as string[]);
  return { id, name, status, createdAt, allowedAddresses };
}

function partnerRow({ id, name, status, createdAt, allowedAddresses: allowed }: Partner): PartnerRow {
  const addresses = allowed === undefined ? null : JSON.stringify(allowed.ranges);
  return { id, name, status, created_at: createdAt, allowed_addresses: addresses };
}

export function secretsOf(engine: Engine): CheckoutSecrets {
  return {
    rotate: (key, by) =>
      engine.change(async (tx) => {
        const rotated = rotation(await listSecrets(tx), key, by.at);
        if (rotated === "too_soon") return rotated;
        const { id, createdAt } = rotated.added;
        const values = { key, created_at: createdAt };
        await tx
          .insertInto("checkout_secret")
          .values({ id, ...values })
          .onConflict((on) => on.column("id").doUpdateSet(values))
          .execute();
        await appendAudit(engine, tx, audited.secretRotated(rotated), by);
        return rotated;
      }),
  };
}

/** Newest first. */
export async function listSecrets(db: Db): Promise<CheckoutSecret[]> {
  const query = db.selectFrom("checkout_secret").selectAll().orderBy("created_at", "desc").orderBy("id", "desc");
  return (await query.execute()).map(({ id, key, created_at: createdAt }) => ({ id, key, createdAt }));
}
