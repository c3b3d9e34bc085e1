import { join } from "node:path";
import { temporaryFolder } from "./clean-up.ts";
import { TOP_UP, toppingUp } from "./operations.ts";
import { runTopupd, SERVE, type Server, startServer } from "./processes.ts";
import { report } from "./report.ts";
import { type Comparison, say } from "./results.ts";
import { runRounds } from "./rounds.ts";
import { type Filled, fill } from "./world.ts";

const CUSTOMERS = 60_000;
const OPTIONS = { rounds: 7, seconds: 3 } as const;

const COMMANDS = {
  "no account": [],
  commission: [["commission", "bench", "--percent", "2.5"]],
  prepaid: [
    ["commission", "bench", "--percent", "2.5"],
    ["deposit", "bench", "9000000000000", "--reference", "opening", "--reason", "bench"],
    ["account", "bench", "--credit-limit", "0"],
  ],
} as const;

/** `npm run bench -- accounts`: the cost of a commission and of a credit limit for top-ups, on SQLite. */
export async function measureAccounts(): Promise<void> {
  const folder = temporaryFolder("accounts");
  const databases: Filled[] = [];
  const servers: Server[] = [];
  for (const [name, commands] of Object.entries(COMMANDS)) {
    say(`a database with ${name}`);
    const filled = await fill(join(folder, name), CUSTOMERS);
    for (const words of commands) await runTopupd(["partner", ...words], { cwd: filled.folder });
    databases.push(filled);
  }
  try {
    for (const filled of databases) servers.push(await startServer(SERVE, {}, filled.folder));
    say(TOP_UP);
    const contestants = databases.map((filled, index) => toppingUp(filled, servers[index] as Server));
    const [none = [], commission = [], prepaid = []] = await runRounds(contestants, OPTIONS);
    const beside = (measured: string, ours: typeof none, cpuAtMost: number): Comparison => {
      return { measured, baseline: "no account", ours, theirs: none, target: { cpuAtMost, throughputAtLeast: 0.9 } };
    };
    const comparisons = [beside("with a commission", commission, 1.05), beside("prepaid", prepaid, 1.1)];
    await report({ comparisons, figures: [] }, undefined, []);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
