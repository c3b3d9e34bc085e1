import { Agent } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { topUps } from "./bodies.ts";
import { call } from "./calls.ts";
import { type Serving, startBareServer } from "./operations.ts";
import { type Figure, say } from "./results.ts";
import { median } from "./rounds.ts";

const OPERATION = "subscription-package-topup";
const BLOCKS = 6;
const BLOCK = 50;
/** Until the code of the service is compiled, and its log as long, as of one which has run for a while. */
const WARM_UP_BLOCKS = 50;
/** Targets in ms, by the number of workers. */
const AT_MOST = { 1: 0.3, 2: 0.5 } as const;
/** About what topupd keeps of a top-up. */
const ROW = "x".repeat(250);

/**
 * How long a top-up takes when there is no other, beyond what nobody can do without: a request to a server, and a
 * commit that is on disk. The three take turns, in blocks.
 * @param folder for a database beside that of topupd.
 */
export async function measureLoneTopUp(
  serving: Omit<Serving, "store">,
  folder: string,
  workers: keyof typeof AT_MOST,
): Promise<Figure> {
  say(`a lone top-up, workers: ${workers}`);
  const { server, token, target } = serving;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const bodies = topUps(target, (WARM_UP_BLOCKS + BLOCKS) * BLOCK);
  const bare = await startBareServer(
    await call({ server, operation: OPERATION, token, body: topUps(target, 1)[0] ?? "" }),
  );
  const commits = openCommits(join(folder, `commits-${workers}.db`));
  const ways: readonly ((body: string) => unknown)[] = [
    (body) => call({ server, operation: OPERATION, token, body, agent }),
    (body) => call({ server: bare, operation: OPERATION, token, body, agent }),
    () => commits.commit(),
  ];
  try {
    const times = ways.map((): number[] => []);
    for (let block = 0; block < WARM_UP_BLOCKS + BLOCKS; block += 1) {
      const sent = bodies.slice(block * BLOCK, (block + 1) * BLOCK);
      for (const [index, once] of ways.entries()) {
        const taken = await timesOf(once, sent);
        if (block >= WARM_UP_BLOCKS) times[index]?.push(...taken);
      }
    }
    const [topUp, request, commit] = times.map(median) as [number, number, number];
    return {
      measured: `a lone top-up, SQLite, workers: ${workers}, beyond a bare request and a bare durable commit`,
      value: topUp - request - commit,
      unit: "ms",
      decimals: 2,
      target: { atMost: AT_MOST[workers] },
      detail: `p50: ${topUp.toFixed(2)} ms; a bare request ${request.toFixed(2)} ms, a bare commit ${commit.toFixed(2)} ms`,
    };
  } finally {
    commits.close();
    agent.destroy();
    await bare.stop();
  }
}

async function timesOf(once: (body: string) => unknown, bodies: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const body of bodies) {
    const begun = performance.now();
    await once(body);
    times.push(performance.now() - begun);
  }
  return times;
}

/** Transactions of one row each, as durable as those of topupd. */
function openCommits(path: string) {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE written (id INTEGER PRIMARY KEY, row TEXT NOT NULL)`);
  const insert = database.prepare("INSERT INTO written (row) VALUES (?)");
  return { commit: () => insert.run(ROW), close: () => database.close() };
}
