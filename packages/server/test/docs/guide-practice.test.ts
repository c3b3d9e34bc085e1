import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { FAULTS, type TrialCall } from "../../src/domain/practice.ts";
import { reversePractised } from "../../src/office/practice/reversals.ts";
import { CallNotes } from "../../src/partner/gathering.ts";
import { isInstalled } from "../support/installed.ts";
import { readFences } from "../support/markdown.ts";
import { startTestService, temporaryFolder } from "../support/service.ts";

/* The way from the demo to the certificate, by the commands of the partner's guide. */

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** Speed of the clocks of the service and of the client, as a multiple of real time. */
const SPEED = 50;
/** The commands use the real time. Calls must be before them, but not an hour. */
const BEFORE_MS = 40 * 60_000;

test.skipIf(!isInstalled("Python"))("the guide's commands lead from the demo to a certificate", async () => {
  const failures: unknown[] = [];
  const notes = new CallNotes<TrialCall>({
    record: (calls) => service.store.recordTrialCalls(calls),
    onFailure: (error) => failures.push(error),
  });
  const [start, began] = [Date.now() - BEFORE_MS, performance.now()];
  const service = await startTestService({ now: start, trialCalls: notes, lateMs: 40_000 / SPEED });
  const url = await service.app.listen({ host: "127.0.0.1", port: 0 });
  const ticking = setInterval(() => {
    service.now = Math.floor(start + (performance.now() - began) * SPEED);
  }, 1);
  const reversing = setInterval(() => void reversePractised(service.ports), 50);
  notes.keepWriting((_ms, signal) => sleep(20, undefined, { signal }).catch(() => {}));
  onTestFinished(async () => {
    clearInterval(ticking);
    clearInterval(reversing);
    await notes.close();
  });

  const folder = temporaryFolder();
  const guide = readFileSync(join(ROOT, "docs/partner-guide.md"), "utf8");
  const block = readFences(guide).find(({ lines }) => lines.some((line) => line.includes("partner practice")));
  const commands = (block?.lines ?? []).join("\n").replace("http://127.0.0.1:8080", url);
  const local = commands.replace("sqlite:topupd-data/demo.db", `sqlite:${service.path}`);
  for (const name of ["clients", "packages"]) symlinkSync(join(ROOT, name), join(folder, name));
  writeFileSync(
    join(folder, "sitecustomize.py"),
    `import time\nreal = time.sleep\ntime.sleep = lambda s: real(s / ${SPEED})\n`,
  );
  const script = local.replace("PYTHONPATH=", `PYTHONPATH=${folder}:`);
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-eu", "-c", script], { cwd: folder, env });
  expect(failures).toEqual([]);
  expect(stdout.match(/^\S+ +passed /gm)).toHaveLength(FAULTS.length);
  expect(stderr).toContain("Blue Wallet is certified since");
});
