import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test, vi } from "vitest";
import { type CommandLine, callOperation, commandLine } from "../support/command-line.ts";
import { CATALOGUE, fillDatabase, SITA, SITA_NET } from "../support/provider-files.ts";

/** A provider with a top-up, a retired bouquet that a customer has, and a name that a spreadsheet would run. */
async function history() {
  const line = commandLine();
  const token = await fillDatabase(line);
  const { url, signal, ended } = await line.start("serve");
  const call = async (operation: string, body: object) => (await callOperation(url, operation, token, body)).json;
  const { checkoutId } = (await call("get-subscription-package", SITA_NET)).body;
  await call("subscription-package-topup", {
    ...SITA_NET,
    checkoutId,
    bouquetId: "NET-3M",
    amt: "3220.50",
    udf1: "=1+1",
  });
  await line.mustRun(
    "import",
    "catalogue",
    line.ndjson("newer.ndjson", CATALOGUE[1] as object, CATALOGUE[2] as object),
  );
  const bare = { ...SITA, cuid: "7", first_name: "=SUM(A1)", mobile: "+977 7", connections: {} };
  await line.mustRun("import", "customers", line.ndjson("more.ndjson", bare));
  signal("SIGTERM");
  await ended;
  return { line, checkoutId };
}

/** So many that their export takes much longer than a look into the folder. */
function addCustomers(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`INSERT INTO customer_row (cuid, environment, level, service, req_id, plan, status, first_name, last_name)
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 300000)
    SELECT 'n' || n, 'production', 0, '', '', '', 'active', 'First', 'Last' FROM number`);
  database.close();
}

async function shown(line: CommandLine, code: string) {
  const { transactions: _, ...customer } = JSON.parse(await line.mustRun("customer", "show", code, "--json"));
  return customer;
}

describe("topupd export", () => {
  test.each(["ndjson", "csv"])("in %s, imported elsewhere, gives the same service", async (format) => {
    const { line } = await history();
    const other = ["--database", "sqlite:./other.db"];
    for (const what of ["catalogue", "customers"]) {
      const file = `${what}.${format}`;
      expect(await line.mustRun("export", what, "--output", file)).toBe("");
      await line.mustRun("import", what, file, ...other);
      const report = JSON.parse(await line.mustRun("import", what, file, "--dry-run", "--json", ...other));
      expect(report).toMatchObject({ added: 0, changed: 0, rejected: 0 });
      expect(await line.mustRun("export", what, "--format", format, ...other)).toBe(
        readFileSync(join(line.folder, file), "utf8"),
      );
    }
    const elsewhere = commandLine({ folder: line.folder, env: { TOPUPD_DATABASE: "sqlite:./other.db" } });
    for (const code of [SITA.cuid, "7"]) expect(await shown(elsewhere, code)).toEqual(await shown(line, code));
    expect((await elsewhere.run("check")).code).toBe(0);
  });

  test("writes a file for its owner alone, and never in the place of another", async () => {
    const { line } = await history();
    const { code, stderr } = await line.run("export", "customers", "--output", "customers.csv");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "2 exported\n" });
    const path = join(line.folder, "customers.csv");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = readFileSync(path, "utf8");
    expect(await line.run("export", "customers", "--output", "customers.csv")).toMatchObject({
      code: 1,
      stderr: "topupd: customers.csv is there already: name another file\n",
    });
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(before).toContain("'=SUM(A1)");
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("that is ended by %s leaves no file", async (signal) => {
    const line = commandLine();
    await fillDatabase(line);
    addCustomers(join(line.folder, "topupd.db"));
    const running = line.launch("export", "customers", "--output", "customers.ndjson");
    await vi.waitFor(() => expect(readdirSync(line.folder).join()).toMatch(/\.part\b/), {
      timeout: 20_000,
      interval: 10,
    });
    running.signal(signal);
    expect(await running.ended).toBe(1);
    expect(running.stderr()).toBe(`topupd: stopped by ${signal}: customers.ndjson was not made\n`);
    expect(readdirSync(line.folder).filter((name) => !name.startsWith("topupd.db"))).toEqual([]);
  });

  test("of transactions tells all of each, and those alone that the flags fit", async () => {
    const { line, checkoutId } = await history();
    const exported = JSON.parse(await line.mustRun("export", "transactions", "--req-id", SITA_NET.reqId));
    expect(exported).toMatchObject({
      ...{ checkoutId, status: "success", partner: "wallet", ...SITA_NET, bouquetId: "NET-3M", amount: "3220.5" },
      ...{ udf1: "=1+1", udf2: null, reversedAt: null, reversedBy: null, reversalReason: null },
    });
    const [header, row, end] = (await line.mustRun("export", "transactions", "--format", "csv")).split("\r\n");
    expect(header).toBe(Object.keys(exported).join(","));
    expect(row).toContain(",'=1+1,");
    expect(end).toBe("");
    expect(await line.mustRun("export", "transactions", "--status", "reversed")).toBe("");
    expect((await line.run("export", "transactions", "--from", "2026-02-30")).code).toBe(2);
  });

  test("of a catalogue ends with what is not sold any more", async () => {
    const { line } = await history();
    const rows = (await line.mustRun("export", "catalogue"))
      .trimEnd()
      .split("\n")
      .map((row) => JSON.parse(row));
    expect(rows.map(({ code, retired }) => [code, retired])).toEqual([
      ["NET-3M", undefined],
      ["TV-1M", undefined],
      ["NET-1M", true],
    ]);
  });
});
