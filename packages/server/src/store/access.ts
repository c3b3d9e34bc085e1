import type { OnConflictBuilder } from "kysely";
import type { AccessToken, LegalLines, Partner, TokenState } from "../domain/access-token.ts";
import { NO_SALE_LIMITS, NO_TERMS, type PartnerTerms, type SaleLimits } from "../domain/account.ts";
import { AddressList } from "../domain/address-list.ts";
import type { CheckoutSecret } from "../domain/checkout.ts";
import type { CommissionRule } from "../domain/commission.ts";
import { DEFAULT_LIMITS, type PartnerLimits } from "../domain/partner-limits.ts";
import type { Db, Engine } from "./engine.ts";
import type { TokenUses } from "./store.ts";
import type { AccessTokenRow, PartnerRow, Tables } from "./tables.ts";

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
    .select(["p.certifiedAt", "p.limits", "p.commission", "p.legal"]);
}

export type TokenRow = Omit<AccessTokenRow, "hash"> &
  Pick<PartnerRow, "name" | "status" | "allowedAddresses" | "certifiedAt" | "limits" | "commission" | "legal"> & {
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

export type TokenStateRow = Pick<AccessTokenRow, "expiresAt" | "revokedAt"> &
  Pick<PartnerRow, "status" | "limits" | "commission">;

export function toTokenState(row: TokenStateRow): TokenState {
  const { expiresAt, revokedAt, status } = row;
  const partner = { status, terms: toTerms(row) };
  return { expiresAt: expiresAt ?? undefined, revokedAt: revokedAt ?? undefined, partner };
}

export function toPartner({
  allowedAddresses: allowed,
  certifiedAt,
  ...row
}: Omit<PartnerRow, "certificate">): Partner {
  const { id, name, status, createdAt } = row;
  const allowedAddresses = allowed === null ? undefined : new AddressList(JSON.parse(allowed) as string[]);
  const { rate, burst, newLookUps } = { ...DEFAULT_LIMITS, ...storedLimits(row) };
  const limits = { rate, burst, newLookUps };
  const partner = { id, name, status, createdAt, allowedAddresses, certifiedAt: certifiedAt ?? undefined };
  const legal = row.legal === null ? {} : (JSON.parse(row.legal) as LegalLines);
  return { ...partner, limits, terms: toTerms(row), legal };
}

/** The limits of a partner that differ from the defaults. */
type StoredLimits = Partial<PartnerLimits> & { readonly [Name in keyof SaleLimits]?: number };
type StoredRule = Omit<CommissionRule, "fixed"> & { readonly fixed?: number };

function storedLimits({ limits }: Pick<PartnerRow, "limits">): StoredLimits {
  return limits === null ? {} : (JSON.parse(limits) as StoredLimits);
}

function toTerms(row: Pick<PartnerRow, "limits" | "commission">): PartnerTerms {
  // Each batch reads the terms: most partners have none.
  if (row.limits === null && row.commission === null) return NO_TERMS;
  const { topUpAmount, dayAmount, dayTopUps } = storedLimits(row);
  const limits = { topUpAmount: toMoney(topUpAmount), dayAmount: toMoney(dayAmount), dayTopUps };
  const rules = JSON.parse(row.commission ?? "[]") as StoredRule[];
  return { limits, commission: rules.map(toRule) };
}

function toRule({ service, bouquetCode, percent, fixed, from }: StoredRule): CommissionRule {
  return { service, bouquetCode, percent, fixed: toMoney(fixed), from };
}

function toMoney(minor: number | undefined) {
  return minor === undefined ? undefined : BigInt(minor);
}

/** The columns of a partner's agreement. Defaults are not stored, so that a partner follows them. */
export function termColumns({ limits, terms }: Pick<Partner, "limits" | "terms">) {
  const all = Object.entries({ ...limits, ...terms.limits });
  const defaults: Readonly<Record<string, unknown>> = { ...DEFAULT_LIMITS, ...NO_SALE_LIMITS };
  const set = all.filter(([name, value]) => value !== defaults[name]);
  return {
    limits: set.length === 0 ? null : toJson(Object.fromEntries(set)),
    commission: terms.commission.length === 0 ? null : toJson(terms.commission),
  };
}

function toJson(value: object): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === "bigint" ? Number(each) : each));
}

/** Newest first. */
export function listSecrets(db: Db): Promise<CheckoutSecret[]> {
  return db.selectFrom("checkoutSecret").selectAll().orderBy("createdAt", "desc").orderBy("id", "desc").execute();
}
