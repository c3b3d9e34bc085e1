import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { topUps } from "./bodies.ts";
import { pathOf } from "./calls.ts";
import { temporaryFolder } from "./clean-up.ts";
import { appendHistory } from "./history.ts";
import { CONNECTIONS, TOP_UP } from "./operations.ts";
import { freePort, runTopupd, SERVE, type Server, startServer } from "./processes.ts";
import { report } from "./report.ts";
import { type Figure, say } from "./results.ts";
import { type Contestant, median, overHttp, runRounds } from "./rounds.ts";
import { fill } from "./world.ts";

const CUSTOMERS = 60_000;
/** A million and more, all of them in the charts. */
const PAST = { each: 17, days: 29 } as const;
const OPTIONS = { rounds: 7, seconds: 3 } as const;
/** A reader who loads the overview again and again. */
const LOOKING_EVERY_MS = 1_000;
const LONGEST_MS = 60_000;

/** `npm run bench -- console`: how fast the charts answer over a million top-ups, and what they cost top-ups. */
export async function measureConsole(): Promise<void> {
  say("two databases of a million top-ups");
  const folder = temporaryFolder("console");
  const servers: Server[] = [];
  const contestants: Contestant[] = [];
  const answers: number[] = [];
  let first: Figure | undefined;
  try {
    for (const isLookedAt of [false, true]) {
      const { folder: cwd, token, target } = await fill(join(folder, String(isLookedAt)), CUSTOMERS);
      appendHistory(join(cwd, "topupd.db"), PAST);
      const key = (await runTopupd(["staff", "key", "add", "bench", "--role", "viewer"], { cwd })).trim();
      const port = String(await freePort());
      const begun = performance.now();
      const server = await startServer([...SERVE, "--console-port", port], {}, cwd);
      servers.push(server);
      const charts = new Charts(`http://127.0.0.1:${port}`, key);
      first = await charts.lookFirst(begun);
      const path = pathOf(TOP_UP);
      const asked = { server, path, token, mustBeNew: true, connections: CONNECTIONS };
      const contestant = overHttp({ ...asked, bodies: (count) => topUps(target, count) });
      contestants.push(
        isLookedAt ? { ...contestant, run: (seconds) => charts.beside(contestant.run(seconds), answers) } : contestant,
      );
    }
    say(TOP_UP);
    const [theirs = [], ours = []] = await runRounds(contestants, OPTIONS);
    const figure = { unit: "ms", decimals: 0, target: { atMost: 1_000 } } as const;
    const figures: Figure[] = [
      {
        ...figure,
        measured: "charts, median",
        value: median(answers),
        detail: "while top-ups come as fast as they can",
      },
      { ...figure, measured: "charts, slowest", value: Math.max(...answers), detail: `of ${answers.length}` },
      ...(first === undefined ? [] : [first]),
    ];
    const target = { throughputAtLeast: 0.95 };
    const comparison = { measured: "with a reader of the charts", baseline: "without a reader", ours, theirs, target };
    await report({ comparisons: [comparison], figures }, undefined, []);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** A reader of the overview. */
class Charts {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${key}` };
  }

  /** Waits for the first answer. @param begun when the service was started. */
  async lookFirst(begun: number): Promise<Figure> {
    const isAnswered = () =>
      this.#look().then(
        () => true,
        () => false,
      );
    while (!(await isAnswered()) && performance.now() - begun < LONGEST_MS) await sleep(100);
    const seconds = (performance.now() - begun) / 1000;
    return {
      measured: "charts, first",
      value: seconds,
      unit: "s",
      decimals: 1,
      target: undefined,
      detail: "from the start of the service",
    };
  }

  /** Looks again and again while something runs. */
  async beside<Result>(running: Promise<Result>, answers: number[]): Promise<Result> {
    let isOver = false;
    const looking = (async () => {
      while (!isOver) {
        const begun = performance.now();
        await this.#look();
        answers.push(performance.now() - begun);
        await sleep(LOOKING_EVERY_MS);
      }
    })();
    try {
      return await running;
    } finally {
      isOver = true;
      await looking;
    }
  }

  async #look(): Promise<void> {
    const response = await fetch(`${this.#url}/api/v1/statistics`, { headers: this.#headers });
    if (!response.ok) throw new Error(`the charts were answered with ${response.status}`);
    await response.arrayBuffer();
  }
}
