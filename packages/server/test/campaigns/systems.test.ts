import { expect, test } from "vitest";
import { counter } from "../../campaign/counter.ts";
import { facts } from "../../campaign/facts.ts";
import { power } from "../../campaign/power/power.ts";
import { lacksCompiler } from "../../campaign/preload.ts";
import { sessions } from "../../campaign/sessions.ts";
import { makeEmptyDatabase } from "../support/postgres-database.ts";
import { temporaryFolder } from "../support/service.ts";

/* Short slices of the campaigns about the counter, a power cut, and the systems beside topupd. */

test("a sale at the counter is made once, with double clicks, lost answers and killed processes", async () => {
  const campaign = counter({ seed: 1, sales: 80, kills: 2, workers: 2, cwd: temporaryFolder() });
  await expect(campaign).resolves.toMatch(/^80 sales by 20 sellers, [12] kills/);
}, 120_000);

const lacking = lacksCompiler();
if (lacking !== undefined) process.stdout.write(`Faults of disks are ${lacking}\n`);
test.skipIf(lacking !== undefined)(
  "no power cut loses what was acknowledged, and one of a service that does not flush does",
  async () => {
    const campaign = power({ seed: 1, images: 200, cwd: temporaryFolder() });
    await expect(campaign).resolves.toMatch(/^[12]\d\d images .* control: [1-9]/);
  },
  120_000,
);

test("sessions end once for each change that alters a user, though routers fail and the service is killed", async () => {
  const { url: radius, made } = makeEmptyDatabase();
  await made;
  const campaign = sessions({ seed: 1, changes: 150, kills: 1, users: 40, cwd: temporaryFolder(), radius });
  await expect(campaign).resolves.toMatch(/^[1-9]\d+ altering changes and [1-9]\d* extensions, 1 kills/);
}, 300_000);

test("every fact arrives at its partner alone, in order, though receivers fail, hang and answer late", async () => {
  const campaign = facts({ seed: 1, facts: 300, kills: 0, cwd: temporaryFolder() });
  await expect(campaign).resolves.toMatch(/^3\d\d facts, 0 kills, [1-9]\d* mishaps/);
}, 120_000);
