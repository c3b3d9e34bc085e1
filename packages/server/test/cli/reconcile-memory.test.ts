import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { addWallet } from "../support/provider-files.ts";

const ROWS = 30_000;
const HEAP_MB = 64;
const DAYS = ["--from", "2026-11-01", "--to", "2026-11-30"];

test.each([
  ["whose keys are all different", (row: number) => `order ${row}`, "theirs only"],
  ["whose keys are all the same", () => "order", "duplicate"],
])(
  "a book %s is reconciled whole, though it is larger than the memory",
  async (_, keyOf, verdict) => {
    const line = commandLine({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`, TMPDIR: "." } });
    await addWallet(line);
    const file = openSync(join(line.folder, "book.csv"), "w");
    writeSync(file, "udf1,amount,note\n");
    // The date is kept with each row: some kilobytes of it.
    for (let row = 0; row < ROWS; row += 1) writeSync(file, `${keyOf(row)},1.25,${"🙂".repeat(500)}\n`);
    closeSync(file);
    const words = ["reconcile", "book.csv", "--partner", "wallet", ...DAYS, "--key", "udf1", "--date-column", "note"];
    const { code, stdout, stderr } = await line.run(...words);
    expect(code).toBe(3);
    expect(stdout.split("\n")).toHaveLength(ROWS + 2);
    expect(stdout.split("\n")[ROWS]).toMatch(new RegExp(`^${verdict} +${ROWS + 1} +1\\.25 +order`));
    expect(stderr).toMatch(new RegExp(`^TOTAL +${ROWS}  37500\\.00 +0\\.00 +37500\\.00$`, "m"));
  },
  60_000,
);
