import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { commandLine } from "../support/command-line.ts";

/** A pipe that is there to be read, and is, as long as the test does. */
function openPipe(path: string) {
  execFileSync("sh", ["-c", 'mkfifo "$0"', path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  const buffer = Buffer.alloc(4096);
  /** How many bytes that came to; 0 where nothing can be read or written at present. */
  const attempt = (work: () => number): number => {
    try {
      return work();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
      throw error;
    }
  };
  return {
    read: () =>
      buffer.toString(
        "utf8",
        0,
        attempt(() => readSync(fd, buffer)),
      ),
    fill: () => {
      for (const bytes of [4096, 1]) while (attempt(() => writeSync(fd, buffer, 0, bytes)) > 0);
    },
  };
}

test("a service whose log nobody reads any more ends by itself when it is asked to, with exit code 0", async () => {
  const line = commandLine();
  const pipe = openPipe(join(line.folder, "log"));
  const service = line.launchAfter("exec 2>log", "serve", "--port", "0", "--drain-seconds", "0");
  let log = "";
  for (let tries = 0; !log.includes('"msg":"listening"') && tries < 2_000; tries += 1) {
    await sleep(10);
    log += pipe.read();
  }
  expect(log).toContain('"msg":"listening"');
  pipe.fill();
  const asked = performance.now();
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  expect(performance.now() - asked).toBeLessThan(15_000);
});
