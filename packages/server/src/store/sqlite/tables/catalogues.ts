import type { Attribution } from "../../../domain/audit.ts";
import { cataloguePublished } from "../../../domain/audited-changes.ts";
import { type Bouquet, SERVICES } from "../../../domain/bouquet.ts";
import type { Catalogue } from "../../../domain/catalogue.ts";
import type { Environment } from "../../../domain/customer.ts";
import { type BouquetRow, bouquetColumns, toBouquet, unknownAmong } from "../../common/rows.ts";
import type { Database } from "../database.ts";
import type { AuditTable } from "./audit.ts";

/** Revisions in use at one time: the newest of each environment, and those quoted in the last five minutes. */
const CACHED_REVISIONS = 16;

type Code = Pick<Bouquet, "service" | "code">;

/*
 * Revisions are never deleted, and after years of nightly imports they are many. So nothing asks for what is known by
 * reading them all: from each code, the index leads to the next one, and to its newest revision.
 */
export const NEXT_CODE = "SELECT service, code FROM bouquet WHERE service = ? AND code > ? ORDER BY code LIMIT 1";
export const NEWEST = `SELECT bouquet.* FROM bouquet CROSS JOIN catalogue_revision USING (revision)
  WHERE service = ? AND code = ? AND environment = ? ORDER BY revision DESC LIMIT 1`;
/*
 * A code of the other environment alone is followed through all its revisions there, to no end. Where those are more
 * than its own, an environment's own are read. With max() and no other aggregate, SQLite takes the other columns from
 * the row of the maximum.
 */
const HAS_FEWER = "SELECT sum(environment = ?) <= count(*) / 2 AS fewer FROM catalogue_revision";
export const OF_FEW = `SELECT bouquet.*, max(revision) FROM catalogue_revision CROSS JOIN bouquet USING (revision)
  WHERE environment = ? GROUP BY service, code ORDER BY service, code`;

/** The SQL of catalogue revisions. A revision never changes, so each is read once. */
export class CatalogueTables {
  readonly #database: Database;
  readonly #audit: AuditTable;
  readonly #verifyPrices: () => void;
  readonly #currentRevision;
  readonly #bouquets;
  readonly #insertBouquet;
  readonly #cache = new Map<number, Catalogue>();

  /** @param verifyPrices throws where this process would take a stored price for another. */
  constructor(database: Database, audit: AuditTable, verifyPrices: () => void) {
    this.#database = database;
    this.#audit = audit;
    this.#verifyPrices = verifyPrices;
    this.#currentRevision = database.prepare(
      "SELECT max(revision) AS revision FROM catalogue_revision WHERE environment = ?",
    );
    this.#bouquets = database.prepare("SELECT * FROM bouquet WHERE revision = ? ORDER BY position");
    this.#insertBouquet = database.prepare(
      `INSERT INTO bouquet (revision, position, service, code, name, price, segments, plan, add_on, months, days)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  currentRevision(environment: Environment): number | undefined {
    const { revision } = this.#currentRevision.get(environment) as { revision: number | null };
    return revision ?? undefined;
  }

  read(revision: number): Catalogue | undefined {
    const cached = this.#cache.get(revision);
    if (cached !== undefined) return cached;
    this.#verifyPrices();
    const bouquets = (this.#bouquets.all(revision) as BouquetRow[]).map(toBouquet);
    if (bouquets.length === 0) return undefined;
    const catalogue = { revision, bouquets };
    if (this.#cache.size >= CACHED_REVISIONS) this.#cache.delete(this.#cache.keys().next().value as number);
    this.#cache.set(revision, catalogue);
    return catalogue;
  }

  /** To be called inside a write transaction. */
  publish(
    environment: Environment,
    bouquets: readonly Bouquet[],
    by: Attribution,
    retired: readonly Bouquet[] = [],
  ): Catalogue {
    this.#verifyPrices();
    const unknown = unknownAmong(retired, this.#newest(environment, retired));
    if (unknown.length > 0) this.#add(environment, unknown, by);
    return this.#add(environment, bouquets, by);
  }

  #add(environment: Environment, bouquets: readonly Bouquet[], by: Attribution): Catalogue {
    const former = this.currentRevision(environment);
    const { lastInsertRowid } = this.#database
      .prepare("INSERT INTO catalogue_revision (environment, created_at) VALUES (?, ?)")
      .run(environment, by.at);
    const revision = Number(lastInsertRowid);
    for (const [position, bouquet] of bouquets.entries())
      this.#insertBouquet.run(revision, position, ...bouquetColumns(bouquet));
    this.#audit.append(cataloguePublished(environment, former, { revision, bouquets: bouquets.length }), by);
    return { revision, bouquets };
  }

  known(environment: Environment): Bouquet[] {
    const { fewer } = this.#database.prepare(HAS_FEWER).get(environment) as { fewer: number | null };
    if (fewer !== 1) return this.#newest(environment, [...this.#codes()]);
    return (this.#database.prepare(OF_FEW).all(environment) as BouquetRow[]).map(toBouquet);
  }

  *#codes(): Generator<Code> {
    const next = this.#database.prepare(NEXT_CODE);
    for (const service of SERVICES.toSorted()) {
      const after = (code: string) => next.get(service, code) as Code | undefined;
      for (let found = after(""); found !== undefined; found = after(found.code)) yield found;
    }
  }

  /** The newest definition of each code that any revision had. */
  #newest(environment: Environment, codes: readonly Code[]): Bouquet[] {
    const newest = this.#database.prepare(NEWEST);
    const rows = codes.map(({ service, code }) => newest.get(service, code, environment) as BouquetRow | undefined);
    return rows.filter((row) => row !== undefined).map(toBouquet);
  }
}
