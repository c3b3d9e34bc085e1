import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { SITA } from "../support/provider-files.ts";

const CUSTOMERS = 30_000;
const TOP_UPS = 50_000;
const HEAP_MB = 48;

test("a file that is larger than the memory is imported whole", async () => {
  const line = commandLine({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } });
  writeCustomers(join(line.folder, "customers.ndjson"));
  const { code, stdout, stderr } = await line.run("import", "customers", "customers.ndjson", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ accepted: CUSTOMERS, rejected: 0, added: CUSTOMERS });
});

test("so is a history that is larger than the memory", async () => {
  const line = commandLine({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } });
  await line.mustRun("partner", "add", "wallet");
  const file = line.ndjson(
    "history.ndjson",
    ...exportedRows(TOP_UPS, { partner: "wallet", until: Date.UTC(2026, 9, 1) }),
  );
  const { code, stdout, stderr } = await line.run("import", "transactions", file, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ accepted: TOP_UPS, rejected: 0, added: TOP_UPS });
});

/** Rows of some two kilobytes, most of which is names: all of them together do not fit into the heap. */
function writeCustomers(path: string): void {
  const file = openSync(path, "w");
  const padding = { first_name: "🙂".repeat(200), last_name: "🙂".repeat(200) };
  for (let number = 1; number <= CUSTOMERS; number += 1) {
    writeSync(
      file,
      `${JSON.stringify({ ...SITA, ...padding, cuid: `C${number}`, mobile: `M${number}`, connections: {} })}\n`,
    );
  }
  closeSync(file);
}
