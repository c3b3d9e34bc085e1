import type { AccessToken } from "../../domain/access-token.ts";
import { tokenIssued, tokenRevoked } from "../../domain/audit.ts";
import type { Environment } from "../../domain/customer.ts";
import { Refused } from "../../domain/refused.ts";
import { SESSION_GONE, type StaffMember } from "../../domain/staff.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { findToken, toAccessToken, tokensIn } from "../../store/access.ts";
import type { Db } from "../../store/engine.ts";
import type { Change } from "../decide.ts";
import type { Office } from "../office.ts";
import { noPartner } from "../partners/presenter.ts";
import { findPartner, insertToken, updateTokenEnd } from "../partners/sql.ts";
import { makeTokenId } from "../partners/tokens.ts";

/*
 * Sellers: people of one partner who sell at the counter. Each has an access token without a value, so that a sale is a
 * top-up of the partner, with its limits, account, suspension and revocation.
 */

const HASH_BYTES = 32;

/** The partner and environment that a person sells for. */
export interface SellsFor {
  readonly partner: string;
  readonly environment: Environment;
}

/** Makes the token of a new seller. @throws Refused if there is no such partner. */
export async function sellerToken(office: Office, tx: Db, { partner: name, environment }: SellsFor) {
  const partner = (await findPartner(tx, name)) ?? noPartner(name);
  const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
  const token: AccessToken = { id: makeTokenId(office), partner, environment, createdAt: office.by.at, ...ends };
  const tokenHash = office.random(HASH_BYTES);
  const write = () => insertToken(tx, token, tokenHash);
  return { tokenHash, change: { write, audit: [tokenIssued(token)] } satisfies Change };
}

/** Whether sales or an open shift have this name: another person would get them. */
export async function hasSold(tx: Db, name: string): Promise<boolean> {
  const sale = await tx.selectFrom("sale").select("txnId").where("seller", "=", name).limit(1).executeTakeFirst();
  const shifts = tx.selectFrom("shift").select("id").where("seller", "=", name).where("closedAt", "is", null);
  return sale !== undefined || (await shifts.executeTakeFirst()) !== undefined;
}

/** Revokes the token of a person who is removed; undefined if the person is no seller. */
export async function endOfSeller(tx: Db, { tokenHash }: StaffMember, at: Instant): Promise<Change | undefined> {
  const token = tokenHash && (await findToken(tx, tokenHash));
  if (token === undefined || token.revokedAt !== undefined) return undefined;
  return { write: () => updateTokenEnd(tx, { ...token, revokedAt: at }), audit: [tokenRevoked(token, at)] };
}

/** Reads for whom people sell, by the id of the person. */
export async function readSellers(db: Db, staff: readonly StaffMember[]): Promise<ReadonlyMap<number, SellsFor>> {
  const hashes = staff.flatMap(({ tokenHash }) => tokenHash ?? []);
  if (hashes.length === 0) return new Map();
  const rows = await tokensIn(db).select("t.hash").where("t.hash", "in", hashes).execute();
  const named = new Map(rows.map((row) => [hexOf(row.hash), toAccessToken(row)]));
  return new Map(
    staff.flatMap(({ id, tokenHash }) => {
      const token = tokenHash && named.get(hexOf(tokenHash));
      return token === undefined ? [] : [[id, { partner: token.partner.name, environment: token.environment }]];
    }),
  );
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}

/** The seller who is logged in. */
export interface Seller {
  readonly name: string;
  readonly token: AccessToken;
}

/** Reads the seller who asks, with the partner as it is now. @throws Refused */
export async function sellerOf({ by, store }: Pick<Office, "by" | "store">, db?: Db): Promise<Seller> {
  const { authority, author: name } = by;
  const id = authority !== undefined && "staffId" in authority ? authority.staffId : undefined;
  const staff = (db ?? store.engine.db)
    .selectFrom("staff")
    .select("tokenHash")
    .where("id", "=", id ?? -1);
  const tokenHash = (await staff.executeTakeFirst())?.tokenHash;
  const token = tokenHash && (await findToken(db ?? store.engine.db, tokenHash));
  if (!token) throw new Refused("forbidden", SESSION_GONE);
  return { name, token };
}
