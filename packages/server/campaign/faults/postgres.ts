import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresProxy } from "../../test/support/postgres-proxy.ts";
import { askPostgres } from "../ask-postgres.ts";
import { kill } from "../kill.ts";
import { signalProcess } from "../processes.ts";
import type { Choices } from "../random.ts";
import { type Blow, KILL, PAUSE_MS, type Restartable, restartOf, untilStruck } from "./blows.ts";

export interface PostgresFaultsOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly processes?: number;
  readonly workers?: number;
  readonly cwd: string;
  /** A server of the campaign's own; undefined: another's, on which it does only what any client can do. */
  readonly server?: Restartable;
  /** URL of an empty database of the server. */
  readonly database: string;
  /** A folder on the server's own small file system, which is filled. */
  readonly small?: string | undefined;
}

/**
 * Services under load whose connections to PostgreSQL break, are a black hole or lose the answer to a commit, and whose
 * PostgreSQL restarts, fills its disk, or has sessions ended, killed and frozen. @throws Error that names the round with a violation.
 */
export async function postgresFaults(options: PostgresFaultsOptions): Promise<string> {
  const { database, server, small, ...rest } = options;
  const proxy = await PostgresProxy.start(database);
  try {
    const { ended, killed, frozen } = sessionBlows(database);
    const blows = [...networkBlows(proxy), ended];
    blows.push(...(server === undefined ? [KILL] : [killed, frozen, restartOf(server)]));
    if (server !== undefined && small !== undefined) blows.push(fullDisk(small, server, proxy));
    return await kill({ ...rest, database: proxy.url, blows, pauseMs: PAUSE_MS });
  } finally {
    await proxy.close();
  }
}

/** Shorter and longer than what topupd waits for an answer. */
const FOR_MS = [300, 1_500, 4_000, 9_000];

function networkBlows(proxy: PostgresProxy): Blow[] {
  const once = (fault: PostgresProxy["commitFault"]) => async (_: unknown, choices: Choices) => {
    proxy.commitFault = fault;
    const hasStruck = await untilStruck(() => proxy.commitFault === undefined);
    proxy.commitFault = undefined;
    if (fault === "held") await sleep(choices.of(FOR_MS));
    proxy.pass();
    return hasStruck ? 1 : 0;
  };
  return [
    {
      name: "cut connections",
      async strike() {
        const { connections } = proxy;
        proxy.cut();
        return connections === 0 ? 0 : 1;
      },
    },
    {
      name: "black holes",
      async strike(_, choices) {
        proxy.hold();
        await sleep(choices.of(FOR_MS));
        // Held messages arrive late, or never.
        if (choices.below(2) === 0) proxy.cut();
        proxy.pass();
        return 1;
      },
    },
    { name: "commits that never arrived", strike: once("lost") },
    { name: "commits without an answer", strike: once("unanswered") },
    { name: "commits that arrived late", strike: once("held") },
  ];
}

function sessionBlows(database: string): Record<"ended" | "killed" | "frozen", Blow> {
  /** The process of one session of topupd. */
  const session = async (choices: Choices) => {
    const pids = await askPatiently(
      database,
      `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`,
    );
    return pids.length === 0 ? undefined : Number(choices.of(pids)["pid"]);
  };
  return {
    ended: {
      name: "ended sessions",
      async strike(_, choices) {
        const pid = await session(choices);
        return pid === undefined ? 0 : (await askPatiently(database, `SELECT pg_terminate_backend(${pid})`)).length;
      },
    },
    killed: {
      name: "killed sessions",
      async strike(_, choices) {
        const pid = await session(choices);
        return pid === undefined ? 0 : signalProcess(pid, "SIGKILL");
      },
    },
    frozen: {
      name: "frozen sessions",
      async strike(_, choices) {
        const pid = await session(choices);
        if (pid === undefined || signalProcess(pid, "SIGSTOP") === 0) return 0;
        await sleep(choices.of(FOR_MS));
        return signalProcess(pid, "SIGCONT");
      },
    },
  };
}

/** Room for a server of the campaigns and 256 MB of its log. */
const SMALL = "size=448m,mode=1777";

/** Makes a small file system in memory, which needs Linux and root. @returns its folder and its end; otherwise undefined. */
export function makeSmallDisk() {
  const folder = mkdtempSync("/tmp/topupd-small-disk-");
  const isThere = spawnSync("mount", ["-t", "tmpfs", "-o", SMALL, "tmpfs", folder]).status === 0;
  const remove = () => {
    if (isThere) spawnSync("umount", ["-l", folder]);
    rmdirSync(folder);
  };
  if (isThere) return { folder, remove };
  remove();
  return undefined;
}

/** Fills the file system, all but a little. A server that gives up meanwhile is started again when there is room. */
function fullDisk(folder: string, server: Restartable, proxy: PostgresProxy): Blow {
  return {
    name: "full disks",
    async strike(_, choices) {
      const ballast = join(folder, "ballast");
      const { bavail, bsize } = statfsSync(folder);
      const before = proxy.fullDisks;
      let hasStruck = false;
      try {
        writeFileSync(ballast, Buffer.alloc(Math.max(bavail * bsize - choices.below(512 * 1024), 0)));
        hasStruck = await untilStruck(() => proxy.fullDisks > before);
        await sleep(choices.below(3_000));
      } finally {
        rmSync(ballast, { force: true });
      }
      await server.stop("immediate");
      await server.start();
      return hasStruck ? 1 : 0;
    },
  };
}

/** Asks the server itself, past the network that fails. It may be in recovery after a session was killed. */
async function askPatiently(url: string, sql: string): Promise<Record<string, unknown>[]> {
  for (let tried = 1; ; tried += 1)
    try {
      return await askPostgres(url, sql);
    } catch (error) {
      if (tried === 20) throw error;
      await sleep(250);
    }
}
