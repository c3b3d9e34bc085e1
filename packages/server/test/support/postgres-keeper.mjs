/*
 * The parent of a PostgreSQL server, and the one that removes its folder. The program that tests may be killed hard and
 * then end nothing any more; but the channel from it to this process closes with it, however it ends. As the parent it
 * cannot take another process for the server's, and it is in a session of its own, so that what a terminal sends to all
 * processes does not end it first.
 */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const folder = process.argv[2];
let program;
let running = false;
let ended = Promise.resolve();

process.on("message", (request) => void obey(request));
process.on("disconnect", () => void tidyUp());
// A mistake in this file must not leave a server either.
process.on("exit", () => running && program.kill("SIGQUIT"));
if (!process.connected) await tidyUp();

async function obey({ run, signal }) {
  const done = run === undefined ? await stop(signal) : await start(run);
  if (process.connected) process.send(done);
}

/** With `data`, until the server in it is ready, otherwise to the end. @returns whether it succeeds. */
async function start({ command, args, user, data }) {
  if (running) {
    console.error("the program before it is still running");
    return false;
  }
  program = spawn(command, args, { ...user, cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  running = true;
  ended = new Promise((resolve) => {
    program.on("error", (error) => resolve(console.error(error.message)));
    program.on("exit", resolve);
  }).finally(() => {
    running = false;
  });
  if (data === undefined) return (await ended) === 0;
  while (running && !isReady(data)) await delay(10);
  return running;
}

async function stop(signal) {
  program?.kill(signal);
  await ended;
  return true;
}

async function tidyUp() {
  await stop("SIGQUIT");
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  process.exit();
}

/** As pg_ctl finds out. The file of a server that was killed stays, with another process id. */
function isReady(data) {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === program.pid && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}
