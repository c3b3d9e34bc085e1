import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "./clean-up.ts";
import { TOP_UP, toppingUp } from "./operations.ts";
import { freePort, runTopupd, SERVE, type Server, startServer } from "./processes.ts";
import { report } from "./report.ts";
import { type Comparison, type Figure, say } from "./results.ts";
import { runRounds } from "./rounds.ts";
import { type Filled, fill } from "./world.ts";

const CUSTOMERS = 60_000;
const OPTIONS = { rounds: 5, seconds: 3 } as const;
const LONGEST_MS = 120_000;

/** `npm run bench -- events`: the cost of events for top-ups, with and without a target that is down, and how fast it catches up. */
export async function measureEvents(): Promise<void> {
  const folder = temporaryFolder("events");
  const receiver = createServer((request, response) => {
    request.resume().once("end", () => response.writeHead(204).end());
  });
  const port = await freePort();
  const webhook = ["--kind", "webhook", "--url", `http://127.0.0.1:${port}/`];
  const databases: Filled[] = [];
  for (const [name, words] of [
    ["none", undefined],
    ["feed", ["--kind", "feed"]],
    ["away", webhook],
  ] as const) {
    say(`a database with ${name === "none" ? "no target" : `a target: ${name}`}`);
    const filled = await fill(join(folder, name), CUSTOMERS);
    if (words !== undefined) await runTopupd(["target", "add", "target", ...words], { cwd: filled.folder });
    databases.push(filled);
  }
  const servers: Server[] = [];
  try {
    for (const filled of databases) servers.push(await startServer(SERVE, {}, filled.folder));
    say(TOP_UP);
    const contestants = databases.map((filled, index) => toppingUp(filled, servers[index] as Server));
    const [none = [], feed = [], away = []] = await runRounds(contestants, OPTIONS);
    const comparisons: Comparison[] = [
      {
        measured: "with a feed",
        baseline: "no target",
        ours: feed,
        theirs: none,
        target: { cpuAtMost: 1.1, throughputAtLeast: 0.9 },
      },
      {
        measured: "a target is away",
        baseline: "no target",
        ours: away,
        theirs: none,
        target: { throughputAtLeast: 0.9 },
      },
      {
        measured: "a target is away",
        baseline: "a feed",
        ours: away,
        theirs: feed,
        target: { throughputAtLeast: 0.95 },
      },
    ];
    const figures = [await catchUp(databases[2] as Filled, () => receiver.listen(port, "127.0.0.1"))];
    await report({ comparisons, figures }, undefined, []);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    receiver.close();
  }
}

/** Time to catch up, from the first event that arrives. @param comeBack makes the receiver listen. */
async function catchUp({ folder }: Filled, comeBack: () => void): Promise<Figure> {
  say("catching up");
  const behind = async () => {
    const target = JSON.parse(await runTopupd(["target", "list", "--json"], { cwd: folder })) as { behind: number };
    return target?.behind ?? 0;
  };
  const before = await behind();
  comeBack();
  const came = performance.now();
  let began = came;
  for (let left = before; left > 0 && performance.now() - came < LONGEST_MS; left = await behind()) {
    if (left > before - 1_000) began = performance.now();
    await sleep(100);
  }
  const seconds = (performance.now() - began) / 1000;
  return {
    ...{ measured: "catching up, once the target is back", value: before / seconds, unit: "events a second" },
    ...{ decimals: 0, target: { atLeast: 1_000 }, detail: `${before} events in ${seconds.toFixed(1)} s` },
  };
}
