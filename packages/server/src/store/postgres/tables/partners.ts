import type { AccessToken, Partner, PartnerStatus } from "../../../domain/access-token.ts";
import type { Attribution, AuditedChange } from "../../../domain/audit.ts";
import { partnerAdded, partnerStatusSet, tokenIssued, tokenRevoked } from "../../../domain/audited-changes.ts";
import { type AccessTokenRow, type PartnerRow, toAccessToken, toPartner } from "../../common/partner-rows.ts";
import type { Database } from "../session/database.ts";
import { LOCK_REFERENCE } from "../session/locks.ts";
import type { Memory } from "../session/memory.ts";
import type { Prepared, Session } from "../session/session.ts";
import { auditing } from "./audit.ts";

const PARTNER_COLUMNS = `partner.id AS partner_id, partner.name AS partner_name,
  partner.status AS partner_status, partner.created_at AS partner_created_at,
  partner.allowed_addresses AS partner_allowed_addresses`;
const TOKENS = `SELECT access_token.id, access_token.environment, access_token.created_at,
    access_token.expires_at, access_token.revoked_at, access_token.replaced_by, ${PARTNER_COLUMNS}
  FROM access_token JOIN partner ON partner.id = access_token.partner_id`;

const FIND: Prepared = { name: "partner", text: `SELECT ${PARTNER_COLUMNS} FROM partner WHERE name = $1` };
const LIST: Prepared = { name: "partners", text: `SELECT ${PARTNER_COLUMNS} FROM partner ORDER BY id` };
const ADD: Prepared = {
  name: "partner_add",
  text: `INSERT INTO partner (id, name, status, created_at)
    SELECT coalesce(max(id), 0) + 1, $1, 'active', $2 FROM partner`,
};
const SET_STATUS: Prepared = { name: "partner_status", text: "UPDATE partner SET status = $2 WHERE name = $1" };
const ADD_TOKEN: Prepared = {
  name: "token_add",
  text: `INSERT INTO access_token (hash, id, partner_id, environment, created_at, expires_at, revoked_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)`,
};
const TOKEN_BY_HASH: Prepared = { name: "token", text: `${TOKENS} WHERE access_token.hash = $1` };
const TOKEN_BY_ID: Prepared = { name: "token_by_id", text: `${TOKENS} WHERE access_token.id = $1` };
const LIST_TOKENS: Prepared = {
  name: "tokens",
  text: `${TOKENS} ORDER BY access_token.created_at, access_token.id`,
};
const REVOKE: Prepared = {
  name: "token_revoke",
  text: "UPDATE access_token SET revoked_at = $2 WHERE id = $1",
};

/** The SQL of partners and access tokens. */
export class PartnerTables {
  readonly #database: Database;
  readonly #memory: Memory;

  constructor(database: Database, memory: Memory) {
    this.#database = database;
    this.#memory = memory;
  }

  async add(name: string, by: Attribution): Promise<Partner | "name_taken"> {
    return this.change<Partner | "name_taken">(by, async (session) => {
      if ((await findPartner(session, name)) !== undefined) return ["name_taken"];
      await session.run(ADD, [name, by.at]);
      const added = (await findPartner(session, name)) as Partner;
      return [added, partnerAdded(added)];
    });
  }

  async setStatus(name: string, status: PartnerStatus, by: Attribution): Promise<Partner | undefined> {
    return this.change(by, async (session) => {
      const partner = await findPartner(session, name);
      if (partner === undefined || partner.status === status) return [partner];
      await session.run(SET_STATUS, [name, status]);
      return [{ ...partner, status }, partnerStatusSet(partner, status)];
    });
  }

  async find(name: string): Promise<Partner | undefined> {
    const [row] = await this.#database.ask<PartnerRow>(FIND, [name]);
    return row && toPartner(row);
  }

  async list(): Promise<Partner[]> {
    return (await this.#database.ask<PartnerRow>(LIST)).map(toPartner);
  }

  async addToken(token: AccessToken, hash: Uint8Array, by: Attribution): Promise<void> {
    await this.change(by, async (session) => {
      await insertToken(session, token, hash);
      return [undefined, tokenIssued(token)];
    });
  }

  /** Asked of every request, and therefore remembered. */
  async findToken(hash: Uint8Array): Promise<AccessToken | undefined> {
    return this.#memory.recall(`token ${Buffer.from(hash).toString("base64")}`, async () => {
      const [row] = await this.#database.ask<AccessTokenRow>(TOKEN_BY_HASH, [hash]);
      return row && toAccessToken(row);
    });
  }

  async listTokens(): Promise<AccessToken[]> {
    return (await this.#database.ask<AccessTokenRow>(LIST_TOKENS)).map(toAccessToken);
  }

  async revokeToken(id: string, by: Attribution): Promise<AccessToken | undefined> {
    return this.change(by, async (session) => {
      const token = await findTokenById(session, id);
      if (token === undefined || token.revokedAt !== undefined) return [token];
      await session.run(REVOKE, [id, by.at]);
      return [{ ...token, revokedAt: by.at }, tokenRevoked(token, by.at)];
    });
  }

  /** @param work does something, and says what the audit trail is to keep of it. */
  async change<Result>(
    by: Attribution,
    work: (session: Session) => Promise<readonly [Result, ...AuditedChange[]]>,
  ): Promise<Result> {
    const result = await this.#database.transact([LOCK_REFERENCE], async (_, session) => {
      const [done, ...changes] = await work(session);
      await session.commit(await auditing(session, changes, by));
      return done;
    });
    this.#memory.forget();
    return result;
  }
}

/** To be called in a transaction of {@link PartnerTables.change}, as are the next two. */
export async function findPartner(session: Session, name: string): Promise<Partner | undefined> {
  const [row] = await session.run<PartnerRow>(FIND, [name]);
  return row && toPartner(row);
}

export async function findTokenById(session: Session, id: string): Promise<AccessToken | undefined> {
  const [row] = await session.run<AccessTokenRow>(TOKEN_BY_ID, [id]);
  return row && toAccessToken(row);
}

export async function insertToken(session: Session, token: AccessToken, hash: Uint8Array): Promise<void> {
  const { id, partner, environment, createdAt, expiresAt, revokedAt } = token;
  await session.run(ADD_TOKEN, [hash, id, partner.id, environment, createdAt, expiresAt, revokedAt]);
}
