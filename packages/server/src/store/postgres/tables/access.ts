import type { Partner } from "../../../domain/access-token.ts";
import { type AddressList, sameRanges } from "../../../domain/address-list.ts";
import type { Attribution } from "../../../domain/audit.ts";
import { partnerAllowed, tokenIssued, tokenRotated } from "../../../domain/audited-changes.ts";
import {
  type RefusedRotation,
  type Rotation,
  rotateAccessToken,
  type Succession,
} from "../../../domain/token-rotation.ts";
import type { Access, TokenUses } from "../../access.ts";
import type { Database } from "../session/database.ts";
import type { Prepared } from "../session/session.ts";
import { columnsOf } from "./columns.ts";
import { findPartner, findTokenById, insertToken, type PartnerTables } from "./partners.ts";

const SET_ALLOWED: Prepared = {
  name: "partner_allowed",
  text: "UPDATE partner SET allowed_addresses = $2::jsonb WHERE name = $1",
};
const REPLACE: Prepared = {
  name: "token_replace",
  text: "UPDATE access_token SET expires_at = $2, replaced_by = $3 WHERE id = $1",
};
/** In the order of the ids: two processes that record at a time must not wait for each other. */
const RECORD_USES: Prepared = {
  name: "token_uses_record",
  text: `INSERT INTO access_token_use (token_id, last_used_at)
    SELECT used.id, used.at FROM unnest($1::text[], $2::bigint[]) AS used(id, at)
    JOIN access_token ON access_token.id = used.id ORDER BY access_token.id
    ON CONFLICT (token_id) DO UPDATE SET last_used_at = greatest(access_token_use.last_used_at, excluded.last_used_at)`,
};
const LAST_USES: Prepared = { name: "token_uses", text: "SELECT token_id, last_used_at FROM access_token_use" };

/** The SQL of what staff set of partners and tokens, and of how tokens are used. */
export class AccessTables implements Access {
  readonly #database: Database;
  readonly #partners: PartnerTables;

  constructor(database: Database, partners: PartnerTables) {
    this.#database = database;
    this.#partners = partners;
  }

  setAllowedAddresses(name: string, addresses: AddressList | undefined, by: Attribution): Promise<Partner | undefined> {
    return this.#partners.change(by, async (session) => {
      const partner = await findPartner(session, name);
      if (partner === undefined || sameRanges(partner.allowedAddresses, addresses)) return [partner];
      await session.run(SET_ALLOWED, [name, addresses === undefined ? null : JSON.stringify(addresses.ranges)]);
      return [{ ...partner, allowedAddresses: addresses }, partnerAllowed(partner, addresses)];
    });
  }

  rotateToken(
    id: string,
    to: Succession,
    hash: Uint8Array,
    by: Attribution,
  ): Promise<Rotation | RefusedRotation | undefined> {
    return this.#partners.change(by, async (session) => {
      const token = await findTokenById(session, id);
      const rotated = token && rotateAccessToken(token, to, by.at);
      if (token === undefined || rotated?.kind !== "rotated") return [rotated];
      const { former, successor } = rotated;
      await session.run(REPLACE, [id, former.expiresAt, successor.id]);
      await insertToken(session, successor, hash);
      return [rotated, tokenRotated(token, former), tokenIssued(successor)];
    });
  }

  async recordUses(uses: TokenUses): Promise<void> {
    await this.#database.verifyCommits();
    await this.#database.ask(RECORD_USES, columnsOf(2, [...uses]));
  }

  async lastUses(): Promise<TokenUses> {
    const rows = await this.#database.ask<{ token_id: string; last_used_at: number }>(LAST_USES);
    return new Map(rows.map(({ token_id, last_used_at }) => [token_id, last_used_at]));
  }
}
