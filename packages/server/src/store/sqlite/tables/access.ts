import type { Partner } from "../../../domain/access-token.ts";
import { type AddressList, sameRanges } from "../../../domain/address-list.ts";
import type { Attribution } from "../../../domain/audit.ts";
import { partnerAllowed, tokenRotated } from "../../../domain/audited-changes.ts";
import {
  type RefusedRotation,
  type Rotation,
  rotateAccessToken,
  type Succession,
} from "../../../domain/token-rotation.ts";
import type { Access, TokenUses } from "../../access.ts";
import type { Database } from "../database.ts";
import type { Memory } from "../memory.ts";
import type { AuditTable } from "./audit.ts";
import type { PartnerTables } from "./partners.ts";

/** What the tables of access work with. */
export interface AccessParts {
  readonly audit: AuditTable;
  readonly memory: Memory;
  readonly partners: PartnerTables;
}

/** The SQL of what staff set of partners and tokens, and of how tokens are used. */
export class AccessTables implements Access {
  readonly #database: Database;
  readonly #parts: AccessParts;

  constructor(database: Database, parts: AccessParts) {
    this.#database = database;
    this.#parts = parts;
  }

  setAllowedAddresses(name: string, addresses: AddressList | undefined, by: Attribution): Promise<Partner | undefined> {
    return this.#change(({ partners, audit }) => {
      const partner = partners.find(name);
      if (partner === undefined || sameRanges(partner.allowedAddresses, addresses)) return partner;
      this.#database
        .prepare("UPDATE partner SET allowed_addresses = ? WHERE name = ?")
        .run(addresses === undefined ? null : JSON.stringify(addresses.ranges), name);
      audit.append(partnerAllowed(partner, addresses), by);
      return { ...partner, allowedAddresses: addresses };
    });
  }

  rotateToken(
    id: string,
    to: Succession,
    hash: Uint8Array,
    by: Attribution,
  ): Promise<Rotation | RefusedRotation | undefined> {
    return this.#change(({ partners, audit }) => {
      const token = partners.findTokenById(id);
      const rotated = token && rotateAccessToken(token, to, by.at);
      if (token === undefined || rotated?.kind !== "rotated") return rotated;
      const { former, successor } = rotated;
      this.#database
        .prepare("UPDATE access_token SET expires_at = ?, replaced_by = ? WHERE id = ?")
        .run(former.expiresAt ?? null, successor.id, id);
      audit.append(tokenRotated(token, former), by);
      partners.addToken(successor, hash, by);
      return rotated;
    });
  }

  /** What this connection writes itself leaves its memory as it is. */
  async recordUses(uses: TokenUses): Promise<void> {
    await this.#database.write(() => {
      const record = this.#database.prepare(
        `INSERT INTO access_token_use (token_id, last_used_at) SELECT id, ? FROM access_token WHERE id = ?
         ON CONFLICT (token_id) DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at)`,
      );
      for (const [id, at] of uses) record.run(at, id);
    });
  }

  async lastUses(): Promise<TokenUses> {
    const all = this.#database.prepare("SELECT token_id, last_used_at FROM access_token_use");
    const rows = this.#database.ask(() => all.all()) as { token_id: string; last_used_at: number }[];
    return new Map(rows.map(({ token_id, last_used_at }) => [token_id, last_used_at]));
  }

  async #change<Result>(work: (parts: AccessParts) => Result): Promise<Result> {
    const result = await this.#database.write(() => work(this.#parts));
    this.#parts.memory.forget();
    return result;
  }
}
