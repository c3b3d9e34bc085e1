import { type RawBuilder, sql } from "kysely";
import type { CustomerProfile, Environment } from "../domain/customer.ts";
import {
  codeOfTerm,
  firstPlace,
  hasOtherWords,
  nameRanges,
  type TermPlace,
  type TermRange,
} from "../domain/customer-search.ts";
import { portionsOf } from "../domain/portions.ts";
import { findCustomers, type RecordedCustomer } from "../store/customers.ts";
import type { Db } from "../store/engine.ts";
import { codesToFind } from "../store/settings.ts";
import type { Store } from "../store/store.ts";
import type { CustomerRow } from "../store/tables.ts";

/* Finds customers by their ids, codes and names: domain/customer-search.ts says what a search finds. */

/** Ids that one statement may list: its parameters are limited. */
const IDS_AT_ONCE = 500;

/** Names of customers, by their ids. Unknown ids are left out. */
export async function readNames(
  db: Db,
  environment: Environment,
  cuids: readonly string[],
): Promise<ReadonlyMap<string, Pick<CustomerProfile, "firstName" | "lastName">>> {
  const rows = await readWords(db, environment, cuids);
  return new Map(rows.map(({ cuid, firstName, lastName }) => [cuid, { firstName, lastName }]));
}

/** Names and areas of customers. */
export async function readWords(db: Db, environment: Environment, cuids: readonly string[]) {
  const found: Pick<CustomerRow, "cuid" | "firstName" | "lastName" | "area">[] = [];
  for (const some of portionsOf([...new Set(cuids)], IDS_AT_ONCE)) {
    const query = db.selectFrom("customer").select(["cuid", "firstName", "lastName", "area"]);
    found.push(...(await query.where("environment", "=", environment).where("cuid", "in", some).execute()));
  }
  return found;
}

/** Finds the ids of customers that have a whole code, in order. */
export async function findCuids(
  { engine: { db }, provider }: Pick<Store, "engine" | "provider">,
  environment: Environment,
  code: string,
  limit: number,
): Promise<string[]> {
  const query = db
    .selectFrom("customerCode")
    .select("cuid")
    .distinct()
    .where("environment", "=", environment)
    .where("code", "in", codesToFind(code, provider))
    .orderBy("cuid")
    .limit(limit);
  return (await query.execute()).map(({ cuid }) => cuid);
}

/** Most customers found for a code or name: a longer list does not help. */
export const MOST_CANDIDATES = 20;

/** A customer in a list of matches. */
export interface Match {
  readonly customer: RecordedCustomer;
  /** The code that fits; undefined if the name or area fits. */
  readonly code: string | undefined;
}

/** The place of a match in the order of a search. */
interface MatchPlace extends TermPlace {
  readonly cuid: string;
}

type PlacedMatch = Match & { readonly place: MatchPlace };

/** Terms that one statement reads if more words of a name must be compared. */
const NAMES_AT_ONCE = 1_000;

/** Customers whose names or areas have words that begin with all words of a text, in any order. */
export async function findCuidsByName(db: Db, environment: Environment, name: string, limit: number) {
  return (await findMatches(db, environment, nameRanges(name), { limit })).map(({ customer }) => customer.cuid);
}

/** Customers that fit any of the ranges, each once, in the order of the ranges. @param after of the previous page. */
export async function findMatches(
  db: Db,
  environment: Environment,
  ranges: readonly TermRange[],
  { after, limit }: { readonly after?: MatchPlace | undefined; readonly limit: number },
): Promise<PlacedMatch[]> {
  const found: PlacedMatch[] = [];
  const walked = await Promise.all(ranges.map((range) => rarestFirst(db, environment, range)));
  for await (const places of placesOf(db, environment, walked, after, limit)) {
    const customers = await findCustomers(db, environment, [...new Set(places.map(({ cuid }) => cuid))]);
    const byCuid = new Map(customers.map((customer) => [customer.cuid, customer]));
    for (const place of places) {
      const customer = byCuid.get(place.cuid);
      const first = customer && firstPlace(customer, walked);
      if (customer === undefined || first?.range !== place.range || first.term !== place.term) continue;
      found.push({ customer, place, code: codeOfTerm(customer, place.term) });
      if (found.length === limit) return found;
    }
  }
  return found;
}

/** The same range, but with the rarest word of a name as the one whose terms are read. */
async function rarestFirst(db: Db, environment: Environment, range: TermRange): Promise<TermRange> {
  if (range.others.length === 0) return range;
  const counted = await Promise.all(
    [range.term, ...range.others].map(async (term) => {
      const some = await readTerms(db, environment, { ...range, term }, undefined, NAMES_AT_ONCE);
      return { term, count: some.length };
    }),
  );
  const [rarest, ...others] = counted.sort((a, b) => a.count - b.count).map(({ term }) => term);
  return rarest === undefined ? range : { ...range, term: rarest, others };
}

/** Yields the terms of the ranges, at most `limit` at a time. A customer can have several. */
async function* placesOf(
  db: Db,
  environment: Environment,
  ranges: readonly TermRange[],
  after: MatchPlace | undefined,
  limit: number,
): AsyncGenerator<MatchPlace[]> {
  for (const [index, range] of ranges.entries()) {
    if (after !== undefined && index < after.range) continue;
    const begin = after?.range === index ? after : undefined;
    for await (const terms of termsOf(db, environment, range, begin, limit)) {
      const places = terms.map((term) => ({ range: index, ...term }));
      yield* portionsOf(places, limit);
    }
  }
}

/** Yields the terms of one range whose customers have its other words too. */
async function* termsOf(
  db: Db,
  environment: Environment,
  range: TermRange,
  after: FoundTerm | undefined,
  limit: number,
): AsyncGenerator<FoundTerm[]> {
  const atOnce = range.others.length > 0 ? NAMES_AT_ONCE : limit;
  let last = after;
  do {
    const found: readonly FoundTerm[] = await readTerms(db, environment, range, last, atOnce);
    const cuids = await withOtherWords(db, environment, range, found);
    yield found.filter(({ cuid }) => cuids.has(cuid));
    last = found.length < atOnce ? undefined : found.at(-1);
  } while (last !== undefined);
}

interface FoundTerm {
  readonly term: string;
  readonly cuid: string;
}

/** The index of each kind of terms. Its column has the term without the letter of the kind. */
const INDEXES: Readonly<Record<string, readonly [table: RawBuilder<unknown>, column: RawBuilder<unknown>]>> = {
  c: [sql`customer_code`, sql`code`],
  k: [sql`connection`, sql`name_key`],
};
const TERMS = [sql`customer_term`, sql`term`] as const;

/** Greater than every other character. */
const LAST_CHARACTER = "\u{10ffff}";

async function readTerms(
  db: Db,
  environment: Environment,
  { term, isWhole }: TermRange,
  beyond: FoundTerm | undefined,
  limit: number,
): Promise<FoundTerm[]> {
  const kind = term.slice(0, 1);
  const index = INDEXES[kind];
  const [table, column] = index ?? TERMS;
  const inColumn = (text: string) => (index === undefined ? text : text.slice(1));
  const [least, most] = [inColumn(term), inColumn(isWhole ? term : term + LAST_CHARACTER)];
  const from =
    beyond === undefined
      ? sql`${column} >= ${least}`
      : sql`${column} >= ${inColumn(beyond.term)} AND (${column}, cuid) > (${inColumn(beyond.term)}, ${beyond.cuid})`;
  const { rows } = await sql<FoundTerm>`SELECT ${column} AS term, cuid FROM ${table}
    WHERE environment = ${environment} AND ${column} <= ${most} AND ${from}
    ORDER BY ${column}, cuid LIMIT ${limit}`.execute(db);
  return index === undefined ? rows : rows.map((row) => ({ term: kind + row.term, cuid: row.cuid }));
}

/** The customers among those of some terms whose names or areas have the other words of the range. */
async function withOtherWords(db: Db, environment: Environment, range: TermRange, terms: readonly FoundTerm[]) {
  const cuids = [...new Set(terms.map(({ cuid }) => cuid))];
  if (range.others.length === 0 || cuids.length === 0) return new Set(cuids);
  const words = await readWords(db, environment, cuids);
  const fitting = words.filter(({ area, ...name }) => hasOtherWords({ ...name, area: area ?? undefined }, range));
  return new Set(fitting.map(({ cuid }) => cuid));
}
