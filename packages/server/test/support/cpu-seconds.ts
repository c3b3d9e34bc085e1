import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeEach, expect } from "vitest";

/*
 * Notes what each test and each file of tests costs, if TEST_CPU names a file: CPU seconds of the test's process and of the
 * programs that it has ended. Servers that all tests share are not in it.
 */

const LOG = process.env["TEST_CPU"] ?? "";
/** Linux counts a process's time in these. */
const TICKS_PER_SECOND = 100;

/** CPU seconds until now. */
function used(): number {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const ofChildren = Number(fields[13]) + Number(fields[14]);
  return (user + system) / 1_000_000 + ofChildren / TICKS_PER_SECOND;
}

function note(test: string | undefined, since: number): void {
  const file = expect.getState().testPath ?? "";
  appendFileSync(LOG, `${JSON.stringify({ file, test, seconds: used() - since })}\n`);
}

const fileBegan = used();
let testBegan = fileBegan;
beforeEach(() => {
  testBegan = used();
});
afterEach(({ task }) => note(task.name, testBegan));
afterAll(() => note(undefined, fileBegan));
