import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { lookUps } from "../bodies.ts";
import { call } from "../calls.ts";
import { SERVE, startServer } from "../processes.ts";
import { runProgram } from "../programs.ts";
import { median } from "../rounds.ts";
import type { Grown } from "./grown.ts";

/** From the start of a process to its first answer about a customer, in ms. */
export interface StartUp {
  /** With the database on disk alone, as after the machine's own start. */
  readonly coldMs: number;
  /** With the database in the machine's memory, as after an upgrade. */
  readonly warmMs: number;
}

const STARTS = 5;

/** The medians of several starts. The program is in the machine's memory each time: the database is the question. */
export async function measureStartUp(grown: Grown): Promise<StartUp> {
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let start = 0; start < STARTS; start += 1) {
    await dropFromMemory(join(grown.folder, "topupd.db"));
    cold.push(await startOnce(grown));
    warm.push(await startOnce(grown));
  }
  return { coldMs: median(cold), warmMs: median(warm) };
}

async function startOnce({ folder, history, token }: Grown): Promise<number> {
  const [body = ""] = lookUps(history.target, 1);
  const begun = performance.now();
  const server = await startServer([...SERVE, "--drain-seconds", "0"], {}, folder);
  try {
    await call({ server, operation: "get-customer-information", token, body });
    return performance.now() - begun;
  } finally {
    await server.stop();
  }
}

/** Has the machine drop what it holds of a file in memory, for which Node has no call. */
async function dropFromMemory(path: string): Promise<void> {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
  await runProgram("dd", [`if=${path}`, "iflag=nocache", "count=0"]);
}
