import { onTestFinished, vi } from "vitest";
import type { ObserveBatch, Store } from "../../src/store/store.ts";
import { seededRandom } from "../support/random.ts";
import { START } from "../support/service.ts";

export interface OpenOptions {
  readonly clock: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly timeZone?: string | undefined;
  readonly currencyExponent?: number | undefined;
  readonly defaultCountry?: string | undefined;
  readonly observeBatch?: ObserveBatch | undefined;
  readonly mustExist?: boolean;
}

/** What the suite needs of a kind of store: one database, and stores on it. */
export interface TestDatabase {
  readonly open: (options: OpenOptions) => Promise<Store>;
  /** Reads past the port, to see what was written. */
  readonly read: (query: string) => Promise<readonly Record<string, unknown>[]>;
  /** Writes past everything that guards the tables, as a fault or a careless hand might. */
  readonly tamper: (sql: string) => Promise<unknown>;
}

/** Makes a database that is gone after the test. */
export type MakeDatabase = () => TestDatabase;

/** A store whose time the test turns. */
export interface OpenedStore {
  readonly database: TestDatabase;
  readonly store: Store;
  /** Milliseconds since 1970, for every store opened here. */
  now: number;
  /** Opens one more store on the same database, as another process does. */
  readonly another: () => Promise<Store>;
}

/** Of the test that is meant, where several run at a time. */
export type OnFinished = (clean: () => Promise<void>) => void;

export async function openStore(
  makeDatabase: MakeDatabase,
  options: Partial<Omit<OpenOptions, "random">> & { readonly seed?: number; readonly onFinished?: OnFinished } = {},
): Promise<OpenedStore> {
  const database = makeDatabase();
  const { seed = 1, onFinished = onTestFinished, ...given } = options;
  let opened = 0;
  const another = async () => {
    opened += 1;
    const store = await database.open({
      clock: () => self.now,
      random: seededRandom(seed * 100 + opened),
      ...given,
    });
    onFinished(() => store.close());
    return store;
  };
  const self = { database, now: START, another, store: undefined as unknown as Store };
  self.store = await another();
  return self;
}

/** Tries until it holds: what one process changes, the others see within a second. */
export async function withinASecond(expectation: () => Promise<void>): Promise<void> {
  await vi.waitFor(expectation, { timeout: 1_000, interval: 10 });
}

export async function countRows({ database }: Pick<OpenedStore, "database">, table: string): Promise<number> {
  const [row] = await database.read(`SELECT count(*) AS count FROM ${table}`);
  return Number(row?.["count"]);
}

/** Inserts the rows once more, but for some columns, past everything that guards the table. */
export async function copyRows(
  database: TestDatabase,
  table: string,
  where: string,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const [row] = await database.read(`SELECT * FROM ${table} WHERE ${where}`);
  if (row === undefined) throw new Error(`${table} has no row where ${where}`);
  const columns = Object.keys(row);
  const values = columns.map((column) => changes[column] ?? column);
  await database.tamper(
    `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${table} WHERE ${where}`,
  );
}

/** What check() finds wrong. */
export async function findWrong(store: Store): Promise<string[]> {
  const wrong: string[] = [];
  for await (const event of store.check()) if (event.kind === "wrong") wrong.push(event.what);
  return wrong;
}
