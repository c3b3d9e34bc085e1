import { fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** A process that runs programs in a folder, one at a time, and outlives the process that asks for them. */
export interface Keeper {
  /** @throws Error with what the program said, unless it succeeds or, with `data`, gets its server ready. */
  run(order: Order): Promise<void>;
  /** Resolves when the program is gone. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** Ends the program, if there is one, and removes the folder. */
  close(): Promise<void>;
}

export interface Order {
  readonly command: string;
  readonly args: readonly string[];
  readonly user: { readonly uid?: number; readonly gid?: number };
  /** The data of the server that the program is. */
  readonly data?: string;
}

const PROGRAM = fileURLToPath(new URL("./postgres-keeper.mjs", import.meta.url));
const LONGEST_WAIT_S = 60;

/** The folder is gone as well when the caller's process has ended, whichever way. */
export function keep(folder: string): Keeper {
  const log = join(folder, "log");
  const output = openSync(log, "a");
  const keeper = fork(PROGRAM, [folder], {
    detached: true,
    env: environment(),
    execArgv: [],
    stdio: ["ignore", output, output, "ipc"],
  });
  closeSync(output);
  // A program that forgets to close can end all the same.
  keeper.unref();
  keeper.channel?.unref();
  const exit = once(keeper, "exit").then(([code]: unknown[]) => ({ code }));
  const ask = async (request: { run: Order } | { signal: NodeJS.Signals }): Promise<unknown> => {
    if (!keeper.connected) return undefined;
    const answer = once(keeper, "message").then(([done]: unknown[]) => done);
    keeper.send(request);
    return withinLimit(Promise.race([answer, exit]));
  };
  return {
    async run(order) {
      const before = statSync(log).size;
      if ((await ask({ run: order })) === true) return;
      const said = readFileSync(log).subarray(before).toString("utf8").slice(-4_000);
      throw new Error(`${order.command} failed, or took more than ${LONGEST_WAIT_S} s: ${said}`);
    },
    async stop(signal) {
      if ((await ask({ signal })) !== true) throw new Error(`PostgreSQL did not end on ${signal}`);
    },
    async close() {
      if (keeper.connected) keeper.disconnect();
      if ((await withinLimit(exit))?.code !== 0)
        throw new Error(`PostgreSQL did not end, or ${folder} was not removed`);
    },
  };
}

/** @returns undefined after the longest wait. */
async function withinLimit<T>(promise: Promise<T>): Promise<T | undefined> {
  const limit = new AbortController();
  const waited = delay(LONGEST_WAIT_S * 1_000, undefined, { signal: limit.signal }).catch(() => undefined);
  return Promise.race([promise, waited]).finally(() => limit.abort());
}

/** Without what would change the server, and in the language in which its failures are recognised. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|NODE_OPTIONS$)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C" };
}
