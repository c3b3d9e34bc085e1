import { onTestFinished, vi } from "vitest";
import { type BasePlans, DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import type { ObserveBatch, Store } from "../../src/store/store.ts";
import { seededRandom } from "../support/random.ts";

/** Months ahead that tests pay a connection, which top up the same one thousands of times. */
export const FAR_AHEAD = 100_000;

/** 2026-11-20, a Friday. */
export const START = Date.parse("2026-11-20T09:00:00Z");

export interface OpenOptions {
  readonly clock: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly timeZone?: string | undefined;
  readonly currencyExponent?: number | undefined;
  readonly defaultCountry?: string | undefined;
  readonly basePlans: BasePlans;
  readonly monthsAhead?: number | undefined;
  readonly observeBatch?: ObserveBatch | undefined;
  readonly mustExist?: boolean;
  readonly mustBeNew?: boolean;
  readonly migrations?: URL | undefined;
  readonly onCopy?: ((path: string) => void) | undefined;
}

/** A kind of store for the suite: one database, and stores on it. */
export interface TestDatabase {
  readonly open: (options: OpenOptions) => Promise<Store>;
  /** Reads the database directly. */
  readonly read: (query: string) => Promise<readonly Record<string, unknown>[]>;
  /** Writes without the tables' guards, as a fault would. */
  readonly tamper: (sql: string) => Promise<unknown>;
}

/** Makes a database that is deleted after the test. */
export type MakeDatabase = () => TestDatabase;

/** A store whose clock the test sets. */
export interface OpenedStore {
  readonly database: TestDatabase;
  readonly store: Store;
  /** Milliseconds since 1970, for every store opened here. */
  now: number;
  /** Opens one more store on the same database, as another process does. */
  readonly another: (more?: Partial<OpenOptions>) => Promise<Store>;
}

/** The hook of the calling test, because tests run concurrently. */
export type OnFinished = (clean: () => Promise<void>) => void;

export async function openStore(
  makeDatabase: MakeDatabase,
  options: Partial<OpenOptions> & { readonly seed?: number; readonly onFinished?: OnFinished } = {},
): Promise<OpenedStore> {
  const database = makeDatabase();
  const { seed = 1, onFinished = onTestFinished, ...given } = options;
  let opened = 0;
  const another: OpenedStore["another"] = async (more = {}) => {
    opened += 1;
    const random = seededRandom(seed * 100 + opened);
    const usual = { clock: () => self.now, random, basePlans: DEFAULT_BASE_PLANS, monthsAhead: FAR_AHEAD };
    const store = await database.open({ ...usual, ...given, ...more });
    onFinished(() => store.close());
    return store;
  };
  const self = { database, now: START, another, store: undefined as unknown as Store };
  self.store = await another();
  return self;
}

/** Retries for one second, in which processes must see each other's changes. */
export async function withinASecond(expectation: () => Promise<void>): Promise<void> {
  await vi.waitFor(expectation, { timeout: 1_000, interval: 10 });
}

export async function countRows({ database }: Pick<OpenedStore, "database">, table: string): Promise<number> {
  const [row] = await database.read(`SELECT count(*) AS count FROM ${table}`);
  return Number(row?.["count"]);
}

/** The faults that check() finds. */
export async function findWrong(store: Store): Promise<string[]> {
  const wrong: string[] = [];
  for await (const event of store.check()) if (event.kind === "wrong") wrong.push(event.what);
  return wrong;
}
