import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

const SQLITE = createRequire(import.meta.url).resolve("@photostructure/sqlite");
const MAIN = `
const { DatabaseSync } = require(process.argv[1]);
const connection = new DatabaseSync(process.argv[2], { timeout: 5000 });
require("node:readline").createInterface({ input: process.stdin }).on("line", (sql) => {
  try {
    console.log(JSON.stringify({ rows: connection.prepare(sql).all() }));
  } catch (error) {
    console.log(JSON.stringify({ failed: error.message }));
  }
  if (process.argv[3] !== undefined) setTimeout(() => process.exit(), Number(process.argv[3]));
});`;

/**
 * Another process that has a database open until the test is over, as an operator's shell has. What connections of one
 * process share, such as locks and the index of the log, it has for itself.
 * @param options endsAfterMs when it ends by itself, from its first answer on.
 */
export function otherProcess(path: string, { endsAfterMs }: { readonly endsAfterMs?: number } = {}) {
  const ends = endsAfterMs === undefined ? [] : [String(endsAfterMs)];
  const child = spawn(process.execPath, ["-e", MAIN, SQLITE, path, ...ends], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const end = async () => {
    child.stdin.end();
    await exited;
  };
  onTestFinished(end);
  return {
    end,
    /** What a statement answers there. */
    ask: async (sql: string): Promise<unknown[]> => {
      child.stdin.write(`${sql}\n`);
      const { rows, failed } = JSON.parse(String((await answers.next()).value));
      if (failed !== undefined) throw new Error(failed);
      return rows;
    },
  };
}
