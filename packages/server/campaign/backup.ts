import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ground, runThere } from "./ground.ts";
import { PartnerClient } from "./partner-client.ts";
import { expectTopupd, killTopupd, startServing } from "./processes.ts";
import { CUSTOMERS, makeProvider } from "./provider.ts";
import { Choices } from "./random.ts";
import { type Sent, verifyTotals } from "./sent.ts";
import { readTopUps } from "./stored.ts";

export interface BackupOptions extends Ground {
  readonly seed: number;
  readonly rounds: number;
  /** Makes an empty database of this name in PostgreSQL; without it, all are restored into SQLite. */
  readonly createDatabase?: (name: string) => Promise<string>;
  readonly partners?: number;
  readonly longestLoadMs?: number;
}

/** So many of the acknowledged top-ups are asked for over HTTP, too. */
const ASKED_FOR = 20;
/** One backup of so many is killed in its midst. */
const KILLED_OF = 3;

/**
 * Takes backups of a service under load, and restores each into a new database. That must be in order, hold every
 * top-up that was acknowledged before the backup began, and no other than were made. A backup that is killed leaves
 * no file that could be taken for one.
 * @throws Error that names the round in which it was otherwise.
 */
export async function backup(options: BackupOptions): Promise<string> {
  const { seed, rounds, createDatabase, partners = 6, longestLoadMs = 400, ...ground } = options;
  const choices = new Choices(seed);
  const token = await makeProvider(ground);
  const served = await startServing([], runThere(ground));
  const sent: Sent[] = [];
  const counts = { before: 0, meanwhile: 0, restored: 0, killed: 0 };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const load = startLoad(new PartnerClient(served.url, token), sent, partners, choices);
      await sleep(50 + choices.below(longestLoadMs));
      if (choices.below(KILLED_OF) === 0) {
        await killBackup(ground, choices, round);
        counts.killed += 1;
      }
      const before = acknowledgedOf(sent);
      const file = join(ground.cwd, `round-${round}.backup`);
      await expectTopupd(["backup", file], runThere(ground));
      const meanwhile = acknowledgedOf(sent).length - before.length;
      await load.end();

      const kind = createDatabase === undefined ? "sqlite" : choices.of(["sqlite", "postgres"] as const);
      const database = kind === "sqlite" ? `sqlite:${file}.db` : await createDatabase?.(`restored_${round}`);
      const target = { cwd: ground.cwd, database: database as string };
      try {
        await restore(target, file);
        counts.restored += await verifyRestored(target, token, { before, sent, choices });
      } catch (error) {
        throw new Error(`round ${round}, restored into ${kind}: ${(error as Error).message}`, { cause: error });
      }
      counts.before += before.length;
      counts.meanwhile += meanwhile;
      for (const end of ["", ".db"]) rmSync(`${file}${end}`, { force: true });
    }
  } finally {
    await served.end("SIGTERM");
  }
  await expectTopupd(["check"], runThere(ground));
  if (counts.before === 0 || counts.meanwhile === 0)
    throw new Error(`${JSON.stringify(counts)}: the campaign has shown nothing`);
  return (
    `${rounds} backups under load, restored: ${counts.before} top-ups acknowledged before all there, ` +
    `${counts.meanwhile} made meanwhile, ${counts.restored} restored and all of them made; ${counts.killed} killed`
  );
}

/** Tops up one customer after the other until it is told to end. */
function startLoad(client: PartnerClient, sent: Sent[], partners: number, choices: Choices) {
  let hasEnded = false;
  const topUp = async (own: Choices): Promise<void> => {
    while (!hasEnded) {
      const one: Sent = { purchase: await client.prepare(own.below(CUSTOMERS), own) };
      sent.push(one);
      const { status, text } = await client.topUp(one.purchase);
      if (status !== 200) throw new Error(`a top-up was refused: ${text}`);
      one.acknowledged = text;
    }
  };
  const working = Promise.all(Array.from({ length: partners }, () => topUp(new Choices(choices.seed()))));
  // Whoever ends it is told.
  working.catch(() => {});
  return {
    end: async () => {
      hasEnded = true;
      await working;
    },
  };
}

async function killBackup(ground: Ground, choices: Choices, round: number): Promise<void> {
  const file = join(ground.cwd, `killed-${round}.backup`);
  await killTopupd(["backup", file], runThere(ground), choices.below(600));
  if (existsSync(file)) await expectTopupd(["restore", "--dry-run", file], runThere(ground));
  for (const name of readdirSync(ground.cwd)) {
    if (name.startsWith(`killed-${round}.backup`)) rmSync(join(ground.cwd, name));
  }
}

async function restore(ground: Ground, file: string): Promise<void> {
  const there = runThere(ground);
  await expectTopupd(["restore", "--dry-run", file], there);
  await expectTopupd(["restore", file], there);
  await expectTopupd(["check"], there);
}

/** @returns how many top-ups were restored. */
async function verifyRestored(
  ground: Required<Ground>,
  token: string,
  {
    before,
    sent,
    choices,
  }: { readonly before: readonly Sent[]; readonly sent: readonly Sent[]; readonly choices: Choices },
): Promise<number> {
  const stored = await readTopUps(ground.database);
  for (const { purchase, acknowledged } of before) {
    if (!stored.has(purchase.checkoutId)) throw new Error(`acknowledged before, but not there: ${acknowledged}`);
  }
  const made = new Map(sent.map((one) => [one.purchase.checkoutId, one]));
  for (const [checkoutId, txnId] of stored) {
    const acknowledged = made.get(checkoutId)?.acknowledged;
    if (acknowledged === undefined || !acknowledged.includes(`"${txnId}"`))
      throw new Error(`${txnId} is there, but was never acknowledged so: ${acknowledged}`);
  }
  const served = await startServing([], runThere(ground));
  try {
    const client = new PartnerClient(served.url, token);
    for (let asked = 0; asked < Math.min(ASKED_FOR, before.length); asked += 1) {
      const { purchase, acknowledged } = choices.of(before);
      const { text } = await client.query(purchase.checkoutId);
      if (text !== acknowledged) throw new Error(`acknowledged as ${acknowledged}, but now ${text}`);
    }
  } finally {
    await served.end("SIGTERM");
  }
  const restored = sent.filter(({ purchase }) => stored.has(purchase.checkoutId));
  await verifyTotals(ground, token, restored);
  return restored.length;
}

function acknowledgedOf(sent: readonly Sent[]): Sent[] {
  return sent.filter(({ acknowledged }) => acknowledged !== undefined);
}
