import { setTimeout as sleep } from "node:timers/promises";
import { PostgresProxy } from "../../test/support/postgres-proxy.ts";
import { startPostgres } from "../../test/support/postgres-server.ts";
import { askPostgres } from "../ask-postgres.ts";
import { expectBook } from "../book.ts";
import { Fleet } from "../fleet.ts";
import { Load } from "../kill.ts";
import { makeProvider, verifySent } from "../partner.ts";
import { Choices } from "../random.ts";
import { untilStruck } from "./blows.ts";

export interface FailoverOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly cwd: string;
}

/** How long the standby lags: shorter, and longer than topupd waits for an answer. */
const LAGS_MS = [200, 6_000] as const;
/** So many may have been on the way to the standby. */
const MANY = 50;
/** Errors that mean that an acknowledged top-up is lost. */
export const LOSS = /acknowledged (as|and)|not_topped_up|sent again after/;

/**
 * PostgreSQL dies under load, while its standby lags; the standby takes its place. With a synchronous standby, nothing
 * acknowledged may be lost. The control is an asynchronous one, which must lose.
 * @throws Error that names the round with a violation.
 */
export async function failover({ seed, rounds, cwd }: FailoverOptions): Promise<string> {
  const choices = new Choices(seed);
  let acknowledged = 0;
  for (let round = 0; round < rounds; round += 1)
    acknowledged += await failOver({ cwd, choices, isSynchronous: true, lagMs: LAGS_MS[round % 2] }).catch(
      (cause: Error) => {
        throw new Error(`round ${round}: ${cause.message}`, { cause });
      },
    );
  let lost = 0;
  const controls = Math.ceil(rounds / 3);
  for (let control = 0; control < controls; control += 1)
    await failOver({ cwd, choices, isSynchronous: false, lagMs: LAGS_MS[0] }).catch((error: Error) => {
      if (!LOSS.test(error.message)) throw error;
      lost += 1;
    });
  if (lost === 0) throw new Error("the control loses nothing: the campaign has shown nothing");
  return (
    `${rounds} failovers to a synchronous standby: ${acknowledged} acknowledged top-ups all there once; ` +
    `control: ${lost} of ${controls} failovers to an asynchronous one lose some`
  );
}

interface Wish {
  readonly cwd: string;
  readonly choices: Choices;
  readonly isSynchronous: boolean;
  readonly lagMs: number | undefined;
}

/** @returns the number of acknowledged top-ups. */
async function failOver({ cwd, choices, isSynchronous, lagMs = 0 }: Wish): Promise<number> {
  const primary = await startPostgres();
  const ends: (() => Promise<unknown>)[] = [() => primary.close()];
  try {
    const replication = await PostgresProxy.start(primary.url);
    ends.push(() => replication.close());
    const standby = await primary.startStandby(Number(new URL(replication.url).port));
    ends.push(() => standby.close());
    await askPostgres(primary.url, "CREATE DATABASE topupd TEMPLATE template0 ENCODING 'UTF8'");
    await untilStreaming(primary.url);
    if (isSynchronous) {
      await askPostgres(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
      await askPostgres(primary.url, "SELECT pg_reload_conf()");
    }
    const proxy = await PostgresProxy.start(databaseOf(primary.url));
    ends.push(() => proxy.close());
    const ground = { cwd, database: proxy.url };
    const fleet = new Fleet(ground, await makeProvider(ground), 1);
    ends.push(() => fleet.end());
    await fleet.start(0);
    const load = new Load(fleet);
    const working = load.start(choices);
    await sleep(300 + choices.below(500));
    replication.hold();
    const { size } = fleet.told.topUps;
    await sleep(lagMs + choices.below(500));
    // The control can lose only what was acknowledged meanwhile.
    if (!isSynchronous) await untilStruck(() => fleet.told.topUps.size > size + MANY);
    await primary.stop("immediate");
    // The standby never gets what the primary has not sent by now.
    replication.cut();
    await askPostgres(standby.url, "SELECT pg_promote()");
    proxy.leadTo(databaseOf(standby.url));
    await sleep(500 + choices.below(500));
    load.end();
    await working;
    await fleet.untilReady();
    const acknowledged = load.sent.filter(({ checkoutId }) => fleet.told.topUps.has(checkoutId)).length;
    if (acknowledged === 0) throw new Error("no top-up was sent and answered: this failover has shown nothing");
    for (const one of load.sent) await verifySent(choices.of(fleet.clients), one);
    await expectBook(ground, fleet.told);
    return acknowledged;
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

function databaseOf(server: string): string {
  const url = new URL(server);
  url.pathname = "/topupd";
  return url.href;
}

async function untilStreaming(url: string): Promise<void> {
  for (let tried = 0; tried < 200; tried += 1) {
    const [{ count } = {}] = await askPostgres(
      url,
      "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'",
    );
    if (Number(count) === 1) return;
    await sleep(50);
  }
  throw new Error("the standby does not follow");
}
