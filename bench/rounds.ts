import { drive, type Measured } from "./load.ts";
import type { Server } from "./processes.ts";

/** One way of doing a thing: a server, and bodies that are made anew for every round. */
export interface Contestant {
  readonly server: Server;
  readonly path: string;
  readonly token: string;
  readonly bodies: (count: number) => readonly string[];
  readonly mustBeNew: boolean;
}

/** What one contestant did in one round. */
export interface Round extends Measured {
  /** CPU time of the server for each request, in µs. */
  readonly cpuMicroseconds: number | undefined;
  readonly memoryMiB: number | undefined;
}

export interface RoundOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** More than is asked of any server that must not be asked the same twice. */
const MOST_PER_SECOND = 30_000;
const WARM_UP_SECONDS = 1;

/** Lets the contestants run in turn, round after round, so that what else the machine does strikes all of them. */
export async function runRounds(
  contestants: readonly Contestant[],
  { rounds, seconds, connections }: RoundOptions,
): Promise<Round[][]> {
  const results: Round[][] = contestants.map(() => []);
  for (const contestant of contestants) await runOne(contestant, WARM_UP_SECONDS, connections);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, contestant] of contestants.entries()) {
      results[index]?.push(await runOne(contestant, seconds, connections));
    }
  }
  return results;
}

async function runOne(contestant: Contestant, seconds: number, connections: number): Promise<Round> {
  const { server, path, token, bodies, mustBeNew } = contestant;
  const sent = bodies(seconds * MOST_PER_SECOND);
  const before = server.cpuMs();
  const measured = await drive({ url: server.url + path, token, bodies: sent, connections, seconds, mustBeNew });
  const after = server.cpuMs();
  const cpu = before === undefined || after === undefined ? undefined : ((after - before) * 1000) / measured.requests;
  return { ...measured, cpuMicroseconds: cpu, memoryMiB: server.memoryMiB() };
}

export function median(values: readonly (number | undefined)[]): number {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** The median of the ratios of rounds that ran next to each other. */
export function ratio(ours: readonly Round[], theirs: readonly Round[]): number {
  return median(ours.map(({ perSecond }, round) => perSecond / (theirs[round] as Round).perSecond));
}
