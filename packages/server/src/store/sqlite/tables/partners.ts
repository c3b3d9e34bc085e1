import type { AccessToken, Partner, PartnerStatus } from "../../../domain/access-token.ts";
import type { Attribution } from "../../../domain/audit.ts";
import { partnerAdded, partnerStatusSet, tokenIssued, tokenRevoked } from "../../../domain/audited-changes.ts";
import { toAccessToken, toPartner } from "../../common/partner-rows.ts";
import type { Database } from "../database.ts";
import type { AuditTable } from "./audit.ts";

const PARTNER_COLUMNS = `partner.id AS partner_id, partner.name AS partner_name,
  partner.status AS partner_status, partner.created_at AS partner_created_at,
  partner.allowed_addresses AS partner_allowed_addresses`;
const TOKEN_COLUMNS = `access_token.id, access_token.environment, access_token.created_at,
  access_token.expires_at, access_token.revoked_at, access_token.replaced_by, ${PARTNER_COLUMNS}`;
const TOKENS = "access_token JOIN partner ON partner.id = access_token.partner_id";

/** The SQL of partners and access tokens. What changes them is to be called inside a write transaction. */
export class PartnerTables {
  readonly #database: Database;
  readonly #audit: AuditTable;
  readonly #tokenByHash;

  constructor(database: Database, audit: AuditTable) {
    this.#database = database;
    this.#audit = audit;
    this.#tokenByHash = database.prepare(`SELECT ${TOKEN_COLUMNS} FROM ${TOKENS} WHERE access_token.hash = ?`);
  }

  find(name: string): Partner | undefined {
    const row = this.#database.prepare(`SELECT ${PARTNER_COLUMNS} FROM partner WHERE name = ?`).get(name);
    return row && toPartner(row);
  }

  list(): Partner[] {
    return this.#database.prepare(`SELECT ${PARTNER_COLUMNS} FROM partner ORDER BY id`).all().map(toPartner);
  }

  add(name: string, by: Attribution): Partner | "name_taken" {
    if (this.find(name) !== undefined) return "name_taken";
    this.#database.prepare("INSERT INTO partner (name, status, created_at) VALUES (?, 'active', ?)").run(name, by.at);
    const added = this.find(name) as Partner;
    this.#audit.append(partnerAdded(added), by);
    return added;
  }

  setStatus(name: string, status: PartnerStatus, by: Attribution): Partner | undefined {
    const partner = this.find(name);
    if (partner === undefined || partner.status === status) return partner;
    this.#database.prepare("UPDATE partner SET status = ? WHERE name = ?").run(status, name);
    this.#audit.append(partnerStatusSet(partner, status), by);
    return { ...partner, status };
  }

  addToken(token: AccessToken, hash: Uint8Array, by: Attribution): void {
    this.#database
      .prepare(
        `INSERT INTO access_token (hash, id, partner_id, environment, created_at, expires_at, revoked_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        hash,
        token.id,
        token.partner.id,
        token.environment,
        token.createdAt,
        token.expiresAt ?? null,
        token.revokedAt ?? null,
      );
    this.#audit.append(tokenIssued(token), by);
  }

  findToken(hash: Uint8Array): AccessToken | undefined {
    const row = this.#tokenByHash.get(hash);
    return row && toAccessToken(row);
  }

  listTokens(): AccessToken[] {
    return this.#database
      .prepare(`SELECT ${TOKEN_COLUMNS} FROM ${TOKENS} ORDER BY access_token.created_at, access_token.id`)
      .all()
      .map(toAccessToken);
  }

  revokeToken(id: string, by: Attribution): AccessToken | undefined {
    const token = this.findTokenById(id);
    if (token === undefined || token.revokedAt !== undefined) return token;
    this.#database.prepare("UPDATE access_token SET revoked_at = ? WHERE id = ?").run(by.at, id);
    this.#audit.append(tokenRevoked(token, by.at), by);
    return { ...token, revokedAt: by.at };
  }

  findTokenById(id: string): AccessToken | undefined {
    const row = this.#database.prepare(`SELECT ${TOKEN_COLUMNS} FROM ${TOKENS} WHERE access_token.id = ?`).get(id);
    return row && toAccessToken(row);
  }
}
