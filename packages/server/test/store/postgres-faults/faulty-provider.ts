import type pg from "pg";
import { inject } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../../src/domain/catalogue.ts";
import type { TopUpCommand } from "../../../src/domain/top-up.ts";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { openPostgresStore } from "../../../src/store/postgres/open.ts";
import { FAR_AHEAD, type OnFinished } from "../../store-suite/database.ts";
import { type OpenedProvider, openProvider } from "../../store-suite/provider.ts";
import { makeEmptyDatabase, withClient } from "../../support/postgres-database.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";
import { seededRandom } from "../../support/random.ts";

/** A provider whose store is behind a proxy; reading and tampering go past it. */
export interface FaultyProvider extends OpenedProvider {
  readonly proxy: PostgresProxy;
  /** The URL of the database, past the proxy. */
  readonly url: string;
  /** Another client's session, which ends with the test. */
  readonly otherSession: () => Promise<pg.Client>;
}

export interface FaultyOptions {
  /** The test's own hook, because tests run concurrently. */
  readonly onTestFinished: OnFinished;
  /** The one that the tests share, if none is named. */
  readonly server?: string;
  /** Of its standby, which lists and reports read. */
  readonly standby?: string;
  readonly connections?: number;
}

export async function openFaultyProvider(options: FaultyOptions): Promise<FaultyProvider> {
  const { onTestFinished, server = inject("postgresUrl"), standby, connections = 4 } = options;
  const { url, made } = makeEmptyDatabase(server, onTestFinished);
  const reportsUrl = standby?.replace(/\/postgres$/, new URL(url).pathname);
  await made;
  const proxy = await PostgresProxy.start(url);
  onTestFinished(() => proxy.close());
  const opened = await openProvider(
    () => ({
      open: (wishes) =>
        openPostgresStore({
          timeZone: undefined,
          currencyExponent: undefined,
          ...wishes,
          url: proxy.url,
          reportsUrl,
          connections,
        }),
      read: (query) => withClient(url, async (client) => (await client.query(query)).rows),
      tamper: (sql) => withClient(url, (client) => client.query(`SET session_replication_role = replica; ${sql}`)),
    }),
    { onFinished: onTestFinished } as object,
  );
  const otherSession = () =>
    new Promise<pg.Client>((resolve, reject) => {
      withClient(url, (client) => {
        resolve(client);
        return new Promise<void>((release) => onTestFinished(async () => release()));
      }).catch(reject);
    });
  return Object.assign(opened, { proxy, url, otherSession });
}

/** A store of the test's own, by any way to a database. */
export function openElsewhere(url: string, reportsUrl?: string) {
  return openPostgresStore({
    ...{
      url,
      reportsUrl,
      connections: 1,
      timeZone: undefined,
      currencyExponent: undefined,
      basePlans: DEFAULT_BASE_PLANS,
    },
    monthsAhead: FAR_AHEAD,
    clock: () => 0,
    random: seededRandom(1),
  });
}

/** The same top-up, sent again with another txnId. */
export function again(command: TopUpCommand): TopUpCommand {
  return { ...command, txnDigits: `AGN${command.txnDigits.slice(3)}` };
}

export interface Timed {
  readonly ms: number;
  /** The outcome: a value or an error. */
  readonly result: unknown;
}

export async function timed(work: () => Promise<unknown>): Promise<Timed> {
  const begun = performance.now();
  const result = await work().catch((error: unknown) => error);
  return { ms: performance.now() - begun, result };
}

/** Tries until it succeeds. @returns the duration in ms. */
export async function untilWell(work: () => Promise<unknown>, patienceMs = 10_000): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const { result } = await timed(work);
    const ms = performance.now() - begun;
    if (!(result instanceof Error)) return ms;
    if (!(result instanceof StoreUnavailable) || ms > patienceMs) throw result;
    await sleep(20);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
