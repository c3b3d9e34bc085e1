import { drive, type Measured } from "./load.ts";
import type { Server } from "./processes.ts";

/** One way of doing a thing. */
export interface Contestant {
  /** Does it for so many seconds, as fast as it can. */
  readonly run: (seconds: number) => Promise<Measured>;
  /** CPU time so far of all that does it, in ms; undefined where the machine does not tell. */
  readonly cpuMs: () => number | undefined;
  /** The CPU time of its database, if that is a separate program. */
  readonly databaseCpuMs?: (() => number | undefined) | undefined;
  /** Current memory, in MiB. */
  readonly memoryMiB: () => number | undefined;
}

/** The result of one contestant in one round. */
export interface Round extends Measured {
  /** CPU time for each request, in µs, that of a database included. */
  readonly cpuMicroseconds: number | undefined;
  /** The database's part of it; undefined if that is not a separate program. */
  readonly databaseMicroseconds: number | undefined;
  readonly memoryMiB: number | undefined;
}

export interface RoundOptions {
  readonly rounds: number;
  readonly seconds: number;
}

const WARM_UP_SECONDS = 2;

/** Lets the contestants run in turn, round after round, so that what else the machine does strikes all of them. */
export async function runRounds(
  contestants: readonly Contestant[],
  { rounds, seconds }: RoundOptions,
): Promise<Round[][]> {
  const results: Round[][] = contestants.map(() => []);
  for (const contestant of contestants) await runOne(contestant, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, contestant] of contestants.entries()) results[index]?.push(await runOne(contestant, seconds));
  }
  return results;
}

async function runOne(contestant: Contestant, seconds: number): Promise<Round> {
  const { cpuMs, databaseCpuMs } = contestant;
  const before = [cpuMs(), databaseCpuMs?.()];
  const measured = await contestant.run(seconds);
  const [own, database] = [cpuMs(), databaseCpuMs?.()].map((after, index) => {
    const since = before[index];
    return since === undefined || after === undefined ? undefined : ((after - since) * 1000) / measured.requests;
  });
  const cpuMicroseconds = own === undefined ? undefined : own + (database ?? 0);
  return { ...measured, cpuMicroseconds, databaseMicroseconds: database, memoryMiB: contestant.memoryMiB() };
}

export interface HttpContestantOptions {
  readonly server: Server;
  readonly path: string;
  readonly token: string;
  /** Makes the bodies of a round. */
  readonly bodies: (count: number) => readonly string[];
  readonly mustBeNew: boolean;
  readonly connections: number;
}

/** More than is asked of any server of one process before it is known how fast it is. */
const BODIES_PER_SECOND = { atFirst: 60_000, atLeast: 30_000 };
/** How much faster than just before a server may become without running out of bodies. */
const MARGIN = 2;

/** A server that is sent requests over HTTP. */
export function overHttp(options: HttpContestantOptions): Contestant {
  const { server, path, bodies, ...others } = options;
  let bodiesPerSecond = BODIES_PER_SECOND.atFirst;
  return {
    run: async (seconds) => {
      const sent = bodies(Math.ceil(seconds * bodiesPerSecond));
      const measured = await drive({ url: server.url + path, bodies: sent, seconds, ...others });
      bodiesPerSecond = Math.max(BODIES_PER_SECOND.atLeast, measured.perSecond * MARGIN);
      return measured;
    },
    cpuMs: server.cpuMs,
    databaseCpuMs: server.databaseCpuMs,
    memoryMiB: server.memoryMiB,
  };
}

/** NaN if there are no values. */
export function median(values: readonly (number | undefined)[]): number {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** The median of the ratios of rounds that ran next to each other. */
export function ratio(ours: readonly Round[], theirs: readonly Round[], of: (round: Round) => number): number {
  return median(
    ours.map((round, index) => of(round) / of(theirs[index] as Round)).filter((each) => !Number.isNaN(each)),
  );
}
