import type { AccessToken, Partner } from "../../domain/access-token.ts";
import { availableOf, balanceState } from "../../domain/account.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Money } from "../../domain/money.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { termColumns, toAccessToken, tokensIn, toPartner } from "../../store/access.ts";
import { sumBalance } from "../../store/account-sums.ts";
import type { Db } from "../../store/engine.ts";
import type { Store } from "../../store/store.ts";
import type { AccessTokenRow, PartnerRow } from "../../store/tables.ts";

/** Partners, oldest first. */
export async function readPartners(db: Db): Promise<Partner[]> {
  return (await db.selectFrom("partner").selectAll().orderBy("id").execute()).map(toPartner);
}

/** Names of partners by their numbers. */
export async function partnerNamesOf({ engine }: Pick<Store, "engine">): Promise<ReadonlyMap<number, string>> {
  return new Map((await readPartners(engine.db)).map(({ id, name }) => [id, name]));
}

/** Available amounts and states of balances by partner, of the accounts with settings. */
export async function readAvailable(db: Db, environment: Environment): Promise<ReadonlyMap<number, Available>> {
  const rows = await db.selectFrom("account").selectAll().where("environment", "=", environment).execute();
  const found = rows.map(async ({ partnerId, ...row }): Promise<[number, Available]> => {
    const [creditLimit, alertBelow] = [row.creditLimit, row.alertBelow].map(toMoney);
    const stored = toMoney(row.balance);
    const balance = stored ?? (alertBelow === undefined ? 0n : await sumBalance(db, { partnerId, environment }));
    const state = balanceState(balance, { creditLimit, alertBelow });
    return [partnerId, { available: availableOf(balance, creditLimit), state }];
  });
  return new Map(await Promise.all(found));
}

export interface Available {
  /** Undefined: any amount. */
  readonly available: Money | undefined;
  readonly state: ReturnType<typeof balanceState>;
}

function toMoney(minor: number | null): Money | undefined {
  return minor === null ? undefined : BigInt(minor);
}

export async function findPartner(db: Db, name: string): Promise<Partner | undefined> {
  const row = await db.selectFrom("partner").selectAll().where("name", "=", name).executeTakeFirst();
  return row && toPartner(row);
}

export async function nextPartnerId(tx: Db): Promise<number> {
  const query = tx.selectFrom("partner").select((eb) => eb.fn.max("id").as("last"));
  return ((await query.executeTakeFirstOrThrow()).last ?? 0) + 1;
}

export async function insertPartner(tx: Db, partner: Partner): Promise<void> {
  await tx.insertInto("partner").values(partnerRow(partner)).execute();
}

export async function updatePartner(tx: Db, partner: Partner): Promise<void> {
  const { id, ...values } = partnerRow(partner);
  await tx.updateTable("partner").set(values).where("id", "=", id).execute();
}

function partnerRow(partner: Partner): Omit<PartnerRow, "certificate"> {
  const { id, name, status, createdAt, allowedAddresses: allowed, certifiedAt = null } = partner;
  const allowedAddresses = allowed === undefined ? null : JSON.stringify(allowed.ranges);
  const legal = Object.keys(partner.legal).length === 0 ? null : JSON.stringify(partner.legal);
  return { id, name, status, createdAt, allowedAddresses, certifiedAt, ...termColumns(partner), legal };
}

/** Tokens, oldest first. @param partner undefined for all partners. */
export async function readTokens(db: Db, partner?: Partner): Promise<AccessToken[]> {
  const all = tokensIn(db).orderBy("t.createdAt").orderBy("t.id");
  const query = partner === undefined ? all : all.where("t.partnerId", "=", partner.id);
  return (await query.execute()).map(toAccessToken);
}

export async function findTokenById(db: Db, id: string): Promise<AccessToken | undefined> {
  const row = await tokensIn(db).where("t.id", "=", id).executeTakeFirst();
  return row && toAccessToken(row);
}

/** The person who sells with a token at the counter; undefined for a partner's own token. */
export async function findSellerOfToken(db: Db, id: string): Promise<string | undefined> {
  const people = db.selectFrom("staff as s").innerJoin("accessToken as t", "t.hash", "s.tokenHash").select("s.name");
  return (await people.where("t.id", "=", id).executeTakeFirst())?.name;
}

export async function insertToken(tx: Db, token: AccessToken, hash: Uint8Array): Promise<void> {
  const { id, partner, environment, createdAt } = token;
  const row: AccessTokenRow = {
    hash,
    id,
    partnerId: partner.id,
    environment,
    createdAt,
    ...endColumns(token),
  };
  await tx.insertInto("accessToken").values(row).execute();
}

/** Writes the end of a token and its reason; nothing else of a token changes. */
export async function updateTokenEnd(tx: Db, token: AccessToken): Promise<void> {
  await tx.updateTable("accessToken").set(endColumns(token)).where("id", "=", token.id).execute();
}

function endColumns({ expiresAt, revokedAt, replacedBy }: AccessToken) {
  return { expiresAt: expiresAt ?? null, revokedAt: revokedAt ?? null, replacedBy: replacedBy ?? null };
}

/** Times of the last use, by token id; unused tokens are missing. */
export async function readLastUses(db: Db): Promise<ReadonlyMap<string, Instant>> {
  const rows = await db.selectFrom("accessTokenUse").selectAll().execute();
  return new Map(rows.map(({ tokenId, lastUsedAt }) => [tokenId, lastUsedAt]));
}
