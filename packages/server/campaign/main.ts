import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kill } from "./kill.ts";
import { model } from "./model.ts";
import { race } from "./race.ts";

/*
 * npm run campaign -- NAME [--seed N] [--rounds N]: the long form of what the tests run briefly.
 * The same seed makes the same choices.
 */

const CAMPAIGNS = { race, kill, model };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" }, rounds: { type: "string", default: "100" } },
});
const run = CAMPAIGNS[positionals[0] as keyof typeof CAMPAIGNS];
const [seed, rounds] = [Number(values.seed), Number(values.rounds)];
if (run === undefined || !Number.isSafeInteger(seed) || !Number.isSafeInteger(rounds) || rounds < 1) {
  process.stderr.write(`usage: npm run campaign -- ${Object.keys(CAMPAIGNS).join("|")} [--seed N] [--rounds N]\n`);
  process.exit(2);
}

const cwd = mkdtempSync(join(tmpdir(), "topupd-campaign-"));
try {
  process.stdout.write(`${await run({ seed, rounds, cwd })}\n`);
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
