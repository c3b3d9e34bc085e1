import type { Attribution, AuditedChange } from "../../../domain/audit.ts";
import { cataloguePublished } from "../../../domain/audited-changes.ts";
import type { Bouquet } from "../../../domain/bouquet.ts";
import type { Catalogue } from "../../../domain/catalogue.ts";
import type { Environment } from "../../../domain/customer.ts";
import { type BouquetRow, bouquetColumns, toBouquet, unknownAmong } from "../../common/rows.ts";
import type { ProviderSettings } from "../../store.ts";
import { HOLD_PROVIDER, READ_PROVIDER, verifyProvider } from "../provider.ts";
import type { Database } from "../session/database.ts";
import { IN_ORDER } from "../session/in-order.ts";
import { LOCK_REFERENCE } from "../session/locks.ts";
import type { Memory } from "../session/memory.ts";
import type { Prepared, Query, Session } from "../session/session.ts";
import { auditing } from "./audit.ts";
import { insertRows } from "./columns.ts";

const CURRENT: Prepared = {
  name: "catalogue_current",
  text: "SELECT revision FROM catalogue_revision WHERE environment = $1 ORDER BY revision DESC LIMIT 1",
};
const BOUQUETS: Prepared = { name: "bouquets", text: "SELECT * FROM bouquet WHERE revision = $1 ORDER BY position" };
/*
 * Revisions are never deleted, and after years of nightly imports they are many. So nothing asks for what is known by
 * reading them all: from each code, the index leads to the next one, and to its newest revision.
 */
const NEWEST = `SELECT newest.* FROM wanted CROSS JOIN LATERAL (
    SELECT bouquet.* FROM bouquet JOIN catalogue_revision USING (revision)
    WHERE service = wanted.service AND code = wanted.code AND environment = $1
    ORDER BY bouquet.revision DESC LIMIT 1) AS newest`;
export const KNOWN: Prepared = {
  name: "bouquets_known",
  text: `WITH RECURSIVE wanted (service, code) AS (
      (SELECT service, code FROM bouquet ORDER BY service, code LIMIT 1) UNION ALL
      SELECT next.service, next.code FROM wanted CROSS JOIN LATERAL (
        SELECT service, code FROM bouquet WHERE (service, code) > (wanted.service, wanted.code)
        ORDER BY service, code LIMIT 1) AS next
    ) ${NEWEST}`,
};
export const KNOWN_AMONG: Prepared = {
  name: "bouquets_known_among",
  text: `WITH wanted (service, code) AS (SELECT * FROM unnest($2::text[], $3::text[])) ${NEWEST}`,
};
/*
 * A code of the other environment alone is followed through all its revisions there, to no end. Where those are more
 * than its own, an environment's own are read.
 */
const HAS_FEWER: Prepared = {
  name: "catalogue_fewer",
  text: "SELECT count(*) FILTER (WHERE environment = $1) <= count(*) / 2 AS fewer FROM catalogue_revision",
};
export const OF_FEW: Prepared = {
  name: "bouquets_of_few",
  text: `SELECT DISTINCT ON (service, code) bouquet.* FROM bouquet JOIN catalogue_revision USING (revision)
    WHERE environment = $1 ORDER BY service, code, revision DESC`,
};
const NEXT: Prepared = {
  name: "catalogue_next",
  text: "SELECT coalesce(max(revision), 0) + 1 AS revision FROM catalogue_revision",
};
const ADD: Prepared = {
  name: "catalogue_add",
  text: "INSERT INTO catalogue_revision (revision, environment, created_at) VALUES ($1, $2, $3)",
};
const ADD_BOUQUETS = insertRows("bouquet", [
  ["revision", "integer"],
  ["position", "integer"],
  ["service", "text"],
  ["code", "text"],
  ["name", "text"],
  ["price", "bigint"],
  ["segments", "jsonb"],
  ["plan", "text"],
  ["add_on", "boolean"],
  ["months", "integer"],
  ["days", "integer"],
]);

/** The SQL of catalogue revisions. A revision never changes on one server, so each is read once. */
export class CatalogueTables {
  readonly #database: Database;
  readonly #memory: Memory;
  readonly #provider: ProviderSettings;
  readonly #revisions: Memory;

  /** @param revisions in use at one time: the newest of each environment, and those quoted in the last five minutes. */
  constructor(database: Database, memory: Memory, revisions: Memory, provider: ProviderSettings) {
    this.#database = database;
    this.#memory = memory;
    this.#revisions = revisions;
    this.#provider = provider;
  }

  /** Asked of every listing, and therefore remembered. */
  async current(environment: Environment): Promise<Catalogue | undefined> {
    const revision = await this.#memory.recall(`catalogue ${environment}`, async () => {
      const [row] = await this.#database.ask<{ revision: number }>(CURRENT, [environment]);
      return row?.revision;
    });
    return revision === undefined ? undefined : this.read(revision);
  }

  read(revision: number): Promise<Catalogue | undefined> {
    return this.#revisions.recall(String(revision), () => this.#load(revision));
  }

  async #load(revision: number): Promise<Catalogue | undefined> {
    const rows = await this.#database.transact(
      [READ_PROVIDER, [BOUQUETS, [revision]]],
      async ([provider = [], found = []]) => {
        verifyProvider(provider, this.#provider);
        return found as BouquetRow[];
      },
    );
    if (rows.length === 0) return undefined;
    return { revision, bouquets: rows.map(toBouquet) };
  }

  /** Those of the revisions that were ever published. */
  async readAll(revisions: readonly number[]): Promise<Map<number, Catalogue>> {
    const found = new Map<number, Catalogue>();
    for (const revision of new Set(revisions)) {
      const catalogue = await this.read(revision);
      if (catalogue !== undefined) found.set(revision, catalogue);
    }
    return found;
  }

  async publish(
    environment: Environment,
    bouquets: readonly Bouquet[],
    by: Attribution,
    retired: readonly Bouquet[] = [],
  ): Promise<Catalogue> {
    const opening = [LOCK_REFERENCE, HOLD_PROVIDER] as const;
    const revision = await this.#database.transact(opening, async ([, provider = []], session) => {
      verifyProvider(provider, this.#provider);
      const [former] = await session.run<{ revision: number }>(CURRENT, [environment]);
      const unknown = await unknownOf(session, environment, retired);
      const [next] = (await session.run<{ revision: number }>(NEXT)) as [{ revision: number }];
      const lists = unknown.length > 0 ? [unknown, bouquets] : [bouquets];
      const writes: Query[] = [];
      const changes: AuditedChange[] = [];
      for (const [index, list] of lists.entries()) {
        const number = next.revision + index;
        const rows = list.map((bouquet, position) => [number, position, ...bouquetColumns(bouquet)]);
        writes.push([ADD, [number, environment, by.at]], ADD_BOUQUETS(rows));
        const before = index === 0 ? former?.revision : number - 1;
        changes.push(cataloguePublished(environment, before, { revision: number, bouquets: list.length }));
      }
      await session.commit([...writes, ...(await auditing(session, changes, by))]);
      return next.revision + lists.length - 1;
    });
    this.#memory.forget();
    return { revision, bouquets };
  }

  async known(environment: Environment): Promise<Bouquet[]> {
    return this.#database.transact([[IN_ORDER], [HAS_FEWER, [environment]]], async ([, found], session) => {
      const [{ fewer }] = found as [{ fewer: boolean }];
      return (await session.run<BouquetRow>(fewer ? OF_FEW : KNOWN, [environment])).map(toBouquet);
    });
  }
}

async function unknownOf(session: Session, environment: Environment, bouquets: readonly Bouquet[]): Promise<Bouquet[]> {
  if (bouquets.length === 0) return [];
  const codes = [bouquets.map(({ service }) => service), bouquets.map(({ code }) => code)];
  const [, rows] = await session.runAll([[IN_ORDER], [KNOWN_AMONG, [environment, ...codes]]]);
  return unknownAmong(bouquets, (rows as BouquetRow[]).map(toBouquet));
}
